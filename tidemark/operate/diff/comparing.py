"""Compares two tables of rows in SQL that DuckDB and Spark both run: by key, or as multisets.

An engine has the views `old_rows` and `new_rows`, with the columns that both sides have as c0, c1,
…. Their values are canonical: NaN equals NaN, -0.0 equals 0.0, nested ones and bytes are texts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias

TIME_OF_RUN = "TIMESTAMP '0001-01-01 00:00:00'"  # in its place
SIDES = ("old", "new")
NUMBERS = ("tinyint", "smallint", "int", "bigint", "hugeint", "float", "double", "decimal")
TEXTS = {"csv": ",", "tsv": "\t"}
"""Formats of lines with a header, and what divides their fields."""
Row: TypeAlias = dict[str, str | None]
"""Values by column, as texts."""


class Engine(Protocol):
    """What runs SQL over the two views."""

    def ask(self, sql: str) -> list[Any]:
        """Return the rows of a query, each as a tuple."""

    def keep(self, name: str, sql: str) -> None:
        """Keep the rows of a query as a table, outside of memory."""


@dataclass(frozen=True)
class Asked:
    """How two tables are compared.

    Attributes:
        key: columns that identify a row; without any, whole rows are a multiset.
        tolerance: how far two numbers of one column may be apart and count as equal.
        sample: how many examples are shown of each kind.
        where: a condition in SQL of Spark on the rows of both sides; empty for all.
        times: of old and new, when their runs began and ended, in seconds since 1970: timestamps
            between are equal. Empty: none are.
    """

    key: Sequence[str] = ()
    tolerance: float = 0.0
    sample: int = 3
    where: str = ""
    times: Sequence[tuple[float, float]] = ()

    def of_columns(self, names: Collection[str]) -> "Asked":
        """Return the same for rows of some columns: without a key that they do not have."""
        return self if set(self.key) <= set(names) else replace(self, key=())


@dataclass
class RowsCompared:
    """How the rows of two tables differ.

    Attributes:
        rows: how many there are, old and new; None where there is no file.
        key: the columns that identify a row; empty where whole rows were compared.
        only: how many are on one side alone, old and new.
        changed: how many keys are on both sides with other values.
        columns: in how many rows each column has other values; only those that differ.
        twice: how many keys several rows have, old and new. These rows are compared as multisets.
        twice_example: one of these keys.
        examples: rows that are only `old` or `new`; for each column of `changed` rows some keys
            with both values.
    """

    rows: tuple[int | None, int | None] = (None, None)
    key: Sequence[str] = ()
    only: tuple[int, int] = (0, 0)
    changed: int = 0
    columns: dict[str, int] = field(default_factory=dict)
    twice: tuple[int, int] = (0, 0)
    twice_example: Row | None = None
    examples: dict[str, list[Any]] = field(default_factory=dict)


def is_number(kind: str) -> bool:
    """Return whether a type is one of numbers.

    Example:
        >>> is_number("decimal(10,2)"), is_number("array<int>")
        (True, False)
    """
    return kind.partition("(")[0] in NUMBERS


def are_unlike(old: str, new: str) -> bool:
    """Return whether values of two types are compared as texts: not equal, and not both numbers."""
    return old != new and not (is_number(old) and is_number(new))


def without_times(column: str, times: tuple[float, float]) -> str:
    """Return SQL for a column of timestamps, with those of a run replaced by one."""
    moments = [datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S.%f") for at in times]
    first, last = (f"TIMESTAMP '{moment}'" for moment in moments)
    return f"CASE WHEN {column} BETWEEN {first} AND {last} THEN {TIME_OF_RUN} ELSE {column} END"


def compare_rows(engine: Engine, types: Mapping[str, str], asked: Asked) -> RowsCompared:
    """Return how the rows of the two views differ; `types` has their columns, in order."""
    columns = {f"c{number}": name for number, name in enumerate(types)}
    comparison = _Comparison(engine, asked, types, columns)
    if not types:  # no column is on both sides, such as of a file without a record
        old, new = comparison.result.rows
        return replace(comparison.result, only=(old or 0, new or 0))
    if not asked.key:
        comparison.add_multisets()
        return comparison.result
    comparison.keep_twice()
    where = ""
    if any(comparison.result.twice):
        same = _same("t", "r", comparison.keys)
        where = f"WHERE {{}} EXISTS (SELECT 1 FROM twice t WHERE {same})"  # noqa: S608
        comparison.add_multisets(where.format(""))
    comparison.add_by_key(where.format("NOT"))
    return comparison.result


def _same(one: str, other: str, keys: Sequence[str], sign: str = "IS NOT DISTINCT FROM") -> str:
    return " AND ".join(f"{one}.{key} {sign} {other}.{key}" for key in keys)


def _texts(columns: Iterable[str], of: str = "") -> str:
    return ", ".join(f"CAST({of}{column} AS STRING)" for column in columns)


class _Comparison:
    """A comparison, with what is known so far in `result`."""

    def __init__(
        self, engine: Engine, asked: Asked, types: Mapping[str, str], columns: Mapping[str, str]
    ) -> None:
        self.engine, self.asked, self.types, self.columns = engine, asked, types, columns
        self.keys = [column for name in asked.key for column in columns if columns[column] == name]
        counts = [engine.ask(f"SELECT count(*) FROM {side}_rows")[0][0] for side in SIDES]  # noqa: S608
        self.result = RowsCompared((counts[0], counts[1]), asked.key)

    def keep_twice(self) -> None:
        """Keep the keys that several rows of a side have, and note how many there are."""
        on = ", ".join(self.keys)
        several = " UNION ALL ".join(
            f"SELECT {on}, '{side}' AS side FROM {side}_rows GROUP BY {on} HAVING count(*) > 1"  # noqa: S608
            for side in SIDES
        )
        self.engine.keep("twice", several)
        (counts,) = self.engine.ask(
            "SELECT count(*) FILTER (WHERE side = 'old'), count(*) FILTER (WHERE side = 'new') "
            "FROM twice"
        )
        self.result.twice = (counts[0], counts[1])
        if any(self.result.twice):
            shown = f"SELECT {_texts(self.keys)} FROM twice ORDER BY {on} LIMIT 1"  # noqa: S608
            first = self.engine.ask(shown)[0]
            self.result.twice_example = dict(zip(self.asked.key, first, strict=True))

    def add_multisets(self, where: str = "") -> None:
        """Add the rows that one side has more often than the other."""
        every = ", ".join(self.columns)
        sides = " UNION ALL ".join(
            f"SELECT {every}, {sign} AS side FROM {side}_rows r {where}"  # noqa: S608 (own names)
            for side, sign in zip(SIDES, (1, -1), strict=True)
        )
        self.engine.keep(
            "more_often",
            f"SELECT {every}, sum(side) AS more FROM ({sides}) s GROUP BY {every} "  # noqa: S608
            "HAVING sum(side) <> 0",
        )
        (only,) = self.engine.ask(
            "SELECT coalesce(sum(more) FILTER (WHERE more > 0), 0), "
            "coalesce(-sum(more) FILTER (WHERE more < 0), 0) FROM more_often"
        )
        self.result.only = (int(only[0]), int(only[1]))
        for side, sign, count in zip(SIDES, "><", self.result.only, strict=True):
            shown = self.engine.ask(
                f"SELECT {_texts(self.columns)} FROM more_often WHERE more {sign} 0 "  # noqa: S608
                f"ORDER BY {every} LIMIT {self.asked.sample}"
            )
            if count:
                rows = [dict(zip(self.columns.values(), row, strict=True)) for row in shown]
                self.result.examples[side] = rows

    def add_by_key(self, where: str) -> None:
        """Add the rows whose key one side has alone, or which have other values; unique keys."""
        values = {column: name for column, name in self.columns.items() if column not in self.keys}
        flags = ", ".join(
            f"coalesce(o.side + n.side = 0 AND {self._differs(column)}, FALSE) AS d{column}"
            for column in values
        )
        sides = [
            f"(SELECT *, {sign} AS side FROM {side}_rows r {where}) {side[0]}"  # noqa: S608
            for side, sign in zip(SIDES, (1, -1), strict=True)
        ]
        is_apart = " OR ".join(["side <> 0", *(f"d{column}" for column in values)])
        of_key = ", ".join(
            f"CASE WHEN o.side IS NULL THEN n.{key} ELSE o.{key} END AS {key}" for key in self.keys
        )
        self.engine.keep(
            "apart",
            f"SELECT * FROM (SELECT {of_key}, coalesce(o.side, 0) + coalesce(n.side, 0) AS side"  # noqa: S608
            f"{', ' if flags else ''}{flags} FROM {sides[0]} FULL OUTER JOIN {sides[1]} "
            f"ON {_same('o', 'n', self.keys)}) j WHERE {is_apart}",
        )
        kinds = {"old": "side > 0", "new": "side < 0", "changed": "side = 0"}
        conditions = {**kinds, **{column: f"d{column}" for column in values}}
        asked_counts = ", ".join(f"count(*) FILTER (WHERE {text})" for text in conditions.values())
        (counts,) = self.engine.ask(f"SELECT {asked_counts} FROM apart")  # noqa: S608
        by_condition, only = dict(zip(conditions, counts, strict=True)), self.result.only
        self.result.only = (only[0] + by_condition["old"], only[1] + by_condition["new"])
        self.result.changed = by_condition["changed"]
        self.result.columns = {
            name: by_condition[column] for column, name in values.items() if by_condition[column]
        }
        wanted = [kind for kind in (*SIDES, *values) if by_condition[kind]]
        if wanted and self.asked.sample:
            self._add_examples({name: conditions[name] for name in wanted})

    def _differs(self, column: str) -> str:
        kind, tolerance = self.types[self.columns[column]], self.asked.tolerance
        differs = f"o.{column} IS DISTINCT FROM n.{column}"
        if not tolerance or not is_number(kind):
            return differs
        # Doubles have no digits for all that other numbers are; of integers, a difference may be
        # none.
        made = {"float": "DOUBLE", "double": "DOUBLE", "decimal": ""}
        number = made.get(kind.partition("(")[0], "DECIMAL(38, 10)")
        old, new = (f"CAST({s}.{column} AS {number})" if number else f"{s}.{column}" for s in "on")
        apart = f"abs({old} - {new})"
        return f"({differs} AND NOT coalesce({apart} <= {tolerance!r}, FALSE))"

    def _add_examples(self, conditions: Mapping[str, str]) -> None:
        """Add some rows of each kind; both sides are read once for all of them."""
        on, result = ", ".join(self.keys), self.result
        self.engine.keep(
            "shown",
            " UNION ALL ".join(
                f"(SELECT '{kind}' AS kind, {on} FROM apart WHERE {condition} "  # noqa: S608
                f"ORDER BY {on} LIMIT {self.asked.sample})"
                for kind, condition in conditions.items()
            ),
        )
        is_null = " OR ".join(f"{key} IS NULL" for key in self.keys)
        has_null = self.engine.ask(f"SELECT count(*) FROM shown WHERE {is_null}")[0][0]  # noqa: S608
        # By an equality DuckDB looks for the few rows in the files: it need not read all columns.
        same = _same("s", "r", self.keys) if has_null else _same("s", "r", self.keys, "=")
        both: list[dict[tuple[str | None, ...], Row]] = []
        for side in SIDES:
            rows = self.engine.ask(
                f"SELECT s.kind, {_texts(self.columns, 'r.')} FROM shown s "  # noqa: S608
                f"JOIN {side}_rows r ON {same} "
                f"ORDER BY s.kind, {', '.join(f's.{key}' for key in self.keys)}"
            )
            in_columns = [
                (kind, dict(zip(self.columns, values, strict=True))) for kind, *values in rows
            ]
            both.append({(kind, *(row[key] for key in self.keys)): row for kind, row in in_columns})
        for number, side in enumerate(SIDES):
            alone = [row for place, row in both[number].items() if place[0] == side]
            named = [{self.columns[column]: row[column] for column in row} for row in alone]
            if shown := (result.examples.get(side, []) + named)[: self.asked.sample]:
                result.examples[side] = shown
        for column in (kind for kind in conditions if kind not in SIDES):
            for place, row in both[0].items():
                if place[0] == column:
                    key = {self.columns[name]: row[name] for name in self.keys}
                    values = [row[column], both[1][place][column]]
                    shown_value = {"column": self.columns[column], "key": key, "values": values}
                    result.examples.setdefault("changed", []).append(shown_value)
