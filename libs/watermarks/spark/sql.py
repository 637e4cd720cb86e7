"""SQL for a window over JDBC: its predicate, and the query that finds its upper bound.

Names are quoted exactly as given, so they are case-sensitive wherever quoted names are: write a
column of an Oracle table as `UPDATED_AT`, one that Spark made in Derby as `updated_at`.

The bound of a column finer than microseconds (SQL Server's datetime2(7), TIMESTAMP(9)) is rounded
up: every row that is there when it is found is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from watermarks.windows.window import NULLS, Nulls, Window, edges

from .dialects import GRAMMARS, Dialect, literal, quoted

NEWEST = "newest"
NULL_ROWS = "null_rows"


@dataclass(frozen=True)
class Subquery:
    """A SELECT to read from in place of a table; its SQL is the caller's and is not checked.

    Attributes:
        sql: the SELECT, without parentheses; it may end in a semicolon or a comment.

    Raises:
        ValueError: it is empty, or not a string.

    Example:
        >>> Subquery("SELECT id, updated_at FROM orders WHERE kind = 'web'").sql
        "SELECT id, updated_at FROM orders WHERE kind = 'web'"
    """

    sql: str

    def __post_init__(self) -> None:
        text: object = self.sql
        if not isinstance(text, str) or not text.strip().rstrip(";"):
            raise ValueError(f"the sql of a Subquery is {text!r}: give a SELECT")


def window_predicate(window: Window, column: str | None, dialect: Dialect) -> str:
    """Return the condition, in parentheses, that the rows of a window satisfy in a database.

    The lower edge is `read_low`, so it includes the lookback. NULLs satisfy it only if the window
    includes them. The column, None for the window's own, is quoted exactly as given.

    Raises:
        ValueError: the window is empty, or the column is not a name.
        WatermarkValueError: the database has no literal for a bound.

    Example:
        >>> window = watermarks.open_window("orders", run_id="jr_1", cursor="id", high=2)
        >>> window_predicate(window, "order_id", Dialect.POSTGRESQL)
        '("order_id" <= 2)'
    """
    low, high = edges(window)
    name = quoted(window.cursor if column is None else column, dialect)
    condition = range_predicate(name, low, high, window.bounds, dialect)
    if window.nulls == "include":
        whole = condition if low is None else f"({condition})"
        condition = f"{whole} OR {name} IS NULL"
    return f"({condition})"


def range_predicate(name: str, low: Any, high: Any, ends: str, dialect: Dialect) -> str:
    """Return the condition that a column lies between two values; None leaves that end open."""
    over, under = ">=" if ends[0] == "[" else ">", "<" if ends[1] == ")" else "<="
    parts = [] if low is None else [f"{name} {over} {literal(low, dialect)}"]
    parts += [] if high is None else [f"{name} {under} {literal(high, dialect)}"]
    return " AND ".join(parts)


def newest_query(
    table: str | Subquery,
    column: str,
    dialect: Dialect,
    above: Any = None,
    nulls: Nulls = "raise",
    *,
    is_string: bool = False,
    cast: str = "{}",
) -> str:
    """Return the one query that captures the upper bound of a window; see `newest_jdbc`.

    Its only row has the column `newest`, NULL if there is no row, and with `nulls="raise"` also
    `null_rows`, the number of rows whose cursor is NULL. For strings (`is_string`, or if `above` is
    one) the greatest is the one Python's order finds. `cast` makes it one of the column's type.
    """
    if nulls not in NULLS:
        raise ValueError(f"nulls is {nulls!r}: allowed are {', '.join(NULLS)}")
    name = quoted(column, dialect)
    grammar = GRAMMARS[dialect]
    ordered = grammar.ordered.format(name) if is_string or isinstance(above, str) else name
    counts = nulls == "raise"
    query = f"SELECT {cast.format(f'MAX({ordered})')} AS {quoted(NEWEST, dialect)}"
    if counts:
        missing = f"{grammar.count}(*) - {grammar.count}({name})"
        query += f", {missing} AS {quoted(NULL_ROWS, dialect)}"
    query += f" FROM {source_of(table, dialect)}"
    if above is not None:
        query += f" WHERE {name} > {literal(above, dialect)}"
        if counts:
            query += f" OR {name} IS NULL"
    return query


def nth_query(
    table: str | Subquery,
    column: str,
    dialect: Dialect,
    low: Any,
    is_low_in: bool,
    rows: int,
    cast: str = "{}",
) -> str:
    """Return the query of the n-th smallest value of a column after `low`: a row `newest` or none.

    Takes what `newest_query` does; None as `low` means at the first row, and rows count from 1.
    """
    name, grammar = quoted(column, dialect), GRAMMARS[dialect]
    ordered = grammar.ordered.format(name) if isinstance(low, str) else name
    where = f"{name} IS NOT NULL"
    if low is not None:
        where += f" AND {range_predicate(name, low, None, '[]' if is_low_in else '(]', dialect)}"
    return (
        f"SELECT {cast.format(ordered)} AS {quoted(NEWEST, dialect)} "  # noqa: S608 (quoted)
        f"FROM {source_of(table, dialect)} "
        f"WHERE {where} ORDER BY {ordered} {grammar.nth.format(rows - 1)}"
    )


def source_of(table: str | Subquery, dialect: Dialect) -> str:
    """Return the operand of FROM: a quoted table, or a SELECT in parentheses with a name."""
    if isinstance(table, Subquery):
        # A new line, since the SELECT may end in a comment.
        return f"({table.sql.strip().rstrip(';')}\n) captured"
    if not isinstance(table, str):
        raise ValueError(f"the table is {table!r}: give its name, or a Subquery")
    return ".".join(quoted(part, dialect, "table") for part in table.split("."))
