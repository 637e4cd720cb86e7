"""The pipeline of docs/start-a-pipeline.md is synthesized, and its commands are right."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore import xform_name

from tests.fixtures.pipelines import Declared, stage_of
from tests.fixtures.synthesis import as_text
from tests.pages import Page

pytestmark = pytest.mark.synth
PAGE = Page("docs/start-a-pipeline.md")


def declare_starts(cdk: Any, folder: Path, **settings: Any) -> Declared:
    """Return an app of the page's pipeline, over a project in a folder."""
    from aws_cdk import aws_kms as kms

    from tidemark.constructs import LakeBucket
    from tidemark.constructs.lake_bucket import AccessLogBucket

    declared = Declared(cdk, folder, **settings)
    key = kms.Key(declared.stack, "Own", enable_key_rotation=True)
    logs = AccessLogBucket(declared.stack, "Logs")
    landing = LakeBucket(declared.stack, "Landing", key=key, access_logs=logs)
    PAGE.run("starts")["declare"](declared.stack, stage_of(), landing, key, folder)
    return declared


def test_the_pipeline_of_the_page_passes_the_rules_of_the_graph(cdk, tmp_path):
    declared = declare_starts(cdk, tmp_path)
    declared.app.synth()

    assert len(declared.resources("AWS::Scheduler::Schedule")) == 1
    (trigger,) = declared.resources("AWS::Glue::Trigger")
    assert trigger["EventBatchingCondition"] == {"BatchSize": 10, "BatchWindow": 900}
    (action,) = trigger["Actions"]
    assert (action["Arguments"], action["Timeout"]) == ({"--run_by": "workflow"}, 20)


def test_the_event_of_the_page_matches_the_rule_for_a_hand(cdk, tmp_path):
    declared = declare_starts(cdk, tmp_path)

    (entries,) = re.findall(r"put-events --entries '(.*)'", PAGE.text)
    (entry,) = json.loads(entries)
    (pattern,) = [
        rule["EventPattern"]
        for rule in declared.resources("AWS::Events::Rule")
        if rule.get("Name", "").endswith("-by-hand")
    ]
    assert pattern["source"] == [entry["Source"]]
    assert pattern["detail-type"] == [entry["DetailType"]]
    detail = json.loads(entry["Detail"])
    assert pattern["detail"] == {key: [value] for key, value in detail.items()}
    texts = [as_text(it["AlarmDescription"]) for it in declared.resources("AWS::CloudWatch::Alarm")]
    assert len([text for text in texts if f"put-events --entries '{entries}'" in text]) == 2


@pytest.mark.parametrize("line", PAGE.blocks["aws"].splitlines())
def test_the_commands_of_the_page_are_calls_of_aws(line):
    program, service, operation, *options = shlex.split(line)
    assert program == "aws"
    client = boto3.client(
        {"s3api": "s3"}.get(service, service),
        region_name="eu-west-1",
    )
    names = {xform_name(name, "-"): name for name in client.meta.service_model.operation_names}
    shape = client.meta.service_model.operation_model(names[operation]).input_shape
    known = {f"--{xform_name(member, '-')}" for member in shape.members}
    assert {option for option in options if option.startswith("--")} <= known
