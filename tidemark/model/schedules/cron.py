"""AWS's cron expressions: six fields, checked and followed; pure, on plain data.

Sources: https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html,
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-cron-expressions.html,
https://docs.aws.amazon.com/glue/latest/dg/monitor-data-warehouse-schedule.html. Where they say
nothing (a range that goes down, a step longer than its field, lower case) it is refused.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise, product
from typing import NoReturn

from tidemark.errors import ScheduleError, show
from tidemark.model.messages import plural

FORM = "cron(minutes hours day-of-month month day-of-week year), such as cron(0 6 * * ? *)"
DAY_MINUTES = 24 * 60
SATURDAY = 7
_PART = re.compile(r"(\*|\d{1,4}|[A-Z]{3})(?:-(\d{1,4}|[A-Z]{3}))?(?:/(\d{1,4}))?", re.ASCII)
_NEAREST = re.compile(r"(\d{1,2})W", re.ASCII)
_LAST = re.compile(r"(\d|[A-Z]{3})L", re.ASCII)
_NTH = re.compile(r"(\d|[A-Z]{3})#([1-5])", re.ASCII)


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    words: tuple[str, ...] = ()
    wildcards: str = ", - * /"

    def refuse(self, text: str, advice: str) -> NoReturn:
        names = f" or {self.words[0]}-{self.words[-1]}" if self.words else ""
        raise ScheduleError(
            f"the {self.name} {show(text)}; allowed: {self.low}-{self.high}{names} and "
            f"{self.wildcards}; {advice}"
        )

    def number(self, text: str) -> int:
        """Return the number of a number or a name."""
        value = self.low + self.words.index(text) if text in self.words else -1
        value = int(text) if text.isdigit() else value
        if not self.low <= value <= self.high:
            self.refuse(text, f"write one of {self.low} to {self.high}")
        return value

    def values(self, text: str) -> frozenset[int]:
        """Return the numbers of a list of numbers, ranges and steps."""
        allowed: set[int] = set()
        for part in text.split(","):
            match = _PART.fullmatch(part)
            if not match or (part == "*" != text) or (match[1] == "*" and match[2]):
                self.refuse(part, "write numbers, ranges and steps with commas between them")
            low = self.low if match[1] == "*" else self.number(match[1])
            is_open = match[1] == "*" or match[3]
            high = self.number(match[2]) if match[2] else self.high if is_open else low
            step = int(match[3] or 1)
            if not 1 <= step <= self.high - self.low:
                self.refuse(part, f"write a step of 1 to {self.high - self.low}")
            if high < low:
                self.refuse(part, f"a range goes up: write {self._upwards(match[1], match[2])}")
            allowed |= set(range(low, high + 1, step))
        return frozenset(allowed)

    def _upwards(self, first: str, last: str) -> str:
        """Return two ranges for one that goes over the end of the field."""
        low, high = (
            (self.words[0], self.words[-1]) if first in self.words else (self.low, self.high)
        )
        ends = ((first, str(high)), (str(low), last))
        return ",".join(a if self.number(a) == self.number(b) else f"{a}-{b}" for a, b in ends)


_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_MINUTES, _HOURS = _Field("minutes", 0, 59), _Field("hours", 0, 23)
_DAY = _Field("day-of-month", 1, 31, wildcards=", - * ? / L W")
_MONTH = _Field("month", 1, 12, _MONTHS)
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_WEEKDAY = _Field("day-of-week", 1, 7, _WEEKDAYS, ", - * ? / L #")
_YEAR = _Field("year", 1970, 2199)


@dataclass(frozen=True)
class Cron:
    """What six fields mean; exactly one of `day` and `weekday` is `?`."""

    minutes: frozenset[int]
    hours: frozenset[int]
    day: str
    months: frozenset[int]
    weekday: str
    years: frozenset[int]

    @property
    def finest_minutes(self) -> int:
        """Return the minutes between the two closest firings, taking every day for one."""
        times = sorted(60 * hour + minute for hour, minute in product(self.hours, self.minutes))
        return min(b - a for a, b in pairwise([*times, times[0] + DAY_MINUTES]))

    def times_after(self, after: datetime) -> Iterator[datetime]:
        """Yield the times when it fires, on a clock without a time zone."""
        for year, month in product(sorted(self.years), sorted(self.months)):
            if (year, month) < (after.year, after.month):
                continue
            for day in sorted(self._days(year, month)):
                if date(year, month, day) < after.date():
                    continue
                for hour, minute in product(sorted(self.hours), sorted(self.minutes)):
                    time = datetime(year, month, day, hour, minute)  # noqa: DTZ001 - a wall clock
                    if time > after:
                        yield time

    def _days(self, year: int, month: int) -> set[int]:
        """Return the days of a month when it fires."""
        last = monthrange(year, month)[1]
        weekday_of = {
            day: date(year, month, day).isoweekday() % 7 + 1 for day in range(1, last + 1)
        }
        if self.weekday == "?":
            if self.day == "L":
                return {last}
            if nearest := _NEAREST.fullmatch(self.day):
                return _nearest_weekday(year, month, int(nearest[1]), last)
            return {day for day in _DAY.values(self.day) if day <= last}
        if one := _LAST.fullmatch(self.weekday):
            return {max(d for d, found in weekday_of.items() if found == _WEEKDAY.number(one[1]))}
        if one := _NTH.fullmatch(self.weekday):
            days = [d for d, found in weekday_of.items() if found == _WEEKDAY.number(one[1])]
            return set(days[int(one[2]) - 1 : int(one[2])])
        wanted = {SATURDAY} if self.weekday == "L" else _WEEKDAY.values(self.weekday)
        return {day for day, found in weekday_of.items() if found in wanted}


def parse_cron(expression: str) -> Cron:
    """Parse a cron expression."""
    match = re.fullmatch(r"cron\((.*)\)", expression)
    fields = match[1].split(" ") if match else []
    if len(fields) != 6:
        raise ScheduleError(
            f"{plural(len(fields), 'field')}; allowed: {FORM}; write six, one space between"
        )
    minutes, hours, day, month, weekday, year = fields
    if (day == "?") == (weekday == "?"):
        raise ScheduleError(
            f"the day-of-month {show(day)} and the day-of-week {show(weekday)}; allowed: ? for "
            "exactly one of the two; write ? for the one that does not matter"
        )
    if nearest := _NEAREST.fullmatch(day):
        _DAY.number(nearest[1])
    elif day not in ("?", "L"):
        _DAY.values(day)
    if one := _LAST.fullmatch(weekday) or _NTH.fullmatch(weekday):
        _WEEKDAY.number(one[1])
    elif weekday not in ("?", "L"):
        _WEEKDAY.values(weekday)
    return Cron(
        _MINUTES.values(minutes),
        _HOURS.values(hours),
        day,
        _MONTH.values(month),
        weekday,
        _YEAR.values(year),
    )


def _nearest_weekday(year: int, month: int, day: int, last: int) -> set[int]:
    """Return the day from Monday to Friday that is nearest to a day, in the same month."""
    if day > last:
        return set()
    moved = {6: -1 if day > 1 else 2, 7: 1 if day < last else -2}
    wanted = date(year, month, day)
    return {(wanted + timedelta(days=moved.get(wanted.isoweekday(), 0))).day}
