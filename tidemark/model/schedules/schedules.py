"""When a workflow starts: an expression of EventBridge Scheduler and a time zone, checked.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from difflib import get_close_matches
from functools import cache
from heapq import merge
from itertools import islice, pairwise, repeat
from zoneinfo import ZoneInfo, available_timezones

from tidemark.errors import ScheduleError, TooFineError, show
from tidemark.model.checked import checked
from tidemark.model.clock import now
from tidemark.model.schedules import cron
from tidemark.model.schedules.cron import Cron, parse_cron

FORM = f"{cron.FORM}, or rate(value unit), such as rate(1 hour)"
FINEST_MINUTES = 5
MAX_DAYS = 366  # of a rate
MAX_FIRINGS = 2_000  # of two schedules that are compared
NO_PLACES = {"Factory", "localtime"}  # that a time zone database may list
_RATE = re.compile(r"rate\(([1-9]\d{0,9}) (minute|hour|day)(s?)\)", re.ASCII)
_UNIT_MINUTES = {"minute": 1, "hour": 60, "day": cron.DAY_MINUTES}


@dataclass(frozen=True)
class Rate:
    """A firing at a fixed interval in minutes, the first at once."""

    finest_minutes: int


@checked
@dataclass(frozen=True)
class Schedule:
    """When a workflow starts.

    A workflow runs once at a time and a job takes minutes, hence nothing finer than five of them.

    Attributes:
        expression: `cron(minutes hours day-of-month month day-of-week year)` or
            `rate(value unit)`, as EventBridge Scheduler documents them.
        time_zone: name of the IANA database, on whose clock cron fields are read. A time that the
            clock skips in spring does not come; one that it shows twice in autumn comes once.

    Raises:
        ScheduleError: AWS does not document it, it never fires again, it is finer than five
            minutes, or the time zone is unknown.

    Example:
        >>> at_six = Schedule("cron(0 6 * * ? *)", "Europe/Zurich")
        >>> print(at_six.next_after(datetime(2026, 1, 1, 12, tzinfo=UTC)))
        2026-01-02 05:00:00+00:00
    """

    expression: str
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        check_string(self.expression)
        zone_of(self.time_zone)
        try:
            check_expression(self.expression)
            if self.next_after(now()) is None:
                raise ScheduleError(
                    f"no future time in {self.time_zone}; write days and years when it fires"
                )
        except ScheduleError as error:
            raise type(error)(f"schedule {show(self.expression)} has {error}") from None

    @property
    def finest_minutes(self) -> int:
        """Return the minutes between the two closest firings."""
        return parse(self.expression).finest_minutes

    def next_after(self, time: datetime) -> datetime | None:
        """Return the first time after another when it fires; None if it never does."""
        return next(self.times_after(time), None)

    def times_after(self, time: datetime) -> Iterator[datetime]:
        """Yield the times after another when it fires, in order."""
        meant, zone = parse(self.expression), zone_of(self.time_zone)
        if isinstance(meant, Rate):
            while True:
                time += timedelta(minutes=meant.finest_minutes)
                yield time
        for wall_clock in meant.times_after(time.astimezone(zone).replace(tzinfo=None)):
            fires = wall_clock.replace(tzinfo=zone).astimezone(UTC)
            is_skipped = fires.astimezone(zone).replace(tzinfo=None) != wall_clock
            if fires > time and not is_skipped:  # an hour repeated in autumn counts once
                yield fires


def parse(expression: str) -> Cron | Rate:
    """Parse an expression."""
    if not expression.startswith(("cron(", "rate(")):
        raise ScheduleError(f"neither cron(...) nor rate(...); allowed: {FORM}; write one")
    if expression.startswith("cron("):
        return parse_cron(expression)
    match = _RATE.fullmatch(expression)
    if match is None:
        raise ScheduleError(
            "no rate(value unit); allowed: an integer from 1, a space, and minute, minutes, "
            "hour, hours, day or days; write rate(1 hour)"
        )
    value, unit = int(match[1]), match[2]
    right = unit if value == 1 else f"{unit}s"
    if right != unit + match[3]:
        raise ScheduleError(f"the unit {unit}{match[3]}; allowed with {value}: {right}; write it")
    minutes = value * _UNIT_MINUTES[unit]
    if minutes > MAX_DAYS * cron.DAY_MINUTES:
        raise ScheduleError(f"the rate {value} {right}; allowed: up to {MAX_DAYS} days; write less")
    return Rate(minutes)


def first_clash(one: Schedule, other: Schedule, *, since: datetime) -> datetime | None:
    """Return when two schedules first fire less than five minutes apart; None if it is not seen.

    Their next `MAX_FIRINGS` firings are checked. Only AWS knows when a rate first fires.
    """
    if any(isinstance(parse(schedule.expression), Rate) for schedule in (one, other)):
        return None
    firings = merge(
        zip(one.times_after(since), repeat(1)), zip(other.times_after(since), repeat(2))
    )
    for (time, which), (later, by) in islice(pairwise(firings), MAX_FIRINGS):
        if which != by and later - time < timedelta(minutes=FINEST_MINUTES):
            return time
    return None


def check_string(given: object) -> None:
    """Raise a ScheduleError unless an expression or a time zone is a string."""
    if not isinstance(given, str):
        raise ScheduleError(f"a schedule has {show(given)}; allowed: strings; write it in quotes")


def check_expression(expression: str) -> None:
    """Raise a ScheduleError unless AWS documents an expression and runs can keep up with it."""
    step = parse(expression).finest_minutes
    if step < FINEST_MINUTES:
        raise TooFineError(
            f"firings {step} min apart; allowed: {FINEST_MINUTES} min or more; write minutes such "
            f"as 0 or 0/{FINEST_MINUTES}"
        )


@cache
def _known_zones() -> set[str]:
    return available_timezones() - NO_PLACES  # it looks into each of six hundred files


def zone_of(name: str) -> tzinfo:
    """Return the time zone of a name; UTC is known even without a database."""
    check_string(name)
    if name == "UTC":
        return UTC
    known = _known_zones()
    if name in known:
        return ZoneInfo(name)
    if not known:
        raise ScheduleError(
            f"time zone {show(name)} cannot be looked up, for this Python has no time zone "
            "database; allowed without one: UTC; pip install tzdata"
        )
    by_lower_case = {zone.lower(): zone for zone in sorted(known)}
    close = get_close_matches(name.lower(), by_lower_case, n=1)
    advice = f"did you mean {by_lower_case[close[0]]}?" if close else "write one"
    raise ScheduleError(
        f"time zone {show(name)} is not known; allowed: names of the IANA database, such as UTC "
        f"and Europe/Berlin; {advice}"
    )
