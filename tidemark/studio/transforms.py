"""Visual transforms of Glue Studio that its scripts import by name, as ``import gs_now``.

Source: https://docs.aws.amazon.com/glue/latest/dg/edit-jobs-transforms.html and its pages of each
transform. Names of columns may be in backticks, as in paths of Glue.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, NumericType, StringType, StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.choices import quoted
from tidemark.glue_job.frames.session import lenient_cast

Change = Callable[..., DataFrame]
MILLISECONDS_FROM, MICROSECONDS_FROM = 10**11, 10**14  # as seconds they were after the year 5000
PER_SECOND = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6}
TIME_TYPES = ("autodetect", "iso", *PER_SECOND)
AGGREGATES = ("avg", "count", "first", "kurtosis", "last", "max", "mean", "min", "sum", "stddev")
PIVOT = "values of a pivot"
# Codes of Python's strftime, and the letters of Spark that mean the same.
PYTHON_CODES = dict(
    pair.split("=")
    for pair in (
        "Y=yyyy y=yy m=MM d=dd H=HH I=hh M=mm S=ss f=SSSSSS b=MMM B=MMMM a=EEE A=EEEE j=DDD p=a "
        "z=xx Z=z %=%"
    ).split()
)
_PART = re.compile(r"%(.)|([A-Za-z']+)|(.)", re.DOTALL)


def with_time(frame: DataFrame, colName: str, dateFormat: str | None = None) -> DataFrame:
    """Return the rows with the current time in a column: a timestamp, or a formatted string."""
    now = F.lit(datetime.now(UTC))
    made = F.date_format(now, spark_pattern(dateFormat)) if dateFormat else now
    return frame.withColumn(bare(colName), made)


def with_derived(frame: DataFrame, colName: str, expr: str) -> DataFrame:
    """Return the rows with a column that an expression of SQL makes."""
    return frame.withColumn(bare(colName), F.expr(expr))


def with_concatenated(
    frame: DataFrame, colName: str, colList: Sequence[str] | str, spacer: str = ""
) -> DataFrame:
    """Return the rows with a column of other columns' strings, a null as an empty string."""
    texts = [F.coalesce(F.col(name).cast("string"), F.lit("")) for name in names_in(colList)]
    return frame.withColumn(bare(colName), F.concat_ws(spacer, *texts))


def exploded(
    frame: DataFrame, colName: str, newCol: str, outer: bool = False, **names: str
) -> DataFrame:
    """Return a row for each element of an array or entry of a map."""
    kind = _check_type(frame, colName, ArrayType, MapType)
    make = F.explode_outer if outer else F.explode
    is_map = isinstance(kind, MapType)
    if len(names) > is_map:
        raise UsageError(
            f"gs_explode does not know {', '.join(sorted(names))} of {kind.simpleString()}; allowed"
            " are colName, newCol, outer, and of a map one more that names the column of its values"
        )
    if not is_map:
        return frame.withColumn(bare(newCol), make(F.col(colName)))
    made = [bare(newCol), bare(next(iter(names.values()), "value"))]
    replaced = {name.lower() for name in made}
    kept = [F.col(quoted(name)) for name in frame.columns if name.lower() not in replaced]
    return frame.select(*kept, make(F.col(colName)).alias(*made))


def flattened(frame: DataFrame, maxLevels: int = 0, separator: str = ".") -> DataFrame:
    """Return the fields of structs as columns, named by their path."""
    levels = int(maxLevels) or None
    columns = []
    for path in _leaves(frame.schema, (), levels):
        column = F.col(".".join(f"`{name}`" for name in path))
        columns.append(column.alias(separator.join(path)))
    return frame.select(*columns)


def with_split(
    frame: DataFrame, colName: str, pattern: str, newColName: str | None = None
) -> DataFrame:
    """Return the rows with the parts of a string between matches of a regular expression."""
    return frame.withColumn(bare(newColName or colName), F.split(F.col(colName), pattern))


def with_elements(
    frame: DataFrame,
    colName: str,
    colList: Sequence[str] | str,
    indexes: Sequence[int] | str | None = None,
) -> DataFrame:
    """Return the rows with a column for each element of an array; null if it is missing."""
    _check_type(frame, colName, ArrayType)
    names = names_in(colList)
    given = indexes.split(",") if isinstance(indexes, str) else indexes
    taken = [int(index) for index in given or range(1, len(names) + 1)]
    if len(taken) != len(names):
        raise UsageError(f"the columns are {names} and the indexes {taken}; name one for each")
    pairs = zip(names, taken, strict=True)
    return frame.withColumns({bare(n): F.get(F.col(colName), index - 1) for n, index in pairs})


def with_timestamp(
    frame: DataFrame, colName: str, colType: str = "autodetect", newColName: str | None = None
) -> DataFrame:
    """Return the rows with a string or a number as a timestamp; null if it is not one."""
    if colType not in TIME_TYPES:
        raise UsageError(f"colType is {colType!r}; allowed are {', '.join(TIME_TYPES)}")
    column = F.col(colName)
    made = lenient_cast(column, "timestamp")
    if colType in PER_SECOND:
        made = _of_number(column, F.lit(PER_SECOND[colType]))
    elif colType == "autodetect":
        size = F.abs(lenient_cast(column, "decimal(38,6)"))
        unit = (
            F.when(size >= MICROSECONDS_FROM, PER_SECOND["microseconds"])
            .when(size >= MILLISECONDS_FROM, PER_SECOND["milliseconds"])
            .otherwise(PER_SECOND["seconds"])
        )
        number = _of_number(column, unit)
        is_number = isinstance(frame.select(column).schema[0].dataType, NumericType)
        made = number if is_number else F.coalesce(made, number)
    return frame.withColumn(bare(newColName or colName), made)


