"""cdk-nag's packs, over the sample and over all constructs: every finding has a written reason."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixtures.synthesis import DATABASE, ROOT
from tidemark.constructs.security.explanations import STANDARDS
from tidemark.constructs.security.wildcards import statements_of

pytestmark = pytest.mark.synth

PACKS = ("AwsSolutions", *STANDARDS)
NAG = """
import os, sys
from pathlib import Path
from tidemark.app import find_node
os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
import atexit, json
import aws_cdk as cdk
import cdk_nag as nag
# What is acknowledged where, also what no rule asks for.
of, made = cdk.Validations.of, []
def watched(scope):
    found = of(scope)
    acknowledge = found.acknowledge
    def noted(*rules):
        made.extend([scope.node.path, rule.id, rule.reason] for rule in rules)
        acknowledge(*rules)
    found.acknowledge = noted
    return found
cdk.Validations.of = watched
@atexit.register
def write():
    (Path(os.environ["CDK_OUTDIR"]) / "acknowledged.json").write_text(json.dumps(made))
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
    """How an app ended, and what was found.

    Attributes:
        out: the folder with the templates.
        done: how the app ended.
        packs: the plugins that ran.
        findings: those without a reason.
        explained: those with one: construct path, id of the rule and reason.
        acknowledged: the reasons that were given: likewise.
    """

    out: Path
    done: subprocess.CompletedProcess[str]
    packs: list[str]
    findings: list[str]
    explained: list[tuple[str, str, str]]
    acknowledged: list[tuple[str, str, str]]


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
    explained = [
        (construct["constructPath"], one["acknowledgedId"], one["reason"])
        for plugin in plugins
        if plugin["pluginName"] in PACKS
        for one in plugin.get("suppressedViolations", ())
        for construct in one["violatingConstructs"]
    ]
    noted = json.loads((out / "acknowledged.json").read_text())
    acknowledged = [tuple(one) for one in noted if one[1].partition("::")[0] in PACKS]
    packs = [plugin["pluginName"] for plugin in plugins]
    return Report(out, done, packs, findings, explained, acknowledged)


def rule_of(id_):
    """Return the pack of a rule, and its name, without the resource it is about."""
    pack, _, name = id_.partition("::")
    return pack, name.removeprefix(f"{pack}-").partition("[")[0]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    return {app: run(app, tmp_path_factory.mktemp("nag")) for app in APPS}


@pytest.mark.parametrize("app", APPS)
def test_cdk_nag_finds_nothing_without_a_reason(reports, app):
    report = reports[app]

    assert set(report.packs) >= set(PACKS)
    assert report.findings == []
    assert report.done.returncode == 0, report.done.stderr


@pytest.mark.parametrize("app", APPS)
def test_every_reason_is_given_at_the_one_resource_that_a_finding_is_about(reports, app):
    report = reports[app]

    assert report.explained
    assert sorted(report.acknowledged) == sorted(report.explained)


@pytest.mark.parametrize("app", APPS)
def test_a_reason_for_a_wildcard_names_what_the_template_allows_there(reports, app):
    report = reports[app]
    allowed = actions_by_resource(report.out)
    checked = 0
    for path, id_, reason in report.explained:
        if rule_of(id_) == ("AwsSolutions", "IAM5"):
            kind, _, resource = id_.partition("[")[2].removesuffix("]").partition("::")
            parts = [part.partition(": ")[0] for part in reason.split("; ")]
            assert kind == "Resource"
            assert {one for part in parts for one in part.split(", ")} == allowed[path][resource]
            checked += 1

    assert checked


def actions_by_resource(out):
    """Return what each role or policy allows: construct path to resource to actions."""
    found = {}
    for metadata in out.rglob("*.metadata.json"):
        name = metadata.name.removesuffix(".metadata.json")
        resources = json.loads((metadata.parent / f"{name}.template.json").read_text())["Resources"]
        for path, entries in json.loads(metadata.read_text()).items():
            ids = [one["data"] for one in entries if one["type"] == "aws:cdk:logicalId"]
            for properties in (resources[id_]["Properties"] for id_ in ids if id_ in resources):
                documents = [one["PolicyDocument"] for one in properties.get("Policies", ())]
                documents += [properties[k] for k in ("PolicyDocument",) if k in properties]
                for document in documents:
                    for statement in statements_of(document):
                        for resource in statement.resources:
                            actions = found.setdefault(path[1:], {}).setdefault(resource, set())
                            actions.update(statement.actions)
    return found


def test_the_document_lists_what_is_explained_and_why(reports):
    """Put what this prints into docs/security.md."""
    packs = {}
    for report in reports.values():
        for _, id_, reason in report.explained:
            pack, rule = rule_of(id_)
            for part in reason.split("; ") if rule == "IAM5" else [reason]:
                packs.setdefault((rule, part), set()).add(pack)
    rows = [
        f"| {rule} | {', '.join(sorted(found))} | {reason[0].upper()}{reason[1:].rstrip('.')} |"
        if rule != "IAM5"
        else f"| {rule} | {', '.join(sorted(found))} | {as_code(reason)} |"
        for (rule, reason), found in sorted(packs.items())
    ]
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- explained -->\n\| rule.*\n\|[-|]+\n((?:\|.*\n)*)", text)

    assert table == "\n".join(rows) + "\n", "\n".join(rows)


def as_code(reason):
    """Return the reason for a wildcard, with its actions as code."""
    actions, _, why = reason.partition(": ")
    return f"{', '.join(f'`{one}`' for one in actions.split(', '))}: {why}"
