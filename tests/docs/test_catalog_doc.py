"""The tables of docs/catalog.md are synthesized, and granted as the page says."""

import json
import re
from typing import Any

import pytest

from tests.fixtures.pipelines import Declared, stage_of
from tests.pages import Page

pytestmark = pytest.mark.synth


@pytest.fixture(scope="module")
def declared(cdk: Any, tmp_path_factory: pytest.TempPathFactory) -> Declared:
    """Return an app of the page's pipeline, synthesized."""
    from tidemark.constructs import Lake

    folder = tmp_path_factory.mktemp("project")
    page = Page("docs/catalog.md")
    (folder / "jobs").mkdir()
    for script in re.findall(r'script="(jobs/\w+\.py)"', page.blocks["tables"]):
        (folder / script).write_text("print('hello')\n")
    declared = Declared(cdk, folder)
    lake = Lake(declared.stack, "Lake", stage=stage_of())
    page.run("tables")["declare"](declared.pipeline(), lake)
    declared.app.synth()
    return declared


def test_the_tables_of_the_page_pass_the_rules_of_the_graph(declared):
    tables = declared.template("AWS::Glue::Table").values()

    assert {
        (table["Properties"]["TableInput"]["Name"], table["DeletionPolicy"]) for table in tables
    } == {("visits", "Delete"), ("orders", "Retain"), ("revenue", "Delete")}
    (ruleset,) = declared.resources("AWS::Glue::DataQualityRuleset")
    assert ruleset["Name"] == "tidemark_dev_orders"


def test_the_jobs_of_the_page_are_granted_their_tables_and_no_others(declared):
    roles = declared.resources("AWS::IAM::Role")
    tables = {
        role["Description"].rpartition("job ")[2].split()[0]: {
            match
            for arn in re.findall(r":table/[\w/]+", json.dumps(role["Policies"]))
            for match in [arn.removeprefix(":table/")]
        }
        for role in roles
        if "Glue job" in role.get("Description", "")
    }

    lake = "tidemark_dev"
    assert tables == {
        "curate-orders": {f"{lake}/visits", f"{lake}/orders", "sales/shops", "sales/rates"},
        "publish-revenue": {f"{lake}/orders", "sales/audit"},
    }
