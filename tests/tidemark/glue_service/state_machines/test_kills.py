"""Executions go on after a SIGKILL of the port: nothing twice, and nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress

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
STEPS = 16  # more than an execution records one after the other
GATE = [(4, "after"), (8, "before"), (12, "after")]
NIGHT = [
    (number, side)
    for number in range(1, STEPS)
    for side in ("before", "after")
    if (number, side) not in GATE
]


@pytest.mark.stress
@pytest.mark.parametrize(("last", "side"), [*GATE, *at_night(*NIGHT)])
def test_an_execution_goes_on_where_it_was_killed(tmp_path, last, side):
    home = Home.open(tmp_path / "home")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(home.root), str(last), side],
        stdout=subprocess.PIPE,
        text=True,
    )
    before = States(Port(home, server.stdout.readline().strip(), None))
    before.port.job("load", ExecutionProperty={"MaxConcurrentRuns": 5})
    before.port.job("tell", ExecutionProperty={"MaxConcurrentRuns": 5})
    before.machine("child", steps("A", A={**PASS, "Result": {"ok": True}}))
    machine = before.machine("parent", MACHINE)
    execution = machine.replace(":stateMachine:", ":execution:") + ":once"
    with suppress(BotoCoreError):
        before.start(machine, name="once")
        before.ended(execution)
    server.kill()
    server.communicate()

    with serving(home) as (url, engine):
        port = Port(home, url, engine)
        states = States(port)
        answer = states.ended(execution)
        port.settle()
        events = states.events(execution)
        children = states.client.list_executions(stateMachineArn=CHILD)["executions"]
        loads, tells = port.states("load"), port.states("tell")

    submitted = [event for event in events if event["type"] == "TaskSubmitted"]
    of_glue = [e for e in submitted if e["taskSubmittedEventDetails"]["resourceType"] == "glue"]
    assert json.loads(answer["output"]) == OUTPUT
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert len(children) == 1
    # A run that was killed has FAILED, and its task is tried again: one run for each attempt.
    assert len(loads) == len(of_glue) == 1 + loads.count("FAILED")
    assert len(tells) == 2
