"""Rows in plain Python: what goes in, and what must come out or be named."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

TEXTS = ("a", "b c", "é漢", "007", "NULL", "\\N", "#x", "it's", "-", " pad ", "a,b", 'say "hi"')
SAFE_TEXTS = ("a", "b c", "é", "x-y", "NULL", "it's")
NAMES = ("c{}", "C {}", "é{}", "x-{}", "a.b{}", "_{}")
PLAIN_NAMES = ("c{}", "Col{}", "_{}")
# Those of a column are of one type of Glue, int or long: both make a choice of a column of JSON.
WHOLE = (st.integers(-(2**31), 2**31 - 1), st.integers(2**31, 2**53) | st.just(2**62))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "double": st.integers(-(2**40), 2**40).map(lambda number: number + 0.5),
    "flag": st.booleans(),
    "day": st.dates(date(1990, 1, 1), date(2100, 1, 1)),
    "time": st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001 (as Spark has it)
    "amount": st.integers(-(10**17), 10**17).map(lambda number: Decimal(number).scaleb(-2)),
    "bytes": st.binary(min_size=1, max_size=4),
    "list": st.lists(st.integers(-9, 9), min_size=1, max_size=3),
    "mixed": st.integers(-9, 9) | st.sampled_from(("a", "7")),
    "record": st.builds(lambda x, y: {"x": x, "y": y}, st.integers(0, 9), st.sampled_from("pq")),
}
FLAT = ("long", "double", "flag", "text")
TYPED = (*FLAT, "day", "time", "amount")
CHOICE = {"int", "long", "string"}  # the fields of a choice that has been written
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Table:
    """The rows that a frame must have.

    Attributes:
        rows: each a value by the name of its column; a missing value is None, or not there.
        kinds: what each column holds.
        bad: how many records must be error records.
    """

    rows: Rows
    kinds: dict[str, str] = field(default_factory=dict)
    bad: int = 0

    def of_columns(self, names: Any) -> Table:
        """The same rows with some columns, by their new names."""
        new = dict(names) if isinstance(names, dict) else {name: name for name in names}
        rows = [{new[old]: row.get(old) for old in new} for row in self.rows]
        return replace(self, rows=rows, kinds={new[old]: self.kinds[old] for old in new})

    def of_rows(self, rows: Rows) -> Table:
        return replace(self, rows=rows)

    def and_also(self, other: Table) -> Table:
        """The rows of both, with the columns of both."""
        rows = [*self.rows, *other.rows]
        return Table(rows, {**self.kinds, **other.kinds}, self.bad + other.bad)

    def with_column(self, name: str, kind: str, value_of: Any) -> Table:
        rows = [{**row, name: value_of(row)} for row in self.rows]
        return replace(self, rows=rows, kinds={**self.kinds, name: kind})

    @property
    def texts(self) -> Table:
        """The same rows as text: what CSV holds of them."""
        rows = [{name: text_of(value) for name, value in row.items()} for row in self.rows]
        return replace(self, rows=rows, kinds=dict.fromkeys(self.kinds, "text"))

    def names(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind in (kinds or FLAT)]

    @property
    def counted(self) -> Counter[Any]:
        return Counter(map(frozen, self.rows))

    @property
    def with_values(self) -> set[str]:
        """The columns that may not vanish."""
        return {name for row in self.rows for name, value in row.items() if value is not None}


def text_of(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    return str(value).lower() if isinstance(value, bool) else str(value)


def frozen(value: Any) -> Any:
    """A value that can be compared and counted: of a record, the fields that are there."""
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, dict) and value.keys() <= CHOICE:
        return next((part for part in value.values() if part is not None), None)
    if isinstance(value, dict):
        return frozenset((name, frozen(one)) for name, one in value.items() if one is not None)
    if isinstance(value, list | tuple | set):
        return tuple(map(frozen, value))
    return bytes(value) if isinstance(value, bytearray) else value


@st.composite
def tables(
    draw: st.DrawFn,
    kinds: tuple[str, ...],
    texts: tuple[str, ...] = TEXTS,
    names: tuple[str, ...] = NAMES,
) -> Table:
    """Rows with an id, and one to four columns of some kinds; any other value may be missing."""
    chosen = {"id": "long"} | {
        draw(st.sampled_from(names)).format(place): kind
        for place, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4)))
    }
    values = VALUES | {"text": st.sampled_from(texts)}
    of_columns = {
        name: st.none() | (draw(st.sampled_from(WHOLE)) if kind == "long" else values[kind])
        for name, kind in chosen.items()
        if name != "id"
    }
    row = st.fixed_dictionaries(of_columns)
    rows = draw(st.lists(row, min_size=1, max_size=5))
    return Table([{"id": place + 1, **each} for place, each in enumerate(rows)], chosen)
