"""Compares the rows of small targets here: Spark needs seconds before it reads the first one."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tidemark.operate.rows.answers import (
    NOTHING_LEFT,
    ROW,
    best_key,
    candidates_of,
    details,
    header_of,
    key_of,
    possible_keys,
    unlike_reason,
    with_types,
)
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
    *compared, control = [rows_of_side(kind, side, header) for side in sides]
    base = compared[0]
    names = base.names if base else []
    if base is None or not names:  # only other runs have written it, or empty files
        alone = [len(side.rows) if side else 0 for side in compared]
        answers = [{"rows": count or None, "expected": None, "added": count} for count in alone]
        return {"by_time": [], "sides": answers}
    differing = _differing(base, control)
    rows_of_control = len(control.rows) if control else 0
    if why := unlike_reason(len(base.rows), rows_of_control, names, differing):
        return {"problem": why, "by_time": [], "sides": []}
    by_time = [name for name in names if name in differing or name in target["left_out"]]
    kept = [name for name in names if name not in by_time]
    if not kept:
        return {"problem": NOTHING_LEFT, "by_time": by_time, "sides": [], "columns": names}
    key = [name for name in asked["key"] or target.get("key", []) if name in kept]
    candidates = candidates_of(kind, asked["surrogates"], kept)
    answers = _answers(compared, kept, by_time, key, candidates, are_texts=kind == "json")
    types = [side.types if side else {} for side in compared]
    with_types(answers, types, control.types if control else None, kept)
    return {"by_time": by_time, "columns": names, "sides": answers}


def _differing(base: FileRows, control: FileRows | None) -> list[str]:
    """Return the columns in which two equal runs differ."""
    if control is None or set(control.names) != set(base.names):
        return []
    both = (base, control)
    one, other = [Counter(map(_text, _values_of(side, base.names, ()))) for side in both]
    if one == other:  # as most are: to count the values of each column takes longer
        return []
    values = {
        name: [Counter(_hashable(row.get(name)) for row in side.rows) for side in both]
        for name in base.names
    }
    return [name for name, (one, other) in values.items() if one != other]


def _answers(
    sides: Sequence[FileRows | None],
    names: Sequence[str],
    left_out: Sequence[str],
    key: list[str],
    candidates: Sequence[str],
    *,
    are_texts: bool,
) -> list[dict[str, Any]]:
    """Return the answer for every side."""
    shown: dict[str, str] = {}
    counts = []
    for side in sides:
        texts = []
        for values in _values_of(side, names, left_out):
            texts.append(_text(values, are_texts=are_texts))
            if are_texts:
                shown.setdefault(texts[-1], _text(values))
        counts.append(Counter(texts))
    base = counts[0]
    present = set[str]()
    if sides[0] and any(there != base for there in counts):
        key = key or _found_key(sides[0], candidates)
        present = {key_of(row, key) for row in base} if key else present

    def shown_row(row: str, _: bool) -> str:
        return shown.get(row, row)

    answers = []
    for number, (side, there) in enumerate(zip(sides, counts, strict=True)):
        more, less = there - base, base - there
        rows = [{ROW: row, "c0": base[row], f"c{number}": there[row]} for row in (*more, *less)]
        doubled = sum(count for row, count in more.items() if row in base)
        answers.append(
            {
                "rows": None if side is None else there.total(),
                "expected": base.total(),
                "lost": less.total(),
                "doubled": doubled,
                "added": more.total() - doubled,
                **(details(rows, number, shown_row, key, present) if rows else {}),
            }
        )
    return answers


def _values_of(
    side: FileRows | None, names: Sequence[str], left_out: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a side, without what is left out; columns that it has alone count."""
    if side is not None:
        columns = [*names, *(name for name in side.names if name not in {*names, *left_out})]
        yield from ({name: row.get(name) for name in columns} for row in side.rows)


def _found_key(base: FileRows, names: Sequence[str]) -> list[str]:
    """Return the columns that identify a row of the baseline: one, or two; empty if none do."""
    keys = []
    for columns in possible_keys(base.types, names):
        values = {tuple(_hashable(row.get(name)) for name in columns) for row in base.rows}
        if len(values) == len(base.rows) > 1:
            keys.append(columns)
    return best_key(keys)


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
