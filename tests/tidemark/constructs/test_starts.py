"""What starts a pipeline: schedules, objects that arrive, events."""

import contextlib
import json
from pathlib import Path

import pytest

from tests.fixtures.pipelines import FLAGS
from tidemark.errors import JobDefinitionError
from tidemark.model.schedules.schedules import Schedule

pytestmark = pytest.mark.synth

SIX = Schedule("cron(0 6 * * ? *)", "Europe/Zurich")
NOON = Schedule("cron(0 12 ? * MON-FRI *)")
CLOSED = {"source": ["acme.shop"], "detail-type": ["Day Closed"]}


@pytest.fixture
def stack(cdk):
    return cdk.Stack(cdk.App(analytics_reporting=False, context=FLAGS), "stack")


@pytest.fixture
def declare(stack, tmp_path):
    """Return a function that declares a pipeline of one job, and what starts it."""
    from aws_cdk import aws_kms as kms

    from tidemark.constructs import BookmarkOption, JobRuntime, Pipeline, StageConfig

    (tmp_path / "job.py").write_text("print('hello')\n")
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:eu-west-1:123456789012:key/k")

    def declare(starts, name="orders", schedule=None, **job):
        stage = StageConfig("dev", None, None, schedule, JobRuntime("G.1X", 2, timeout_minutes=30))
        pipeline = Pipeline(
            stack,
            name.capitalize(),
            name=name,
            root=tmp_path,
            stage=stage,
            watermarks=None,
            key=key,
            starts=starts,
        )
        pipeline.add_job(f"{name}-one", script="job.py", bookmark=BookmarkOption.DISABLE, **job)
        return pipeline

    return declare


@pytest.fixture
def landing(stack):
    """Return where objects arrive, in a bucket of the app."""
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset, LakeBucket

    logs = s3.Bucket.from_bucket_name(stack, "Logs", "logs")
    bucket = LakeBucket(stack, "Landing", key=kms.Key(stack, "Own"), access_logs=logs)
    return Dataset(bucket, "orders/in/", delivered=True)


def resources(stack, type_):
    from aws_cdk.assertions import Template

    return Template.from_stack(stack).find_resources(type_)


def properties(stack, type_):
    return [it["Properties"] for it in resources(stack, type_).values()]


def start_trigger(stack):
    (start,) = [t for t in properties(stack, "AWS::Glue::Trigger") if t["Type"] != "CONDITIONAL"]
    return start


