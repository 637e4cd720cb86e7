"""Whole histories of executions, in the order that AWS documents.

Source: https://docs.aws.amazon.com/step-functions/latest/apireference/API_HistoryEvent.html
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tidemark.glue_service.state_machines.conftest import END, PASS, steps, task
from tests.waiting import wait_until
from tidemark.glue_service.state_machines.execution_rows import find_execution, put_execution

JOB = {"JobName": "good"}
RETRY = [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}]
CATCH = [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Caught"}]
MISSING = task("aws-sdk:glue:getJob", Parameters={"JobName": "none"})
PASSED = "PassStateEntered PassStateExited"
CALL = "TaskStateEntered TaskScheduled TaskStarted"
DONE = "TaskSucceeded TaskStateExited"
ITERATION = f"MapIterationStarted {PASSED} MapIterationSucceeded"
MAP = {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 1, **END}
WAIT = {"Type": "Wait", "Seconds": 30, **END}
# Name: the machine, its input, its status or error, and its events between the first and the last.
CHOICE = steps(
    "C",
    C={
        "Type": "Choice",
        "Choices": [{"Variable": "$.n", "NumericGreaterThan": 1, "Next": "A"}],
    },
    A=PASS,
)
MACHINES = {
    "pass": (steps("A", A=PASS), {}, "SUCCEEDED", PASSED),
    "succeed": (
        steps("A", A={"Type": "Succeed"}),
        {},
        "SUCCEEDED",
        "SucceedStateEntered SucceedStateExited",
    ),
    "fail": (steps("A", A={"Type": "Fail", "Error": "E"}), {}, "E", "FailStateEntered"),
    "choice": (
        CHOICE,
        {"n": 2},
        "SUCCEEDED",
        f"ChoiceStateEntered ChoiceStateExited {PASSED}",
    ),
    "no choice": (
        CHOICE,
        {"n": 1},
        "States.NoChoiceMatched",
        "ChoiceStateEntered",
    ),
    "wait": (
        steps("A", A={**WAIT, "Seconds": 0}),
        {},
        "SUCCEEDED",
        "WaitStateEntered WaitStateExited",
    ),
    "job": (
        steps("A", A=task("glue:startJobRun.sync", Parameters=JOB)),
        {},
        "SUCCEEDED",
        f"{CALL} TaskSubmitted {DONE}",
    ),
    "job without sync": (
        steps("A", A=task("glue:startJobRun", Parameters=JOB)),
        {},
        "SUCCEEDED",
        f"{CALL} {DONE}",
    ),
    "failed job": (
        steps("A", A=task("glue:startJobRun.sync", Parameters={"JobName": "bad"})),
        {},
        "States.TaskFailed",
        f"{CALL} TaskSubmitted TaskFailed",
    ),
    "call": (
        steps("A", A=task("aws-sdk:glue:getJob", Parameters=JOB, ResultPath=None)),
        {},
        "SUCCEEDED",
        f"{CALL} {DONE}",
    ),
    "retry": (
        steps("A", A={**MISSING, "Retry": RETRY}),
        {},
        "Glue.EntityNotFoundException",
        f"{CALL} TaskFailed TaskScheduled TaskStarted TaskFailed",
    ),
    "catch": (
        steps("A", A={**MISSING, "Catch": CATCH}, Caught=PASS),
        {},
        "SUCCEEDED",
        f"{CALL} TaskFailed TaskStateExited {PASSED}",
    ),
    "timeout": (
        steps(
            "A",
            A=task("glue:startJobRun.sync", Parameters={"JobName": "slow"}, TimeoutSeconds=1),
        ),
        {},
        "States.Timeout",
        f"{CALL} TaskSubmitted TaskTimedOut",
    ),
    "map": (
        steps("M", M={**MAP, "ItemProcessor": steps("A", A=PASS)}),
        {"items": [1, 2]},
        "SUCCEEDED",
        f"MapStateEntered MapStateStarted {ITERATION} {ITERATION} MapStateSucceeded MapStateExited",
    ),
    "failed map": (
        steps("M", M={**MAP, "ItemProcessor": steps("F", F={"Type": "Fail", "Error": "E"})}),
        {"items": [1, 2]},
        "E",
        "MapStateEntered MapStateStarted MapIterationStarted FailStateEntered MapIterationFailed "
        "MapStateFailed",
    ),
    "aborted iteration": (
        steps(
            "M",
            M={
                **MAP,
                "MaxConcurrency": 2,
                "ItemProcessor": steps(
                    "C",
                    C={
                        "Type": "Choice",
                        "Choices": [{"Variable": "$", "NumericEquals": 1, "Next": "W"}],
                        "Default": "B",
                    },
                    W=WAIT,
                    B={"Type": "Wait", "Seconds": 1, "Next": "F"},
                    F={"Type": "Fail", "Error": "E"},
                ),
            },
        ),
        {"items": [1, 2]},
        "E",
        None,
    ),
    "parallel": (
        steps(
            "P",
            P={"Type": "Parallel", "Branches": [steps("A", A=PASS)], **END},
        ),
        {},
        "SUCCEEDED",
        f"ParallelStateEntered ParallelStateStarted {PASSED} ParallelStateSucceeded "
        "ParallelStateExited",
    ),
    "failed branch": (
        steps(
            "P",
            P={
                "Type": "Parallel",
                "Branches": [steps("A", A={"Type": "Fail", "Error": "E"})],
                "Catch": CATCH,
                **END,
            },
            Caught=PASS,
        ),
        {},
        "SUCCEEDED",
        "ParallelStateEntered ParallelStateStarted FailStateEntered ParallelStateFailed "
        f"ParallelStateExited {PASSED}",
    ),
    "late": (
        {**steps("A", A=WAIT), "TimeoutSeconds": 1},
        {},
        "TIMED_OUT",
        "WaitStateEntered",
    ),
}
LAST = {"SUCCEEDED": "ExecutionSucceeded", "TIMED_OUT": "ExecutionTimedOut"}


@pytest.fixture(scope="module", autouse=True)
def _jobs(port):
    port.job("good")
    port.job("bad", "raise SystemExit(1)")
    port.job("slow", "import time; time.sleep(60)")


@pytest.mark.parametrize("name", MACHINES)
def test_a_history_has_the_events_that_aws_documents(states, name):
    definition, given, result, between = MACHINES[name]

    answer = states.run(name.replace(" ", "-"), definition, given)

    events = states.events(answer["executionArn"])
    types = [event["type"] for event in events]
    last = LAST.get(result, "ExecutionFailed")
    assert result in (answer["status"], answer.get("error"))
    assert (types[0], types[-1]) == ("ExecutionStarted", last)
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    if between is None:
        assert types.index("MapIterationAborted") < types.index("MapStateFailed")
    else:
        assert types[1:-1] == between.split()


def test_each_event_names_the_one_before_it(states):
    answer = states.run("linked", steps("A", A={"Type": "Pass", "Next": "B"}, B=PASS))

    events = states.events(answer["executionArn"])

    assert [event["previousEventId"] for event in events] == [0, 0, 2, 3, 4, 5]


def replayed(states, execution):
    """Interpret an execution again, as after a kill just before its end was recorded."""
    engine = states.port.engine

    def forget_end(glue):
        row = find_execution(glue.store, execution)
        put_execution(glue.store, replace(row, status="RUNNING", output=None, error=None))
        where = "DELETE FROM execution_event WHERE arn = ? AND step = 'end'"
        glue.store.change(where, (execution,))
        glue.executions.begin()

    wait_until(lambda: execution not in engine.ask(lambda glue: glue.executions.records))
    engine.ask(forget_end)
    return states.ended(execution)


@pytest.mark.parametrize("name", [name for name in MACHINES if name != "late"])
def test_an_execution_comes_to_the_same_end_from_its_record(states, name):
    definition, given, *_ = MACHINES[name]
    arn = states.machine(name.replace(" ", "-"), definition)
    first = states.ended(states.start(arn, given))
    before = states.events(first["executionArn"])
    runs = len(states.port.states("good"))

    again = replayed(states, first["executionArn"])

    after = states.events(first["executionArn"])
    assert again.get("output") == first.get("output")
    assert again.get("error") == first.get("error")
    assert after[:-1] == before[:-1]
    assert after[-1]["type"] == before[-1]["type"]
    assert len(states.port.states("good")) == runs
