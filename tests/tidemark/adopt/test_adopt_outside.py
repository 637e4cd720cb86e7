"""What starts jobs from outside of Glue starts the pipeline, or the plan names it."""

from __future__ import annotations

import json
import re

import boto3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moto import mock_aws

from tests.tidemark.adopt.finds import PLAIN, found, trigger
from tests.tries import tries
from tidemark.adopt.adoption import adopt
from tidemark.adopt.model import Existing
from tidemark.adopt.plan.code import stack_of
from tidemark.adopt.plan.migration import steps_of
from tidemark.adopt.sources.account_surroundings import read_schedules

JOB_RUN = "arn:aws:scheduler:::aws-sdk:glue:startJobRun"
WORKFLOW_RUN = "arn:aws:scheduler:::aws-sdk:glue:startWorkflowRun"
LAMBDA = "arn:aws:lambda:eu-west-1:111122223333:function:starter"


def schedule(arn=JOB_RUN, given='{"JobName": "orders"}', **more):
    made = {"Name": "x", "GroupName": "g", "ScheduleExpression": "cron(0 1 * * ? *)"}
    return made | {"State": "ENABLED", "Target": {"Arn": arn, "Input": given}} | more


def adopted(*clock, rules=()):
    jobs = {"orders": {"Name": "orders", "Command": {"Name": "glueetl"}}}
    return adopt(Existing("", jobs, clock=clock, other_rules=rules))


def test_a_schedule_of_the_first_job_is_declared_with_its_zone_and_the_rest_is_listed():
    given = json.dumps({"JobName": "orders", "Arguments": {"--day": "1", "--password": "hunter2"}})
    window = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15}
    one = schedule(
        given=given,
        ScheduleExpressionTimezone="Europe/Zurich",
        FlexibleTimeWindow=window,
        EndDate="2030-01-01",
    )

    adoption = adopted(one)

    assert 'Schedule("cron(0 1 * * ? *)", "Europe/Zurich")' in stack_of(adoption, "plan.md", {})
    listed = {it.path: it.value for it in adoption.differences if it.of == "schedule g/x"}
    assert listed == {
        ("State",): "ENABLED",
        ("FlexibleTimeWindow", "MaximumWindowInMinutes"): "15",
        ("EndDate",): "2030-01-01",
        ("Target", "Input", "Arguments", "--day"): "1",
        ("Target", "Input", "Arguments", "--password"): None,
    }


def test_a_schedule_of_a_job_that_is_not_adopted_is_not_stopped():
    jobs = {
        "orders": {"Name": "orders", "Command": {"Name": "glueetl"}},
        "ray": {"Name": "ray", "Command": {"Name": "glueray"}},
    }

    adoption = adopt(Existing("", jobs, clock=[schedule(given='{"JobName": "ray"}')]))

    assert [one.job for one in adoption.left_out] == ["ray"]
    assert adoption.switches == ()
    (told,) = [it for it in adoption.differences if it.of == "schedule g/x"]
    assert told.why == "it starts the job ray, which is not adopted"
    assert "continues" in told.do


ONES = st.builds(
    schedule,
    arn=st.sampled_from([JOB_RUN, WORKFLOW_RUN, LAMBDA, "arn:aws:states:::x", None]),
    given=st.sampled_from(
        ['{"JobName": "orders"}', '{"Name": "nightly"}', "{}", "[", "[" * 100_000, "<aws.x>", None]
    ),
    State=st.sampled_from(["ENABLED", "DISABLED"]),
    ScheduleExpression=st.sampled_from(["cron(0 1 * * ? *)", "rate(1 minute)", "at(2030-01-01)"]),
    ScheduleExpressionTimezone=st.sampled_from(["Europe/Zurich", "Nowhere", None]),
)


@given(st.lists(ONES, max_size=4))
@settings(max_examples=tries(60), deadline=None)
def test_every_schedule_is_named_once_or_starts_something_else(clock):
    clock = [one | {"Name": f"s{number}"} for number, one in enumerate(clock)]

    adoption = adopted(*clock)

    for one in clock:
        listed = [it for it in adoption.differences if it.of == f"schedule g/{one['Name']}"]
        is_other = one["Target"] == {"Arn": WORKFLOW_RUN, "Input": '{"Name": "nightly"}'}
        assert len(listed) == (0 if is_other else 1)