def test_without_starts_a_pipeline_has_those_of_its_stage(stack, declare):
    declare(None, schedule="rate(1 day)")

    (schedule,) = properties(stack, "AWS::Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == "rate(1 day)"


def test_an_empty_list_starts_nothing_whatever_the_stage_says(stack, declare):
    declare([], schedule="rate(1 day)")

    for type_ in ("AWS::Scheduler::Schedule", "AWS::SQS::Queue", "AWS::IAM::Policy"):
        assert resources(stack, type_) == {}
    assert start_trigger(stack)["Type"] == "ON_DEMAND"


def test_several_schedules_share_a_group_a_role_a_queue_and_an_alarm(stack, declare):
    declare([SIX, NOON], schedule="rate(1 day)")

    found = resources(stack, "AWS::Scheduler::Schedule")
    schedules = [it["Properties"] for it in found.values()]
    assert [
        (s["Name"], s["ScheduleExpression"], s["ScheduleExpressionTimezone"]) for s in schedules
    ] == [
        ("orders", SIX.expression, "Europe/Zurich"),
        ("orders-2", NOON.expression, "UTC"),
    ]
    assert len({json.dumps([s["GroupName"], s["Target"]]) for s in schedules}) == 1
    assert len(resources(stack, "AWS::Scheduler::ScheduleGroup")) == 1
    assert len(resources(stack, "AWS::SQS::Queue")) == 1
    (start,) = [i for i, t in resources(stack, "AWS::Glue::Trigger").items()]
    assert [it["DependsOn"] for it in found.values()] == [[start]] * 2


def test_a_second_schedule_changes_nothing_of_the_first(stack, declare):
    declare([SIX])
    declare([NOON, SIX], name="returns")

    found = resources(stack, "AWS::Scheduler::Schedule")
    assert [(id_[:-8], it["Properties"]["Name"]) for id_, it in found.items()] == [
        ("OrdersStartSchedule", "orders"),  # the id that an only schedule has had from the first
        ("ReturnsStartSchedule", "returns"),
        ("ReturnsStartScheduleResource2", "returns-2"),
    ]


def test_names_of_schedules_fit_whatever_the_name_of_the_pipeline(stack, declare):
    declare([SIX, NOON], name="p" * 60 + "-one")

    names = [s["Name"] for s in properties(stack, "AWS::Scheduler::Schedule")]
    assert len(set(names)) == 2
    assert max(map(len, names)) <= 64


def test_objects_that_arrive_start_the_workflow_in_batches(stack, declare, landing):
    from tidemark.constructs import OnObjects

    declare([OnObjects(landing, batch_size=10, batch_window_minutes=5)], reads=[landing])

    start = start_trigger(stack)
    assert start["Type"] == "EVENT"
    assert start["EventBatchingCondition"] == {"BatchSize": 10, "BatchWindow": 300}
    assert "StartOnCreation" not in start
    rules = {r.get("Name"): r for r in properties(stack, "AWS::Events::Rule")}
    rule = rules["tidemark-dev-orders-start-1"]
    bucket = stack.resolve(landing.bucket.bucket_name)
    assert rule["EventPattern"] == {
        "source": ["aws.s3"],
        "detail-type": ["Object Created"],
        "detail": {
            "bucket": {"name": [bucket]},
            "object": {"key": [{"prefix": "orders/in/"}]},
        },
    }
    (target,) = rule["Targets"]
    assert "workflow/orders" in json.dumps(target["Arn"])
    assert target["RetryPolicy"] == {
        "MaximumEventAgeInSeconds": 86_400,
        "MaximumRetryAttempts": 185,
    }


def test_a_bucket_of_the_app_is_made_to_send_its_events(stack, declare, landing):
    from tidemark.constructs import OnObjects

    declare([OnObjects(landing)], reads=[landing])
    declare([OnObjects(landing)], name="returns", reads=[landing])

    (bucket,) = properties(stack, "AWS::S3::Bucket")
    assert bucket["NotificationConfiguration"] == {
        "EventBridgeConfiguration": {"EventBridgeEnabled": True}
    }
    assert told(stack) == []


def told(stack):
    return [
        entry.data
        for construct in stack.node.find_all()
        for entry in construct.node.metadata
        if entry.type == "aws:cdk:warning" and "send its events" in str(entry.data)
    ]


def test_of_an_imported_bucket_it_is_said_what_it_must_do(stack, declare):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset, OnObjects

    bucket = s3.Bucket.from_bucket_name(stack, "Theirs", "theirs")
    declare([OnObjects(Dataset(bucket, "in/", delivered=True))])

    (warning,) = told(stack)
    assert "stack/Theirs" in warning


def test_any_event_starts_a_workflow_and_so_does_a_hand(stack, declare):
    from tidemark.constructs import OnEvent

    declare([OnEvent(CLOSED), OnEvent({"source": ["acme.bank"]})])

    patterns = {
        rule["Name"]: rule["EventPattern"]
        for rule in properties(stack, "AWS::Events::Rule")
        if "Name" in rule
    }
    assert patterns == {
        "tidemark-dev-orders-start-by-hand": {
            "source": ["tidemark"],
            "detail-type": ["Pipeline Start Requested"],
            "detail": {"pipeline": ["orders"]},
        },
        "tidemark-dev-orders-start-1": CLOSED,
        "tidemark-dev-orders-start-2": {"source": ["acme.bank"]},
    }
    assert start_trigger(stack)["EventBatchingCondition"] == {"BatchSize": 1, "BatchWindow": 900}


def test_the_role_of_events_notifies_this_workflow_for_these_rules_and_nothing_else(
    stack, declare, as_text
):
    from tidemark.constructs import OnEvent

    declare([OnEvent(CLOSED)])

    rules = [r for r in properties(stack, "AWS::Events::Rule") if "Name" in r]
    role_id = rules[0]["Targets"][0]["RoleArn"]["Fn::GetAtt"][0]
    role = resources(stack, "AWS::IAM::Role")[role_id]["Properties"]
    (policy,) = role["Policies"]
    assert [
        (s["Effect"], s["Action"], as_text(s["Resource"]))
        for s in policy["PolicyDocument"]["Statement"]
    ] == [
        (
            "Allow",
            "glue:notifyEvent",
            "arn:{AWS::Partition}:glue:{AWS::Region}:{AWS::AccountId}:workflow/orders",
        )
    ]
    assert "ManagedPolicyArns" not in role
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "events.amazonaws.com"}
    sources = trust["Condition"]["StringEquals"]
    assert sources["aws:SourceAccount"] == {"Ref": "AWS::AccountId"}
    named = [as_text(arn).rpartition("rule/")[2] for arn in sources["aws:SourceArn"]]
    assert named == [rule["Name"] for rule in rules]


