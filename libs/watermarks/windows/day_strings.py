"""Finds the day that a string means, in the forms that files and databases write.

Some forms are those of a day only: 9999-12-31, 31.12.9999, infinity. Others are forms of ordinary
keys too: 20301231 may be the number of an order. Such a string is judged by the bound before it.
"""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from typing import NamedTuple

_YEAR, _MONTH, _DAY = r"(?P<year>\d{4})", r"(?P<month>0[1-9]|1[0-2])", r"(?P<day>[0-3]\d)"
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_NAME = rf"(?P<name>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)})\.?"
_TIME = r"(?:[T ,:].*)?"
_CLOCK = r"(?:[01]\d|2[0-4])(?::?[0-5]\d){0,2}(?:[.,]?\d+)?"
_LAST_MONTH, _LAST_DAY, _ANY_DAY = 12, 31, 28  # the 28th is in every month


def _forms(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.ASCII | re.IGNORECASE) for pattern in patterns)


_FOREVER = _forms(
    r"\+?(?:infinity|\u221e)",
    r"\+\d{5,}-\d\d-\d\d.*",  # ISO 8601 beyond the year 9999, as Java writes it
    r"\d{5,}-\d\d-\d\d[T ].*",  # as PostgreSQL does
)
_MAYBE_FOREVER = _forms(r"\+?inf", r"max(?:imum|_?value|_?date)?", r"never")
_LIKE_ISO = re.compile(
    rf"{_YEAR}(?P<cut>[-/])(?P<month>\d\d)(?P=cut)(?P<day>\d\d)(?!\d).*", re.ASCII
)
_SURE = _forms(
    rf"{_YEAR}\.{_MONTH}\.{_DAY}(?!\d).*",
    rf"{_YEAR}{_MONTH}{_DAY}[T ]{_CLOCK}.*",
    rf"{_YEAR}-?W(?P<week>[0-5]\d)(?:-?[1-7])?",
    rf"(?P<day>\d\d?)(?P<cut>[-/])(?P<month>\d\d?)(?P=cut){_YEAR}{_TIME}",
    rf"(?P<day>\d\d)\.(?P<month>\d\d)\.{_YEAR}{_TIME}",
    rf"(?:[a-z]+ )?{_NAME} +(?P<day>\d\d?) [\d:]+(?: [a-z]+)? {_YEAR}",  # as Java and C write it
    rf"(?:[a-z]+,? )?(?P<day>\d\d?)[-/. ]*{_NAME}[-/., ]*{_YEAR}{_TIME}",
    rf"(?:[a-z]+,? )?{_NAME}[-/. ]*(?P<day>\d\d?)(?:st|nd|rd|th)?,? *{_YEAR}{_TIME}",
    rf"{_YEAR}[-/. ]?{_NAME}[-/. ]?(?P<day>\d\d?){_TIME}",
)
_MAYBE = _forms(
    rf"{_YEAR}{_MONTH}{_DAY}(?:{_CLOCK})?Z?",
    rf"{_YEAR}[-/.]?{_MONTH}",
    rf"{_MONTH}[-/.]{_YEAR}",
    rf"{_NAME}[-/. ]*{_YEAR}",
    rf"{_YEAR}(?P<cut>[-/.])(?P<month>\d\d?)(?P=cut)(?P<day>\d\d?){_TIME}",
    rf"(?P<day>\d\d?)\.(?P<month>\d\d?)\.{_YEAR}{_TIME}",  # 6.1.7601 is a version
    rf"{_YEAR}-(?P<of_year>[0-3]\d\d)",
    _YEAR,
)
FOREVER = datetime.max.replace(tzinfo=UTC)


class Day(NamedTuple):
    """A day that a string may mean, and whether it can hardly mean anything else."""

    time: datetime
    is_sure: bool


def day_of(text: str) -> Day | None:
    """Return the day that a string means or may mean; one that no calendar has counts as the next.

    Example: day_of("31.12.9999") is sure, day_of("20301231") is not, day_of("A-17") is None.
    """
    text = text.strip()
    if any(form.fullmatch(text) for form in _FOREVER):
        return Day(FOREVER, is_sure=True)
    if any(form.fullmatch(text) for form in _MAYBE_FOREVER):
        return Day(FOREVER, is_sure=False)
    for forms in ((_LIKE_ISO,), _SURE, _MAYBE):
        for form in forms:
            match = form.fullmatch(text)
            if match and (match.re is _LIKE_ISO or _is_in_a_calendar(match)):
                return _day(match, is_sure=forms is not _MAYBE)
    return None


def _is_in_a_calendar(match: re.Match[str]) -> bool:
    """Return whether one of two numbers can be a month, and the other one a day."""
    parts = match.groupdict()
    day, month = int(parts.get("day") or 1), int(parts.get("month") or 1)
    return 1 <= min(day, month) <= _LAST_MONTH and max(day, month) <= _LAST_DAY


def _day(match: re.Match[str], *, is_sure: bool) -> Day | None:
    parts = match.groupdict()
    year, month, day = (int(parts.get(part) or 1) for part in ("year", "month", "day"))
    if name := parts.get("name"):
        month = [month_name[:3] for month_name in _MONTHS].index(name[:3].lower()) + 1
    if year < MINYEAR:
        return None
    if month > _LAST_MONTH and match.start("day") < match.start("month"):
        month, day = day, month  # 12/31/9999, as Americans write
    first = datetime(year, min(max(month, 1), _LAST_MONTH), min(max(day, 1), _ANY_DAY), tzinfo=UTC)
    # The first week may start three days before the year, and the last month of all is "no end".
    week, of_year = parts.get("week"), parts.get("of_year")
    later = timedelta(days=7 * int(week) - 10 if week else int(of_year) - 1 if of_year else 0)
    is_last = year == MAXYEAR and month == _LAST_MONTH
    return Day(min(first, FOREVER - abs(later)) + later, is_sure or is_last)
