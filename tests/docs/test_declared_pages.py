"""What the pages declare is synthesized, and holds what the pages say of it."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore import xform_name

from tests.fixtures.pipelines import KEY, Declared, stage_of
from tests.fixtures.synthesis import as_text
from tests.pages import Page

pytestmark = pytest.mark.synth
STREAM = "arn:aws:kinesis:eu-west-1:123456789012:stream/clicks"
STARTS = Page("docs/start-a-pipeline.md")


@pytest.fixture(scope="module")
def app_of(cdk: Any, tmp_path_factory: pytest.TempPathFactory):
    """Return a maker of an app over a project with the scripts and files that a page names."""

    def make(page: Page) -> Declared:
        declared = Declared(cdk, tmp_path_factory.mktemp("project"))
        for name in re.findall(r'"((?:jobs|glue_jobs|jars|config)/[\w.]+)"', page.text):
            (declared.root / name).parent.mkdir(exist_ok=True)
            (declared.root / name).write_text("print('hello')\n")
        return declared

    return make


@pytest.fixture(scope="module")
def tables(app_of) -> Declared:
    """Return the app of docs/catalog.md, which passes the rules of the graph."""
    from tidemark.constructs import Lake

    page = Page("docs/catalog.md")
    declared = app_of(page)
    lake = Lake(declared.stack, "Lake", stage=stage_of())
    page.run("tables")["declare"](declared.pipeline(), lake)
    declared.app.synth()
    return declared


def test_tables_are_kept_or_deleted_and_have_their_rulesets(tables):
    found = tables.template("AWS::Glue::Table").values()

    assert {(it["Properties"]["TableInput"]["Name"], it["DeletionPolicy"]) for it in found} == {
        ("visits", "Delete"),
        ("orders", "Retain"),
        ("revenue", "Delete"),
    }
    (ruleset,) = tables.resources("AWS::Glue::DataQualityRuleset")
    assert ruleset["Name"] == "tidemark_dev_orders"


def test_jobs_are_granted_their_tables_and_no_others(tables):
    granted = {
        role["Description"].rpartition("job ")[2].split()[0]: set(
            re.findall(r":table/([\w/]+)", json.dumps(role["Policies"]))
        )
        for role in tables.resources("AWS::IAM::Role")
        if "Glue job" in role.get("Description", "")
    }

    lake = "tidemark_dev"
    assert granted == {
        "curate-orders": {f"{lake}/visits", f"{lake}/orders", "sales/shops", "sales/rates"},
        "publish-revenue": {f"{lake}/orders", "sales/audit"},
    }


def test_a_contract_is_declared_once_and_told_to_its_job(app_of):
    from tidemark.constructs import Lake
    from watermarks import Contract

    page = Page("docs/schema.md")
    declared = app_of(page)
    lake = Lake(declared.stack, "Lake", stage=stage_of())
    pipeline = declared.pipeline(watermarks=lake.watermarks)
    page.run("declare")["declare"](pipeline, lake)
    declared.app.synth()

    (job,) = declared.resources("AWS::Glue::Job")
    contract = Contract.from_json(as_text(job["DefaultArguments"]["--schema_of_target_path"]))
    assert (contract.schema, contract.types) == ("id BIGINT, amt BIGINT", "discard_row")
    assert contract.quarantine.endswith("/quarantine/orders/")
    alarms = declared.resources("AWS::CloudWatch::Alarm")
    texts = [alarm["AlarmDescription"] for alarm in alarms]
    assert [text for text in texts if "look for QuarantinedRows in its log" in text]


def test_every_kind_of_job_is_declared(app_of):
    from aws_cdk import aws_s3 as s3

    page = Page("docs/job-kinds.md")
    declared = app_of(page)
    bucket = s3.Bucket.from_bucket_name(declared.stack, "Bucket", "lake")
    page.run("kinds")["declare"](declared.pipeline(), bucket, "lake", STREAM)
    declared.app.synth()

    commands = {job["Command"]["Name"] for job in declared.resources("AWS::Glue::Job")}
    assert commands == {"glueetl", "pythonshell", "gluestreaming"}
    assert len(declared.resources("AWS::Glue::Crawler")) == 1


def test_arguments_of_glue_and_options_of_a_job_are_in_the_template(app_of):
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

    page = Page("docs/glue-arguments.md")
    declared = app_of(page)
    page.run(
        "glue arguments",
        "job options",
        stack=declared.stack,
        ROOT=declared.root,
        stage=stage_of(),
        watermarks=None,
        key=kms.Key.from_key_arn(declared.stack, "Key", KEY),
        logs=s3.Bucket.from_bucket_name(declared.stack, "Logs", "acme-logs"),
    )

    jobs = declared.resources("AWS::Glue::Job")
    orders, report = sorted(jobs, key=lambda job: job["Name"])
    assert orders["DefaultArguments"]["--conf"] == (
        "spark.sql.shuffle.partitions=64 --conf spark.sql.adaptive.enabled=true"
    )
    assert orders["DefaultArguments"]["--user-jars-first"] == "true"
    assert orders["DefaultArguments"]["--spark-event-logs-path"] == "s3://acme-logs/spark/"
    assert report["NonOverridableArguments"] == {"--source": "s3://acme/orders/"}
    assert report["ExecutionProperty"] == {"MaxConcurrentRuns": 5}
    assert report["NotificationProperty"] == {"NotifyDelayAfter": 10}
    assert report["DefaultArguments"]["--enable-observability-metrics"] == "true"


@pytest.fixture(scope="module")
def starts(app_of) -> Declared:
    """Return the app of docs/start-a-pipeline.md, which passes the rules of the graph."""
    from aws_cdk import aws_kms as kms

    from tidemark.constructs import LakeBucket
    from tidemark.constructs.lake_bucket import AccessLogBucket

    declared = app_of(STARTS)
    key = kms.Key(declared.stack, "Own", enable_key_rotation=True)
    logs = AccessLogBucket(declared.stack, "Logs")
    landing = LakeBucket(declared.stack, "Landing", key=key, access_logs=logs)
    declare = STARTS.run("starts")["declare"]
    declare(declared.stack, stage_of(), landing, key, Path(declared.root))
    declared.app.synth()
    return declared


def test_a_schedule_and_arrivals_start_a_pipeline(starts):
    assert len(starts.resources("AWS::Scheduler::Schedule")) == 1
    (trigger,) = starts.resources("AWS::Glue::Trigger")
    assert trigger["EventBatchingCondition"] == {"BatchSize": 10, "BatchWindow": 900}
    (action,) = trigger["Actions"]
    assert (action["Arguments"], action["Timeout"]) == ({"--run_by": "workflow"}, 20)


def test_the_event_of_the_page_matches_the_rule_for_a_hand(starts):
    (entries,) = re.findall(r"put-events --entries '(.*)'", STARTS.text)
    (entry,) = json.loads(entries)
    (pattern,) = [
        rule["EventPattern"]
        for rule in starts.resources("AWS::Events::Rule")
        if rule.get("Name", "").endswith("-by-hand")
    ]
    assert pattern["source"] == [entry["Source"]]
    assert pattern["detail-type"] == [entry["DetailType"]]
    detail = json.loads(entry["Detail"])
    assert pattern["detail"] == {key: [value] for key, value in detail.items()}
    texts = [as_text(it["AlarmDescription"]) for it in starts.resources("AWS::CloudWatch::Alarm")]
    assert len([text for text in texts if f"put-events --entries '{entries}'" in text]) == 2


@pytest.mark.parametrize("line", STARTS.blocks["aws"].splitlines())
def test_the_commands_of_the_page_are_calls_of_aws(line):
    program, service, operation, *options = shlex.split(line)
    assert program == "aws"
    client = boto3.client({"s3api": "s3"}.get(service, service), region_name="eu-west-1")
    names = {xform_name(name, "-"): name for name in client.meta.service_model.operation_names}
    shape = client.meta.service_model.operation_model(names[operation]).input_shape
    known = {f"--{xform_name(member, '-')}" for member in shape.members}
    assert {option for option in options if option.startswith("--")} <= known
