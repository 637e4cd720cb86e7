"""What starts a pipeline: schedules, arriving objects, and other events of EventBridge.

Source: https://docs.aws.amazon.com/glue/latest/dg/workflows_overview.html (EventBridge event)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tidemark.constructs.dataset import Dataset
from tidemark.constructs.references import bucket_name
from tidemark.constructs.starts.state_machine import ByStateMachine
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong
from tidemark.model.schedules.event_patterns import (
    MAX_CHARACTERS,
    MAX_EVENTS,
    MAX_WINDOW_MINUTES,
    find_problems,
)
from tidemark.model.schedules.schedules import Schedule
from tidemark.model.stage.config import StageConfig

MAX_RULES = 20  # events of one pipeline; a bus has 300 rules in all


@dataclass(frozen=True)
class Batch:
    """The number of events that start one run.

    Attributes:
        size: a run starts after this many events.
        window_minutes: or this long after the first of them.
    """

    size: int
    window_minutes: int


class _Batched:
    """Events of which a batch starts one run."""

    batch_size: int
    batch_window_minutes: int | None

    def __post_init__(self) -> None:
        # Source: https://docs.aws.amazon.com/glue/latest/webapi/API_EventBatchingCondition.html
        name, size, window = type(self).__name__, self.batch_size, self.batch_window_minutes
        if not 1 <= size <= MAX_EVENTS:
            raise wrong(name, "batch_size", size, f"an integer from 1 to {MAX_EVENTS}", "pass one")
        if window is None:
            return
        if not 1 <= window <= MAX_WINDOW_MINUTES:
            allowed = f"an integer, minutes from 1 to {MAX_WINDOW_MINUTES}, or None"
            raise wrong(name, "batch_window_minutes", window, allowed, "pass one")
        if size == 1:
            raise JobDefinitionError(
                f"{name} has batch_window_minutes {window} and batch_size 1, which never waits; "
                "allowed: a window for a batch_size from 2; raise batch_size, or leave the window "
                "out"
            )

    @property
    def batch(self) -> Batch:
        """Return the number of events that start one run."""
        return Batch(self.batch_size, self.batch_window_minutes or MAX_WINDOW_MINUTES)


@checked
@dataclass(frozen=True)
class OnObjects(_Batched):
    """A start when objects of a dataset arrive: S3 sends an event to EventBridge for each.

    A bucket of the app is configured to send its events; an imported one must do so already.
    Objects that arrive during a run do not start another one: docs/start-a-pipeline.md.
    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventBridge.html

    Attributes:
        dataset: where they arrive.
        batch_size: how many of them start a run, 1 to 100.
        batch_window_minutes: after this time, 1 to 15 minutes, fewer are enough; None: 15, Glue's
            default. Events of one pipeline share one batch.

    Raises:
        JobDefinitionError: Glue does not allow a number.

    Example:
        >>> start = OnObjects(Dataset(bucket, "flights/"), batch_size=10)
        >>> start.event_pattern["detail-type"]
        ['Object Created']
    """

    dataset: Dataset
    batch_size: int = 1
    batch_window_minutes: int | None = None

    @property
    def event_pattern(self) -> Mapping[str, Any]:
        """Return the pattern of events that start a run."""
        return {
            "source": ["aws.s3"],
            "detail-type": ["Object Created"],
            "detail": {
                "bucket": {"name": [bucket_name(self.dataset.bucket)]},
                "object": {"key": [{"prefix": self.dataset.prefix}]},
            },
        }

    @property
    def described(self) -> str:
        """Return what starts a run, in readable form."""
        return f"objects in `{self.dataset.uri}`"


@checked
@dataclass(frozen=True)
class OnEvent(_Batched):
    """A start when an event of the default event bus matches a pattern.

    Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html

    Attributes:
        pattern: EventBridge's pattern: `{"source": ["acme.shop"], "detail-type": ["Closed"]}`.
        batch_size: as for `OnObjects`.
        batch_window_minutes: as for `OnObjects`.

    Raises:
        JobDefinitionError: it is not a pattern, has no source, is too long, or Glue does not allow
            a number.

    Example:
        >>> OnEvent({"source": ["acme.shop"], "detail-type": ["Closed"]}).batch_size
        1
    """

    pattern: Mapping[str, Any] = field(hash=False)
    batch_size: int = 1
    batch_window_minutes: int | None = None

    def __post_init__(self) -> None:
        problem = find_problems(self.pattern)
        if problem:
            shown = "..." if "secret" in problem else repr(self.pattern)
            raise JobDefinitionError(
                f"OnEvent has pattern {shown}, {problem}; allowed: a dict of fields to "
                "lists of values or to further dicts, source among them, up to "
                f"{MAX_CHARACTERS:,} characters; write "
                '{"source": ["acme.shop"], "detail-type": ["..."]}'
            )
        super().__post_init__()

    @property
    def event_pattern(self) -> Mapping[str, Any]:
        """Return the pattern of events that start a run."""
        return self.pattern

    @property
    def described(self) -> str:
        """Return what starts a run, in readable form."""
        return f"events of {', '.join(map(str, self.pattern['source']))}"


Start: TypeAlias = Schedule | OnObjects | OnEvent | ByStateMachine


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
