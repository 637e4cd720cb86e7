"""Executions of state machines, here or on AWS: started, followed, and what their steps did."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tidemark.errors import UsageError
from tidemark.operate.clients import Glue

RUNNING, SUCCEEDED, CAUGHT = "RUNNING", "SUCCEEDED", "CAUGHT"
DONE = (SUCCEEDED, CAUGHT)  # states of steps that a redrive does not repeat
STANDARD, EXPRESS = "STANDARD", "EXPRESS"
ENTERED, EXITED, FAILURES = "StateEntered", "StateExited", ("Failed", "TimedOut", "Aborted")


@dataclass(frozen=True)
class Step:
    """One visit of a state; `ended_at` is None while it goes on, `error` if it had none."""

    name: str
    state: str
    started_at: datetime
    ended_at: datetime | None = None
    error: str | None = None


@dataclass(frozen=True)
class ExecutionOfMachine:
    """An execution as people look at it."""

    arn: str
    name: str
    status: str
    started_at: datetime
    ended_at: datetime | None
    steps: Sequence[Step]
    output: str | None = None
    error: str | None = None
    cause: str | None = None


def steps_of(events: Sequence[Mapping[str, Any]], status: str) -> list[Step]:
    """Return the steps of an execution by its history, in the order in which they began.

    A step that has not ended is RUNNING while the execution is; after its end it has its status.
    """
    steps: list[Step] = []
    open_steps: dict[str, int] = {}
    error: str | None = None
    for event in events:
        kind = event["type"]
        if kind.endswith(ENTERED):
            name = event["stateEnteredEventDetails"]["name"]
            open_steps[name] = len(steps)
            steps.append(Step(name, status, event["timestamp"]))
        elif kind.endswith(EXITED):
            name = event["stateExitedEventDetails"]["name"]
            index = open_steps.pop(name)
            begun = steps[index]
            state = SUCCEEDED if error is None else CAUGHT
            steps[index] = Step(name, state, begun.started_at, event["timestamp"], error)
            error = None
        elif kind.endswith(FAILURES) and not kind.startswith("Map"):
            error = _error_of(event) or error
        elif kind in ("TaskScheduled", "TaskSucceeded", "ExecutionRedriven"):
            error = None  # of an earlier attempt
    for index in open_steps.values():
        begun = steps[index]
        ended = None if status == RUNNING else events[-1]["timestamp"]
        steps[index] = Step(begun.name, status, begun.started_at, ended, error)
    return steps


def _error_of(event: Mapping[str, Any]) -> str | None:
    for part in event.values():
        if isinstance(part, Mapping) and part.get("error"):
            return str(part["error"])
    return None


def machines_of(glue: Glue, *, kinds: Collection[str] = (STANDARD, EXPRESS)) -> dict[str, str]:
    """Return the ARNs of the state machines by their names; an EXPRESS one lists no executions."""
    pages = glue.client("stepfunctions").get_paginator("list_state_machines").paginate()
    return {
        machine["name"]: str(machine["stateMachineArn"])
        for page in pages
        for machine in page["stateMachines"]
        if machine["type"] in kinds
    }


def find_machine(glue: Glue, name: str) -> str:
    """Return the ARN of a state machine by its name.

    Raises:
        UsageError: there is none of this name; the message names those that there are.
    """
    machines = machines_of(glue)
    if name not in machines:
        known = ", ".join(sorted(machines)) or "none"
        raise UsageError(f"{glue.where} has no state machine {name!r}; it has {known}")
    return machines[name]


def start_execution(glue: Glue, machine: str, given: str) -> str:
    """Start an execution of a machine with an input in JSON; return its ARN."""
    answer = glue.client("stepfunctions").start_execution(stateMachineArn=machine, input=given)
    return str(answer["executionArn"])


def executions_of(glue: Glue, machine: str, limit: int) -> list[ExecutionOfMachine]:
    """Return the last executions of a machine, the last one first."""
    states = glue.client("stepfunctions")
    answer = states.list_executions(stateMachineArn=machine, maxResults=limit)
    return [read_execution(glue, run["executionArn"]) for run in answer["executions"]]


def read_execution(glue: Glue, arn: str) -> ExecutionOfMachine:
    """Return an execution with its steps."""
    states = glue.client("stepfunctions")
    answer = states.describe_execution(executionArn=arn)
    pages = states.get_paginator("get_execution_history").paginate(executionArn=arn)
    events = [event for page in pages for event in page["events"]]
    return ExecutionOfMachine(
        arn,
        answer["name"],
        answer["status"],
        answer["startDate"],
        answer.get("stopDate"),
        steps_of(events, answer["status"]),
        *(answer.get(name) for name in ("output", "error", "cause")),
    )


def follow_execution(glue: Glue, arn: str) -> Iterator[ExecutionOfMachine]:
    """Yield an execution now and then, and last when it has ended."""
    while True:
        execution = read_execution(glue, arn)
        yield execution
        if execution.status != RUNNING:
            return
        time.sleep(glue.poll_s)


def redrive_execution(glue: Glue, machine: str, name: str | None) -> ExecutionOfMachine:
    """Let the last execution of a machine, or the last whose name begins so, go on; return it.

    It is returned as it was before.

    Raises:
        UsageError: there is none, or it did not fail.
    """
    states = glue.client("stepfunctions")
    pages = states.get_paginator("list_executions").paginate(stateMachineArn=machine)
    runs = (run for page in pages for run in page["executions"])
    last = next((run for run in runs if run["name"].startswith(name or "")), None)
    of_machine = machine.rpartition(":")[2]
    if last is None or last["status"] in (RUNNING, SUCCEEDED):
        what = f"execution {last['name']} is {last['status']}" if last else "there is no execution"
        raise UsageError(
            f"{what}{f' of the name {name}' if name and not last else ''}: nothing to resume; "
            f"tidemark run --machine {of_machine} starts a new one"
        )
    before = read_execution(glue, last["executionArn"])
    states.redrive_execution(executionArn=before.arn)
    return before


def stop_executions(glue: Glue, machine: str, name: str | None) -> list[str]:
    """Stop the executions of a machine that run, or the one of a name; return their names.

    Raises:
        UsageError: several of those that run have names that begin so.
    """
    states = glue.client("stepfunctions")
    pages = states.get_paginator("list_executions").paginate(
        stateMachineArn=machine, statusFilter=RUNNING
    )
    running = [run for page in pages for run in page["executions"]]
    wanted = [run for run in running if name is None or run["name"].startswith(name)]
    if name is not None and len(wanted) > 1:
        wanted = [run for run in wanted if run["name"] == name]
        if not wanted:
            raise UsageError(f"several executions begin with {name!r}; give more of the name")
    for run in wanted:
        states.stop_execution(executionArn=run["executionArn"], cause="stopped by tidemark stop")
    return [run["name"] for run in wanted]
