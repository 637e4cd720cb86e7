"""Compares the rows of a lake with those that should be there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from tidemark.testing.lake_files import as_rows

MOST_SHOWN = 5


def compare(found: Counter[str], wanted: Counter[str], what: str, *, at_most: bool) -> None:
    """Raise unless two collections have the same rows.

    Args:
        found: how often each row is there.
        wanted: how often it should be.
        what: brought them there.
        at_most: whether a row may not be there more often than it should.

    Raises:
        AssertionError: they have not.
    """
    __tracebackhide__ = True
    extra = found - wanted
    if not at_most:
        extra = Counter({row: times for row, times in extra.items() if row not in wanted})
    missing = wanted - found
    if missing or extra:
        told = [
            f"{sum(rows.values())} rows {text}: {_shown(rows)}"
            for rows, text in ((missing, "are missing"), (extra, "should not be there"))
            if rows
        ]
        fail(f"after {what}, {'; '.join(told)}")


def _shown(rows: Counter[str]) -> str:
    names = sorted(rows)
    more = f", and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


def fail(text: str) -> NoReturn:
    """Raise an AssertionError, shown at the line of the test."""
    __tracebackhide__ = True
    raise AssertionError(text)


def names_of(given: str | Sequence[str] | None) -> list[str]:
    """Return one name, several or none as a list."""
    if given is None:
        return []
    return [given] if isinstance(given, str) else list(given)


def by_key(rows: Iterable[Any], keys: Sequence[str]) -> Counter[str]:
    """Return how often each row is there, told apart by keys, or by all of its columns."""
    plain = as_rows(list(rows))
    for name in keys:
        if plain and not any(name in row for row in plain):
            raise ValueError(f"key {name!r} is no column; the rows have {', '.join(plain[0])}")
    return Counter(str({name: row.get(name) for name in (keys or sorted(row))}) for row in plain)