def with_formatted(
    frame: DataFrame, colName: str, dateFormat: str, newColName: str | None = None
) -> DataFrame:
    """Return the rows with a timestamp as a string, in a format of Python or of Spark."""
    made = F.date_format(F.col(colName), spark_pattern(dateFormat))
    return frame.withColumn(bare(newColName or colName), made)


def with_uuid(frame: DataFrame, colName: str = "uuid") -> DataFrame:
    """Return the rows with a UUID each."""
    return frame.withColumn(bare(colName), F.expr("uuid()"))


def without_null_rows(frame: DataFrame, extended: bool = False) -> DataFrame:
    """Return the rows that have any value; with `extended` not empty strings or arrays."""
    kept = F.lit(False)
    for field in frame.schema:
        column = F.col(f"`{field.name}`")
        has_value = column.isNotNull()
        if extended and isinstance(field.dataType, StringType):
            has_value = has_value & (column != "")
        if extended and isinstance(field.dataType, ArrayType | MapType):
            has_value = has_value & (F.size(column) > 0)
        kept = kept | has_value
    return frame.filter(kept)


def pivoted(
    frame: DataFrame, aggCol: str, aggFunction: str, colList: Sequence[str] | str
) -> DataFrame:
    """Return a row for each group of the other columns, with a column for each value of some."""
    if aggFunction not in AGGREGATES:
        raise UsageError(f"aggFunction is {aggFunction!r}; allowed are {', '.join(AGGREGATES)}")
    turned = names_in(colList)
    gone = {bare(name).lower() for name in (aggCol, *turned)}
    groups = [f"`{name}`" for name in frame.columns if name.lower() not in gone]
    values = F.concat_ws("_", *map(F.col, turned)) if len(turned) > 1 else F.col(turned[0])
    made = getattr(F, aggFunction)(aggCol)
    return frame.withColumn(PIVOT, values).groupBy(*groups).pivot(PIVOT).agg(made)


def rebalanced(frame: DataFrame, numPartitionsStr: str = "") -> DataFrame:
    """Return the rows in a number of partitions; without one in as many as there are cores."""
    number = int(numPartitionsStr or frame.sparkSession.sparkContext.defaultParallelism)
    return frame.repartition(number)


def spark_pattern(text: str) -> str:
    """Return a pattern of Spark for one of Spark or of Python's strftime."""
    if "%" not in text:
        return text
    pattern = ""
    for code, letters, character in _PART.findall(text):
        if code and code not in PYTHON_CODES:
            raise UsageError(
                f"dateFormat {text!r} has %{code}; allowed are %{', %'.join(PYTHON_CODES)}, or a "
                "pattern of Spark such as yyyy-MM-dd"
            )
        quoted = f"""'{letters.replace("'", "''")}'""" if letters else character
        pattern += PYTHON_CODES[code] if code else quoted
    return pattern


def names_in(columns: Sequence[str] | str) -> list[str]:
    """Return names of columns, which Studio writes as a list or with commas."""
    return [name.strip() for name in columns.split(",")] if isinstance(columns, str) else [*columns]


def bare(name: str) -> str:
    """Return the name of a column without the backticks around it."""
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == "`" else name


def attach(name: str, change: Change, dynamic_frame: Any) -> None:
    """Give both kinds of frames a method that changes the rows, as Studio does.

    A frame without columns, of a source with nothing new, is not changed.
    """

    def of_data_frame(self: DataFrame, *args: Any, **kwargs: Any) -> DataFrame:
        return change(self, *args, **kwargs) if self.columns else self

    def of_dynamic_frame(self: Any, *args: Any, **kwargs: Any) -> Any:
        changed = of_data_frame(self.toDF(), *args, **kwargs)
        return dynamic_frame.fromDF(changed, self.glue_ctx, self.name)

    setattr(dynamic_frame, name, of_dynamic_frame)
    setattr(DataFrame, name, of_data_frame)


def _of_number(column: Column, per_second: Column) -> Column:
    return lenient_cast(lenient_cast(column, "decimal(38,6)") / per_second, "timestamp")


def _check_type(frame: DataFrame, name: str, *kinds: type[DataType]) -> DataType:
    kind = frame.select(F.col(name)).schema[0].dataType
    if not isinstance(kind, kinds):
        allowed = " or ".join(f"of type {kind.typeName()}" for kind in kinds)
        raise UsageError(f"the column {name} is {kind.simpleString()}; it must be {allowed}")
    return kind


def _leaves(
    schema: StructType, path: tuple[str, ...], levels: int | None
) -> Iterator[tuple[str, ...]]:
    for field in schema:
        here = (*path, field.name)
        if isinstance(field.dataType, StructType) and (levels is None or len(here) <= levels):
            yield from _leaves(field.dataType, here, levels)
        else:
            yield here
