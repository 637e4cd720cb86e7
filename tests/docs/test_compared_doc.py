"""The pipelines of three_ways.md start the same jobs, whichever way they are written."""

import inspect
import re
from typing import Any

import pytest
import yaml

from tests.fixtures.pipelines import ACCOUNT, KEY, REGION, Declared, stage_of
from tests.pages import Page

pytestmark = pytest.mark.synth
PAGE = Page("tests/docs/three_ways.md")
JOBS = ["ingest-orders", "publish-orders"]


def declare(name: str) -> Any:
    return PAGE.run(name)["declare"]


@pytest.fixture(scope="module")
def both(cdk, tmp_path_factory):
    """Return an app with all that the page declares here, and one with the CDK's constructs."""
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Lake, PipelineSet

    root = tmp_path_factory.mktemp("compared")
    for script in ("ingest.py", "publish.py", "fetch.py", "tell.py"):
        (root / script).write_text("x = 1\n", encoding="utf-8")
    ours, theirs = Declared(cdk, root), Declared(cdk, root)
    stage, key = stage_of(), kms.Key.from_key_arn(ours.stack, "Key", KEY)
    lake = Lake(ours.stack, "Lake", stage=stage, key=key)
    pipeline = declare("here")(ours.stack, stage, lake, key, root)
    declare("crawl")(pipeline, lake)
    env = cdk.Environment(account=ACCOUNT, region=REGION)
    pipelines = PipelineSet(ours.app, stage=stage, watermarks=None, key=key, root=root, env=env)
    declare("table")(pipelines, lake)
    buckets = [s3.Bucket(theirs.stack, name) for name in ("Landing", "Curated", "Mart")]
    declare("cdk")(theirs.stack, *buckets, root)
    ours.app.synth()
    theirs.app.synth()
    return ours, theirs


def bookmarks(declared: Declared) -> dict[str, str]:
    return {
        job["Name"]: job["DefaultArguments"]["--job-bookmark-option"]
        for job in declared.resources("AWS::Glue::Job")
        if job["Name"] in JOBS
    }


def test_each_way_keeps_the_same_bookmarks(both):
    ours, theirs = both
    mdaa = yaml.safe_load(PAGE.blocks["mdaa jobs"])["jobs"]

    said = {name: job["defaultArguments"]["--job-bookmark-option"] for name, job in mdaa.items()}
    assert bookmarks(ours) == bookmarks(theirs) == said


def test_each_way_waits_for_the_same_success(both):
    ours, theirs = both
    nodes = yaml.safe_load(PAGE.blocks["mdaa workflow"])["workflowDefinitions"][0]
    triggers = [
        node["TriggerDetails"]["Trigger"]
        for node in nodes["rawWorkflowDef"]["Workflow"]["Graph"]["Nodes"]
    ]

    for declared in (
        ours.resources("AWS::Glue::Trigger"),
        theirs.resources("AWS::Glue::Trigger"),
        triggers,
    ):
        (one,) = [
            it["Predicate"]["Conditions"]
            for it in declared
            if it["Type"] == "CONDITIONAL" and len(it["Predicate"]["Conditions"]) == 1
            and it["Predicate"]["Conditions"][0].get("State") == "SUCCEEDED"
            and "CrawlerName" not in it["Actions"][0]
        ]  # fmt: skip
        assert one[0]["LogicalOperator"] == "EQUALS"


def test_the_signature_on_the_page_names_every_keyword():
    from tidemark.constructs import Pipeline

    (shown,) = re.findall(r"```python\nadd_job\((.*?)```", PAGE.text, re.DOTALL)
    names = set(re.findall(r"\b[a-z_]+\b", re.sub(r"#.*", "", shown)))

    assert names == set(inspect.signature(Pipeline.add_job).parameters) - {"self"}
