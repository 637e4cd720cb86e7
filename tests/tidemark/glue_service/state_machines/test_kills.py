"""Executions go on after a SIGKILL of the port: nothing twice, and nothing lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager, suppress

import pytest
from botocore.exceptions import BotoCoreError

from tests.sampled import at_night
from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.state_machines.conftest import END, PASS, States, steps, task
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home

# It kills itself before or after it has recorded a step.
SERVE = """
import os, signal, sys, time
from pathlib import Path
from tidemark.glue_service.http.serving import serving
from tidemark.glue_service.state_machines.record import Record
from tidemark.local_state.home import Home

last, is_after = int(sys.argv[2]), sys.argv[3] == "after"
ask, asked = Record._ask, []

def ask_and_die(self, work):
    asked.append(1)
    is_last = len(asked) == last
    if is_last and not is_after:
        os.kill(os.getpid(), signal.SIGKILL)
    answer = ask(self, work)
    if is_last:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer

Record._ask = ask_and_die
with serving(Home.open(Path(sys.argv[1]))) as (url, engine):
    print(url, flush=True)
    time.sleep(600)
"""
CHILD = "arn:aws:states:us-east-1:000000000000:stateMachine:child"
AGAIN = [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1}]
DRAWN = {"id.$": "States.UUID()", "number.$": "States.MathRandom(1, 1000000)"}
MACHINE = steps(
    "Draw",
    Draw={"Type": "Pass", "Parameters": DRAWN, "Next": "Both"},
    Both={
        "Type": "Parallel",
        "Branches": [
            steps(
                "Load",
                Load=task(
                    "glue:startJobRun.sync",
                    Parameters={"JobName": "load", "Arguments": {"--id.$": "$.id"}},
                    ResultSelector={"state.$": "$.JobRunState"},
                    Retry=AGAIN,
                ),
            ),
            steps("Pause", Pause={"Type": "Wait", "Seconds": 0, **END}),
        ],
        "ResultPath": "$.both",
        "Next": "Each",
    },
    Each={
        "Type": "Map",
        "ItemsPath": "$.both",
        "ItemProcessor": steps(
            "Tell",
            Tell=task(
                "glue:startJobRun",
                Parameters={"JobName": "tell"},
                ResultSelector={"job.$": "$.JobName"},
            ),
        ),
        "ResultPath": "$.each",
        "Next": "Nested",
    },
    Nested=task(
        "states:startExecution.sync:2",
        Parameters={"StateMachineArn": CHILD},
        ResultSelector={"output.$": "$.Output"},
        ResultPath="$.nested",
        Next="Missing",
    ),
    Missing=task(
        "aws-sdk:glue:getJob",
        Parameters={"JobName": "none"},
        Catch=[{"ErrorEquals": ["States.ALL"], "ResultPath": "$.missing", "Next": "Out"}],
    ),
    Out={
        "Type": "Pass",
        "Parameters": {"load.$": "$.both[0]", "each.$": "$.each", "nested.$": "$.nested"},
        **END,
    },
)
OUTPUT = {
    "load": {"state": "SUCCEEDED"},
    "each": [{"job": "tell"}, {"job": "tell"}],
    "nested": {"output": {"ok": True}},
}
JOBS = {"load": "", "tell": "", "bad": "raise ValueError('no rows')"}
LOOP = {
    "QueryLanguage": "JSONata",
    **steps(
        "Begin",
        Begin={"Type": "Pass", "Assign": {"n": 0, "id": "{% $uuid() %}"}, "Next": "Load"},
        Load=task(
            "glue:startJobRun.sync",
            Arguments={"JobName": "load", "Arguments": {"--id": "{% $id %}"}},
            Assign={"n": "{% $n + 1 %}"},
            Retry=AGAIN,
            Next="Pause",
        ),
        Pause={"Type": "Wait", "Seconds": 0, "Next": "Again"},
        Again={
            "Type": "Choice",
            "Choices": [{"Condition": "{% $n < 3 %}", "Next": "Load"}],
            "Default": "Out",
        },
        Out={"Type": "Pass", "Output": {"n": "{% $n %}"}, **END},
    ),
}
DAYS = steps(
    "Each",
    Each={
        "Type": "Map",
        "ItemsPath": "$.days",
        "MaxConcurrency": 2,
        "ItemProcessor": steps(
            "Load",
            Load=task(
                "glue:startJobRun.sync",
                Parameters={"JobName.$": "$"},
                ResultSelector={"state.$": "$.JobRunState"},
                # Of a job that fails each time, the third failure is caught.
                Retry=[{**AGAIN[0], "MaxAttempts": 2}],
                Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Caught"}],
            ),
            Caught={"Type": "Pass", "Result": {"state": "caught"}, **END},
        ),
        **END,
    },
)
DEEP = task("states:startExecution.sync:2", Parameters={"StateMachineArn": f"{CHILD}-0"})
LOADED = task("glue:startJobRun.sync", Parameters={"JobName": "load"}, Retry=AGAIN)
GET = {"Name": "flow", "RunId.$": "$.run.RunId"}
FLOW = steps(
    "Start",
    Start=task(
        "aws-sdk:glue:startWorkflowRun",
        Parameters={"Name": "flow"},
        ResultPath="$.run",
        Next="Pause",
    ),
    Pause={"Type": "Wait", "Seconds": 1, "Next": "Get"},
    Get=task(
        "aws-sdk:glue:getWorkflowRun",
        Parameters=GET,
        ResultSelector={"status.$": "$.Run.Status"},
        ResultPath="$.now",
        Next="Ended",
    ),
    Ended={
        "Type": "Choice",
        "Choices": [{"Variable": "$.now.status", "StringEquals": "COMPLETED", "Next": "Out"}],
        "Default": "Pause",
    },
    Out={"Type": "Pass", "InputPath": "$.now.status", **END},
)
FAN = steps(
    "Fan",
    Fan={
        "Type": "Parallel",
        "Branches": [
            *(
                steps(name, **{name: {**LOADED, "Parameters": {"JobName": job}}})
                for name, job in {"A": "load", "B": "load", "C": "tell"}.items()
            ),
            steps(
                "Get",
                Get=task("aws-sdk:glue:getJob", Parameters={"JobName": "load"}, Next="Again"),
                Again=task("aws-sdk:glue:getJob", Parameters={"JobName": "load"}),
            ),
        ],
        "ResultSelector": {"states.$": "$[0:3].JobRunState", "job.$": "$[3].Job.Name"},
        **END,
    },
)
# Each with its output, and how many steps it records at least, however its threads run.
MACHINES = {
    "all": (MACHINE, OUTPUT, 11),
    "loop": (LOOP, {"n": 3}, 11),
    "days": (DAYS, [{"state": state} for state in ("SUCCEEDED", "caught", "SUCCEEDED")], 16),
    "nested": (steps("Deep", Deep={**DEEP, "OutputPath": "$.Status"}), "SUCCEEDED", 11),
    "flow": (FLOW, "COMPLETED", 4),
    "fan": (FAN, {"states": ["SUCCEEDED"] * 3, "job": "load"}, 11),
}
GATE = [("all", 4, "after"), ("all", 8, "before"), ("all", 11, "after")]
NIGHT = [
    (name, number, side)
    for name, (_, _, most) in MACHINES.items()
    for number in range(1, most + 1)
    for side in ("before", "after")
    if (name, number, side) not in GATE
]


def define(states):
    """Define what the machines start."""
    for name, text in JOBS.items():
        states.port.job(name, text, ExecutionProperty={"MaxConcurrentRuns": 9})
    states.port.glue.create_workflow(Name="flow")
    states.port.glue.create_trigger(
        Name="flow", Type="ON_DEMAND", WorkflowName="flow", Actions=[{"JobName": "tell"}]
    )
    states.machine("child", steps("A", A={**PASS, "Result": {"ok": True}}))
    states.machine("child-1", steps("Load", Load=LOADED))
    deeper = task("states:startExecution.sync:2", Parameters={"StateMachineArn": f"{CHILD}-1"})
    states.machine("child-0", steps("Deeper", Deeper=deeper))


@contextmanager
def dying(home, last, side):
    """Yield the URL of a port that kills itself, and wait until it has."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(home.root), str(last), side],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield server.stdout.readline().strip()
        assert server.wait(30) == -signal.SIGKILL
    finally:
        server.kill()
        server.communicate()


