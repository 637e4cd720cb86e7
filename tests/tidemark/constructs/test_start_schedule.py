"""A stage with a schedule: EventBridge Scheduler calls StartWorkflowRun, and nothing else."""

import json

import pytest

pytestmark = pytest.mark.synth


@pytest.fixture(scope="module")
def prod(synth):
    return synth(stage="prod").sample()


def the_one(assembly, type_, part=""):
    """Return the logical id and the properties of the one resource of a type."""
    ((id_, resource),) = (
        found for found in assembly.resources(type_).items() if part in found[0].split("/")[1]
    )
    return id_.split("/")[1], resource["Properties"]


def test_a_stage_without_a_schedule_has_nothing_of_it(synth):
    assembly = synth(stage="dev")

    for type_ in ("Scheduler::Schedule", "Scheduler::ScheduleGroup", "SQS::Queue"):
        assert assembly.resources(f"AWS::{type_}") == {}


def test_a_schedule_calls_start_workflow_run_on_its_minute(prod, as_text):
    _, schedule = the_one(prod, "AWS::Scheduler::Schedule")

    assert schedule["ScheduleExpression"] == "cron(0 6 * * ? *)"
    assert schedule["ScheduleExpressionTimezone"] == "UTC"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["State"] == "ENABLED"
    arn = as_text(schedule["Target"]["Arn"])
    assert arn == "arn:{AWS::Partition}:scheduler:::aws-sdk:glue:startWorkflowRun"
    assert json.loads(schedule["Target"]["Input"]) == {"Name": "flights"}


def test_a_schedule_comes_after_every_trigger(prod):
    schedules = prod.resources("AWS::Scheduler::Schedule").values()
    start, _ = the_one(prod, "AWS::Glue::Trigger", "FlightsStart")

    assert [schedule["DependsOn"] for schedule in schedules] == [[start]]


def test_its_role_starts_this_workflow_and_reports_failures_and_nothing_else(prod, as_text):
    _, schedule = the_one(prod, "AWS::Scheduler::Schedule")
    queue, _ = the_one(prod, "AWS::SQS::Queue")
    role_id = schedule["Target"]["RoleArn"]["Fn::GetAtt"][0]
    _, role = the_one(prod, "AWS::IAM::Role", role_id)

    (policy,) = role["Policies"]
    assert [
        (s["Effect"], s["Action"], as_text(s["Resource"]))
        for s in policy["PolicyDocument"]["Statement"]
    ] == [
        (
            "Allow",
            "glue:StartWorkflowRun",
            "arn:{AWS::Partition}:glue:{AWS::Region}:{AWS::AccountId}:workflow/flights",
        ),
        ("Allow", "sqs:SendMessage", f"{{{queue}.Arn}}"),
    ]
    assert "ManagedPolicyArns" not in role


def test_only_the_scheduler_of_this_account_and_group_assumes_its_role(prod):
    group, properties = the_one(prod, "AWS::Scheduler::ScheduleGroup")
    _, schedule = the_one(prod, "AWS::Scheduler::Schedule")
    _, role = the_one(prod, "AWS::IAM::Role", "StartScheduleRole")

    assert schedule["GroupName"] == {"Ref": group}
    assert properties["Name"] == "tidemark-prod-flights"
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert trust["Condition"] == {
        "StringEquals": {
            "aws:SourceAccount": {"Ref": "AWS::AccountId"},
            "aws:SourceArn": {"Fn::GetAtt": [group, "Arn"]},
        }
    }


def test_a_start_that_failed_is_kept_encrypted_and_raises_an_alarm(prod):
    _, schedule = the_one(prod, "AWS::Scheduler::Schedule")
    id_, queue = the_one(prod, "AWS::SQS::Queue")
    _, alarm = the_one(prod, "AWS::CloudWatch::Alarm", "MissedStart")

    assert schedule["Target"]["DeadLetterConfig"] == {"Arn": {"Fn::GetAtt": [id_, "Arn"]}}
    assert queue["SqsManagedSseEnabled"] is True
    assert queue["MessageRetentionPeriod"] == 14 * 24 * 3_600
    (query,) = alarm["Metrics"]
    metric = query["MetricStat"]["Metric"]
    assert (metric["Namespace"], metric["MetricName"]) == (
        "AWS/SQS",
        "ApproximateNumberOfMessagesVisible",
    )
    assert metric["Dimensions"] == [
        {"Name": "QueueName", "Value": {"Fn::GetAtt": [id_, "QueueName"]}}
    ]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert alarm["TreatMissingData"] == "notBreaching"
    assert (
        "aws scheduler get-schedule --group-name tidemark-prod-flights --name flights"
        in alarm["AlarmDescription"]
    )
    (topic,) = prod.resources("AWS::SNS::Topic")
    assert alarm["AlarmActions"] == [{"Ref": topic.split("/")[1]}]


def test_the_dashboard_says_how_the_workflow_starts(synth, as_text):
    for stage, starts in (("prod", "Starts by `cron(0 6 * * ? *)` in UTC."), ("dev", "by hand.")):
        _, dashboard = the_one(synth(stage=stage).sample(), "AWS::CloudWatch::Dashboard")
        assert starts in as_text(dashboard["DashboardBody"])
