"""A window: the range of a cursor that one run reads, writes and then commits.

          open                    write                     commit
    ──────●────────────────────────●─────────────────────────●──────▶ time
    low, high and id are           output goes to a place    the watermark becomes high, the
    stored before anything         named by window and       window is closed and the run is
    is read                        attempt                   recorded: all at once

A run that dies leaves its window open. The next run takes the same window over: same low, same
high, same id, a higher attempt number. The earlier run can no longer commit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from watermarks.errors import WatermarksError
from watermarks.table.latest import Attribute, Latest
from watermarks.table.schema import Owner
from watermarks.table.schemas import TargetSchema
from watermarks.table.values import decode, encode

from .cursors import check_same_family

Bounds: TypeAlias = Literal["(]", "[)"]
"""Which end belongs to a window: after low up to and including high, or from low to before high."""

Ends: TypeAlias = Literal["(]", "[)", "[]"]
"""The ends of one window: the first of "(]" that starts at `initial` has the row there as well."""

Nulls: TypeAlias = Literal["raise", "include", "exclude"]
"""What to do with rows whose cursor is NULL: they belong to no window."""

BookmarkOption: TypeAlias = Literal[
    "job-bookmark-enable", "job-bookmark-pause", "job-bookmark-disable"
]
"""What a run does with its windows; the values of Glue's `--job-bookmark-option`."""

ENABLE: BookmarkOption = "job-bookmark-enable"
PAUSE: BookmarkOption = "job-bookmark-pause"
DISABLE: BookmarkOption = "job-bookmark-disable"
BOOKMARK_OPTIONS = (ENABLE, PAUSE, DISABLE)
BOUNDS = ("(]", "[)")
NULLS = ("raise", "include", "exclude")


@dataclass(frozen=True)
class Window:
    """One window of a job's cursor, as the run that holds it sees it.

    Attributes:
        job_id: the job.
        run_id: the run that holds the window.
        cursor: name of the watermark, and of the column unless a reader is given another.
        window_id: sorts by age; the same for every run that takes the window over, and that of no
            other window, of this job or another.
        attempt: greater for every run that takes the window over; unique in the job or source.
        low: the start of the window; None means the first row.
        high: its end; None only if it is empty.
        bounds: the ends that belong to it: those asked for, or "[]" if it is the first and starts
            at `initial`.
        nulls: how a reader treats rows whose cursor is NULL.
        read_low: where reading starts: `low`, or earlier by the lookback.
        is_recovered: whether it was taken over from a run that had not committed.
        source: the source of the job, empty if the job has only one.
        job_bookmark_option: that of the run: with pause or disable the window is not committed.
        base: the watermarks when it was opened.
        schemas: the columns of targets that a commit of the window changes; None drops those held.
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
    source: str = ""
    job_bookmark_option: BookmarkOption = ENABLE
    base: Latest | None = field(default=None, repr=False)
    schemas: dict[str, TargetSchema | None] = field(default_factory=dict, repr=False, compare=False)

    if not TYPE_CHECKING:  # a type checker would take any name for an attribute

        def __getattribute__(self, name: str) -> Any:
            """Return an attribute, and note that the window was used."""
            if name in _FIELDS:
                object.__getattribute__(self, "__dict__")[_LOOKED_AT] = True
            return object.__getattribute__(self, name)

    def __getstate__(self) -> dict[str, Any]:
        """Return the window as another process gets it: without its table of watermarks."""
        return {name: value for name, value in self.__dict__.items() if name != REFUSE}

    def __hash__(self) -> int:
        """Return a hash; adding a window to a set does not count as a use."""
        return hash(self.__dict__["window_id"])

    def __repr__(self) -> str:
        """Return the window as a string; logging one does not count as use."""
        names = [name for name in fields(self) if name.repr]
        shown = ", ".join(f"{name.name}={self.__dict__[name.name]!r}" for name in names)
        return f"Window({shown})"

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read; such a window is stored nowhere."""
        return not self.window_id

    @property
    def owner(self) -> Owner:
        """Whose watermarks it moves."""
        return Owner(self.job_id, self.source)


