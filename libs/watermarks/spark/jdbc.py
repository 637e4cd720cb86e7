"""Windows over JDBC: the bound is one query, and only the rows of a window cross the wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, overload

from watermarks import run_notes
from watermarks.errors import WatermarkValueError
from watermarks.table.values import ARITHMETIC
from watermarks.windows.backfill import split
from watermarks.windows.cursors import family, is_before
from watermarks.windows.window import Nulls, Window, edges

from .dialects import Dialect, quoted
from .frames import captured, family_of, type_of
from .sql import (
    NEWEST,
    Subquery,
    newest_query,
    nth_query,
    range_predicate,
    source_of,
    window_predicate,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

# What makes Spark's source read something else than the window.
_OURS = {
    "dbtable",
    "query",
    "preparequery",
    "partitioncolumn",
    "lowerbound",
    "upperbound",
    "numpartitions",
}
_MAX_PARTITIONS = 1000
_FINER_TIMES = (Dialect.DERBY, Dialect.ORACLE, Dialect.SQL_SERVER)
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
    """Return the rows of a window of a JDBC table; the database chooses them.

    Args:
        spark: the session.
        options: of Spark's JDBC source: url, driver, user, password, fetchsize and the like.
        table: the table, dotted if it is in a schema, each part quoted exactly as given; or a
            Subquery.
        window: the window to read.
        column: the cursor column, quoted exactly as given; None takes the column with the name of
            the window's cursor, whatever its case.
        dialect: the SQL to write; None takes it from the URL.
        partitions: number of parallel queries, each for a part of the window; strings cannot be
            split.

    Returns:
        The rows; columns as in the table. Like every frame it is read when it is used.

    Raises:
        ValueError: the window is empty, an option makes Spark read something else, the table is not
            a name, or the URL is of an unknown database.
        WatermarkValueError: the column does not exist or has another type than the bounds, or the
            database has no literal for one.
    """
    if type(partitions) is not int or not 1 <= partitions <= _MAX_PARTITIONS:
        raise ValueError(f"partitions is {partitions!r}: give an integer from 1 to 1000")
    source = JdbcBound(spark, options, table, dialect, column)
    rows = source.rows_of(window, partitions)
    run_notes.note_read(window, run_notes.database(options, table), rows)
    return rows


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
    """Return the greatest cursor value of a JDBC table, None without a value; one query.

    Without a column, for `high=newest_jdbc(spark, options, table)`: it is then asked for when the
    window is opened, with the cursor and the nulls that the window is opened with.

    Takes what `read_jdbc` does, and:

        above: look only at rows after this value, such as the last watermark; None means at all.
        nulls: what to do with rows whose cursor is NULL; "raise" counts them in the same query.

    Returns and raises what `newest` does. Spark reads a timestamp without a zone in the JVM's zone,
    or as TIMESTAMP_NTZ with the option `preferTimestampNTZ`.
    """
    bound = JdbcBound(spark, options, table, dialect, column)
    return bound if column is None else bound.newest(column, above, nulls)


@dataclass(frozen=True)
class JdbcBound:
    """A JDBC table and the bounds of windows over it, queried when a window is opened.

    Its rows become visible when their transaction commits, which is in no order.

    Its attributes are what `read_jdbc` takes.
    """

    spark: SparkSession
    options: Mapping[str, str]
    table: str | Subquery
    dialect: Dialect | None = None
    column: str | None = None
    is_live: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for key in self.options:
            if key.lower() in _OURS:
                raise ValueError(
                    f"options has {key!r}: the rows of a window are asked for here; give the table "
                    "as the argument, a SELECT as Subquery(...), and partitions= to read in parts"
                )

    def newest(self, cursor: str, low: Any, nulls: Nulls) -> Any:
        """Return the greatest value after `low`; for strings the one by Python's order."""
        name = self.column_of(cursor)
        question = (self.table, name, self._sql, low, nulls)
        # Asks for the columns only.
        answer = self._asked(newest_query(*question, cast=self._cast(name)))
        kind = type_of(answer, NEWEST)
        if family_of(kind, name) == "string":
            answer = self._asked(newest_query(*question, is_string=True))
        with _named_infinity(name):
            value = captured(answer, kind, name)
        if value is None or not self._may_be_finer(kind):
            return value
        # Of a column that is finer than a cursor, the value is cut, and its own row lies above.
        above = newest_query(self.table, name, self._sql, value, "exclude", cast=self._cast(name))
        beyond = captured(self._asked(above), kind, name)
        return value if beyond is None else next_value(beyond)

    def after_rows(self, cursor: str, low: Any, is_low_in: bool, rows: int) -> Any:
        """Return the value of the n-th row after `low`, or at it; None if there are fewer."""
        name = self.column_of(cursor)
        query = nth_query(self.table, name, self._sql, low, is_low_in, rows, self._cast(name))
        answer = self._asked(query)
        value = captured(answer.agg({NEWEST: "max"}).toDF(NEWEST), type_of(answer, NEWEST), name)
        if low is not None and not is_low_in and value is not None and not is_before(low, value):
            # The value is cut to the lower end, which it lies above.
            return next_value(value)
        return value

    def rows_of(self, window: Window, partitions: int) -> DataFrame:
        """Return the rows of a window; see `read_jdbc`."""
        name = self.column_of(window.cursor)
        self._check_type(name, window)
        rest = {key: value for key, value in self.options.items() if key.lower() != "url"}
        return self.spark.read.jdbc(
            _option(self.options, "url"),
            source_of(self.table, self._sql),
            predicates=self._predicates(window, name, partitions),
            properties=rest,
        )

    def column_of(self, cursor: str) -> str:
        """Return the name of the cursor column as the table has it.

        Raises:
            WatermarkValueError: there is no such column, or several in different cases.
        """
        if self.column is not None:
            return self.column
        names = self._schema.names
        alike = [name for name in names if name.lower() == cursor.lower()]
        if cursor not in names and len(alike) != 1:
            raise WatermarkValueError(
                f"the table {self.table!r} has no column {cursor!r}, it has {', '.join(names)}: "
                "open the window with the name of the column as cursor, or give column="
            )
        return cursor if cursor in names else alike[0]

    def _check_type(self, column: str, window: Window) -> None:
        """Raise a WatermarkValueError if a column has no order with the bounds of a window."""
        kinds = [field.dataType for field in self._schema.fields if field.name == column]
        expected = family(window.high)
        for kind in kinds:
            # The database says what a time without a zone means.
            if family_of(kind, column).partition(" with")[0] != expected.partition(" with")[0]:
                raise WatermarkValueError(
                    f"the column {column!r} is a {kind.simpleString()}, and the window ends at "
                    f"{window.high!r}, a {expected}: the database would compare them by a guess; "
                    "take a Subquery that casts the column"
                )

    def _cast(self, column: str) -> str:
        # MAX forgets the type of a column of numbers in PostgreSQL.
        from pyspark.sql.types import DecimalType

        for field in self._schema.fields:
            kind = field.dataType
            if field.name == column and isinstance(kind, DecimalType) and kind.scale != _UNKNOWN:
                return f"CAST({{}} AS DECIMAL({kind.precision}, {kind.scale}))"
        return "{}"

    def _may_be_finer(self, kind: DataType) -> bool:
        """Return whether the database may keep more digits of a value than a cursor has."""
        from pyspark.sql.types import DecimalType, TimestampNTZType, TimestampType

        if isinstance(kind, TimestampType | TimestampNTZType):
            return self._sql in _FINER_TIMES
        return isinstance(kind, DecimalType) and kind.scale == _UNKNOWN

    @cached_property
    def _sql(self) -> Dialect:
        return self.dialect or Dialect.of(_option(self.options, "url"))

    @cached_property
    def _schema(self) -> StructType:
        source = self.spark.read.format("jdbc").options(**self.options)
        return source.option("dbtable", source_of(self.table, self._sql)).load().schema

    def _predicates(self, window: Window, column: str, partitions: int) -> list[str]:
        low, high = edges(window)
        whole = [window_predicate(window, column, self._sql)]
        if partitions == 1 or isinstance(high, str):
            return whole
        start = self.after_rows(window.cursor, None, True, 1) if low is None else low
        if start is None or not is_before(start, high):
            return whole
        inner = _inner_edges(start, high, partitions)
        name, ends = quoted(column, self._sql), window.bounds
        inside = ends if ends != "[]" else "(]"
        predicates = []
        for left, right in zip([low, *inner], [*inner, high], strict=True):
            first = left is low
            part = (ends[0] if first else inside[0]) + inside[1]
            predicates.append(f"({range_predicate(name, left, right, part, self._sql)})")
        if window.nulls == "include":
            predicates[0] = f"({predicates[0]} OR {name} IS NULL)"
        return predicates

    def _asked(self, query: str) -> DataFrame:
        source = self.spark.read.format("jdbc").options(**self.options)
        return source.option("query", query).load()


def next_value(value: Any) -> Any:
    """Return the value after one that was cut: a microsecond later, or one of the last digit up.

    A time or a number that has no next value stays unchanged.
    """
    try:
        if isinstance(value, datetime):
            return value + timedelta(microseconds=1)
        return ARITHMETIC.add(Decimal(value), Decimal(1).scaleb(-_UNKNOWN))
    except ArithmeticError:
        return value


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


@contextmanager
def _named_infinity(column: str) -> Iterator[None]:
    # Spark cannot hold such a date, and fails with an overflow that names nothing.
    try:
        yield
    except Exception as error:
        if "ArithmeticException: integer overflow" not in str(error):
            raise
        raise WatermarkValueError(
            f"the greatest value of {column!r} is a date that Spark cannot hold, such as the "
            "infinity of PostgreSQL: as a watermark it would hide every row, so nothing was "
            "written; repair such rows, or leave them out with a Subquery"
        ) from error
