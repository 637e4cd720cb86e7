"""How the rows of one side differ from those of the first, from what is counted of each row."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

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


def unlike_reason(rows: int, control: int, names: Sequence[str], differing: Sequence[str]) -> str:
    """Return why two equal runs are too different to be compared with others; empty if not."""
    if differing and rows != control:
        return f"two equal runs write different rows: {rows:,} and {control:,} of them"
    if differing and set(differing) >= set(names):
        return "two equal runs write different rows: no column has the same values"
    return ""


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


def details(
    rows: Sequence[Any],
    number: int,
    shown: Callable[[str, bool], str],
    key: list[str],
    present: set[str],
) -> dict[str, Any]:
    """Return what is known of the rows of one side that differ, from those looked at.

    A row has its JSON under `row`, and under c0, c1, … how often each side has it. `shown` returns
    it as it is for people, given whether the first side has it.
    """
    examples: dict[str, list[str]] = {"lost": [], "doubled": [], "added": []}
    lost, added = set(), []
    for row in rows:
        before, there = row["c0"], row[f"c{number}"]
        if before == there:
            continue
        kind = "lost" if there < before else "doubled" if before else "added"
        examples[kind].append(shown(row[ROW], kind != "added"))
        if kind == "lost":
            lost.add(key_of(row[ROW], key))
        elif kind == "added":
            added.append(key_of(row[ROW], key))
    return {
        "key": key,
        "same_key": sum(added_key in lost for added_key in added) if key else 0,
        "second_key": sum(added_key in present - lost for added_key in added) if key else 0,
        "examples": {kind: sorted(texts)[:MAX_SHOWN] for kind, texts in examples.items()},
    }


def other_types(
    types: Mapping[str, str], others: Mapping[str, str], names: Sequence[str]
) -> dict[str, list[str | None]]:
    """Return the columns with another type, each with both types."""
    return {
        name: [types[name], others.get(name)] for name in names if types[name] != others.get(name)
    }


def with_types(
    answers: Sequence[dict[str, Any]],
    types: Sequence[Mapping[str, str]],
    control: Mapping[str, str] | None,
    names: Sequence[str],
) -> None:
    """Add the columns of another type to answers without another row, but those of an equal run."""
    of_time = other_types(types[0], control, names) if control is not None else {}
    for answer, of_side in zip(answers, types, strict=True):
        if answer["rows"] and not any(answer[name] for name in ("lost", "doubled", "added")):
            others = other_types(types[0], of_side, names)
            answer["types"] = {name: both for name, both in others.items() if name not in of_time}


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
