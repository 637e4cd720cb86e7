"""The arguments of a run that opens a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from inspect import isbuiltin, signature
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict

from watermarks.errors import WatermarkValueError
from watermarks.table.names import check_cursor, check_job, check_run_id, check_source
from watermarks.table.schema import Owner
from watermarks.table.values import is_nat

from .cursors import Cursor, Distance, check_distance, family
from .days import FUTURE, check_future
from .held import Refuse
from .window import BOOKMARK_OPTIONS, BOUNDS, ENABLE, NULLS, BookmarkOption, Bounds, Nulls

if TYPE_CHECKING:
    from typing import Required, TypeGuard

SETTLE = timedelta(minutes=5)
"""The default distance between the end of a window of aware datetimes and the clock."""

Capture: TypeAlias = "Callable[[Any], Any]"
"""Returns the upper bound or a `Bound`, given the lower one (None on a first run)."""


class Bound(Protocol):
    """A source of bounds that is queried when a window opens, such as `newest(frame)`."""

    @property
    def is_live(self) -> bool:
        """Whether rows become visible in another order than the cursor's, as transactions do."""

    def newest(self, cursor: str, low: Any, nulls: Nulls) -> Any:
        """Return the greatest value of a column, None if no value is after `low`."""

    def after_rows(self, cursor: str, low: Any, is_low_in: bool, rows: int) -> Any:
        """Return the value of the n-th row after `low` (or at it), None if there are fewer."""


class WindowOptions(TypedDict, total=False):
    """The arguments of `open_window` other than the job; see there."""

    run_id: Required[str]
    cursor: Required[str]
    high: Cursor | Bound | Capture | None
    source: str
    initial: Cursor | None
    bounds: Bounds | None
    nulls: Nulls
    settle: timedelta | None
    lookback: Distance | None
    max_span: Distance | None
    max_rows: int | None
    future: timedelta
    job_bookmark_option: BookmarkOption


class _Now:
    """The default bound: the clock."""


NOW = _Now()


@dataclass
class WindowRequest:
    """The checked arguments; see `Watermarks.open_window`."""

    job_id: str
    run_id: str
    cursor: str
    high: Any = NOW
    source: str = ""
    initial: Cursor | None = None
    bounds: Bounds | None = None
    nulls: Nulls = "raise"
    settle: timedelta | None = None
    lookback: Distance | None = None
    max_span: Distance | None = None
    max_rows: int | None = None
    future: timedelta = FUTURE
    job_bookmark_option: BookmarkOption = ENABLE
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC), repr=False)
    refuse: Refuse | None = field(default=None, repr=False)

    def aware_now(self) -> datetime:
        """Return the time; refuse a clock without a time zone."""
        time = self.now()
        if time.utcoffset() is None:
            raise ValueError(
                f"now returns {time!r}, without a zone: give a function that returns the time "
                "with one, such as lambda: datetime.now(UTC)"
            )
        return time

    @property
    def owner(self) -> Owner:
        """The owner of the requested watermarks."""
        return Owner(self.job_id, self.source)

    def check(self) -> None:
        """Raise a ValueError for a parameter that is not allowed."""
        check_job(self.job_id)
        check_run_id(self.run_id)
        check_cursor(self.cursor)
        check_source(self.source)
        for name, value, allowed in (
            ("bounds", self.bounds, (None, *BOUNDS)),
            ("nulls", self.nulls, NULLS),
            ("job_bookmark_option", self.job_bookmark_option, BOOKMARK_OPTIONS),
        ):
            if value not in allowed:
                raise ValueError(
                    f"{name} is {value!r}: allowed are {', '.join(filter(None, allowed))}"
                )
        _check_callable(self.high)
        self._check_sizes()
        for edge in (self.initial, self.high):
            is_to_be_found = edge is NOW or callable(edge) or is_bound(edge)
            if edge is not None and not is_to_be_found and not is_nat(edge):
                self.check_distances(edge)
        if is_nat(self.initial):
            family(self.initial)  # refuses it

    def _check_sizes(self) -> None:
        if self.settle is not None and not isinstance(self.settle, timedelta):
            raise WatermarkValueError(
                f"settle is {self.settle!r}: give a timedelta, how long rows may take to become "
                "visible; numbers and dates, too, are held back by time"
            )
        if self.settle is not None and self.settle < timedelta():
            raise WatermarkValueError(f"settle is {self.settle!r}: give one that is not negative")
        check_future(self.future)
        if self.max_rows is not None and (type(self.max_rows) is not int or self.max_rows < 1):
            raise ValueError(f"max_rows is {self.max_rows!r}: give an integer of at least 1")
        if self.max_span is not None and self.max_rows is not None:
            raise ValueError("max_span and max_rows are both given: give one of them")

    def check_distances(self, value: Any) -> None:
        """Raise a WatermarkValueError if a distance does not fit a value, or this no cursor."""
        family(value)
        for name in ("lookback", "max_span"):
            distance = getattr(self, name)
            if distance is not None:
                check_distance(value, distance, name)


def is_bound(high: object) -> TypeGuard[Bound]:
    """Return whether an upper bound is a source that must be queried."""
    return hasattr(high, "after_rows")


def _check_callable(high: object) -> None:
    if high is NOW or is_bound(high) or not callable(high):
        return
    fits = not isinstance(high, type) and not isbuiltin(high)
    if fits:
        try:
            signature(high).bind(None)
        except TypeError:
            fits = False
        except ValueError:
            return  # its signature is not known
    if not fits:
        raise WatermarkValueError(
            f"high is {high!r}: give a function of one argument, the lower bound, that returns "
            "the upper one, such as lambda low: newest(frame); or the bound itself"
        )
