"""RedriveExecution: what failed begins again, and what was done is not repeated."""

from __future__ import annotations

import json
import time

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.state_machines.conftest import END, PASS, States, steps, task
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home


def get(name, **members):
    """Return a task that fails until there is a job of a name."""
    return task(
        "aws-sdk:glue:getJob",
        Parameters={"JobName": name},
        ResultSelector={"name.$": "$.Job.Name"},
        **members,
    )


def load(**members):
    selector = {"state.$": "$.JobRunState"}
    members |= {"Parameters": {"JobName": "load"}, "ResultSelector": selector}
    return task("glue:startJobRun.sync", **members)


@pytest.fixture
def port(tmp_path):
    with serving(Home.open(tmp_path / "home")) as (url, engine):
        port = Port(Home.open(tmp_path / "home"), url, engine)
        port.job("load", ExecutionProperty={"MaxConcurrentRuns": 9})
        yield port


@pytest.fixture
def states(port):
    return States(port)


def failed(states, definition, given=None):
    execution = states.start(states.machine("redriven", definition), given)
    assert states.ended(execution)["status"] == "FAILED"
    return execution


def redriven(states, execution):
    states.client.redrive_execution(executionArn=execution)
    return states.ended(execution)


def test_the_state_that_failed_begins_again_and_those_before_do_not(port, states):
    execution = failed(states, steps("Load", Load=load(Next="Get"), Get=get("later")))
    port.job("later")

    answer = redriven(states, execution)

    assert json.loads(answer["output"]) == {"name": "later"}
    assert (answer["status"], answer["redriveCount"]) == ("SUCCEEDED", 1)
    assert answer["redriveStatus"] == "NOT_REDRIVABLE"
    assert "error" not in answer
    assert port.states("load") == ["SUCCEEDED"]
    call = ["TaskScheduled", "TaskStarted"]
    assert states.types(execution)[6:] == [
        "TaskStateExited",
        "TaskStateEntered",
        *call,
        "TaskFailed",
        "ExecutionFailed",
        "ExecutionRedriven",
        *call,
        "TaskSucceeded",
        "TaskStateExited",
        "ExecutionSucceeded",
    ]
    events = states.events(execution)
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))


def test_it_may_fail_and_be_started_again_several_times(port, states):
    execution = failed(
        states,
        steps(
            "Get",
            Get=get(
                "later",
                Retry=[{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}],
            ),
        ),
    )

    assert redriven(states, execution)["status"] == "FAILED"
    assert states.types(execution).count("TaskFailed") == 4  # each time it is tried twice
    port.job("later")
    answer = redriven(states, execution)

    assert (answer["status"], answer["redriveCount"]) == ("SUCCEEDED", 2)


def test_branches_that_have_ended_stay_so(port, states):
    slow = steps("Pause", Pause={"Type": "Wait", "Seconds": 1, "Next": "Get"}, Get=get("later"))
    execution = failed(
        states,
        steps(
            "Both", Both={"Type": "Parallel", "Branches": [steps("Load", Load=load()), slow], **END}
        ),
    )
    is_loaded = port.states("load") == ["SUCCEEDED"]
    port.job("later")

    answer = redriven(states, execution)

    assert json.loads(answer["output"]) == [{"state": "SUCCEEDED"}, {"name": "later"}]
    assert len(port.states("load")) == (1 if is_loaded else 2)  # one that was cut off runs again
    assert states.types(execution).count("ParallelStateStarted") == 1


def test_iterations_that_have_ended_stay_so(port, states):
    name = {"Parameters": {"JobName.$": "$"}}
    names = ["load", "later", "load"]
    each = {"Type": "Map", "MaxConcurrency": 1, **END}
    each["ItemProcessor"] = steps("Get", Get={**get(""), **name})
    execution = failed(states, steps("Each", Each=each), names)
    port.job("later")

    answer = redriven(states, execution)

    assert json.loads(answer["output"]) == [{"name": name} for name in names]
    assert states.types(execution).count("MapIterationSucceeded") == 3


def test_a_child_that_failed_is_started_anew(port, states):
    child = states.machine("child", steps("Get", Get=get("later")))
    nested = task("states:startExecution.sync:2", Parameters={"StateMachineArn": child})
    execution = failed(states, steps("Nested", Nested={**nested, "OutputPath": "$.Output"}))
    port.job("later")

    assert json.loads(redriven(states, execution)["output"]) == {"name": "later"}
    children = states.client.list_executions(stateMachineArn=child)["executions"]
    assert [child["status"] for child in children] == ["SUCCEEDED", "FAILED"]


def test_an_execution_that_was_stopped_or_late_goes_on(port, states):
    wait = {"Type": "Wait", "Seconds": 2, **END}
    definition = {"TimeoutSeconds": 3, **steps("Load", Load=load(Next="Wait"), Wait=wait)}
    execution = states.start(states.machine("stopped", definition))
    while "WaitStateEntered" not in states.types(execution):
        time.sleep(0.1)
    states.client.stop_execution(executionArn=execution)

    answer = redriven(states, execution)

    assert answer["status"] == "SUCCEEDED"  # the time of the machine is that of the redrive
    assert port.states("load") == ["SUCCEEDED"]


def test_only_what_did_not_succeed_may_go_on(port, states):
    done = states.run("done", steps("A", A=PASS))
    client = states.client

    with pytest.raises(client.exceptions.ExecutionNotRedrivable, match="is SUCCEEDED and cannot"):
        client.redrive_execution(executionArn=done["executionArn"])
    with pytest.raises(client.exceptions.ExecutionDoesNotExist):
        client.redrive_execution(executionArn=done["executionArn"] + "x")


def test_a_redrive_goes_on_after_the_end_of_the_port(tmp_path):
    home = Home.open(tmp_path / "home")
    wait = {"Type": "Wait", "Seconds": 2, **END}
    with serving(home) as (url, engine):
        port = Port(home, url, engine)
        states = States(port)
        execution = failed(states, steps("Get", Get=get("later", Next="Wait"), Wait=wait))
        port.job("later")
        states.client.redrive_execution(executionArn=execution)
        while "WaitStateEntered" not in states.types(execution):
            time.sleep(0.1)

    with serving(home) as (url, engine):
        states = States(Port(home, url, engine))
        answer, events = states.ended(execution), states.events(execution)

    assert (answer["status"], answer["redriveCount"]) == ("SUCCEEDED", 1)
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert [event["type"] for event in events].count("TaskSucceeded") == 1
