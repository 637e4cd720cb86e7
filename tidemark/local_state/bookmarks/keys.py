"""Decides which rows of a JDBC table are new to a job bookmark, and its next state.

A row is new by its bookmark keys, compared as one tuple, in the order they are given:

    asc    ──── read ────  low   new, up to the greatest keys when the source was opened  high
    desc   ──── read ────  low   new, down to the least keys when the source was opened   high

A row with the keys of `low` counts as read: keys must be strictly monotonic and never reused. So
must the order of commits be: a row that is committed late, with keys below the bound, is never
read. Rows that change or vanish are not noticed.

Source: https://docs.aws.amazon.com/glue/latest/dg/programming-etl-connect-bookmarks.html , and
for the predicate, which AWS does not state, what users observe: key > stored maximum.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.sources import Edges

KIND = "jdbc"
ASC, DESC = "asc", "desc"

Value: TypeAlias = tuple[str, str]
"""The type and the string of a key: ``("int", "7")``, ``("timestamp", "2013-01-01T00:00:00Z")``."""
Bound: TypeAlias = tuple[Value, ...]
"""One value for each key."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Spark's name of a type, without the parameters -> the type of a key.
_KEY_TYPES = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "int"),
    **{name: name for name in ("decimal", "string", "date", "timestamp")},
}
_REMEDIES = {
    "float": "it is not exact; read a view that casts it to a decimal",
    "double": "it is not exact; read a view that casts it to a decimal",
    "boolean": "it has no order; take another column",
}


@dataclass(frozen=True)
class JdbcSource:
    """A script's request to read from a database.

    Attributes:
        table: its name as the script gives it; empty for a query.
        transformation_ctx: its name in the bookmark; empty reads without one.
        keys: the bookmark keys, as the table spells them; without any it is read in full.
        order: ``asc`` if the keys rise from row to row, ``desc`` if they fall.
    """

    table: str
    transformation_ctx: str = ""
    keys: tuple[str, ...] = ()
    order: str = ASC

    @property
    def name(self) -> str:
        """What people know the source by."""
        return self.transformation_ctx or self.table or "a query"

    def to_json(self) -> dict[str, Any]:
        """Return the source as plain JSON values; nothing of the connection is in it."""
        return {"kind": KIND, **asdict(self), "keys": list(self.keys)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "JdbcSource":
        """Return the source that `to_json` wrote."""
        return cls(
            document["table"],
            document["transformation_ctx"],
            tuple(document["keys"]),
            document["order"],
        )


class KeyRange(NamedTuple):
    """Keys after `low`, up to and including `high`; None sets no limit.

    `is_closed` leaves nothing between them: nothing was read by the end of job-bookmark-to.
    """

    low: Bound | None = None
    high: Bound | None = None
    is_closed: bool = False


class Comparison(NamedTuple):
    """A key, one of ``= < > <= >=``, and the value it is compared with."""

    key: str
    operator: str
    value: Value


Alternatives: TypeAlias = list[list[Comparison]]
"""True if all comparisons of one of the lists are."""


def choose_keys(requested: Sequence[str], columns: Sequence[str], table: str) -> tuple[str, ...]:
    """Return the requested bookmark keys if they are columns of the table."""
    for key in requested:
        if key not in columns:
            raise UsageError(
                f"jobBookmarkKeys names {key!r}, and the table {table} has no such column; it has "
                f"{', '.join(columns)}: use their spelling, capitals included"
            )
        alike = [column for column in columns if column.lower() == key.lower()]
        if len(alike) > 1:
            raise UsageError(
                f"jobBookmarkKeys names {key!r}, and the columns {', '.join(alike)} of the table "
                f"{table} differ in case alone; such a column cannot be a bookmark key, rename it"
            )
    if len(set(requested)) < len(requested):
        raise UsageError(f"jobBookmarkKeys {list(requested)} names a column twice; name it once")
    return tuple(requested)


def key_type(column: str, spark_type: str) -> str:
    """Return the type of a key: int, decimal, string, date or timestamp."""
    name = spark_type.partition("(")[0]
    if name not in _KEY_TYPES:
        remedy = _REMEDIES.get(name, "take another column, or read a view that casts it")
        raise UsageError(
            f"the column {column!r} is a {spark_type} and cannot be a bookmark key, which is an "
            f"integer, decimal, string, date or timestamp: {remedy}"
        )
    return _KEY_TYPES[name]


def is_sequence(count: int, least: int | None, greatest: int | None) -> bool:
    """Return whether this many different integers between two leave no gap.

    Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html (a primary key is
    the default key only if it is sequential, rising or falling, without gaps)
    """
    return least is None or greatest is None or count == greatest - least + 1


def range_to_read(source: JdbcSource, types: Sequence[str], edges: Edges) -> KeyRange:
    """Return the keys that a run may read of a table, before it looks for the last ones."""
    low = _bound(source, types, edges.low)
    if edges.high is None:
        return KeyRange(low)
    high = _bound(source, types, edges.high)
    return KeyRange(low, high, is_closed=high is None)


def state_after(
    source: JdbcSource, low: Bound | None, last: Bound | None, passed: Sequence[Any] = ()
) -> dict[str, Any]:
    """Return the state to store if the run commits."""
    bound = last or low
    return {
        **({"passed": list(passed)} if passed else {}),
        "kind": KIND,
        "table": source.table,
        "keys": list(source.keys),
        "order": source.order,
        "bound": [list(value) for value in bound] if bound else None,
    }


def conditions(source: JdbcSource, keys: KeyRange) -> list[Alternatives]:
    """Return the conditions that all keys of a row must satisfy, in addition to being set."""
    after, up_to = (">", "<=") if source.order == ASC else ("<", ">=")
    alternatives = []
    if keys.low:
        alternatives.append(list(_compare(source.keys, after, keys.low)))
    if keys.high:
        alternatives.append(list(_compare(source.keys, up_to, keys.high)))
    return alternatives


def _compare(keys: Sequence[str], operator: str, bound: Bound) -> Iterator[list[Comparison]]:
    for index, (key, value) in enumerate(zip(keys, bound, strict=True)):
        is_last = index == len(keys) - 1
        # Two tuples are equal up to one key, and that one decides.
        equal = [Comparison(keys[n], "=", bound[n]) for n in range(index)]
        yield [*equal, Comparison(key, operator if is_last else operator[0], value)]


def encode(kind: str, value: Any) -> Value:
    """Return a key as stored: an int, Decimal, str, date, or microseconds since 1970."""
    if isinstance(value, Decimal):
        return kind, format(value, "f")
    if isinstance(value, date):
        return kind, value.isoformat()
    if kind != "timestamp":
        return kind, str(value)
    try:
        moment = _EPOCH + timedelta(microseconds=value)
    except OverflowError as exc:
        raise UsageError(
            f"the last bookmark key is {value} microseconds from 1970: years 1 to 9999 can be "
            "stored; give such rows a key that rises, or take another column"
        ) from exc
    return kind, moment.isoformat().replace("+00:00", "Z")


def microseconds(text: str) -> int:
    """Return the microseconds since 1970 of a stored timestamp."""
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)


