"""Windows and DataFrames: the rows of a window, and the greatest cursor value there is.

Imports PySpark only when a function is called. A TIMESTAMP is an instant, so its cursor is a
datetime in UTC with microseconds, whatever the zones of the session and of the Python process.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any, ClassVar, cast, overload

from watermarks.errors import WatermarkValueError
from watermarks.table.values import decode, encode
from watermarks.windows.cursors import family
from watermarks.windows.window import NULLS, Nulls, Window, edges

from .sql import NEWEST, NULL_ROWS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_BIGINTS = range(-(2**63), 2**63)
# Spark's name of a type, without the parameters, and the family of its values.
_FAMILIES = {
    "timestamp": "datetime with a zone",
    "timestamp_ntz": "datetime without a zone",
    "date": "date",
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "decimal"), "number"),
    "string": "string",
}
_REMEDIES = {
    "float": "cast it to a decimal, such as decimal(38, 9)",
    "double": "cast it to a decimal, such as decimal(38, 9)",
    "boolean": "it has no order; take another column",
    "struct": "name one of its fields, such as 'column.field'",
}
_REMEDY = "cast it to one of these, or take another column"


def window_condition(window: Window, column: str | None = None) -> Column:
    """Return the condition that the rows of a window satisfy, as a Column; see `rows_of`.

    The lower edge is `read_low`, so it includes the lookback. NULLs satisfy it only if the window
    includes them. The column must have the type of the cursor; `rows_of` checks that it has.

    Example:
        >>> window = watermarks.open_window("orders", run_id="jr_1", cursor="id", high=2)
        >>> spark.range(5).where(window_condition(window)).count()
        3
    """
    return _condition(window, column or window.cursor, None)


def rows_of(frame: DataFrame, window: Window, column: str | None = None) -> DataFrame:
    """Return the rows of a frame that belong to a window.

    Args:
        frame: any frame that has the cursor column.
        window: the window to read.
        column: the cursor column, as `pyspark.sql.functions.col` takes it, where its name is not
            the window's cursor; such as `meta.updated_at`, a field of a struct.

    Returns:
        The rows that satisfy `window_condition`; columns as in the frame.

    Raises:
        ValueError: the window is empty.
        WatermarkValueError: the column cannot be a cursor, is not there, or has not the type of
            the window's bounds.

    Example:
        >>> for window in watermarks.windows("orders", run_id="jr_1", cursor="id", high=2):
        ...     [row.id for row in rows_of(spark.range(5), window).collect()]
        [0, 1, 2]
    """
    edges(window)
    column = column or window.cursor
    kind = type_of(frame, column)
    expected = family(window.high)
    if family_of(kind, column) != expected:
        raise WatermarkValueError(
            f"the column {column!r} is a {kind.simpleString()}, and the window ends at "
            f"{window.high!r}, a {expected}: Spark would compare them by a guess; cast the column "
            "to the cursor's type"
        )
    return frame.where(_condition(window, column, kind))


def _condition(window: Window, column: str, kind: DataType | None) -> Column:
    from pyspark.sql import functions

    low, high = edges(window)
    cursor = functions.col(column)
    condition = _compared(cursor, "<" if window.bounds[1] == ")" else "<=", high, kind)
    if low is not None:
        after_low = _compared(cursor, ">=" if window.bounds[0] == "[" else ">", low, kind)
        condition = after_low & condition
    if window.nulls == "include":
        condition = condition | cursor.isNull()
    return condition


def _compared(cursor: Column, sign: str, value: Any, kind: DataType | None) -> Column:
    # A decimal is compared in its own type: in a wider one Spark may find NULL.
    from pyspark.sql import functions
    from pyspark.sql.types import DecimalType

    if not isinstance(kind, DecimalType):
        return cast("Column", _COMPARISONS[sign](cursor, _literal(value)))
    # Between two values of the column, the comparison with either of them is the same.
    rounding = ROUND_FLOOR if sign in {"<=", ">"} else ROUND_CEILING
    step = Decimal(1).scaleb(-kind.scale)
    fitted = Decimal(value).quantize(step, rounding=rounding, context=Context(prec=100))
    if fitted.copy_abs() < Decimal(10) ** (kind.precision - kind.scale):
        literal = functions.lit(f"{fitted:f}").cast(kind.simpleString())
        return cast("Column", _COMPARISONS[sign](cursor, literal))
    # Beyond every value that the column can have.
    is_true = (fitted > 0) == sign.startswith("<")
    return cursor.isNotNull() if is_true else cursor.isNotNull() & functions.lit(False)


@overload
def newest(frame: DataFrame) -> FrameBound: ...
@overload
def newest(frame: DataFrame, column: str, nulls: Nulls = "raise") -> Any: ...
def newest(frame: DataFrame, column: str | None = None, nulls: Nulls = "raise") -> Any:
    """Return the greatest cursor value of a frame, None without a value; one aggregate query.

    Without a column, for `high=newest(frame)`: it is then looked up when the window is opened,
    with the cursor and the nulls that the window is opened with.

    Args:
        frame: any frame that has the cursor column.
        column: the cursor column, as `pyspark.sql.functions.col` takes it.
        nulls: what to do with rows whose cursor is NULL; "raise" counts them in the same query.

    Returns:
        An aware datetime in UTC for a TIMESTAMP, a naive one for a TIMESTAMP_NTZ, a date, an int,
        a Decimal or a str; without a column the bound for `windows`.

    Raises:
        WatermarkValueError: there are NULLs, and `nulls` is "raise"; or the column, or its
            greatest value, cannot be a cursor.

    Example:
        >>> newest(spark.range(5), "id")
        4
        >>> for window in watermarks.windows(
        ...     "orders", run_id="jr_1", cursor="id", high=newest(spark.range(5))
        ... ):
        ...     window.high
        4
    """
    bound = FrameBound(frame)
    return bound if column is None else bound.newest(column, None, nulls)


@dataclass(frozen=True)
class FrameBound:
    """The bounds of windows over a frame, looked up when a window is opened."""

    frame: DataFrame
    column: str | None = None
    is_live: ClassVar[bool] = False

    def newest(self, cursor: str, low: Any, nulls: Nulls) -> Any:
        """Return the greatest value of the column; see `newest`."""
        from pyspark.sql import functions

        if nulls not in NULLS:
            raise ValueError(f"nulls is {nulls!r}: allowed are {', '.join(NULLS)}")
        name, column = self._column(cursor)
        aggregates = [functions.max(column).alias(NEWEST)]
        if nulls == "raise":
            aggregates.append(functions.count(functions.when(column.isNull(), 1)).alias(NULL_ROWS))
        # Of all rows: compared with a bound of another type, none might be left.
        return captured(self.frame.agg(*aggregates), type_of(self.frame, name), name)

    def after_rows(self, cursor: str, low: Any, is_low_in: bool, rows: int) -> Any:
        """Return the value of the n-th row after `low`, or at it; None if there are fewer."""
        from pyspark.sql import functions

        name, column = self._column(cursor)
        frame = self.frame.where(column.isNotNull())
        if low is not None:
            start = _literal(low)
            frame = frame.where(column >= start if is_low_in else column > start)
        first = frame.select(column.alias(NEWEST)).orderBy(NEWEST).limit(rows)
        is_enough = functions.count("*") == rows
        newest = first.agg(functions.when(is_enough, functions.max(NEWEST)).alias(NEWEST))
        return captured(newest, type_of(self.frame, name), name)

    def _column(self, cursor: str) -> tuple[str, Column]:
        from pyspark.sql import functions

        name = self.column or cursor
        family_of(type_of(self.frame, name), name)
        return name, functions.col(name)


def captured(frame: DataFrame, kind: DataType, column: str) -> Any:
    """Return the value in the one row of a bound capture, or refuse its NULLs."""
    from pyspark.sql import functions

    exact = functions.col(NEWEST)
    name = _name_of(kind)
    if name == "timestamp":
        exact = functions.unix_micros(exact)
    elif name in {"timestamp_ntz", "date"}:
        exact = exact.cast("string")
    others = [functions.col(label) for label in frame.columns if label != NEWEST]
    (row,) = frame.select(exact.alias(NEWEST), *others).collect()
    value, *counts = row
    if null_rows := sum(counts):
        raise WatermarkValueError(
            f"the column {column!r} has no value in {null_rows} of the rows: they belong to no "
            'window; repair them, or choose nulls="include" or nulls="exclude"'
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


def type_of(frame: DataFrame, column: str) -> DataType:
    """Return the type of a column; refuse a missing one."""
    from pyspark.errors import AnalysisException

    try:
        return frame.select(column).schema[0].dataType
    except AnalysisException as error:
        raise WatermarkValueError(
            f"the frame has no column {column!r}, it has {', '.join(frame.columns)}: open the "
            "window with the name of the column as cursor, or give column="
        ) from error


def _name_of(kind: DataType) -> str:
    return kind.simpleString().partition("(")[0].partition("<")[0]


def family_of(kind: DataType, column: str) -> str:
    """Return the family of the values of a column; refuse values that cannot be cursors."""
    name = _name_of(kind)
    if name not in _FAMILIES:
        raise WatermarkValueError(
            f"the column {column!r} is a {kind.simpleString()}: a cursor is one of "
            f"{', '.join(_FAMILIES)}; {_REMEDIES.get(name, _REMEDY)}"
        )
    return _FAMILIES[name]


def _literal(value: Any) -> Column:
    # No zone may have a part in it.
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
