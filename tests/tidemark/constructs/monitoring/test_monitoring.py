"""Who is told of what."""

import json
import re

import boto3
import pytest

from tests.tidemark.constructs.monitoring.watched import alarms

pytestmark = pytest.mark.synth

SAME_ACCOUNT = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}

# SNS: conditions on the source are not supported where EventBridge publishes to encrypted topics.
PUBLISHERS = {"cloudwatch.amazonaws.com": SAME_ACCOUNT, "events.amazonaws.com": None}


def test_only_cloudwatch_and_eventbridge_may_publish_and_only_by_tls(watched):
    (policy,) = watched.resources("AWS::SNS::TopicPolicy").values()
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    (denied,) = (s for s in statements if s["Effect"] == "Deny")
    allowed = [s for s in statements if s["Effect"] == "Allow"]

    assert {s["Principal"]["Service"]: s.get("Condition") for s in allowed} == PUBLISHERS
    assert {s["Action"] for s in allowed} == {"sns:Publish"}
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_who_may_publish_may_use_the_key_of_the_topic(watched):
    (key,) = watched.resources("AWS::KMS::Key").values()
    services = {
        s["Principal"]["Service"]: s
        for s in key["Properties"]["KeyPolicy"]["Statement"]
        if isinstance(s["Principal"].get("Service"), str)
    }

    for service, condition in PUBLISHERS.items():
        assert services[service]["Action"] == ["kms:Decrypt", "kms:GenerateDataKey*"]
        assert services[service].get("Condition") == condition


def test_failed_and_late_runs_of_every_job_are_told_with_what_to_do(watched):
    rules = [rule["Properties"] for rule in watched.resources("AWS::Events::Rule").values()]
    told = {rule["EventPattern"]["detail-type"][0]: rule for rule in rules if rule.get("Targets")}

    failed, late = told["Glue Job State Change"], told["Glue Job Run Status"]
    assert failed["EventPattern"]["detail"]["state"] == ["FAILED", "TIMEOUT", "ERROR"]
    for rule in (failed, late):
        assert rule["EventPattern"]["source"] == ["aws.glue"]
        assert sorted(rule["EventPattern"]["detail"]["jobName"]) == sorted(watched.jobs())
    (target,) = failed["Targets"]
    text = json.loads(target["InputTransformer"]["InputTemplate"])
    assert "aws glue get-job-run --job-name <job> --run-id <run>" in text
    assert text.endswith("aws glue start-workflow-run --name flights")
    assert target["InputTransformer"]["InputPathsMap"]["job"] == "$.detail.jobName"


def test_what_is_told_in_aws_names_commands_that_look_there(watched, as_text):
    texts = [alarm["AlarmDescription"] for alarm in alarms(watched)]
    texts += [
        target["InputTransformer"]["InputTemplate"]
        for rule in watched.resources("AWS::Events::Rule").values()
        for target in rule["Properties"].get("Targets", [])
    ]
    (dashboard,) = watched.resources("AWS::CloudWatch::Dashboard").values()
    texts.append(as_text(dashboard["Properties"]["DashboardBody"]))

    # `tidemark status` and its like know the runs of this machine only.
    assert [text for text in texts if re.search(r"tidemark [a-z]", text)] == []
    named = {found for text in texts for found in re.findall(r"aws glue ([a-z-]+)", text)}
    operations = boto3.client("glue", region_name="eu-west-1").meta.method_to_api_mapping
    assert named
    assert {name.replace("-", "_") for name in named} <= operations.keys()
