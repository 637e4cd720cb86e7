"""cdk-nag's packs, over the sample and over all constructs: every finding has a written reason."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

from tests.fixtures.synthesis import DATABASE, ROOT
from tidemark.constructs.security.explanations import STANDARDS

pytestmark = pytest.mark.synth

PACKS = ("AwsSolutions", *STANDARDS)
NAG = """
import os, sys
from pathlib import Path
from tidemark.app import find_node
os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
import aws_cdk as cdk
import cdk_nag as nag
def check(app):
    packs = nag.AwsSolutionsChecks, nag.HIPAASecurityChecks
    packs += nag.NIST80053R5Checks, nag.PCIDSS321Checks
    cdk.Validations.of(app).add_plugins(*(pack(app, verbose=True) for pack in packs))
    return app
"""
# The app itself, with cdk-nag as further validation plugins.
SAMPLE = """
import app
make = cdk.App
cdk.App = lambda **settings: check(make(**settings))
sys.exit(app.main())
"""
# The app of docs/existing-resources.md.
EXISTING = """
from tests.docs.test_existing_resources_doc import make_app
check(make_app(cdk, os.environ["CDK_OUTDIR"])).synth()
"""
EVERYTHING = """
from tests.fixtures.everything import declare_everything
project = Path(os.environ["CDK_OUTDIR"]) / "project"
project.mkdir()
check(declare_everything(cdk, project, os.environ["CDK_OUTDIR"])).synth()
"""
APPS = {
    "dev": SAMPLE,
    "prod": SAMPLE,
    "prod with all options": SAMPLE,
    "what is there already": EXISTING,
    "all constructs": EVERYTHING,
}


@dataclass(frozen=True)
class Report:
    """How an app ended, the findings without a reason, and those with: pack, rule and reason."""

    done: subprocess.CompletedProcess[str]
    packs: list[str]
    findings: list[str]
    explained: set[tuple[str, str, str]]


def context_of(app):
    """Return the stage of the sample: as it is, or one that asks for all there is."""
    stages = json.loads((ROOT / "cdk.json").read_text())["context"]["tidemark:stages"]
    if app != "prod with all options":
        return {"stage": app, "tidemark:explain": True}
    stages["prod"] |= {
        "alertEmail": "oncall@example.com",
        "monthlyBudgetUsd": 100,
        "githubRepository": "acme/pipelines",
        "permissionsBoundary": "bounds",
        "flightsSource": DATABASE,
    }
    return {"stage": "prod", "tidemark:stages": stages, "tidemark:explain": True}


def run(app, out):
    """Return the report of one app; all packs look at one synthesis."""
    context = {"CDK_CONTEXT_JSON": json.dumps(context_of(app))} if APPS[app] is SAMPLE else {}
    done = subprocess.run(
        [sys.executable, "-c", NAG + APPS[app]],
        cwd=ROOT,
        env={**os.environ, "CDK_OUTDIR": str(out), **context},
        capture_output=True,
        text=True,
        check=False,
    )
    path = out / "validation-report.json"
    assert path.exists(), done.stderr
    plugins = json.loads(path.read_text())["pluginReports"]
    findings = [
        f"{violation['ruleName']} at {construct['constructPath']}"
        for plugin in plugins
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]
    explained = {
        (plugin["pluginName"], rule_of(plugin["pluginName"], one["ruleName"]), one["reason"])
        for plugin in plugins
        if plugin["pluginName"] in PACKS
        for one in plugin.get("suppressedViolations", ())
    }
    return Report(done, [plugin["pluginName"] for plugin in plugins], findings, explained)


def rule_of(pack, name):
    """Return the name of a rule without its pack, and without the resource it is about."""
    return name.removeprefix(f"{pack}-").partition("[")[0]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    return {app: run(app, tmp_path_factory.mktemp("nag")) for app in APPS}


@pytest.mark.parametrize("app", APPS)
def test_cdk_nag_finds_nothing_without_a_reason(reports, app):
    report = reports[app]

    assert set(report.packs) >= set(PACKS)
    assert report.findings == []
    assert report.done.returncode == 0, report.done.stderr


def test_the_document_lists_what_is_explained_and_why(reports):
    """Put what this prints into docs/security.md."""
    packs = {}
    for report in reports.values():
        for pack, rule, reason in report.explained:
            packs.setdefault((rule, reason), set()).add(pack)
    rows = [
        f"| {rule} | {', '.join(sorted(found))} | {reason[0].upper()}{reason[1:].rstrip('.')} |"
        for (rule, reason), found in sorted(packs.items())
    ]
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- explained -->\n\| rule.*\n\|[-|]+\n((?:\|.*\n)*)", text)

    assert table == "\n".join(rows) + "\n", "\n".join(rows)