@pytest.mark.parametrize("state", ["CREATED", "ACTIVATED", "DEACTIVATED"])
def test_an_event_trigger_is_on_whatever_its_state(state):
    start = {"Name": "start", "Type": "EVENT", "State": state, "WorkflowName": "nightly"}
    start |= {"Actions": [{"JobName": "orders"}], "EventBatchingCondition": {"BatchSize": 1}}
    jobs = {"orders": {"Name": "orders", "Command": {"Name": "glueetl"}}}
    pattern = '{"source": ["shop"], "detail-type": ["Closed"]}'
    rules = {"nightly": ({"Name": "closed", "EventPattern": pattern},)}

    adoption = adopt(Existing("", jobs, {"start": start}, rules=rules))

    assert len(adoption.events) == 1
    assert ("Type",) not in [difference.path for difference in adoption.differences]
    assert "rule closed" not in [difference.of for difference in adoption.differences]


def test_a_crawler_of_a_whole_bucket_is_named_and_the_rest_goes_on():
    jobs = {"orders": {"Name": "orders", "Command": {"Name": "glueetl"}}}
    targets = {"S3Targets": [{"Path": "s3://acme-lake"}]}
    crawler = {"Name": "raw", "DatabaseName": "sales", "Targets": targets}
    start = {"Name": "t", "Type": "ON_DEMAND"}
    start |= {"Actions": [{"JobName": "orders"}, {"CrawlerName": "raw"}]}

    adoption = adopt(Existing("", jobs, {"t": start}, crawlers={"raw": crawler}))

    assert [job.old for job in adoption.jobs] == ["orders"]
    (left,) = adoption.left_out
    assert "whole bucket s3://acme-lake" in left.why


def test_schedules_of_all_groups_are_read_from_an_account(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        session = boto3.Session(region_name="eu-west-1")
        scheduler = session.client("scheduler")
        scheduler.create_schedule_group(Name="g")
        for group in ("default", "g"):
            scheduler.create_schedule(
                Name="x",
                GroupName=group,
                ScheduleExpression="cron(0 1 * * ? *)",
                FlexibleTimeWindow={"Mode": "OFF"},
                Target={
                    "Arn": JOB_RUN,
                    "RoleArn": "arn:aws:iam::123456789012:role/x",
                    "Input": '{"JobName": "orders"}',
                },
            )
        clock, unread = read_schedules(session)

    assert unread == []
    assert {one["GroupName"] for one in clock} == {"default", "g"}
    assert adopted(*clock).schedules == (("cron(0 1 * * ? *)", "UTC"),)


def test_what_starts_the_old_jobs_from_outside_is_disabled_by_a_step_and_enabled_back():
    target = {"Arn": "arn:aws:scheduler:::aws-sdk:glue:startWorkflowRun"}
    target |= {"Input": '{"Name": "nightly"}'}
    clock = tuple(
        {"Name": name, "GroupName": "g", "State": state, "Target": target,
         "ScheduleExpression": "at(2030-01-01T00:00:00)"}
        for name, state in (("on", "ENABLED"), ("off", "DISABLED"))
    )  # fmt: skip
    rules = tuple(
        {"Name": name, "EventPattern": '{"source": ["a"]}', "State": state}
        for name, state in (("sold", "ENABLED"), ("closed", "DISABLED"))
    )
    one = found(
        {"a": PLAIN},
        trigger("start", "a", Type="EVENT", WorkflowName="nightly"),
        workflow={"Name": "nightly"},
        clock=clock,
        rules={"nightly": rules, "other": rules},
    )
    adoption = adopt(one)

    steps = {step.title: step for step in steps_of(adoption, one, "infra/x_stack.py")}
    stop = steps["Stop everything that starts the old jobs"]

    assert [(it.kind, it.name) for it in adoption.switches] == [
        ("rule", "sold"),
        ("schedule", "on"),
    ]
    told = "\n".join(stop.commands)
    assert "stop-trigger" not in told  # AWS refuses it for EVENT
    assert "aws events disable-rule --name sold" in told
    assert re.search(r"get-schedule --name on --group-name g .*DISABLED > (\S+)\n.*file://\1", told)
    assert "closed" not in told
    assert "--name off" not in told
    back = "\n".join(stop.rollback)
    assert "enable-rule --name sold" in back
    assert "ENABLED" in back
    titles = list(steps)
    assert titles.index(stop.title) < titles.index("Start the new pipeline")
