"""What has changed in a table between two of its snapshots: rows that came, and rows that went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .columns import escaped

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

CHANGE = "_change_type"
"""The column of changed rows: `INSERT` or `DELETE`."""

_ORDINAL, _SNAPSHOT = "_change_ordinal", "_commit_snapshot_id"


def all_inserted(rows: DataFrame) -> DataFrame:
    """Return the rows as changes: each of them came."""
    from pyspark.sql import functions

    return rows.withColumn(CHANGE, functions.lit("INSERT"))


def net_changes(log: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Return the net changes of a log: without rows that a rewritten file has carried over."""
    from pyspark.sql import Window as Over
    from pyspark.sql import functions

    names = [name for name in log.columns if name not in (CHANGE, _ORDINAL, _SNAPSHOT)]
    count = functions.sum(functions.when(functions.col(CHANGE) == "INSERT", 1).otherwise(-1))
    maps = {
        name: f"_tidemark_{number}"
        for number, name in enumerate(names)
        if _has_map(log.schema[name].dataType)
    }
    same = [
        _without_maps(functions.col(escaped(name)), log.schema[name].dataType).alias(maps[name])
        if name in maps
        else functions.col(escaped(name))
        for name in names
    ]
    values = [functions.first(escaped(name)).alias(name) for name in maps]
    net = log.groupBy(*same).agg(count.alias(_ORDINAL), *values)
    net = net.select(*map(escaped, names), _ORDINAL)
    change = functions.when(functions.col(_ORDINAL) > 0, "INSERT").otherwise("DELETE")
    net = net.where(functions.col(_ORDINAL) != 0).withColumn(CHANGE, change)
    times = functions.sequence(functions.lit(1), functions.abs(_ORDINAL))
    rows = net.withColumn(_ORDINAL, functions.explode(times)).drop(_ORDINAL)
    if not keys:
        return rows
    has_insert = functions.max(functions.col(CHANGE) == "INSERT").over(
        Over.partitionBy(*map(escaped, keys))
    )
    is_kept = ~functions.col(_ORDINAL) | (functions.col(CHANGE) == "INSERT")
    return rows.withColumn(_ORDINAL, has_insert).where(is_kept).drop(_ORDINAL)


def _has_map(kind: DataType) -> bool:
    from pyspark.sql.types import ArrayType, MapType, StructType

    match kind:
        case MapType():
            return True
        case ArrayType():
            return _has_map(kind.elementType)
        case StructType():
            return any(_has_map(field.dataType) for field in kind.fields)
    return False


def _without_maps(value: Column, kind: DataType) -> Column:
    """Return a value with an array of entries for each map, which Spark does not compare."""
    from pyspark.sql import functions
    from pyspark.sql.types import ArrayType, MapType, StructType

    if not _has_map(kind):
        return value
    match kind:
        case MapType():

            def entry(pair: Column) -> Column:
                return functions.struct(
                    _without_maps(pair["key"], kind.keyType).alias("key"),
                    _without_maps(pair["value"], kind.valueType).alias("value"),
                )

            return functions.array_sort(functions.transform(functions.map_entries(value), entry))
        case ArrayType():
            return functions.transform(value, lambda item: _without_maps(item, kind.elementType))
        case StructType():
            fields = [
                _without_maps(value.getField(field.name), field.dataType).alias(field.name)
                for field in kind.fields
            ]
            return functions.when(value.isNotNull(), functions.struct(*fields))
    raise AssertionError(kind)
