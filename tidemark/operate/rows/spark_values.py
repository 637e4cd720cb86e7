"""Values of frames as they are compared, by Spark: nested ones as JSON, maps by their keys."""

import re
from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)
from pyspark.sql import types as T  # noqa: N812

from tidemark.operate.rows.spark_rows import NESTED

PY4J_PREFIX = "An error occurred while calling "
RUN_TIME = "(time of the run)"
IN_FULL = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
# Both sides are read as they are, whatever either version makes of old dates and names.
SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.streaming.fileStreamSink.ignoreMetadata": "true",  # it names files of the lake
}


def one_line(error: Exception) -> str:
    """Return an error in one line, without that of py4j, which says that Java has one."""
    first, *others = str(error).splitlines() or [type(error).__name__]
    return others[0].lstrip(": ") if first.startswith(PY4J_PREFIX) and others else first


def plain(frame: DataFrame, names: list[str], *, is_sorted: bool = False) -> DataFrame:
    """Return some columns, nested ones as JSON: maps cannot be compared; arrays sorted, or not."""
    types = {field.name: field.dataType for field in frame.schema}
    return frame.select(
        *(
            F.to_json(ordered(column_of(name), types[name], is_sorted), IN_FULL).alias(name)
            if isinstance(types[name], NESTED)
            else column_of(name)
            for name in names
        )
    )


def ordered(column: Column, kind: T.DataType, is_sorted: bool = False) -> Column:
    """Return a nested value with each map as the list of its entries in the order of their keys.

    Arrays are sorted if that is asked for, and their elements have an order; -0.0 becomes 0.0.
    """
    text = kind.simpleString()
    is_sorted = is_sorted and "array<" in text and "variant" not in text
    if not re.search("map<|float|double", text) and not is_sorted:
        return column
    if isinstance(kind, (T.FloatType, T.DoubleType)):
        return column + F.lit(0.0).cast(kind)
    if isinstance(kind, T.ArrayType):
        elements = F.transform(column, lambda value: ordered(value, kind.elementType, is_sorted))
        return F.array_sort(elements) if is_sorted else elements
    if isinstance(kind, T.StructType):
        fields = (
            ordered(column[field.name], field.dataType, is_sorted).alias(field.name)
            for field in kind
        )
        return F.when(column.isNotNull(), F.struct(*fields))
    if isinstance(kind, T.MapType):
        entry = T.StructType().add("key", kind.keyType).add("value", kind.valueType)
        entries = F.transform(F.map_entries(column), lambda value: ordered(value, entry, is_sorted))
        return F.array_sort(entries)
    return column


def column_of(name: str) -> Any:
    """Return a column by a name that may have a dot."""
    return F.col(f"`{name.replace('`', '``')}`")


def measured(frame: DataFrame, names: list[str], timed: Sequence[str] = ()) -> dict[str, Any]:
    """Return how many rows there are, and for each column a sum that is the same for the same."""
    wide = T.DecimalType(38, 0)
    asked = [F.count(F.lit(1)).alias("rows")]
    hashed = F.xxhash64(F.lit(0), *map(column_of, names))  # of no column where none is on both
    asked.append(F.sum(hashed.cast(wide)).alias("all"))
    asked += [F.sum(F.xxhash64(column_of(name)).cast(wide)).alias(f"h_{name}") for name in names]
    for name in timed:
        is_time = F.coalesce(column_of(name) == RUN_TIME, F.lit(False))
        asked.append(F.min(is_time).alias(f"t_{name}"))
    return frame.agg(*asked).collect()[0].asDict()


def differing_of(names: list[str], sums: list[dict[str, Any]]) -> list[str]:
    """Return the columns that have other values."""
    return [name for name in names if sums[0][f"h_{name}"] != sums[1][f"h_{name}"]]
