"""Events that start a pipeline: arriving objects, and any other events of EventBridge.

Source: https://docs.aws.amazon.com/glue/latest/dg/workflows_overview.html (EventBridge event)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.constructs.dataset import Dataset
from tidemark.constructs.references import bucket_name
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong
from tidemark.model.schedules.event_patterns import (
    MAX_CHARACTERS,
    MAX_EVENTS,
    MAX_WINDOW_MINUTES,
    find_problems,
)


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
