"""Judges a bound by clock and calendar: whether it is a day, or lies in the future.

A day is a cursor coarser than its arrivals: rows of it come until it is over. So a day is read when
a greater one is there (`bounds="[)"`), or one day after it was seen first (`bounds="(]"`).
"""

from __future__ import annotations

import logging
import re
from datetime import MAXYEAR, UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from watermarks.errors import WatermarkValueError

from .day_strings import Day, day_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DAY = timedelta(days=1)
A_YEAR = timedelta(days=366)
EARLIEST_YEAR, LIKELY_YEAR = 1900, 2199
FUTURE = DAY
"""How far ahead of the clock a bound may be by default: zones differ by less."""

_LOG = logging.getLogger("watermarks")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR, _MONTH, _DAY_OF_MONTH = r"(?:19|20|21)\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_DATE = rf"{_YEAR}([-/.]?){_MONTH}\1{_DAY_OF_MONTH}"
_ZERO = r"(?::?00(?:\.0+)?)*(?:Z|[+-]\d\d:?\d\d)?"  # minutes, seconds, zone
_UNITS = {  # as numbers and strings have them: 202611, 2026-11, 2026-W48
    "a year": re.compile(_YEAR),
    "a month": re.compile(rf"{_YEAR}[-/.]?{_MONTH}"),
    "a week": re.compile(rf"{_YEAR}-?W\d\d"),
    "a whole day": re.compile(rf"{_DATE}(?:[T ]00{_ZERO})?"),
    "a whole hour": re.compile(rf"{_DATE}[T ]?(?:[01]\d|2[0-3]){_ZERO}"),
}


def is_day(value: object) -> bool:
    """Return whether a cursor value is a date, or a string that is one, such as '2026-11-25'."""
    if isinstance(value, str):
        return bool(_DAY.fullmatch(value)) and _time_of(value) is not None
    return isinstance(value, date) and not isinstance(value, datetime)


def warn_if_coarse(low: object, high: object, cursor: str, now: datetime) -> None:
    """Log a warning if two bounds, which leave out later rows of `high`, look like whole units."""
    unit = _unit_of(high)
    if unit and _unit_of(low) in {unit, "a whole day"} and _are_dates((low, high), now):
        _LOG.warning(
            "the cursor %r was %r and is now %r, each %s: if rows with this value may still come, "
            "the bounds '(]' lose them; give settle=, longer than such rows take to come, or start "
            "with bounds='[)' under another cursor name",
            cursor,
            low,
            high,
            unit,
        )


def _are_dates(values: Iterable[object], now: datetime) -> bool:
    """Return whether values are more than keys that rise: as the keys 1967 and 2009 are not."""
    keys = [str(value) for value in values if str(value).isdecimal()]
    return all(abs(int(key[:4]) - now.year) <= 1 for key in keys)


def check_not_ahead(
    value: Any, now: datetime, future: timedelta, cursor: str, before: object = None
) -> None:
    """Raise a WatermarkValueError if a bound lies further ahead of the clock than it may.

    A string that may be a day or an ordinary key is refused if the one before it is a day too, and
    else named in the log.

    Args:
        value: the bound; a number is not judged.
        now: the time by the clock.
        future: how far ahead of it a value may lie.
        cursor: its name.
        before: the watermark that it replaces; None for none.
    """
    day = _day_ahead(value, now, future)
    if day is None or not _is_likely(day, before, now):
        return
    if day.is_sure or (_is_day_before(before, now) and day.time - now > A_YEAR):
        raise WatermarkValueError(
            f"the greatest value of {cursor!r} is {value!r}, and the clock says "
            f"{now.isoformat(timespec='seconds')}: as a watermark it would hide every row until "
            "then, so nothing was written; repair or filter out such rows, set this machine's "
            "clock if it is behind, or allow it by name: future=timedelta(days=...), how far ahead "
            "of the clock a value may lie"
        )
    _LOG.warning(
        "the greatest value of the cursor %r is %r, and the clock says %s: if that is a time, it "
        "hides every row until then as a watermark, and such rows are to be repaired; if it is an "
        "ordinary key, say so with future=timedelta.max",
        cursor,
        value,
        now.isoformat(timespec="seconds"),
    )


def check_none_ahead(
    to: Mapping[str, Any], stored: Mapping[str, Any], now: datetime, future: timedelta
) -> None:
    """Raise a WatermarkValueError if a new value lies further ahead of the clock than it may.

    A stored value is not judged: the rows it hides were hidden before.
    """
    check_future(future)
    for name, value in to.items():
        before = stored.get(name)
        if isinstance(value, dict):
            check_none_ahead(value, before if isinstance(before, dict) else {}, now, future)
        elif before is None or before != value:
            check_not_ahead(value, now, future, name, before)


def check_future(future: object) -> None:
    """Raise a WatermarkValueError if `future` is not a timedelta of zero or more."""
    if not isinstance(future, timedelta) or future < timedelta():
        raise WatermarkValueError(
            f"future is {future!r}: give a timedelta that is not negative, how far ahead of the "
            "clock a value may lie"
        )


def warn_if_stored_ahead(value: Any, now: datetime, future: timedelta, cursor: str) -> None:
    """Log a warning if a stored watermark lies further ahead of the clock than a new one may."""
    day = _day_ahead(value, now, future)
    if day and _is_likely(day, None, now):
        _LOG.warning(
            "the watermark of the cursor %r is %r, and the clock says %s: %sno row before it is "
            "read; rewind the job to the run before, with WatermarkAdmin.rewind(job, to_run=..., "
            "reason=..., actor=...), or give future=timedelta(days=...) if it is meant",
            cursor,
            value,
            now.isoformat(timespec="seconds"),
            "" if day.is_sure else "if that is a time, ",
        )


def _day_ahead(value: Any, now: datetime, future: timedelta) -> Day | None:
    """Return the day of a value beyond the clock; None of a number, or of any other value."""
    time = _time_of(value)
    day = Day(time, is_sure=True) if time else day_of(value) if isinstance(value, str) else None
    return day if day and day.time - now.astimezone(UTC) > future else None


def _is_likely(day: Day, before: object, now: datetime) -> bool:
    """Return whether a value is a day; 4711 is not a year if no earlier key was a day."""
    if day.is_sure or _is_day_before(before, now):
        return True
    return before is None and (day.time.year <= LIKELY_YEAR or day.time.year == MAXYEAR)


def _is_day_before(value: object, now: datetime) -> bool:
    """Return whether a watermark is a day that the clock has reached, for all that it shows."""
    day = day_of(value) if isinstance(value, str) else None
    return day is not None and day.time.year >= EARLIEST_YEAR and day.time <= now + FUTURE


def _time_of(value: object) -> datetime | None:
    """Return a time of any kind in UTC, as if one without a zone were in it; None of no time."""
    if isinstance(value, str) and _DAY.match(value):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            return value.replace(tzinfo=UTC)
        try:
            return value.astimezone(UTC)
        except OverflowError:  # at the very ends of time
            return value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None


def _unit_of(value: object) -> str:
    """Return the unit that a value seems to be cut to, such as "a year"; empty if to none."""
    if isinstance(value, datetime):
        if value.microsecond or value.second or value.minute:
            return ""
        return "a whole hour" if value.hour else "a whole day"
    if is_day(value) or type(value) not in {int, str}:
        # Days are not complete until a later one exists.
        return ""
    return next((unit for unit, form in _UNITS.items() if form.fullmatch(str(value))), "")
