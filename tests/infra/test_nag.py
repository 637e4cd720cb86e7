"""cdk-nag's rules of AWS solutions: every finding has a written reason."""

import json
import os
import subprocess
import sys

import pytest

from tests.fixtures.synthesis import DATABASE, ROOT

pytestmark = pytest.mark.synth

# The app itself, with cdk-nag as one more validation plugin.
PROGRAM = """
import os, sys
import app
from tidemark.app import find_node
os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks
make = cdk.App
def with_nag(**settings):
    made = make(**settings)
    cdk.Validations.of(made).add_plugins(AwsSolutionsChecks(made, verbose=True))
    return made
cdk.App = with_nag
sys.exit(app.main())
"""


@pytest.fixture(scope="module")
def everything():
    """Return the context of a stage that asks for all there is."""
    stages = json.loads((ROOT / "cdk.json").read_text())["context"]["tidemark:stages"]
    stages["prod"] |= {
        "alertEmail": "oncall@example.com",
        "monthlyBudgetUsd": 100,
        "githubRepository": "acme/pipelines",
        "permissionsBoundary": "bounds",
        "flightsSource": DATABASE,
    }
    return {"stage": "prod", "tidemark:stages": stages}


@pytest.fixture(scope="module", params=["dev", "prod", "everything"])
def report(request, everything, tmp_path_factory):
    """Return how the app ended with cdk-nag, and the findings that no one gave a reason for."""
    out = tmp_path_factory.mktemp("nag")
    asked = everything if request.param == "everything" else {"stage": request.param}
    context = {**asked, "tidemark:explain": True}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={**os.environ, "CDK_OUTDIR": str(out), "CDK_CONTEXT_JSON": json.dumps(context)},
        capture_output=True,
        text=True,
        check=False,
    )
    path = out / "validation-report.json"
    plugins = json.loads(path.read_text())["pluginReports"] if path.exists() else []
    findings = [
        f"{violation['ruleName']} at {construct['constructPath']}"
        for plugin in plugins
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]
    return done, findings


def test_cdk_nag_finds_nothing_without_a_reason(report):
    done, findings = report

    assert findings == []
    assert done.returncode == 0, done.stderr


# The app of docs/existing-resources.md, with cdk-nag as one more validation plugin.
EXISTING = """
import os, sys
from tidemark.app import find_node
os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks
from tests.docs.test_existing_resources_doc import make_app
app = make_app(cdk, sys.argv[1])
cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))
app.synth()
"""


# The pipeline of docs/job-kinds.md: a crawler, Python shell jobs and a streaming job.
KINDS = """
import os, sys
from pathlib import Path
from tidemark.app import find_node
os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks
from tests.docs.test_job_kinds_doc import declare_kinds
scripts = Path(sys.argv[1]) / "scripts"
scripts.mkdir()
explained = {"tidemark:explain": True}
app = declare_kinds(cdk, scripts, out=sys.argv[1], context=explained).app
cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))
app.synth()
"""


@pytest.mark.parametrize("program", [EXISTING, KINDS], ids=["what is there", "kinds of jobs"])
def test_cdk_nag_finds_nothing_in_an_app_of_a_page(tmp_path, program):
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )

    plugins = json.loads((tmp_path / "validation-report.json").read_text())["pluginReports"]
    findings = [
        f"{violation['ruleName']} at {construct['constructPath']}"
        for plugin in plugins
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]
    assert findings == []
    assert done.returncode == 0, done.stderr
