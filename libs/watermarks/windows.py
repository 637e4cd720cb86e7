"""A window: the range of a cursor that one run reads, writes and then commits.

          open                    write                     commit
    ──────●────────────────────────●─────────────────────────●──────▶ time
    low, high and id are           output goes to a place    the watermark becomes high, the
    stored before anything         named by window and       window is closed and the run is
    is read                        attempt                   recorded: all at once

A run that dies leaves its window open. The next run takes the same window over: same low, same
high, same id, a higher attempt number. The run it took it from can no longer commit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from .cursors import Cursor, Distance, behind, check_same_family, family, is_before, value_at
from .errors import WatermarkValueError
from .rows import Latest
from .values import Attribute, decode, encode, is_nat

Bounds: TypeAlias = Literal["(]", "[)"]
"""Which end belongs to a window: after low up to and including high, or from low to before high."""

Ends: TypeAlias = Literal["(]", "[)", "[]"]
"""The ends of one window: the first of "(]" that begins at `initial` has the row there as well."""

Nulls: TypeAlias = Literal["raise", "include", "exclude"]
"""What to do with rows whose cursor is NULL: they belong to no window."""

Capture: TypeAlias = "Callable[[Any], Any]"
"""Returns the upper bound, given the lower one (None on a first run); None when there is no row."""

BOUNDS = ("(]", "[)")
NULLS = ("raise", "include", "exclude")


@dataclass(frozen=True)
class Window:
    """One window of a job's cursor, as the run that holds it sees it.

    Attributes:
        job_id: the job.
        run_id: the run that holds the window.
        cursor: name of the watermark, dotted for one of several sources: `orders.updated_at`.
        window_id: sorts by age; the same for every run that takes the window over, and that of no
            other window, of this job or another.
        attempt: greater for every run that takes the window over; unique in the job.
        low: where the window begins; None means at the first row.
        high: where it ends; None only if it is empty.
        bounds: which ends belong to it: those that were asked for, or "[]" if it is the first and
            begins at `initial`.
        nulls: what a reader does with rows whose cursor is NULL.
        read_low: where reading begins: `low`, or behind it by the lookback.
        is_recovered: whether it was taken over from a run that had not committed.
        base: the job's watermarks when it was opened.
    """

    job_id: str
    run_id: str
    cursor: str
    window_id: str
    attempt: int
    low: Any
    high: Any
    bounds: Ends = "(]"
    nulls: Nulls = "raise"
    read_low: Any = None
    is_recovered: bool = False
    base: Latest | None = field(default=None, repr=False)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read; such a window is stored nowhere."""
        return not self.window_id


@dataclass(frozen=True)
class WindowRequest:
    """What a run asks for when it opens a window; see `Watermarks.open_window`."""

    job_id: str
    run_id: str
    cursor: str
    high: Cursor | Capture | None
    initial: Cursor | None = None
    bounds: Bounds = "(]"
    nulls: Nulls = "raise"
    settle: Distance | None = None
    lookback: Distance | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def check(self) -> None:
        """Raise a ValueError for a parameter that is not one of what is allowed."""
        if not self.cursor or "" in self.cursor.split("."):
            raise ValueError(f"cursor is {self.cursor!r}: give a name, dotted for several sources")
        for name, value, allowed in (
            ("bounds", self.bounds, BOUNDS),
            ("nulls", self.nulls, NULLS),
        ):
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}: allowed are {', '.join(allowed)}")

    def empty(self, low: Any, base: Latest | None) -> Window:
        """Return the window of a run that has nothing to read."""
        return Window(
            self.job_id, self.run_id, self.cursor, "", 0, low, None, self.bounds, base=base
        )


