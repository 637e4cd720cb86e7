"""Schedules of EventBridge Scheduler and of rules fire by the clock of the port."""

from __future__ import annotations

import json
import time

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.state_machines.conftest import ROLE, States, steps
from tests.waiting import wait_until
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.eventbridge.schedules import why_not_here
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home

NOON = 1_772_366_400  # 2026-03-01T12:00:00Z
SHOW = {"Type": "Pass", "End": True}
MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:nightly"
SDK = "arn:aws:scheduler:::aws-sdk"


class Clock:
    def __init__(self) -> None:
        self.seconds = NOON

    def turn(self, seconds: int) -> None:
        self.seconds += seconds
        time.sleep(0.5)  # an engine looks at its clock each 0.2 s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def port(tmp_path, clock):
    said: list[str] = []
    options = Options(clock=lambda: clock.seconds * 1000, say=said.append)
    with serving(Home.open(tmp_path / "home"), options) as (url, engine):
        port = Port(Home.open(tmp_path / "home"), url, engine)
        port.said = said
        yield port


def schedule(arn=MACHINE, expression="rate(1 hour)", **members):
    target = {"Arn": arn, "RoleArn": "r", **members.pop("target", {})}
    off = {"Mode": "OFF"}
    properties = {"ScheduleExpression": expression, "FlexibleTimeWindow": off, "Target": target}
    return {"Type": "AWS::Scheduler::Schedule", "Properties": {**properties, **members}}


def nightly():
    definition = json.dumps(steps("Show", Show=SHOW))
    properties = {"StateMachineName": "nightly", "DefinitionString": definition, "RoleArn": ROLE}
    return {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}


def deploy(port, write_assembly, **schedules):
    folder = write_assembly({"one": ""}, others={"Nightly": nightly(), **schedules})
    return port.engine.ask(lambda glue: deploy_on_port(glue, folder))


def inputs(port):
    answer = States(port).client.list_executions(stateMachineArn=MACHINE)
    arns = [execution["executionArn"] for execution in answer["executions"]]
    return [json.loads(States(port).ended(arn)["input"]) for arn in arns]


def test_a_schedule_starts_a_machine_at_its_time_with_its_input_and_context(
    port, clock, write_assembly
):
    at = '{"at": "<aws.scheduler.scheduled-time>", "by": "<aws.scheduler.schedule-arn>"}'
    daily = schedule(
        {"Fn::GetAtt": ["Nightly", "Arn"]},
        "cron(30 14 * * ? *)",
        ScheduleExpressionTimezone="Europe/Berlin",
        Name="daily",
        target={"Input": at},
    )

    text = deploy(port, write_assembly, Daily=daily)
    clock.turn(89 * 60)
    assert inputs(port) == []
    clock.turn(2 * 60)

    arn = "arn:aws:scheduler:us-east-1:000000000000:schedule/default/daily"
    assert wait_until(lambda: inputs(port)) == [{"at": "2026-03-01T13:30:00Z", "by": arn}]
    assert "not on this machine" not in text


def test_a_schedule_without_input_gives_the_notification_of_aws(port, clock, write_assembly):
    deploy(port, write_assembly, Hourly=schedule(Name="hourly", GroupName="g"))

    clock.turn(3600)

    (given,) = wait_until(lambda: inputs(port))
    assert (given["source"], given["detail-type"]) == ("aws.scheduler", "Scheduled Event")
    assert given["resources"] == ["arn:aws:scheduler:us-east-1:000000000000:schedule/g/hourly"]


def test_a_schedule_starts_a_machine_by_a_universal_target(port, clock, write_assembly):
    given = {"StateMachineArn": MACHINE, "Input": '{"day": 1}'}
    target = {"Input": json.dumps(given)}

    deploy(port, write_assembly, Hourly=schedule(f"{SDK}:sfn:startExecution", target=target))
    clock.turn(3600)

    assert wait_until(lambda: inputs(port)) == [{"day": 1}]