def has_other_table(source: JdbcSource, state: Mapping[str, Any] | None) -> bool:
    """Return whether the bookmark of this context belongs to another table."""
    return state is not None and state.get("table") != source.table


def describe(
    source: Mapping[str, Any],
    state: Mapping[str, Any] | None,
    next_state: Mapping[str, Any] | None = None,
) -> str:
    """Return in words which rows a run reads, or read."""
    jdbc = JdbcSource.from_json(source)
    where = f"rows of {jdbc.table}" if jdbc.table else "rows of its query"
    low = state.get("bound") if state else None
    high = next_state.get("bound") if next_state else None
    if not jdbc.keys or not (low or high):
        return f"all {where}"
    if low == high:
        return f"no {where}: nothing is new after {_words(low)}"
    after, up_to = (">", "<=") if jdbc.order == ASC else ("<", ">=")
    named = _tuple(jdbc.keys)
    limits = [f"{named} {after} {_words(low)}"] if low else []
    limits += [f"{named} {up_to} {_words(high)}"] if high else []
    return f"{where} with {' and '.join(limits)}"


def _words(bound: Sequence[Sequence[str]] | None) -> str:
    return _tuple([repr(text) if kind == "string" else text for kind, text in bound or ()])


def _tuple(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def _bound(
    source: JdbcSource, types: Sequence[str], state: Mapping[str, Any] | None
) -> Bound | None:
    if not state:
        return None
    ctx = source.transformation_ctx
    remedy = "give the source its own transformation_ctx, or reset the bookmark"
    if state.get("kind") != KIND:
        raise UsageError(
            f"the bookmark of the transformation_ctx {ctx!r} was made by a source of kind "
            f"{state.get('kind')!r}, not by a table: {remedy}"
        )
    stored = (tuple(state["keys"]), state["order"])
    if stored != (source.keys, source.order):
        raise UsageError(
            f"the bookmark of the transformation_ctx {ctx!r} was made with the keys "
            f"{', '.join(stored[0])} ({stored[1]}), and the source now has "
            f"{', '.join(source.keys)} ({source.order}): they cannot be compared; {remedy}"
        )
    bound = tuple((kind, text) for kind, text in state["bound"] or ())
    if bound and [kind for kind, _ in bound] != list(types):
        raise UsageError(
            f"the bookmark of the transformation_ctx {ctx!r} holds keys of the types "
            f"{', '.join(kind for kind, _ in bound)}, and the columns now are "
            f"{', '.join(types)}: they cannot be compared; {remedy}"
        )
    return bound or None