def executions_of(states, name):
    arn = CHILD.replace(":child", f":{name}")
    return states.client.list_executions(stateMachineArn=arn)["executions"]


@pytest.mark.stress
@pytest.mark.parametrize(("name", "last", "side"), [*GATE, *at_night(*NIGHT)])
def test_an_execution_goes_on_where_it_was_killed(tmp_path, name, last, side):
    definition, output, most = MACHINES[name]
    home = Home.open(tmp_path / "home")
    with dying(home, last, side) as url:
        before = States(Port(home, url, None))
        define(before)
        machine = before.machine("parent", definition)
        execution = machine.replace(":stateMachine:", ":execution:") + ":once"
        with suppress(BotoCoreError):
            before.start(machine, {"days": ["load", "bad", "tell"]}, name="once")
            before.ended(execution)
    for again in (1, 2):
        if last <= most - again * TO_NEXT_KILL:
            with dying(home, 2, "before"):
                pass  # it goes on by itself

    with serving(home) as (url, engine):
        port = Port(home, url, engine)
        states = States(port)
        answer = states.ended(execution)
        port.settle()
        events = states.events(execution)
        children = [executions_of(states, child) for child in ("child", "child-0", "child-1")]
        deepest = [event for child in children[2] for event in states.events(child["executionArn"])]
        runs = {job: port.states(job) for job in JOBS}
        flows = port.glue.get_workflow_runs(Name="flow")["Runs"]

    of_glue = [
        details
        for event in (*events, *deepest)
        if (details := event.get("taskSubmittedEventDetails")) and details["resourceType"] == "glue"
    ]
    jobs = Counter(json.loads(details["output"])["JobName"] for details in of_glue)
    assert json.loads(answer["output"]) == output
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    # A run that was killed has FAILED, and its task is tried again: one run for each attempt.
    wanted = {"all": [1, 0, 0], "nested": [0, 1, 1]}.get(name, [0, 0, 0])
    assert [len(each) for each in children] == wanted
    assert len(runs["load"]) == jobs["load"] == LOADS[name] + runs["load"].count("FAILED")
    assert len(runs["bad"]) == jobs["bad"] == (3 if name == "days" else 0)
    assert len(flows) == (name == "flow")
    if name == "all":
        assert len(runs["tell"]) == 2
    elif name in ("days", "fan"):
        assert len(runs["tell"]) == jobs["tell"] == 1 + runs["tell"].count("FAILED")


LOADS = {"all": 1, "loop": 3, "days": 1, "nested": 1, "flow": 0, "fan": 2}
TO_NEXT_KILL = 3  # steps that must be left: the server that goes on is killed too
