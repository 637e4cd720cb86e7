"""How the rows of one side differ from those of the first, from what is counted of each row."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

from tidemark.operate.rows.records import LINE

ROW = "row"
NOTHING_LEFT = "no column is left to compare: all of them differ by time, or are ignored"
MAX_SHOWN = 3
MAX_OF_PAIRS = 8  # columns that are tried in pairs as the key
DATA_LIKE = re.compile(r'"?[\d.+:T Z-]*"?')
MEASURES = ("double", "float", "decimal")


def header_of(kind: str, sides: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the first line of files of lines, if every file has it and it is not like data."""
    if kind != "lines":
        return None
    first = set()
    for file in {file for side in sides for file in side["files"]}:
        with Path(file).open(encoding="utf-8", errors="replace") as opened:
            first.add(opened.readline().rstrip("\r\n"))
    return next((line for line in first if len(first) == 1 and is_header(line)), None)


def is_header(line: str) -> bool:
    """Return whether the first line of a file names its columns, and is not like data."""
    fields = re.split(r"[,;\t|]", line)
    is_data = any(DATA_LIKE.fullmatch(field) for field in fields) or len(set(fields)) < len(fields)
    return not is_data


def possible_keys(types: Mapping[str, str], names: Sequence[str]) -> list[list[str]]:
    """Return the columns that may identify a row: one, or two.

    Measures do not identify a row, though they may differ in all; nor does the whole row.
    """
    whole = [name for name in names if not types[name].startswith(MEASURES)]
    candidates = [[name] for name in whole]
    candidates += [list(two) for two in combinations(whole[:MAX_OF_PAIRS], 2)]
    return [columns for columns in candidates if len(columns) < len(names)]


def best_key(keys: Sequence[list[str]]) -> list[str]:
    """Return the one of several keys whose name says so, else the first; empty without any."""
    return next((key for key in keys if key[0].lower().endswith("id")), keys[0] if keys else [])


class Sides(Protocol):
    """The rows of the sides of a target, the baseline first and the control last."""

    @property
    def types(self) -> Sequence[Mapping[str, str] | None]:
        """The types of the columns of each side; None where the target is not there."""

    def count(self, number: int) -> int:
        """Return how many rows a side has."""

    def differing(self, names: list[str]) -> list[str]:
        """Return the columns in which baseline and control differ; both have these columns."""

    def sums(self, names: list[str], left_out: Sequence[str]) -> Sequence[tuple[int, ...]]:
        """Return how many rows each side has, and how many are lost, doubled and added.

        The other methods are about the same columns.
        """

    def rows(self, number: int) -> Iterable[Any]:
        """Return rows of a side that differ, or some: `row`, its JSON, and in c0, c1, … counts."""

    def identifying(self, candidates: Sequence[list[str]]) -> list[list[str]]:
        """Return the candidates that tell all rows of the baseline apart."""

    def present(self, key: list[str]) -> set[str]:
        """Return the keys of rows of the baseline, at least of those that rows added have."""

    def shown(self, row: str, number: int) -> str:
        """Return a row of a side as it is for people."""


def judged_sides(
    sides: Sides, target: Mapping[str, Any], asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Return how each side of a target differs from its first side."""
    *types, of_control = sides.types
    base = types[0] or {}
    names = list(base)
    if not names:  # only other runs have written it, or empty files
        alone = map(sides.count, range(len(types)))
        added = [{"rows": count or None, "expected": None, "added": count} for count in alone]
        return {"by_time": [], "sides": added}
    is_alike = of_control is not None and set(of_control) == set(names)
    differing = sides.differing(names) if is_alike else []
    if differing and (why := _unlike_reason(sides, names, differing)):
        return {"problem": why, "by_time": [], "sides": []}
    by_time = [name for name in names if name in differing or name in target["left_out"]]
    kept = [name for name in names if name not in by_time]
    if not kept:
        return {"problem": NOTHING_LEFT, "by_time": by_time, "sides": [], "columns": names}
    sums = sides.sums(kept, by_time)
    key = [name for name in asked["key"] or target.get("key", []) if name in kept]
    has_others = any(any(of_side[1:]) for of_side in sums)
    if has_others and not key:
        candidates = candidates_of(target["format"], asked["surrogates"], kept)
        key = best_key(sides.identifying(possible_keys(base, candidates)))
    present = sides.present(key) if has_others and key else set()
    counts = ("rows", "lost", "doubled", "added")
    answers: list[dict[str, Any]] = [
        dict(zip(counts, of_side, strict=True))
        | {"rows": None if types[number] is None else of_side[0], "expected": sums[0][0]}
        | (_details(sides, number, key, present) if any(of_side[1:]) else {})
        for number, of_side in enumerate(sums)
    ]
    of_time = other_types(base, of_control, kept) if of_control is not None else {}
    for answer, of_side in zip(answers, types, strict=True):
        if answer["rows"] and not any(answer[name] for name in counts[1:]):
            others = other_types(base, of_side or {}, kept)
            answer["types"] = {name: both for name, both in others.items() if name not in of_time}
    return {"by_time": by_time, "columns": names, "sides": answers}


def _unlike_reason(sides: Sides, names: Sequence[str], differing: Sequence[str]) -> str:
    """Return why two equal runs are too different to be compared with others; empty if not."""
    rows, control = sides.count(0), sides.count(len(sides.types) - 1)
    if rows != control:
        return f"two equal runs write different rows: {rows:,} and {control:,} of them"
    if set(differing) >= set(names):
        return "two equal runs write different rows: no column has the same values"
    return ""


def _details(sides: Sides, number: int, key: list[str], present: set[str]) -> dict[str, Any]:
    """Return what is known of the rows of one side that differ, from those looked at."""
    examples: dict[str, list[str]] = {"lost": [], "doubled": [], "added": []}
    lost, added = set(), []
    for row in sides.rows(number):
        before, there = row["c0"], row[f"c{number}"]
        if before == there:
            continue
        kind = "lost" if there < before else "doubled" if before else "added"
        examples[kind].append(sides.shown(row[ROW], number if kind == "added" else 0))
        if kind == "lost":
            lost.add(key_of(row[ROW], key))
        elif kind == "added":
            added.append(key_of(row[ROW], key))
    still_there = present - lost
    return {
        "key": key,
        "same_key": sum(added_key in lost for added_key in added) if key else 0,
        "second_key": sum(added_key in still_there for added_key in added) if key else 0,
        "examples": {kind: sorted(texts)[:MAX_SHOWN] for kind, texts in examples.items()},
    }


def other_types(
    types: Mapping[str, str], others: Mapping[str, str], names: Sequence[str]
) -> dict[str, list[str | None]]:
    """Return the columns with another type, each with both types."""
    return {
        name: [types[name], others.get(name)] for name in names if types[name] != others.get(name)
    }


def key_of(row: str, key: list[str]) -> str:
    """Return the key of a row as JSON."""
    values = json.loads(row)
    return json.dumps([values.get(name) for name in key])


def candidates_of(
    kind: str, surrogates: Sequence[Sequence[str]], names: Sequence[str]
) -> list[str]:
    """Return the columns that may be a part of the key: none that the script numbers itself."""
    numbered = {name for group in surrogates if set(group) <= set(names) for name in group}
    whole = () if kind in ("parquet", "orc") else (LINE,)
    return [name for name in names if name not in numbered and name not in whole]
