"""Merging a window into a table that can MERGE, such as one of Iceberg or Delta.

Merging a window twice has the same effect as once: a row replaces another only if it is not older.
A run that was superseded changes nothing by it, with one exception: a row that a later window has
deleted comes back if a superseded run merges an older version of it afterwards. Where that matters,
keep deleted rows as rows, with a column that says so, and leave `deleted` out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from watermarks import run_notes
from watermarks.errors import WatermarkValueError
from watermarks.windows.window import Window, edges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RANK = "_tidemark_rank"
DELETED = "_tidemark_deleted"


def latest_by_key(frame: DataFrame, keys: Sequence[str], order_by: str) -> DataFrame:
    """Return one row per key: the one with the greatest value of a column, such as the cursor.

    Of rows with equal keys and values any one stays. MERGE needs it: it refuses a frame that has a
    key twice.

    Example:
        >>> changes = spark.createDataFrame([(1, 10), (1, 20), (2, 5)], "id INT, at INT")
        >>> sorted(map(tuple, latest_by_key(changes, ["id"], "at").collect()))
        [(1, 20), (2, 5)]
    """
    from pyspark.sql import Window as Over
    from pyspark.sql import functions

    _check_columns(frame, [*keys, order_by])
    newest_first = functions.col(escaped(order_by)).desc_nulls_last()
    over = Over.partitionBy(*map(escaped, keys)).orderBy(newest_first)
    ranked = frame.withColumn(_RANK, functions.row_number().over(over))
    return ranked.where(functions.col(_RANK) == 1).drop(_RANK)


def merge_window(
    frame: DataFrame,
    table: str,
    window: Window,
    keys: Sequence[str],
    *,
    column: str | None = None,
    deleted: str | None = None,
) -> None:
    """Merge the rows of a window into a table by key, with one MERGE INTO.

    A row of the table is replaced by one of its key that is not older by the cursor; keys missing
    in the table are inserted; NULL keys are equal to each other. A row without a cursor value
    replaces none.

    Args:
        frame: the rows of the window; columns as in the table, and maybe that of a `deleted`
            condition, which is not written if the table does not have it.
        table: name of the table, as SQL takes it, such as `glue_catalog.sales.orders`.
        window: the window that the run holds; commit it afterwards.
        keys: the columns that identify a row.
        column: the cursor column, in the frame and the table, where its name is not the cursor.
        deleted: an SQL condition on a row of the frame, such as `op = 'D'` or `is_deleted`: rows
            that fulfil it are deleted.

    Raises:
        ValueError: the window is empty, or there is no key.
        WatermarkValueError: a column is missing.
    """
    edges(window)
    check_keys(keys)
    spark, cursor = frame.sparkSession, column or window.cursor
    names = spark.table(table).columns
    changes = changes_of(frame, names, keys, cursor, deleted)
    view = f"_tidemark_{window.window_id.replace('-', '_').replace('.', '_')}_{window.attempt}"
    changes.createOrReplaceTempView(view)
    same = " AND ".join(f"t.{escaped(key)} <=> s.{escaped(key)}" for key in keys)
    is_newer = f"(t.{escaped(cursor)} IS NULL OR s.{escaped(cursor)} >= t.{escaped(cursor)})"
    sets = ", ".join(f"t.{escaped(name)} = s.{escaped(name)}" for name in names)
    inserted = ", ".join(map(escaped, names))
    values = ", ".join(f"s.{escaped(name)}" for name in names)
    try:
        spark.sql(
            f"MERGE INTO {table} t USING {view} s ON {same} "  # noqa: S608 (the caller's table)
            f"WHEN MATCHED AND {is_newer} AND s.{DELETED} THEN DELETE "
            f"WHEN MATCHED AND {is_newer} THEN UPDATE SET {sets} "
            f"WHEN NOT MATCHED AND NOT s.{DELETED} THEN INSERT ({inserted}) VALUES ({values})"
        )
    finally:
        spark.catalog.dropTempView(view)
    run_notes.note_written(window, run_notes.table(table), "merge")


def check_keys(keys: Sequence[str]) -> None:
    """Raise a ValueError unless the keys are a list of at least one column."""
    if isinstance(keys, str) or not keys:
        raise ValueError(f"keys is {keys!r}: give the columns that name a row, as a list")


def changes_of(
    frame: DataFrame, names: Sequence[str], keys: Sequence[str], cursor: str, deleted: str | None
) -> DataFrame:
    """Return the newest row of each key, with the columns of the table and DELETED."""
    from pyspark.sql import functions

    changes = latest_by_key(frame, keys, cursor)
    is_deleted = functions.expr(deleted) if deleted else functions.lit(False)
    changes = changes.withColumn(DELETED, functions.coalesce(is_deleted, functions.lit(False)))
    _check_columns(changes, names)
    return changes.select(*map(escaped, names), DELETED)


def _check_columns(frame: DataFrame, names: Sequence[str]) -> None:
    there = {name.lower() for name in frame.columns}
    if missing := [name for name in names if name.lower() not in there]:
        raise WatermarkValueError(
            f"the frame has no column {', '.join(map(repr, missing))}, it has "
            f"{', '.join(frame.columns)}: give the columns of the table, and the cursor"
        )


def escaped(name: str) -> str:
    """Return a column name as Spark's SQL takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
