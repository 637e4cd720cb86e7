"""Windows and DataFrames: the rows of a window, and the greatest cursor value there is.

Imports PySpark only when a function is called. A TIMESTAMP is an instant, so its cursor is a
datetime in UTC with microseconds, whatever the zones of the session and of the Python process.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .cursors import family
from .errors import WatermarkNullError, WatermarkTypeError, WatermarkValueError
from .sql import NEWEST, NULL_ROWS, Dialect, Subquery, edges, newest_query
from .values import decode, encode
from .windows import NULLS, Nulls, Window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BIGINTS = range(-(2**63), 2**63)
# Spark's name of a type, without the parameters, and the family of its values.
_FAMILIES = {
    "timestamp": "datetime with a zone",
    "timestamp_ntz": "datetime without a zone",
    "date": "date",
    "tinyint": "number",
    "smallint": "number",
    "int": "number",
    "bigint": "number",
    "decimal": "number",
    "string": "text",
}
_REMEDIES = {
    "float": "cast it to a decimal, such as decimal(38, 9)",
    "double": "cast it to a decimal, such as decimal(38, 9)",
    "boolean": "it has no order; take another column",
    "struct": "name one of its fields, such as 'column.field'",
}
_REMEDY = "cast it to one of these, or take another column"


def window_condition(window: Window, column: str) -> Column:
    """Return the condition that the rows of a window satisfy, as a Column.

    The lower edge is `read_low`, so it includes the lookback. NULLs satisfy it only if the window
    includes them. The column must have the type of the cursor; `rows_of` checks that it has.

    Args:
        window: the window to read.
        column: the cursor column, as `pyspark.sql.functions.col` takes it.

    Raises:
        ValueError: the window is empty.
        WatermarkValueError: Spark has no literal for a bound.
    """
    from pyspark.sql import functions

    low, high = edges(window)
    cursor = functions.col(column)
    condition = cursor < _literal(high) if window.bounds[1] == ")" else cursor <= _literal(high)
    if low is not None:
        after_low = cursor > _literal(low) if window.bounds[0] == "(" else cursor >= _literal(low)
        condition = after_low & condition
    if window.nulls == "include":
        condition = condition | cursor.isNull()
    return condition


def rows_of(frame: DataFrame, window: Window, column: str) -> DataFrame:
    """Return the rows of a frame that belong to a window.

    Args:
        frame: any frame that has the cursor column.
        window: the window to read.
        column: the cursor column, as `pyspark.sql.functions.col` takes it.

    Returns:
        The rows that satisfy `window_condition`; columns as in the frame.

    Raises:
        ValueError: the window is empty.
        WatermarkTypeError: the column has not the type of the window's bounds.
        WatermarkValueError: the column cannot be a cursor.
    """
    condition = window_condition(window, column)
    kind = _type_of(frame, column)
    expected = family(window.high)
    if _family_of(kind, column) != expected:
        raise WatermarkTypeError(
            f"the column {column!r} is a {kind.simpleString()}, and the window ends at "
            f"{window.high!r}, a {expected}: Spark would compare them by a guess; cast the column "
            "to the cursor's type"
        )
    return frame.where(condition)


def newest(frame: DataFrame, column: str, nulls: Nulls = "raise") -> Any:
    """Return the greatest cursor value of a frame, None if there is none; one aggregate query.

    Args:
        frame: any frame that has the cursor column.
        column: the cursor column, as `pyspark.sql.functions.col` takes it.
        nulls: what to do with rows whose cursor is NULL; "raise" counts them in the same query.

    Returns:
        An aware datetime in UTC for a TIMESTAMP, a naive one for a TIMESTAMP_NTZ, a date, an int,
        a Decimal or a str.

    Raises:
        WatermarkNullError: there are NULLs, and `nulls` is "raise".
        WatermarkValueError: the column, or its greatest value, cannot be a cursor.
    """
    from pyspark.sql import functions

    if nulls not in NULLS:
        raise ValueError(f"nulls is {nulls!r}: allowed are {', '.join(NULLS)}")
    kind = _type_of(frame, column)
    _family_of(kind, column)
    cursor = functions.col(column)
    aggregates = [functions.max(cursor).alias(NEWEST)]
    if nulls == "raise":
        aggregates.append(functions.count(functions.when(cursor.isNull(), 1)).alias(NULL_ROWS))
    return _captured(frame.agg(*aggregates), kind, column)


def newest_jdbc(
    spark: SparkSession,
    options: Mapping[str, str],
    table: str | Subquery,
    column: str,
    dialect: Dialect | None = None,
    above: Any = None,
    nulls: Nulls = "raise",
) -> Any:
    """Return the greatest cursor value of a table behind JDBC, None if there is none; one query.

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
        WatermarkNullError: there are NULLs, and `nulls` is "raise".
        WatermarkValueError: the column, or its greatest value, cannot be a cursor.
    """
    if dialect is None:
        dialect = Dialect.of(options["url"])
    source = spark.read.format("jdbc").options(**options)
    query = newest_query(table, column, dialect, above, nulls)
    found = source.option("query", query).load()  # asks for the columns only
    kind = _type_of(found, NEWEST)
    if _family_of(kind, column) == "text":
        query = newest_query(table, column, dialect, above, nulls, is_text=True)
        found = source.option("query", query).load()
    return _captured(found, kind, column)


def _captured(found: DataFrame, kind: DataType, column: str) -> Any:
    """Return the value in the one row of a bound capture, or refuse its NULLs."""
    from pyspark.sql import functions

    exact = functions.col(NEWEST)
    name = _name_of(kind)
    if name == "timestamp":
        exact = functions.unix_micros(exact)
    elif name in {"timestamp_ntz", "date"}:
        exact = exact.cast("string")
    others = [functions.col(other) for other in found.columns if other != NEWEST]
    (row,) = found.select(exact.alias(NEWEST), *others).collect()
    value, *counts = row
    if null_rows := sum(counts):
        raise WatermarkNullError(
            f"{null_rows} rows have no value in the column {column!r}: they belong to no window; "
            'repair them, or choose nulls="include" or nulls="exclude"'
        )
    return None if value is None else _python_value(value, name, column)


def _python_value(value: Any, name: str, column: str) -> Any:
    try:
        match name:
            case "timestamp":
                return _EPOCH + timedelta(microseconds=value)
            case "timestamp_ntz":
                return datetime.fromisoformat(value)
            case "date":
                return date.fromisoformat(value)
    except (OverflowError, ValueError) as error:
        raise WatermarkValueError(
            f"the greatest value of the column {column!r} lies outside the years 1 to 9999: filter "
            "such rows out"
        ) from error
    return value


def _type_of(frame: DataFrame, column: str) -> DataType:
    return frame.select(column).schema[0].dataType


def _name_of(kind: DataType) -> str:
    return kind.simpleString().partition("(")[0].partition("<")[0]


def _family_of(kind: DataType, column: str) -> str:
    name = _name_of(kind)
    if name not in _FAMILIES:
        raise WatermarkValueError(
            f"the column {column!r} is a {kind.simpleString()}: a cursor is one of "
            f"{', '.join(_FAMILIES)}; {_REMEDIES.get(name, _REMEDY)}"
        )
    return _FAMILIES[name]


def _literal(value: Any) -> Column:
    """Return a cursor value as a literal that no zone has a part in."""
    from pyspark.sql import functions

    plain = decode(*encode(value, "cursor"))  # of exactly one of the allowed types
    match plain:
        case datetime() if plain.utcoffset() is not None:
            micros = (plain - _EPOCH) // timedelta(microseconds=1)
            return functions.timestamp_micros(functions.lit(micros))
        case datetime():
            return functions.lit(plain.isoformat()).cast("timestamp_ntz")
        case date():
            return functions.lit(plain.isoformat()).cast("date")
        case str():
            return functions.lit(plain)
        case int() if plain in _BIGINTS:
            return functions.lit(plain)
    return _decimal(Decimal(plain))


def _decimal(value: Decimal) -> Column:
    from pyspark.sql import functions

    text = f"{value:f}"
    whole, _, fraction = text.lstrip("-0").partition(".")
    digits = max(len(whole) + len(fraction), 1)
    if digits > 38:
        raise WatermarkValueError(
            f"the cursor value {value} has more digits than a decimal of Spark can have: round it"
        )
    return functions.lit(text).cast(f"decimal({digits}, {len(fraction)})")
