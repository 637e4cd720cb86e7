"""Turns days of the data set into landed objects, with the moment the source last changed each row.

A day's flights reach the source the next day at 02:00 UTC, its weather at 03:00; corrections come
at 04:00 on the day they land. Every row has its own ``updated_at``.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from sample.flights import (
    FIRST_DAY,
    FLIGHT_COLUMNS,
    LAST_DAY,
    WEATHER_NUMBERS,
    YEAR,
    Row,
    flights_by_day,
    weather_by_day,
)

FLIGHTS_HOUR, WEATHER_HOUR, CORRECTIONS_HOUR = 2, 3, 4
CORRECTED_EVERY = 50
CORRECTION_MINUTES = 45
DELAYS = ("dep_delay", "arr_delay")
STEP = timedelta(milliseconds=1)

Objects = dict[str, bytes]


def parse_days(text: str) -> list[date]:
    """Return the days of ``A..B`` or ``A``, both ends included.

    Args:
        text: dates of 2013 (``2013-01-01..2013-01-14``) or days of that year (``1..14``).

    Raises:
        ValueError: it is neither, lies outside 2013, or ends before it begins.
    """
    first, separator, last = text.partition("..")
    begin, end = _parse_day(first, text), _parse_day(last if separator else first, text)
    if end < begin:
        raise ValueError(f"the days {text!r} end before they begin; write A..B with A up to B")
    return [begin + timedelta(days=n) for n in range((end - begin).days + 1)]


def _parse_day(text: str, whole: str) -> date:
    try:
        day = (
            FIRST_DAY + timedelta(days=int(text) - 1)
            if text.isdecimal()
            else date.fromisoformat(text)
        )
    except (ValueError, OverflowError):
        day = date.min
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(
            f"{whole!r} are not days of {YEAR}; allowed are 1..365 or {FIRST_DAY}..{LAST_DAY}"
        )
    return day


def landing_day(day: date) -> date:
    """Return the day on which the rows of ``day`` reach the source."""
    return day + timedelta(days=1)


def flight_rows(days: Iterable[date]) -> dict[date, list[Row]]:
    """Return the flights of each day with the column ``updated_at`` (ISO 8601, UTC)."""
    return {
        day: _stamped(rows, landing_day(day), FLIGHTS_HOUR)
        for day, rows in flights_by_day(days).items()
    }


def corrected_rows(day: date, landed_on: date) -> list[Row]:
    """Return a corrected version of every 50th flight of a day: it left 45 minutes later.

    Flights that were cancelled stay cancelled.
    """
    flown = [row for row in flights_by_day([day])[day] if row["dep_delay"] and row["arr_delay"]]
    corrected = [
        {**row, **{key: str(int(row[key]) + CORRECTION_MINUTES) for key in DELAYS}}
        for row in flown[::CORRECTED_EVERY]
    ]
    return _stamped(corrected, landed_on, CORRECTIONS_HOUR)


def _stamped(rows: Sequence[Row], landed_on: date, hour: int) -> list[Row]:
    first = datetime(landed_on.year, landed_on.month, landed_on.day, hour, tzinfo=UTC)
    return [
        {**row, "updated_at": (first + n * STEP).isoformat(timespec="milliseconds")}
        for n, row in enumerate(rows)
    ]


def flight_objects(days: Iterable[date]) -> Objects:
    """Return one CSV object per day, keyed ``flights/landed_on=…/flights-….csv``."""
    return {
        f"flights/landed_on={landing_day(day)}/flights-{day}.csv": _csv(rows)
        for day, rows in flight_rows(days).items()
    }


def correction_objects(day: date, landed_on: date) -> Objects:
    """Return one CSV object with the corrected flights of ``day``, landed on ``landed_on``."""
    key = f"flights/landed_on={landed_on}/corrections-{day}.csv"
    return {key: _csv(corrected_rows(day, landed_on))}


def weather_objects(days: Iterable[date], *more: str) -> Objects:
    """Return one object of JSON lines per day, keyed ``weather/….json``: a report per airport.

    Args:
        days: the days of the observations.
        more: numbers that an observation has too, such as ``pressure``: a source that has changed.
    """
    return {
        f"weather/{day}.json": _reports(_stamped(rows, landing_day(day), WEATHER_HOUR), more)
        for day, rows in weather_by_day(days).items()
    }


@dataclass(frozen=True)
class Delivery:
    """Flights by the day they land and the kind of file, and days of weather, to be landed."""

    days: tuple[date, ...]
    corrected: tuple[date, ...]
    has_flights: bool
    has_weather: bool

    def flights(self) -> list[Row]:
        """Return the flights in the order the source received them."""
        if not self.has_flights:
            return []
        rows = [row for day in flight_rows(self.days).values() for row in day]
        landed_on = landing_day(self.days[-1])
        return rows + [row for day in self.corrected for row in corrected_rows(day, landed_on)]

    def flight_files(self) -> Objects:
        """Return the flights as objects of the landing bucket."""
        if not self.has_flights:
            return {}
        objects = flight_objects(self.days)
        for day in self.corrected:
            objects |= correction_objects(day, landing_day(self.days[-1]))
        return objects

    def weather_files(self) -> Objects:
        """Return the weather as objects of the landing bucket."""
        return weather_objects(self.days) if self.has_weather else {}


def plan_delivery(days: str, only: str | None, correct: str | None) -> Delivery:
    """Return what ``python -m sample land`` delivers.

    Args:
        days: see `parse_days`.
        only: ``flights`` or ``weather``; None lands both.
        correct: an earlier day whose flights are corrected too; they land with the last of
            ``days``.

    Raises:
        ValueError: the days are malformed, or the corrections can land with none of them.
    """
    chosen, corrected = parse_days(days), parse_days(correct) if correct is not None else []
    if corrected and only == "weather":
        raise ValueError(
            f"corrections of {correct} are flights, which do not land with weather only"
        )
    if corrected and corrected[-1] > chosen[-1]:
        raise ValueError(
            f"flights of {corrected[-1]} cannot be corrected, for they are after the last day that "
            f"lands, {chosen[-1]}"
        )
    return Delivery(tuple(chosen), tuple(corrected), only != "weather", only != "flights")


def _csv(rows: Sequence[Row]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*FLIGHT_COLUMNS, "updated_at"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _reports(rows: Iterable[Row], more: Sequence[str]) -> bytes:
    by_origin: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        by_origin.setdefault(row["origin"], []).append(_observation(row, more))
    reports = ({"origin": origin, "observations": of} for origin, of in by_origin.items())
    return "".join(json.dumps(report) + "\n" for report in reports).encode()


def _observation(row: Row, more: Sequence[str]) -> Mapping[str, object]:
    """Return an observation; whole numbers are written without a fraction."""
    names = (*WEATHER_NUMBERS, *more)
    numbers = {name: _number(row[name]) if row[name] else None for name in names}
    calendar = {name: int(row[name]) for name in ("year", "month", "day", "hour")}
    return {
        **calendar,
        **numbers,
        "time_hour": row["time_hour"],
        "updated_at": row["updated_at"],
    }


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number
