"""The range that a window gets. Its upper bound is found here, before anything is read.

What `settle` holds back:

    aware datetimes    the bound stays that far behind the clock
    any other cursor   a bound is read once it was seen, at an earlier open, at least that long ago
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from watermarks.errors import WatermarkValueError
from watermarks.table.latest import Attribute, Latest
from watermarks.table.values import decode, encode, is_nat

from .cursors import (
    AWARE,
    check_same_family,
    entry_of,
    family,
    is_before,
    value_after,
    value_before,
)
from .days import DAY, check_not_ahead, is_day, warn_if_coarse, warn_if_stored_ahead
from .request import NOW, SETTLE, Bound, WindowRequest, is_bound
from .window import Bounds, Ends


@dataclass(frozen=True)
class Seen:
    """A bound that waits until it was seen long enough ago."""

    value: Any
    at: datetime

    def to_attribute(self) -> Attribute:
        """Return it in DynamoDB's form."""
        return {"S": json.dumps([*encode(self.value, "seen"), self.at.isoformat()])}

    @classmethod
    def from_attribute(cls, attribute: Attribute) -> Seen:
        """Return what `to_attribute` wrote."""
        value, tag, at = json.loads(attribute["S"])
        return cls(decode(value, tag), datetime.fromisoformat(at))


@dataclass(frozen=True)
class Range:
    """The result of an open: a range to read, a bound to remember, or neither.

    Attributes:
        low: its start.
        high: its end; None if there is nothing to read.
        ends: the ends that belong to it.
        seen: a bound to remember; None keeps the remembered one.
        is_cut: whether there is more after it, up to the bound.
        is_held: whether the clock has held the bound back.
    """

    low: Any
    high: Any
    ends: Ends
    seen: Seen | None = None
    is_cut: bool = False
    is_held: bool = False


def choose_range(request: WindowRequest, base: Latest | None, seen: Seen | None) -> Range:
    """Return what to read next; the `high` of the request is found once and then kept."""
    stored = entry_of(base.watermarks, request.cursor) if base else None
    if base and stored is not None:
        _check_bounds(request, base)
        warn_if_stored_ahead(stored, request.aware_now(), request.future, request.cursor)
    low = request.initial if stored is None else stored
    high, source, is_settled = _queried_high(request, low)
    bounds = request.bounds or _first_bounds(request, stored, high)
    is_from_initial = stored is None and low is not None and bounds == "(]"
    ends: Ends = "[]" if is_from_initial else bounds
    if high is None:
        return Range(low, None, ends)
    request.check_distances(high)
    if low is not None:
        check_same_family(low, high, request.cursor)
    request.bounds = bounds
    remember, asked = None, high
    if not is_settled:
        high, remember = _settled(high, low, request, seen, source, is_low_in=is_from_initial)
        check_not_ahead(high, request.aware_now(), request.future, request.cursor, low)
    is_held = high is not asked
    # The rest of the loop goes up to the same bound.
    request.high = _Found(high, source)
    is_low_in = ends[0] == "["
    if high is None or (low is not None and not _is_after(high, low, is_from_initial)):
        return Range(low, None, ends, remember, is_held=is_held)
    cut = _cut(request, source, low, is_low_in)
    if cut is not None:
        check_same_family(high, cut, request.cursor)
    is_cut = cut is not None and is_before(cut, high)
    if request.bounds == "(]" and request.settle is None:
        warn_if_coarse(low, high, request.cursor, request.aware_now())
    return Range(low, cut if is_cut else high, ends, remember, is_cut, is_held)


@dataclass(frozen=True)
class _Found:
    """A bound that was found, and held back, at the first open of a loop."""

    value: Any
    source: Bound | None


def _queried_high(request: WindowRequest, low: Any) -> tuple[Any, Bound | None, bool]:
    """Return the upper bound, the source it came from, and whether it is held back already."""
    high = request.high
    if isinstance(high, _Found):
        return high.value, high.source, True
    if high is NOW:
        if low is not None and family(low) != AWARE:
            raise WatermarkValueError(
                f"high is not given, and the cursor {request.cursor!r} is a {family(low)} "
                f"({low!r}), which the clock says nothing about: give high=newest(frame), "
                "newest_jdbc(spark, options, table) or the bound itself"
            )
        return request.aware_now().astimezone(UTC), None, False
    if callable(high) and not is_bound(high):
        high = high(low)
    source = None
    if is_bound(high):
        source, high = high, high.newest(request.cursor, low, request.nulls)
    if high is None or is_nat(high):
        return None, source, False
    family(high)
    return high, source, False


