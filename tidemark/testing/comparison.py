"""Compares the rows of a lake with those that should be there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeAlias

from tidemark.model.messages import plural
from tidemark.testing.lake_files import Row, as_rows

MAX_SHOWN = 5
WINDOW_FOLDERS = {"window", "attempt"}  # of `watermarks.write_window`: they differ by the run
# Rows by their location.
RowsOf: TypeAlias = dict[str, list[Row]]


def compare(
    rows_now: RowsOf, wanted: RowsOf, what: str, *, keys: Sequence[str] = (), at_most: bool
) -> None:
    """Raise unless the same places have the same rows.

    Args:
        rows_now: the present rows.
        wanted: what should be.
        what: the cause of these rows.
        keys: columns that identify rows; without, all do.
        at_most: whether a row may not be there more often than it should.

    Raises:
        AssertionError: they have not.
    """
    __tracebackhide__ = True
    for place, rows in rows_now.items():
        differences = list(_differences(by_key(rows, keys), by_key(wanted[place], keys), at_most))
        if differences:
            fail(f"after {what}, {'; '.join(differences)} (in {place})")


def _differences(rows_now: Counter[str], wanted: Counter[str], at_most: bool) -> Iterable[str]:
    extra = rows_now - wanted
    known = Counter({row: times for row, times in extra.items() if row in wanted})
    for rows, text in (
        (wanted - rows_now, "missing"),
        (extra - known, "that should not be there"),
        (known if at_most else Counter[str](), "there more often than expected"),
    ):
        if rows:
            yield f"{plural(sum(rows.values()), 'row')} {text}: {_shown(rows)}"


def _shown(rows: Counter[str]) -> str:
    names = sorted(rows)
    more = f", and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
    return ", ".join(names[:MAX_SHOWN]) + more


def fail(text: str) -> NoReturn:
    """Raise an AssertionError, shown at the line of the test."""
    __tracebackhide__ = True
    raise AssertionError(text)


def names_of(names: str | Sequence[str] | None) -> list[str]:
    """Return one name, several or none as a list."""
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def by_key(rows: Iterable[Any], keys: Sequence[str]) -> Counter[str]:
    """Return how often each row occurs, by its keys or all of its columns."""
    plain = as_rows(list(rows))
    for name in keys:
        if plain and not any(name in row for row in plain):
            raise ValueError(f"key {name!r} is not a column; the rows have {', '.join(plain[0])}")
    return Counter(str({name: row.get(name) for name in keys or _columns(row)}) for row in plain)


def _columns(row: Row) -> list[str]:
    return sorted(row.keys() - WINDOW_FOLDERS if row.keys() >= WINDOW_FOLDERS else row)
