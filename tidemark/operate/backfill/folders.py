"""Which day a file of a source belongs to, by the names of its folders, or by its own."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import lru_cache
from typing import TypeAlias

from tidemark.operate.backfill.ledger import Folder
from tidemark.operate.backfill.ranges import Span

_PARTITION = re.compile(r"(?P<name>[^/=]+)=(?P<value>[^/=]*)/")
_DAY = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T -]\d\d(?:[:-]?\d\d)*Z?)?")
_PLAIN = re.compile(r"(?:^|/)(\d{4})/(\d\d)/(\d\d)/")
# What Spark does not read: _SUCCESS, .crc, markers of folders.
_HIDDEN = re.compile(r"(?:^|/)[_.][^/=]*(?:/|$)|_\$folder\$$")
_IN_NAME = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
Late: TypeAlias = Callable[[str, int], int | None]
_YEAR, _MONTH, _DAY_OF_MONTH = ("year", "yyyy"), ("month", "mm"), ("day", "dd")


def day_of_key(key: str, column: str = "") -> date | None:
    """Return the day that a key of S3 belongs to.

    Understood are one partition column of days (``landed_on=2013-01-31/``, ``dt=20130131/``), three
    of ``year=``, ``month=`` and ``day=``, plain folders ``2013/01/31/``, and, where no folder tells
    it, one day in the name of the file: ``orders-2013-01-31.csv``.
    """
    folder, _, name = key.rpartition("/")
    day = _day_of_folder(f"{folder}/", column)
    if day or column:
        return day
    named = {_date(*groups) for groups in _IN_NAME.findall(name)}
    return named.pop() if len(named) == 1 else None


@lru_cache(maxsize=10_000)
def _day_of_folder(folder: str, column: str) -> date | None:
    values = {m["name"].lower(): m["value"] for m in _PARTITION.finditer(folder)}
    if column:
        return _day(values.get(column.lower(), ""))
    days = {day for value in values.values() if (day := _day(value))}
    if days:
        return days.pop() if len(days) == 1 else None
    three = [
        next((values[name] for name in names if name in values), "")
        for names in (_YEAR, _MONTH, _DAY_OF_MONTH)
    ]
    if all(part.isdecimal() for part in three):
        return _date(*three)
    plain = _PLAIN.search(folder)
    return _date(*plain.groups()) if plain else None


def folders_of(
    files: Iterable[tuple[str, int]],
    read_until_ms: int | None,
    column: str = "",
    late: Late = lambda _key, _modified_ms: None,
) -> list[Folder]:
    """Return the days of the files of a source, in order; not of hidden files."""
    lates: dict[int, int] = {}
    times: dict[int, tuple[int, int]] = {}
    for key, modified_ms in files:
        day = None if _HIDDEN.search(key) else day_of_key(key, column)
        if day is None:
            continue
        point = day.toordinal()
        if (late_ms := late(key, modified_ms)) is not None:
            lates[point] = max(late_ms, lates.get(point, late_ms))
            continue
        oldest, newest = times.get(point, (modified_ms, modified_ms))
        times[point] = (min(oldest, modified_ms), max(newest, modified_ms))
    times = {point: (late_ms, late_ms) for point, late_ms in lates.items()} | times
    return [
        Folder(Span(point, point + 1), oldest, newest, read_until_ms, lates.get(point))
        for point, (oldest, newest) in sorted(times.items())
    ]


def edges_by_source(states: Mapping[str, object], edge: str = "high_ms") -> dict[str, int]:
    """Return how far each source of a bookmark of this machine has been read, by its ctx."""
    edges = {}
    for ctx, state in states.items():
        until = state.get(edge) if isinstance(state, Mapping) else None
        if isinstance(until, int):
            edges[ctx] = until
    return edges


def _day(text: str) -> date | None:
    match = _DAY.fullmatch(text)
    return _date(*match.groups()[:3]) if match else None


def _date(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