_FIELDS = {field.name for field in fields(Window)}
_LOOKED_AT, _LOOP = "_looked_at", "_loop"
REFUSE = "_refuse"
"""Where a window keeps what notes a refusal beside its watermark."""


def give_to_loop(window: Window) -> Window:
    """Return a window that a loop hands out: nothing has used it yet."""
    window.__dict__[_LOOP] = "open"
    window.__dict__.pop(_LOOKED_AT, None)
    return window


def check_looked_at(window: Window, loop: str) -> None:
    """Raise a WatermarksError if the body of a loop has not used its window."""
    if window.__dict__.get(_LOOKED_AT):
        return
    leave(window, "abandoned")
    raise WatermarksError(
        f"window {window.window_id} of {window.owner} was not looked at before the next one was "
        f"asked for, as list({loop}()) or an empty body do: nothing was committed; read and write "
        "each window in the body of the loop"
    )


def leave(window: Window, state: Literal["committed", "abandoned"]) -> None:
    """Note that a loop need not commit a window any more, or that its loop has ended before."""
    window.__dict__[_LOOP] = state


def is_left_open(window: Window) -> bool:
    """Return whether the loop that gave a window has neither committed it nor ended."""
    return window.__dict__.get(_LOOP) == "open"


def edges(window: Window) -> tuple[Any, Any]:
    """Return where reading a window starts (None: at the first row) and where it ends."""
    if window.is_empty:
        raise ValueError(
            f"the window of job {window.job_id!r} is empty: there is nothing to read or to write; "
            "test window.is_empty first"
        )
    if window.__dict__.get(_LOOP) == "abandoned":
        raise WatermarksError(
            f"the loop over windows() that gave window {window.window_id} of {window.owner} has "
            "ended, so nothing would commit the work on it: do the work in the body of "
            "`for window in watermarks.windows(...)`, or take open_window and commit_window"
        )
    low = window.low if window.read_low is None else window.read_low
    if low is not None:
        check_same_family(low, window.high, window.cursor)
    return low, window.high


@dataclass(frozen=True)
class OpenWindow:
    """A window as the head row keeps it while it is open, and a run's row once it is committed.

    The token distinguishes two processes of one run id that open a window at the same moment.
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
        """Return the attribute that the head row keeps of a window."""
        names = [name.name for name in fields(cls) if name.name != "token"]
        return cls(**{name: getattr(window, name) for name in names})

    def to_attribute(self) -> Attribute:
        """Return it in DynamoDB's form: the attempt, which conditions name, and the rest as JSON.

        One string instead of nested attributes makes a commit a third faster in the client, and
        without names the head stays under 1 KB, the step in which DynamoDB charges for a write.
        """
        text = f"{self.string_without_token}{json.dumps(self.token)}]"
        return {"M": {"attempt": {"N": str(self.attempt)}, "window": {"S": text}}}

    @property
    def string_without_token(self) -> str:
        """The start of the string of `to_attribute`: the part that a reading run knows."""
        low = None if self.low is None else encode(self.low, "window.low")
        high = encode(self.high, "window.high")
        values = [self.window_id, self.cursor, self.bounds, low, high, self.run_id]
        return json.dumps(values, separators=(",", ":"))[:-1] + ","

    @classmethod
    def from_attribute(cls, attribute: Attribute) -> OpenWindow:
        """Return the window of a stored attribute."""
        values = json.loads(attribute["M"]["window"]["S"])
        window_id, cursor, bounds, low, high, run_id, token = values
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
        """The constant attributes of its cursor's windows."""
        return "[)" if self.bounds == "[)" else "(]"

    @property
    def committed(self) -> OpenWindow:
        """The attribute kept of it once it is committed; the row names the run."""
        return replace(self, run_id="", token="")
