"""RedriveExecution: an execution that did not succeed goes on from the states that failed.

It is interpreted again from its input, as after a restart. What the states that failed have
recorded is left out: they begin again, and those before them are not repeated.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/redrive-executions.html
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.pages import Answer, Request
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.state_machines.execution_rows import (
    END,
    RUNNING,
    add_event,
    answers_of,
    events_of,
    leave_out,
    put_execution,
)
from tidemark.glue_service.state_machines.executions import get_execution, why_not_redrivable

EVENT = re.compile(r"event\d+$")
Recorded = tuple[int, str, Mapping[str, Any]]  # number, step and content of an event


def redrive_execution(glue: GlueState, request: Request) -> Answer:
    """Let an execution that did not succeed go on, with the definition that it began with."""
    execution = get_execution(glue, request["executionArn"])
    if why := why_not_redrivable(execution):
        raise ServiceError("ExecutionNotRedrivable", why)
    arn, count, now_ms = execution.arn, execution.redrives + 1, glue.now_ms()
    events = events_of(glue.store, arn)
    event = {
        "type": "ExecutionRedriven",
        "timestamp": now_ms,
        "previousEventId": events[-1][0],
        "executionRedrivenEventDetails": {"redriveCount": count},
    }
    with glue.store.transaction():
        leave_out(glue.store, arn, *parts_that_failed(events, answers_of(glue.store, arn)))
        add_event(glue.store, arn, f"redriven{count}", event)
        again = replace(execution, status=RUNNING, redrives=count, redriven_at_ms=now_ms)
        ended = dict.fromkeys(("stopped_at_ms", "output", "error", "cause"))
        put_execution(glue.store, replace(again, **ended))  # type: ignore[arg-type] # all may be None
    glue.executions.begin()
    return {"redriveDate": now_ms}


def parts_that_failed(
    events: Sequence[Recorded], answers: Iterable[str], path: str = ""
) -> tuple[list[int], list[str]]:
    """Return the events, by number, and the steps of answers of the states that did not end.

    Args:
        events: all of the execution, in their order.
        answers: the steps that have one.
        path: of the branch that is looked at; empty for the execution.
    """
    own = [event for event in events if EVENT.sub("", event[1]) == path != event[1]]
    entered = [
        place for place, (*_, event) in enumerate(own) if "stateEnteredEventDetails" in event
    ]
    left = [place for place, (*_, event) in enumerate(own) if "stateExitedEventDetails" in event]
    if not entered or entered[-1] < max(left, default=-1):
        return [], []  # the branch has ended, or is between two states
    names = [own[place][2]["stateEnteredEventDetails"]["name"] for place in entered]
    visit = f"{path}{names[-1]}#{names.count(names[-1])}."
    steps = [step for step in answers if step.startswith(visit)]
    after = own[entered[-1] + 1 :]
    inner = {match[0] for _, step, _ in events if (match := _branch(visit).match(step))}
    if not inner:
        return [number for number, *_ in after], steps
    # Branches and iterations that have ended stay so; earlier attempts at the state do too.
    last = max(int(branch[len(visit) :].partition("[")[0]) for branch in inner)
    failed = [number for number, _, event in after if event["type"].endswith("StateFailed")][-1:]
    ends = [step for step in steps if step == f"{visit}{last}:{END}"]
    for branch in (start for start in inner if start.startswith(f"{visit}{last}[")):
        numbers, of_branch = parts_that_failed(events, answers, branch)
        failed, ends = failed + numbers, ends + of_branch
    return failed, ends


def _branch(visit: str) -> re.Pattern[str]:
    return re.compile(re.escape(visit) + r"\d+\[\d+\]/")