def _first_bounds(request: WindowRequest, stored: Any, high: Any) -> Bounds:
    """Return the default bounds: those that lose no row of a day without a settle."""
    return "[)" if stored is None and request.settle is None and is_day(high) else "(]"


def _check_bounds(request: WindowRequest, base: Latest) -> None:
    bounds: Any = base.bounds.get(request.cursor, request.bounds)
    if request.bounds is None:
        request.bounds = bounds
    if bounds != request.bounds:
        harm = "lost" if request.bounds == "(]" else "read twice"
        raise WatermarkValueError(
            f"bounds is {request.bounds!r} for the cursor {request.cursor!r}, whose windows were "
            f"{bounds!r} so far: rows at the watermark would be {harm}; give {bounds!r}, or start "
            "over with WatermarkAdmin.rewind(job, to_run=None, ...) or under another cursor name"
        )


def _settled(
    high: Any,
    low: Any,
    request: WindowRequest,
    seen: Seen | None,
    source: Bound | None,
    *,
    is_low_in: bool,
) -> tuple[Any, Seen | None]:
    """Return the bound, held back from rows that may still come before it; and what to note."""
    settle = _settle_of(high, request, source)
    if not settle:
        return high, None
    now = request.aware_now()
    if family(high) == AWARE:
        latest = value_before(now, settle, "settle").astimezone(high.tzinfo)
        return (latest if is_before(latest, high) else high), None
    # A bound of another column, from before a rewind, is not comparable.
    is_new = seen is None or family(seen.value) != family(high)
    if seen is None or is_new or (low is not None and not _is_after(seen.value, low, is_low_in)):
        return None, Seen(high, now)
    if now - seen.at < settle:
        return None, None
    return (seen.value, Seen(high, now)) if is_before(seen.value, high) else (high, None)


def _settle_of(high: Any, request: WindowRequest, source: Bound | None) -> timedelta | None:
    """Return how long a bound is held back, None or zero if it is not."""
    if request.settle is None and family(high) == AWARE:
        return SETTLE
    if request.settle is None and request.bounds == "(]" and is_day(high):
        return DAY
    if request.settle is None and source is not None and source.is_live:
        raise WatermarkValueError(
            f"the cursor {request.cursor!r} is a {family(high)} ({high!r}) of a live table, where "
            "a row may become visible after one that has a greater value: give "
            "settle=timedelta(...), longer than the longest transaction, and a value is read once "
            "it was seen that long ago; or settle=timedelta(0), if rows come in order"
        )
    return request.settle


def _is_after(high: Any, low: Any, is_at_low: bool) -> bool:
    return not is_before(high, low) if is_at_low else is_before(low, high)


def _cut(request: WindowRequest, source: Bound | None, low: Any, is_low_in: bool) -> Any:
    """Return the end of a window of limited size; None if that is not before its bound."""
    if request.max_span is not None:
        start = low if source is None else source.after_rows(request.cursor, low, is_low_in, 1)
        if start is None and source is None:
            raise WatermarkValueError(
                f"max_span is {request.max_span!r}, and the first window has no lower end to count "
                "from: give initial=, or high=newest(frame) or newest_jdbc(spark, options, table)"
            )
        return None if start is None else value_after(start, request.max_span, "max_span")
    if request.max_rows is None:
        return None
    if source is None:
        raise WatermarkValueError(
            f"max_rows is {request.max_rows}, and no one can count the rows of this source: give "
            "high=newest(frame) or newest_jdbc(spark, options, table), or max_span="
        )
    last = source.after_rows(request.cursor, low, is_low_in, request.max_rows)
    if last is None or request.bounds == "(]":
        return last
    # Rows at `last` belong to this window.
    return source.after_rows(request.cursor, last, is_low_in=False, rows=1)
