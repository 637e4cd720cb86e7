"""Rows of a JDBC table that arrived where its bookmark has passed: no run reads them, one warns.

A bookmark keeps how many rows lie at or below some cuts; the last cut is its bound:

    ──── 0 rows ────┤cut├──── 3 rows ────┤cut├──── 5 rows ────┤bound├──── new rows ────

Deleted rows make no part grow. So a part that grew has rows which no run reads: they were committed
late, or the table was emptied and loaded again. Rows that come with the keys of deleted ones are
seen only if the row at the bound is gone.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.keys import (
    ASC,
    Alternatives,
    Bound,
    JdbcSource,
    KeyRange,
    Value,
    conditions,
    encode,
    microseconds,
)
from tidemark.local_state.run_warnings import RunWarning

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAY_US = 86_400_000_000
FIRST_CUTS = 8
MAX_CUTS = 16


class Cut(NamedTuple):
    """Keys, or the first of them, and how many rows a run does not read that starts after them."""

    keys: Bound
    rows: int


def stored_cuts(state: Mapping[str, Any] | None) -> list[Cut]:
    """Return the cuts that a bookmark keeps; none in one of an older version."""
    cuts = (state or {}).get("passed", ())
    return [Cut(tuple((kind, text) for kind, text in keys), rows) for keys, rows in cuts]


def to_json(cuts: Sequence[Cut]) -> list[Any]:
    """Return cuts as plain JSON values, not more of them than a bookmark keeps."""
    if len(cuts) > MAX_CUTS:
        cuts = [cuts[0], *cuts[2:-1:2], cuts[-1]]
    return [[[list(value) for value in keys], rows] for keys, rows in cuts]


def keys_to_count(
    stored: Sequence[Cut], low: Bound | None, last: Bound | None, first: Value | None, order: str
) -> list[Bound]:
    """Return the keys where rows are counted, in the order of reading."""
    keys = [cut.keys for cut in stored] or ([low] if low else [])
    if last and first and not keys:
        keys = [(value,) for value in _spread(first, last[0], 1 if order == ASC else -1)]
    return list(dict.fromkeys([*keys, *filter(None, (low, last))]))


def is_passed(source: JdbcSource, keys: Bound) -> Alternatives:
    """Return the condition on keys of the rows at or below a cut."""
    prefix = JdbcSource(source.table, keys=source.keys[: len(keys)], order=source.order)
    return conditions(prefix, KeyRange(high=keys))[0]


def skip_to_report(
    before: Sequence[Cut], now: Sequence[Cut], low: Bound, *, is_there: bool
) -> tuple[RunWarning, int] | None:
    """Return what to warn of and how many rows it is about; None if no skip is seen."""
    rows = dict(now)
    changes = [rows[cut.keys] - cut.rows for cut in before]
    grown = sum(max(there - here, 0) for here, there in pairwise([0, *changes]))
    below = rows[low]
    if not is_there and below and (not before or grown or changes[-1] < 0):
        return RunWarning.JDBC_BELOW, below
    return (RunWarning.JDBC_LATE, grown) if grown else None


def day_ahead(bound: Bound | None, order: str, now_ms: int) -> str:
    """Return the first key of a bound if it is a time more than a day ahead; else an empty string.

    Keys that fall are passed downwards, so that none hides later rows.
    """
    if not bound or order != ASC or bound[0][0] not in ("date", "timestamp"):
        return ""
    kind, text = bound[0]
    days = _number(bound[0], 0) - _EPOCH_DAY if kind == "date" else microseconds(text) / _DAY_US
    return text if days - now_ms * 1000 / _DAY_US > 1 else ""


def _spread(first: Value, last: Value, sign: int) -> list[Value]:
    kind = first[0]
    if kind == "string":
        return []
    scale = max(_digits(first), _digits(last)) if kind == "decimal" else 0
    # The first part has no row, so that a row that arrives there is seen.
    start, end = _number(first, scale) - sign, _number(last, scale)
    points = [start + (end - start) * n // FIRST_CUTS for n in range(FIRST_CUTS)]
    values = [_value(kind, point, scale) for point in dict.fromkeys(points) if point != end]
    return [value for value in values if value is not None]


def _digits(value: Value) -> int:
    return len(value[1].partition(".")[2])


def _number(value: Value, scale: int) -> int:
    """Return a key as a number of its smallest steps."""
    kind, text = value
    if kind == "timestamp":
        return microseconds(text)
    if kind == "date":
        return date.fromisoformat(text).toordinal()
    return int(Decimal(f"{text}e{scale}")) if kind == "decimal" else int(text)


def _value(kind: str, number: int, scale: int) -> Value | None:
    try:
        if kind == "date":
            return encode(kind, date.fromordinal(number))
        if kind == "timestamp":
            return encode(kind, number)
    except (ValueError, UsageError):
        # The key is beyond the ends of its type.
        return None
    if kind == "decimal":
        return encode(kind, Decimal(f"{number}e-{scale}"))
    return encode(kind, number) if -(2**63) <= number < 2**63 else None
