"""Windows over JDBC: the bound is one query, and only the rows of a window cross the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, overload

from watermarks import run_notes
from watermarks.errors import WatermarkValueError
from watermarks.windows.backfill import split
from watermarks.windows.cursors import family, is_before
from watermarks.windows.window import Nulls, Window, edges

from .dialects import Dialect, quoted
from .frames import captured, family_of, type_of
from .sql import (
    NEWEST,
    Subquery,
    exact_cast,
    newest_query,
    nth_query,
    range_predicate,
    source_of,
    window_predicate,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# What makes Spark's source read something else than the window.
_OURS = {
    *("dbtable", "query", "preparequery", "partitioncolumn", "lowerbound", "upperbound"),
    "numpartitions",
}
_MAX_PARTITIONS = 1000
_UNKNOWN = 18  # the scale that Spark gives a number without one


def read_jdbc(
    spark: SparkSession,
    options: Mapping[str, str],
    table: str | Subquery,
    window: Window,
    *,
    column: str | None = None,
    dialect: Dialect | None = None,
    partitions: int = 1,
) -> DataFrame:
    """Return the rows of a window of a table behind JDBC; the database chooses them.

    Args:
        spark: the session.
        options: of Spark's JDBC source: url, driver, user, password, fetchsize and the like.
        table: the table, dotted if it is in a schema, each part quoted exactly as given; or a
            Subquery.
        window: the window to read.
        column: the cursor column, quoted exactly as given; None takes the column with the name of
            the window's cursor, whatever its case.
        dialect: the SQL to write; None takes it from the URL.
        partitions: in how many queries to read, side by side, each a part of the window; text
            cannot be parted.

    Returns:
        The rows; columns as in the table. Like every frame it is read when it is used.

    Raises:
        ValueError: the window is empty, an option makes Spark read something else, the table is no
            name, or the URL is of an unknown database.
        WatermarkValueError: there is no such column, it has not the type of the window's bounds,
            or the database has no literal for one.
    """
    if type(partitions) is not int or not 1 <= partitions <= _MAX_PARTITIONS:
        raise ValueError(f"partitions is {partitions!r}: give an integer from 1 to 1000")
    source = _Table.of(spark, options, table, dialect)
    name = source.column(column, window.cursor)
    source.check_type(name, window)
    predicates = source.predicates(window, name, partitions)
    rest = {key: value for key, value in options.items() if key.lower() != "url"}
    url = _option(options, "url")
    run_notes.note_read(window, run_notes.database(options, table))
    return spark.read.jdbc(url, source.text, predicates=predicates, properties=rest)


@overload
def newest_jdbc(
    spark: SparkSession,
    options: Mapping[str, str],
    table: str | Subquery,
    *,
    dialect: Dialect | None = None,
) -> JdbcBound: ...
@overload
def newest_jdbc(
    spark: SparkSession,
    options: Mapping[str, str],
    table: str | Subquery,
    column: str,
    dialect: Dialect | None = None,
    above: Any = None,
    nulls: Nulls = "raise",
) -> Any: ...
def newest_jdbc(
    spark: SparkSession,
    options: Mapping[str, str],
    table: str | Subquery,
    column: str | None = None,
    dialect: Dialect | None = None,
    above: Any = None,
    nulls: Nulls = "raise",
) -> Any:
    """Return the greatest cursor value of a table behind JDBC, None if there is none; one query.

    Without a column, for `high=newest_jdbc(spark, options, table)`: it is then asked for when the
    window is opened, with the cursor and the nulls that the window is opened with.

    Args:
        spark: the session.
        options: of Spark's JDBC source: url, driver, user, password and the like.
        table: the table, dotted if it is in a schema, each part quoted exactly as given; or a
            Subquery.
        column: the cursor column; quoted exactly as given.
        dialect: the SQL to write; None takes it from the URL.
        above: look only at rows after this value, such as the last watermark; None means at all.
        nulls: what to do with rows whose cursor is NULL; "raise" counts them in the same query.

    Returns:
        What `newest` returns. Spark reads a timestamp without a zone in the JVM's zone, or as
        TIMESTAMP_NTZ with the option `preferTimestampNTZ`.

    Raises:
        ValueError: the table or the column is no name, or the URL is of an unknown database.
        WatermarkValueError: there are NULLs, and `nulls` is "raise"; or the column, or its
            greatest value, cannot be a cursor.
    """
    if column is None:
        return JdbcBound(spark, options, table, dialect)
    source = _Table.of(spark, options, table, dialect)
    return source.newest(column, above, nulls)


@dataclass(frozen=True)
class JdbcBound:
    """The bounds of windows over a table behind JDBC, asked for when a window is opened.

    Its rows become visible when their transaction commits, which is in no order.

    Attributes:
        spark: the session.
        options: of Spark's JDBC source.
        table: the table, or a Subquery.
        dialect: the SQL to write; None takes it from the URL.
        column: the cursor column, where its name is not the cursor; quoted exactly as given.
    """

    spark: SparkSession
    options: Mapping[str, str]
    table: str | Subquery
    dialect: Dialect | None = None
    column: str | None = None
    is_live: ClassVar[bool] = True

    def newest(self, cursor: str, low: Any, nulls: Nulls) -> Any:
        """Return the greatest value after `low`; see `newest_jdbc`."""
        return self._source.newest(self._source.column(self.column, cursor), low, nulls)

    def oldest(self, cursor: str, low: Any, is_low_in: bool) -> Any:
        """Return the smallest value after `low`, or at it; None if there is none."""
        return self.after_rows(cursor, low, is_low_in, 1)

    def after_rows(self, cursor: str, low: Any, is_low_in: bool, rows: int) -> Any:
        """Return the value of the n-th row after `low`, or at it; None if there are fewer."""
        name = self._source.column(self.column, cursor)
        return self._source.nth(name, low, is_low_in, rows)

    @cached_property
    def _source(self) -> _Table:
        return _Table.of(self.spark, self.options, self.table, self.dialect)


@dataclass(frozen=True)
class _Table:
    """A table behind JDBC, and how to ask it."""

    spark: SparkSession
    options: Mapping[str, str]
    table: str | Subquery
    dialect: Dialect

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        options: Mapping[str, str],
        table: str | Subquery,
        dialect: Dialect | None,
    ) -> _Table:
        """Return the table; refuse options by which Spark would read something else."""
        for key in options:
            if key.lower() in _OURS:
                raise ValueError(
                    f"options has {key!r}: the rows of a window are asked for here; give the table "
                    "as the argument, a SELECT as Subquery(...), and partitions= to read in parts"
                )
        return cls(spark, options, table, dialect or Dialect.of(_option(options, "url")))

    @property
    def text(self) -> str:
        """What stands behind FROM."""
        return source_of(self.table, self.dialect)

    def column(self, given: str | None, cursor: str) -> str:
        """Return the name of the cursor column as the table has it.

        Raises:
            WatermarkValueError: there is no such column, or several in different cases.
        """
        if given is not None or cursor in self._schema.names:
            return cursor if given is None else given
        found = [name for name in self._schema.names if name.lower() == cursor.lower()]
        if len(found) != 1:
            raise WatermarkValueError(
                f"the table {self.table!r} has no column {cursor!r}, it has "
                f"{', '.join(self._schema.names)}: open the window with the name of the column as "
                "cursor, or give column="
            )
        return found[0]

    def check_type(self, column: str, window: Window) -> None:
        """Raise a WatermarkValueError if a column has no order with the bounds of a window."""
        kinds = [field.dataType for field in self._schema.fields if field.name == column]
        expected = family(window.high)
        for kind in kinds:
            # What a time without a zone means, the database says.
            if family_of(kind, column).partition(" with")[0] != expected.partition(" with")[0]:
                raise WatermarkValueError(
                    f"the column {column!r} is a {kind.simpleString()}, and the window ends at "
                    f"{window.high!r}, a {expected}: the database would compare them by a guess; "
                    "take a Subquery that casts the column"
                )

    def _cast(self, column: str) -> str:
        from pyspark.sql.types import DecimalType

        for field in self._schema.fields:
            kind = field.dataType
            if field.name == column and isinstance(kind, DecimalType) and kind.scale != _UNKNOWN:
                return exact_cast(kind.precision, kind.scale)
        return "{}"

    @cached_property
    def _schema(self) -> StructType:
        source = self.spark.read.format("jdbc").options(**self.options)
        return source.option("dbtable", self.text).load().schema

    def newest(self, column: str, above: Any, nulls: Nulls) -> Any:
        """Return the greatest value; of text the one that Python's order finds."""
        cast = self._cast(column)
        query = newest_query(self.table, column, self.dialect, above, nulls, cast=cast)
        found = self._asked(query)  # asks for the columns only
        kind = type_of(found, NEWEST)
        if family_of(kind, column) == "text":
            found = self._asked(
                newest_query(self.table, column, self.dialect, above, nulls, is_text=True)
            )
        return captured(found, kind, column)

    def nth(self, column: str, low: Any, is_low_in: bool, rows: int) -> Any:
        """Return the n-th smallest value after `low`, or at it; None if there are fewer."""
        cast = self._cast(column)
        query = nth_query(self.table, column, self.dialect, low, is_low_in, rows, cast)
        found = self._asked(query)
        return captured(found.agg({NEWEST: "max"}).toDF(NEWEST), type_of(found, NEWEST), column)

    def predicates(self, window: Window, column: str, partitions: int) -> list[str]:
        """Return conditions that share the rows of a window out, each row to one of them."""
        low, high = edges(window)
        whole = [window_predicate(window, column, self.dialect)]
        if partitions == 1 or isinstance(high, str):
            return whole
        start = self.nth(column, None, True, 1) if low is None else low
        if start is None or not is_before(start, high):
            return whole
        inner = _inner_edges(start, high, partitions)
        name, ends = quoted(column, self.dialect), window.bounds
        inside = ends if ends != "[]" else "(]"
        found = []
        for left, right in zip([low, *inner], [*inner, high], strict=True):
            first = left is low
            part = (ends[0] if first else inside[0]) + inside[1]
            found.append(f"({range_predicate(name, left, right, part, self.dialect)})")
        if window.nulls == "include":
            found[0] = f"({found[0]} OR {name} IS NULL)"
        return found

    def _asked(self, query: str) -> DataFrame:
        source = self.spark.read.format("jdbc").options(**self.options)
        return source.option("query", query).load()


def _inner_edges(low: Any, high: Any, parts: int) -> list[Any]:
    """Return the edges between the parts of a range, fewer parts if it has fewer values."""
    while parts > 1:
        try:
            return split(low, high, parts)[1:-1]
        except WatermarkValueError:
            parts //= 2
    return []


def _option(options: Mapping[str, str], name: str) -> str:
    for key, value in options.items():
        if key.lower() == name:
            return value
    raise ValueError(f"options has no {name!r}: give the options of Spark's JDBC source")
