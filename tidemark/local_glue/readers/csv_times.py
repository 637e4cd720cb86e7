"""Dates and timestamps of CSV whose table declares them: texts that Spark's cast takes, or misfits.

Spark's reader of CSV fails with a SparkUpgradeException at a text such as 2024-13-01, which its old
parser took for a day of the next year; the setting against that is of the whole session.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DateType, StringType, StructField, StructType, TimestampType

from tidemark.local_glue.frames.choices import quoted

AS_IT_IS = {
    "emptyValue": "",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}


def times_as_texts(schema: StructType) -> StructType:
    """Return a schema with strings in the place of dates and timestamps."""
    return StructType(
        [
            StructField(one.name, StringType() if _is_time(one.dataType) else one.dataType)
            for one in schema
        ]
    )


def with_times(
    frame: DataFrame, schema: StructType, corrupt: str, options: Mapping[str, str]
) -> DataFrame:
    """Return lines of CSV with their times; one with a text that is no time is a corrupt one.

    Args:
        frame: the columns as `times_as_texts` has them, those of folders, and the corrupt lines.
        schema: the declared columns.
        corrupt: the column of the corrupt lines.
        options: Spark's options of the format.
    """
    times = {one.name: one.dataType for one in schema if _is_time(one.dataType)}
    if not times:
        return frame
    texts = [F.col(quoted(one.name)).cast("string").alias(str(n)) for n, one in enumerate(schema)]
    line = F.to_csv(F.struct(*texts), {**options, **AS_IT_IS})
    is_misfit = F.lit(False)
    for name, kind in times.items():
        is_misfit |= F.col(quoted(name)).isNotNull() & _time(name, kind).isNull()
    columns = [
        _time(name, times[name]).alias(name) if name in times else F.col(quoted(name))
        for name in frame.columns
        if name != corrupt
    ]
    known = F.coalesce(F.col(quoted(corrupt)), F.when(is_misfit, line))
    return frame.select(*columns, known.alias(corrupt))


def _is_time(kind: DataType) -> bool:
    return isinstance(kind, DateType | TimestampType)


def _time(name: str, kind: DataType) -> Column:
    return F.expr(f"try_cast({quoted(name)} AS {kind.simpleString()})")