def test_a_schedule_starts_a_job_with_arguments(port, clock, write_assembly):
    port.job("load")
    given = {"JobName": "load", "Arguments": {"--day": "<aws.scheduler.scheduled-time>"}}
    target = {"Input": json.dumps(given)}

    deploy(port, write_assembly, Hourly=schedule(f"{SDK}:glue:startJobRun", target=target))
    clock.turn(3600)

    (run,) = wait_until(lambda: port.glue.get_job_runs(JobName="load")["JobRuns"])
    assert run["Arguments"] == {"--day": "2026-03-01T13:00:00Z"}
    port.settle()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("no JSON", "its Input is not an object in JSON"),
        ("[1]", "its Input is not an object in JSON"),
        ('{"JobName": "none"}', "there is no job 'none'"),
        ('{"JobNames": "load"}', "JobName"),
    ],
    ids=["no-json", "list", "no-job", "member"],
)
def test_a_start_that_is_refused_is_told_and_the_next_one_comes(
    port, clock, write_assembly, given, text
):
    start = schedule(f"{SDK}:glue:startJobRun", Name="load", target={"Input": given})
    deploy(port, write_assembly, Hourly=start)

    clock.turn(3600)
    (said,) = wait_until(lambda: list(port.said))
    clock.turn(3600)

    assert said.startswith(f"schedule default/load could not start {SDK}:glue:startJobRun: ")
    assert text in said
    assert wait_until(lambda: port.said[1:]) == [said]


def test_a_schedule_that_is_disabled_or_dropped_does_not_fire(port, clock, write_assembly):
    text = deploy(port, write_assembly, A=schedule(State="DISABLED"), B=schedule(Name="b"))
    deploy(port, write_assembly, A=schedule(State="DISABLED"))

    clock.turn(7200)

    assert "not on this machine" not in text
    assert inputs(port) == []


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {"FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15}},
            "its FlexibleTimeWindow has the mode FLEXIBLE; allowed: OFF",
        ),
        ({"EndDate": "2027-01-01T00:00:00Z"}, "it has EndDate, which is on AWS only; leave it out"),
        ({"arn": "arn:aws:lambda:us-east-1:0:function:f"}, "function:f is on AWS only"),
        ({"arn": f"{SDK}:glue:startWorkflowRun"}, "startWorkflowRun is on AWS only"),
        ({"expression": "at(2099-01-01T00:00:00)"}, "neither cron(...) nor rate(...)"),
        ({"expression": "rate(1 minute)"}, "allowed: 5 min or more"),
    ],
    ids=["window", "bounds", "lambda", "workflow", "at", "fine"],
)
def test_a_schedule_that_cannot_fire_here_is_named_with_why(changed, why):
    assert why in str(why_not_here(schedule(**changed)["Properties"]))


def test_a_deployment_names_the_schedules_that_do_not_fire_here(port, write_assembly):
    at_once = schedule(expression="at(2099-01-01T00:00:00)", Name="once")

    text = deploy(port, write_assembly, Once=at_once)

    assert "not on this machine: schedule default/once (" in text
    assert "neither cron(...) nor rate(...)" in text


def test_a_rule_with_a_schedule_starts_its_targets_by_the_clock(port, clock):
    events, states = port.client("events"), States(port)
    states.machine("nightly", steps("Show", Show=SHOW))
    events.put_rule(Name="hourly", ScheduleExpression="cron(0 * * * ? *)")
    events.put_targets(
        Rule="hourly",
        Targets=[
            {"Id": "all", "Arn": MACHINE},
            {"Id": "own", "Arn": MACHINE, "Input": '{"day": 1}'},
        ],
    )

    clock.turn(3600)
    given = wait_until(lambda: len(inputs(port)) == 2 and inputs(port))

    assert {"day": 1} in given
    (event,) = [item for item in given if item != {"day": 1}]
    assert (event["source"], event["detail-type"], event["detail"]) == (
        "aws.events",
        "Scheduled Event",
        {},
    )
    assert event["time"] == "2026-03-01T13:00:00Z"
    assert event["resources"] == ["arn:aws:events:us-east-1:000000000000:rule/hourly"]
    assert events.describe_rule(Name="hourly")["ScheduleExpression"] == "cron(0 * * * ? *)"


def test_a_rule_needs_a_pattern_or_a_schedule_that_fires(port):
    events = port.client("events")

    with pytest.raises(events.exceptions.ClientError, match="EventPattern or ScheduleExpression"):
        events.put_rule(Name="none")
    with pytest.raises(events.exceptions.ClientError, match="neither cron"):
        events.put_rule(Name="bad", ScheduleExpression="often")
