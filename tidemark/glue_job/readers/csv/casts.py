"""Dates, timestamps and decimals that a table of CSV declares: texts that Spark's cast takes.

Spark's reader of CSV fails with a SparkUpgradeException at a text such as 2024-13-01, which its old
parser took for a day of the next year; the setting against that is of the whole session. Of a
decimal it drops the commas, so that 1,5 would be 15.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    StructType,
)

from tidemark.glue_job.frames.choices import quoted
from tidemark.glue_job.frames.types import is_cast

AS_IT_IS = {
    "emptyValue": "",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}


def with_casts(
    frame: DataFrame, schema: StructType, corrupt: str, options: Mapping[str, str]
) -> DataFrame:
    """Return lines of CSV with their times and decimals; one that has another text is corrupt."""
    cast = {one.name: one.dataType for one in schema if is_cast(one.dataType)}
    if not cast:
        return frame
    texts = [F.col(quoted(one.name)).cast("string").alias(str(n)) for n, one in enumerate(schema)]
    line = F.to_csv(F.struct(*texts), {**options, **AS_IT_IS})
    is_misfit = F.lit(False)
    for name, kind in cast.items():
        is_misfit |= F.col(quoted(name)).isNotNull() & _cast(name, kind).isNull()
    columns = [
        _cast(name, cast[name]).alias(name) if name in cast else F.col(quoted(name))
        for name in frame.columns
        if name != corrupt
    ]
    known = F.coalesce(F.col(quoted(corrupt)), F.when(is_misfit, line))
    return frame.select(*columns, known.alias(corrupt))


def _cast(name: str, kind: DataType) -> Column:
    return F.expr(f"try_cast({quoted(name)} AS {kind.simpleString()})")
