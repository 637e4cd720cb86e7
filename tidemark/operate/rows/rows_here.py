"""Compares the rows of small targets here: Spark needs seconds before it reads the first one."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tidemark.operate.rows.answers import ROW, header_of, judged_sides, key_of
from tidemark.operate.rows.file_rows import FileRows, rows_of_side
from tidemark.operate.rows.records import with_marks

ENCODER = json.JSONEncoder(default=str, ensure_ascii=False, separators=(",", ":"))
MAX_BYTES = 8_000_000  # of all files of a target; of others, Spark compares the rows


def are_small(target: Mapping[str, Any]) -> bool:
    """Return whether the files of a target are compared here."""
    files = {file for side in (*target["sides"], target["control"]) for file in side["files"]}
    return sum(Path(file).stat().st_size for file in files) <= MAX_BYTES


def judged_here(target: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return how each side of a target differs from its first side, as the job of Spark does.

    Raises:
        Exception: the files are not what they are named, or only Spark reads them.
    """
    kind, sides = target["format"], [*target["sides"], target["control"]]
    header = header_of(kind, sides)
    sides = with_marks(sides) if kind == "json" else sides
    read = [rows_of_side(kind, side, header) for side in sides]
    return judged_sides(_SidesHere(read, are_texts=kind == "json"), target, asked)


class _SidesHere:
    """The rows of the sides of a target as JSON, each with its number."""

    def __init__(self, sides: Sequence[FileRows | None], *, are_texts: bool) -> None:
        self.types = [None if side is None else side.types for side in sides]
        self._sides = [side or FileRows() for side in sides]
        self._are_texts = are_texts
        self._shown: dict[str, str] = {}
        self._counts: list[Counter[str]] = []

    def count(self, number: int) -> int:
        return len(self._sides[number].rows)

    def differing(self, names: list[str]) -> list[str]:
        both = self._sides[0], self._sides[-1]
        one, other = [Counter(map(_text, _values_of(side, names, ()))) for side in both]
        if one == other:  # as most are: to count the values of each column takes longer
            return []
        values = {
            name: [Counter(_hashable(row.get(name)) for row in side.rows) for side in both]
            for name in names
        }
        return [name for name, (one, other) in values.items() if one != other]

    def sums(self, names: list[str], left_out: Sequence[str]) -> list[tuple[int, ...]]:
        for side in self._sides[:-1]:
            rows = list(_values_of(side, names, left_out))
            texts = [_text(values, are_texts=self._are_texts) for values in rows]
            self._counts.append(Counter(texts))
            if self._are_texts:
                self._shown |= zip(texts, map(_text, rows), strict=True)
        base, sums = self._counts[0], list[tuple[int, ...]]()
        for there in self._counts:
            more = there - base
            doubled = sum(count for row, count in more.items() if row in base)
            lost = (base - there).total()
            sums.append((there.total(), lost, doubled, more.total() - doubled))
        return sums

    def rows(self, number: int) -> Iterator[dict[str, Any]]:
        base, there = self._counts[0], self._counts[number]
        for row in (*(there - base), *(base - there)):
            yield {ROW: row, "c0": base[row], f"c{number}": there[row]}

    def identifying(self, candidates: Sequence[list[str]]) -> list[list[str]]:
        rows, keys = self._sides[0].rows, []
        for columns in candidates:
            values = {tuple(_hashable(row.get(name)) for name in columns) for row in rows}
            if len(values) == len(rows) > 1:
                keys.append(columns)
        return keys

    def present(self, key: list[str]) -> set[str]:
        return {key_of(row, key) for row in self._counts[0]}

    def shown(self, row: str, _: int) -> str:
        return self._shown.get(row, row)


def _values_of(
    side: FileRows, names: Sequence[str], left_out: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a side, without what is left out; columns that it has alone count."""
    columns = [*names, *(name for name in side.types if name not in {*names, *left_out})]
    return ({name: row.get(name) for name in columns} for row in side.rows)


def _hashable(value: Any) -> Any:
    """Return what is equal for equal values only: 1, 1.0, true and "1" are four."""
    return value if value is None or isinstance(value, str) else (_text(value),)


def _text(value: Any, *, are_texts: bool = False) -> str:
    """Return a value as JSON; as texts, a number is its digits, and its type is compared apart."""
    if isinstance(value, dict):
        value = {name: _ordered(of_name, are_texts=are_texts) for name, of_name in value.items()}
    else:
        value = _ordered(value, are_texts=are_texts)
    return ENCODER.encode(value)


def _ordered(value: Any, *, are_texts: bool) -> Any:
    """Return a value, arrays in the order of their elements, fields in that of their names."""
    if value is None or isinstance(value, str):
        return value
    ordered = partial(_ordered, are_texts=are_texts)
    match value:
        case list():
            return sorted(map(ordered, value), key=partial(json.dumps, default=str))
        case tuple():  # an entry of a map
            return list(map(ordered, value))
        case dict():
            fields = sorted(value.items())
            return {name: ordered(of_name) for name, of_name in fields if of_name is not None}
        case bool() | int() | float() if are_texts:
            return json.dumps(value)
    return value
