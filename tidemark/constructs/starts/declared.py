"""Refuses invalid starts of a pipeline before anything is created."""

from collections.abc import Sequence
from typing import TypeAlias

from tidemark.constructs.starts.events import OnEvent, OnObjects
from tidemark.constructs.starts.state_machine import ByStateMachine
from tidemark.errors import JobDefinitionError
from tidemark.model.schedules.schedules import Schedule
from tidemark.model.stage.config import StageConfig

Start: TypeAlias = Schedule | OnObjects | OnEvent | ByStateMachine
MAX_RULES = 20  # events of one pipeline; a bus has 300 rules in all


def starts_of(
    pipeline: str, starts: Sequence[Start] | None, stage: StageConfig
) -> tuple[Start, ...]:
    """Return what starts a pipeline; None means the schedule of the stage.

    Raises:
        JobDefinitionError: a start is repeated, events differ in their batch (a workflow has only
            one), or a state machine is not the only start.
    """
    if starts is None:
        return (stage.starts,) if stage.starts else ()
    for start in starts:
        if starts.count(start) > 1:
            raise JobDefinitionError(
                f"pipeline '{pipeline}' has the start {start!r} twice; allowed: each once; remove "
                "one"
            )
    if len(starts) > 1 and ByStateMachine() in starts:
        raise JobDefinitionError(
            f"pipeline '{pipeline}' is started by a state machine and by something else; allowed: "
            "starts=[ByStateMachine()] alone; let the other start begin the state machine"
        )
    events = events_of(starts)
    if len(events) > MAX_RULES:
        raise JobDefinitionError(
            f"pipeline '{pipeline}' is started by {len(events)} kinds of events; allowed: up to "
            f"{MAX_RULES}; match several with one pattern"
        )
    batches = list(dict.fromkeys(event.batch for event in events))
    if len(batches) > 1:
        shown = " and ".join(f"{b.size} in {b.window_minutes} min" for b in batches)
        raise JobDefinitionError(
            f"pipeline '{pipeline}' is started by batches of {shown}, and a Glue workflow has one "
            "start trigger, with one batch; allowed: the same batch_size and batch_window_minutes "
            "for all; make them equal"
        )
    return tuple(starts)


def events_of(starts: Sequence[Start]) -> list[OnObjects | OnEvent]:
    """Return the events among the starts of a pipeline."""
    return [start for start in starts if isinstance(start, OnObjects | OnEvent)]


def schedules_of(starts: Sequence[Start]) -> list[Schedule]:
    """Return the schedules among the starts of a pipeline."""
    return [start for start in starts if isinstance(start, Schedule)]


def described(start: Start) -> str:
    """Return what starts a run, in readable form."""
    if isinstance(start, Schedule):
        return f"`{start.expression}` in {start.time_zone}"
    return start.described