@dataclass(frozen=True)
class OpenWindow:
    """A window as the head row keeps it while it is open, and a run's row once it is committed.

    The token tells two processes of one run id apart that open a window at the same moment.
    """

    window_id: str
    attempt: int
    run_id: str
    cursor: str
    low: Any
    high: Any
    bounds: Ends
    token: str = field(default="", compare=False)

    @classmethod
    def of(cls, window: Window) -> OpenWindow:
        """Return what the head row keeps of a window."""
        return cls(
            window_id=window.window_id,
            attempt=window.attempt,
            run_id=window.run_id,
            cursor=window.cursor,
            low=window.low,
            high=window.high,
            bounds=window.bounds,
        )

    def to_attribute(self) -> Attribute:
        """Return it in DynamoDB's form: the attempt, which conditions name, and the rest as JSON.

        One text instead of nested attributes makes a commit a third faster in the client, and
        without names the head stays under 1 KB, the step in which DynamoDB charges for a write.
        """
        low = None if self.low is None else encode(self.low, "window.low")
        high = encode(self.high, "window.high")
        who = [self.run_id, self.token]
        fields = [self.window_id, self.cursor, self.bounds, low, high, *who]
        text = json.dumps(fields, separators=(",", ":"))
        return {"M": {"attempt": {"N": str(self.attempt)}, "window": {"S": text}}}

    @classmethod
    def from_attribute(cls, attribute: Attribute) -> OpenWindow:
        """Return what `to_attribute` wrote."""
        fields = json.loads(attribute["M"]["window"]["S"])
        window_id, cursor, bounds, low, high, run_id, token = fields
        return cls(
            window_id=window_id,
            attempt=int(attribute["M"]["attempt"]["N"]),
            run_id=run_id,
            cursor=cursor,
            low=None if low is None else decode(*low),
            high=decode(*high),
            bounds=bounds,
            token=token,
        )

    @property
    def kept_bounds(self) -> Bounds:
        """What the windows of its cursor have for good."""
        return "[)" if self.bounds == "[)" else "(]"

    @property
    def committed(self) -> OpenWindow:
        """What is kept of it once it is committed: the row says by which run."""
        return replace(self, run_id="", token="")


def choose_range(request: WindowRequest, base: Latest | None) -> tuple[Any, Any, Ends] | None:
    """Return low, high and ends of a new window, or None when there is nothing to read.

    The upper bound is captured here, before anything is read. With `settle` it stays behind the
    clock (datetimes) or behind the greatest value (numbers, dates).

    Raises:
        WatermarkTypeError: the cursor changed its type.
        WatermarkValueError: a bound or a distance cannot be used, or `bounds` has changed.
    """
    stored = value_at(base.watermarks, request.cursor) if base else None
    if base and stored is not None:
        _check_bounds(request, base)
    low = request.initial if stored is None else stored
    is_from_initial = stored is None and low is not None and request.bounds == "(]"
    high = request.high(low) if callable(request.high) else request.high
    if high is None or is_nat(high):
        return None
    family(high)
    if request.settle is not None:
        high = _settled(high, request)
    if low is not None:
        check_same_family(low, high, request.cursor)
        if is_before(high, low) if is_from_initial else not is_before(low, high):
            return None
    return low, high, "[]" if is_from_initial else request.bounds


def _check_bounds(request: WindowRequest, base: Latest) -> None:
    kept = base.bounds.get(request.cursor, {"S": request.bounds})["S"]
    if kept != request.bounds:
        harm = "lost" if request.bounds == "(]" else "read twice"
        raise WatermarkValueError(
            f"bounds is {request.bounds!r} for the cursor {request.cursor!r}, whose windows were "
            f"{kept!r} so far: rows at the watermark would be {harm}; give {kept!r}, or start anew "
            "with rewind(job, to_run=None, ...) or under another cursor name"
        )


def _settled(high: Any, request: WindowRequest) -> Any:
    """Return the bound, moved behind rows that may still be followed by earlier ones."""
    distance: Any = request.settle
    if not isinstance(high, datetime):
        return behind(high, distance, "settle")
    if high.utcoffset() is None:
        raise WatermarkValueError(
            f"settle is {distance!r} for the naive datetime {high!r}: its zone is not known, so it "
            "cannot be compared with the clock; give the cursor a zone"
        )
    latest = behind(request.now(), distance, "settle").astimezone(high.tzinfo)
    return latest if is_before(latest, high) else high


def held(
    request: WindowRequest, opened: OpenWindow, base: Latest | None, *, is_recovered: bool
) -> Window:
    """Return an open window as the run of the request holds it."""
    read_low = opened.low
    is_first = opened.bounds == "[]"  # nothing before `initial` is ever read
    if request.lookback is not None and opened.low is not None and not is_first:
        read_low = behind(opened.low, request.lookback, "lookback")
    return Window(
        job_id=request.job_id,
        run_id=request.run_id,
        cursor=request.cursor,
        window_id=opened.window_id,
        attempt=opened.attempt,
        low=opened.low,
        high=opened.high,
        bounds=opened.bounds,
        nulls=request.nulls,
        read_low=read_low,
        is_recovered=is_recovered,
        base=base,
    )
