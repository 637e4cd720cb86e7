"""Rows as a source sends them after its columns have changed: one more, one fewer, another type."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

Drift: TypeAlias = Literal["more", "fewer", "type"]
"""A column more, a column fewer, or a value of another type."""

DRIFTS: Final[Sequence[Drift]] = get_args(Drift)
COLUMN: Final = "tidemark_drift"
VALUE: Final = "drift of a test"
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


class Drifted(NamedTuple):
    """Rows that are otherwise, and the column that is."""

    rows: list[dict[str, Any]]
    column: str


def drifted(
    rows: Sequence[Mapping[str, Any]], drift: Drift, *, is_one_type: bool = False
) -> Drifted:
    """Return rows with a column more, a column fewer, or a value of another type.

    More: the first row has the string `VALUE` in the column `COLUMN`. Fewer: the last column is
    gone. Type: the first row has `VALUE` in the last column of numbers, or of strings of digits.

    Args:
        rows: at least one.
        drift: what is otherwise.
        is_one_type: whether files of their format have one type for a column, so that the other
            numbers become strings of digits.

    Raises:
        ValueError: there is no row; no column of numbers; or no column that may be left out.

    Example:
        >>> drifted([{"id": 1, "amt": 5}, {"id": 2, "amt": 6}], "type", is_one_type=True).rows
        [{'id': 1, 'amt': 'drift of a test'}, {'id': 2, 'amt': '6'}]
    """
    column = _column_of(rows, drift)
    if drift == "fewer":
        left = ({name: row[name] for name in row if name != column} for row in rows)
        return Drifted(list(left), column)
    first, *others = map(dict, rows)
    for row in others if drift == "type" and is_one_type else ():
        row[column] = None if row.get(column) is None else str(row[column])
    return Drifted([{**first, column: VALUE}, *others], column)


def _column_of(rows: Sequence[Mapping[str, Any]], drift: Drift) -> str:
    """Return the column that is otherwise."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if drift not in DRIFTS:
        raise ValueError(f"drift is {drift!r}; allowed are {', '.join(DRIFTS)}")
    if not rows:
        raise ValueError("there is no row whose columns could be otherwise; give one")
    if drift == "more":
        return COLUMN
    last_first = names[:0:-1] if drift == "fewer" else names[::-1]
    column = next((name for name in last_first if drift == "fewer" or _has_numbers(rows, name)), "")
    if not column:
        needed = "a second column" if drift == "fewer" else "a column of numbers"
        raise ValueError(f"the columns are {', '.join(names)}; drift {drift!r} needs {needed}")
    return column


def _has_numbers(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    values = [row[name] for row in rows if row.get(name) is not None]
    return bool(values) and all(_NUMBER.fullmatch(str(value)) for value in values)
