"""cdk-nag's packs, over the sample and over all constructs: every finding has a written reason."""

import csv
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixtures.synthesis import ROOT
from tests.infra.nag import APPS

pytestmark = pytest.mark.synth


@dataclass(frozen=True)
class Report:
    """What was found in an app.

    Attributes:
        out: the folder with the templates.
        packs: the plugins that ran.
        findings: those without a reason.
        explained: those with one: construct path, id of the rule and reason.
        acknowledged: the reasons that were given: likewise.
    """

    out: Path
    packs: list[str]
    findings: list[str]
    explained: list[tuple[str, str, str]]
    acknowledged: list[tuple[str, str, str]]


@pytest.fixture(scope="module")
def expected_packs():
    from tidemark.constructs.security.explanations import STANDARDS

    return {"AwsSolutions", *STANDARDS}


@pytest.fixture(scope="module")
def reports(tmp_path_factory, expected_packs):
    folder = tmp_path_factory.mktemp("nag")
    done = subprocess.run(
        [sys.executable, "-m", "tests.infra.nag", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {app: report_of(folder / app, expected_packs) for app in APPS}


def report_of(out, expected_packs):
    plugins = json.loads((out / "validation-report.json").read_text())["pluginReports"]
    findings = [
        f"{violation['ruleName']} at {construct['constructPath']}"
        for plugin in plugins
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]
    explained = [
        (construct["constructPath"], one["acknowledgedId"], one["reason"])
        for plugin in plugins
        if plugin["pluginName"] in expected_packs
        for one in plugin.get("suppressedViolations", ())
        for construct in one["violatingConstructs"]
    ]
    noted = json.loads((out / "acknowledged.json").read_text())
    acknowledged = [tuple(one) for one in noted if one[1].partition("::")[0] in expected_packs]
    packs = [plugin["pluginName"] for plugin in plugins]
    return Report(out, packs, findings, explained, acknowledged)


def rule_of(id_):
    """Return the pack of a rule, and its name, without the resource it is about."""
    pack, _, name = id_.partition("::")
    return pack, name.removeprefix(f"{pack}-").partition("[")[0]


@pytest.mark.parametrize("app", APPS)
def test_cdk_nag_finds_nothing_without_a_reason(reports, app, expected_packs):
    assert set(reports[app].packs) >= expected_packs
    assert reports[app].findings == []


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
    from tidemark.constructs.security.wildcards import statements_of

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
    """Put what this prints into docs/cdk-nag.csv."""
    packs = {}
    for report in reports.values():
        for _, id_, reason in report.explained:
            pack, rule = rule_of(id_)
            for part in reason.split("; ") if rule == "IAM5" else [reason]:
                packs.setdefault((rule, part), set()).add(pack)
    rows = [
        [rule, ", ".join(sorted(found)), f"{reason[0].upper()}{reason[1:].rstrip('.')}"]
        if rule != "IAM5"
        else [rule, ", ".join(sorted(found)), as_code(reason)]
        for (rule, reason), found in sorted(packs.items())
    ]
    with (ROOT / "docs" / "cdk-nag.csv").open(encoding="utf-8", newline="") as file:
        _, *listed = csv.reader(file)

    assert listed == rows, "\n".join(map(str, rows))


def as_code(reason):
    """Return the reason for a wildcard, with its actions as code."""
    actions, _, why = reason.partition(": ")
    return f"{', '.join(f'`{one}`' for one in actions.split(', '))}: {why}"