def test_an_event_that_does_not_arrive_is_kept_and_raises_an_alarm(stack, declare, as_text):
    from tidemark.constructs import OnEvent

    declare([OnEvent(CLOSED)])

    ((queue_id, queue),) = resources(stack, "AWS::SQS::Queue").items()
    assert queue["Properties"]["SqsManagedSseEnabled"] is True
    rules = [r for r in properties(stack, "AWS::Events::Rule") if "Name" in r]
    for rule in rules:
        dead = rule["Targets"][0]["DeadLetterConfig"]
        assert dead == {"Arn": {"Fn::GetAtt": [queue_id, "Arn"]}}
    (policy,) = properties(stack, "AWS::SQS::QueuePolicy")
    (allowed,) = [s for s in policy["PolicyDocument"]["Statement"] if s["Effect"] == "Allow"]
    assert allowed["Principal"] == {"Service": "events.amazonaws.com"}
    assert allowed["Action"] == "sqs:SendMessage"
    arns = [as_text(arn) for arn in allowed["Condition"]["ArnEquals"]["aws:SourceArn"]]
    assert [arn.rpartition("rule/")[2] for arn in arns] == [rule["Name"] for rule in rules]
    ((_, alarm),) = [
        (i, a) for i, a in resources(stack, "AWS::CloudWatch::Alarm").items() if "MissedEvent" in i
    ]
    (query,) = alarm["Properties"]["Metrics"]
    assert query["MetricStat"]["Metric"]["Dimensions"] == [
        {"Name": "QueueName", "Value": {"Fn::GetAtt": [queue_id, "QueueName"]}}
    ]
    assert "aws events put-events" in as_text(alarm["Properties"]["AlarmDescription"])


def test_with_events_a_schedule_is_one_more_event(stack, declare, as_text):
    from tidemark.constructs import OnEvent

    declare([SIX, OnEvent(CLOSED)])

    (schedule,) = properties(stack, "AWS::Scheduler::Schedule")
    target = schedule["Target"]
    bus = "arn:{AWS::Partition}:events:{AWS::Region}:{AWS::AccountId}:event-bus/default"
    assert as_text(target["Arn"]) == bus
    assert target["EventBridgeParameters"] == {
        "Source": "tidemark",
        "DetailType": "Pipeline Start Requested",
    }
    assert json.loads(target["Input"]) == {"pipeline": "orders"}
    role = resources(stack, "AWS::IAM::Role")[target["RoleArn"]["Fn::GetAtt"][0]]["Properties"]
    put, _ = role["Policies"][0]["PolicyDocument"]["Statement"]
    assert (put["Action"], as_text(put["Resource"])) == ("events:PutEvents", bus)
    names = {id_ for id_ in resources(stack, "AWS::CloudWatch::Alarm") if "Missed" in id_}
    assert len(names) == 2


def test_no_run_begins_in_half_a_graph(stack, declare):
    from tidemark.constructs import OnEvent

    declare([SIX, OnEvent(CLOSED)])

    (start,) = resources(stack, "AWS::Glue::Trigger")
    for type_ in ("AWS::Scheduler::Schedule", "AWS::Events::Rule"):
        for resource in resources(stack, type_).values():
            if type_ != "AWS::Events::Rule" or "Name" in resource["Properties"]:
                assert resource["DependsOn"] == [start]


def test_the_dashboard_shows_everything_that_starts_a_run(stack, declare, landing, as_text):
    from tidemark.constructs import OnEvent, OnObjects

    declare([SIX, OnObjects(landing), OnEvent(CLOSED)], reads=[landing])

    (dashboard,) = properties(stack, "AWS::CloudWatch::Dashboard")
    text = as_text(dashboard["DashboardBody"])
    for fact in ("cron(0 6 * * ? *)` in Europe/Zurich", "orders/in/", "events of acme.shop"):
        assert fact in text


def test_events_of_one_pipeline_share_a_batch(declare):
    from tidemark.constructs import OnEvent

    with pytest.raises(JobDefinitionError, match="10 in 15 min and 1 in 15 min"):
        declare([OnEvent(CLOSED, 10), OnEvent({"source": ["other"]})])


def findings(stack):
    """Return the rules of the graph that find something, whether or not synthesis fails on it."""
    from tidemark.checks.graph.rules import problems
    from tidemark.checks.graph.template import read_graph

    app = stack.node.root
    with contextlib.suppress(RuntimeError):
        app.synth()
    template = json.loads(Path(app.outdir, "stack.template.json").read_text())
    return {found.rule for found in problems(read_graph({"stack": template}))}


def test_a_pipeline_with_schedules_and_events_is_sound(stack, declare, landing):
    from tidemark.constructs import OnEvent, OnObjects

    declare([SIX, NOON, OnObjects(landing), OnEvent(CLOSED)], reads=[landing])

    assert findings(stack) == set()


def test_schedules_that_fire_together_are_told(stack, declare):
    declare([Schedule("cron(0 6 * * ? *)"), Schedule("cron(0 * * * ? *)")])

    assert findings(stack) == {"schedules-too-close"}


def test_a_pipeline_that_writes_what_starts_it_is_refused(stack, declare, landing):
    from tidemark.constructs import Dataset, OnObjects

    inside = Dataset(landing.bucket, "orders/in/done/", published=True)
    declare([OnObjects(landing)], writes=[inside])

    assert "starts-itself" in findings(stack)
