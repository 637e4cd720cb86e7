"""Merging a window into a table that can MERGE, such as one of Iceberg.

Merging a window twice has the same effect as once: a row replaces another only if it is not older.
A run that was superseded is refused by a table of Iceberg, whenever it wakes up. In a table of
another format, such as Delta, it may bring a row back that a later window has deleted: there, keep
deleted rows as rows, with a column that says so, and leave `deleted` out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from watermarks import run_notes
from watermarks.errors import WatermarkValueError
from watermarks.schema.targets import Merged, rows_for_merge
from watermarks.windows.bookmark_option import check_is_kept
from watermarks.windows.window import DISABLE, Window, edges

from .audits import Audit, audits_of
from .columns import (
    DELETED,
    TargetColumns,
    as_written,
    check_columns,
    escaped,
    with_condition,
    without_loss,
)
from .files import quarantine
from .history import history_of
from .iceberg_tables import iceberg_table, with_summary
from .iceberg_target import IcebergTarget
from .tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from watermarks.schema import Contract

    from .iceberg_tables import LoadedTable

_RANK = "_tidemark_rank"
_INSTEAD = (
    "overwrite the table with spark.table(...) of the source, or merge with keep_deleted= or "
    "history=, which no repetition can undo"
)


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

    check_columns(frame, [*keys, order_by])
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
    keep_deleted: str | None = None,
    history: tuple[str, str] | None = None,
    schema: Contract | None = None,
    audit: Audit | Sequence[Audit] | None = None,
) -> None:
    """Merge the rows of a window into a table by key, with one MERGE INTO.

    A row of the table is replaced by one of its key that is not older by the cursor; keys missing
    in the table are inserted; NULL keys are equal to each other. A row without a cursor value
    replaces none.

    Args:
        frame: the rows of the window; columns as in the table, and maybe those of a `deleted`
            condition, which are not written if the table does not have them. One that a table of
            Iceberg got after its first columns may be missing: it stays as it is in a row that is
            replaced, and is null in a new one.
        table: name of the table, as SQL takes it, such as `glue_catalog.sales.orders`.
        window: the window that the run holds; commit it afterwards.
        keys: the columns that identify a row.
        column: the cursor column, in the frame and the table, where its name is not the cursor.
        deleted: an SQL condition on a row of the frame, such as `op = 'D'` or `is_deleted`: rows
            that fulfil it are deleted.
        keep_deleted: a BOOLEAN column of the table: such rows are kept, and true in it. Then a
            version that comes after its deletion does not bring the row back, in whatever order
            windows are merged.
        history: the table's columns from which and until which a version of a row is, such as
            `("valid_from", "valid_to")`: then every version is kept, with the cursor's value as its
            start; the last one has no end unless its key is deleted. A version that comes late
            takes its place between the others.
        schema: a contract, without a schema of its own that of the table: what of the frame comes
            in, how a table of Iceberg changes before it, and where the other rows go, as a part of
            the window. The columns of `keep_deleted`, of `history`, and those that only `deleted`
            names, are not the contract's. A column that the frame lacks may be any. Values of
            keys and of the cursor are never rescued: they are refused, or their row is taken out.
        audit: what holds for all rows of the table afterwards, one or a list: a condition of SQL,
            such as `amount >= 0`, which is true for every row; a query of wrong rows, such as
            `SELECT id FROM new_state GROUP BY id HAVING count(*) > 1`; rules in DQDL, such as
            `Rules = [IsUnique "id"]`; or a function that gets the frame of all rows, and returns
            None or True, else False, a reason, or the wrong rows. The
            table is one of Iceberg; readers see the rows only if all hold.

    Raises:
        ValueError: the window is empty, or there is no key.
        SchemaContractError: the frame breaks the contract; nothing was written.
        WatermarkValueError: a column is missing, or the table lacks one of the frame.
        WatermarksError: the window is that of a run with job-bookmark-disable, and `deleted` is
            given without `keep_deleted` or `history`.
        WatermarkSupersededError: the table is one of Iceberg, and a later attempt or window of the
            job is in it; nothing was changed.
        SnapshotRolledBackError: the table is one of Iceberg, and was rolled back to before the last
            committed window.
        WatermarkConflictError: other writers of the table were faster, time and again.
        AuditFailedError: an audit does not hold; nothing was published, and the error names the
            branch with the rows.
    """
    audits = audits_of(audit)
    edges(window)
    check_keys(keys)
    versions = None if history is None else history_of(keys, history)
    if deleted is not None and keep_deleted is None and versions is None:
        check_is_kept(window, "merge_window with deleted=", _INSTEAD)
    spark, cursor = frame.sparkSession, column or window.cursor
    condition = deleted
    if keep_deleted is not None:
        frame, deleted = _with_flag(frame, keep_deleted, deleted, history), None
    iceberg, tally = iceberg_table(spark, table), None
    _check_may_audit(audits, table, iceberg, window)
    if schema is not None:
        merged = Merged(keys, cursor, condition, keep_deleted, history or ())
        frame, aside = rows_for_merge(frame, schema, table, iceberg, merged, window)
        quarantine(aside, schema, window, table)
        tally = Tally.of_rescued(frame, schema)
        frame = tally.frame if tally else frame
        condition = condition and escaped(DELETED)
        deleted = deleted and condition

    def into(place: str) -> None:
        target = spark.table(place)
        columns = _columns(table, target, iceberg, may_lack_any=schema is not None)
        check_columns(target, [keep_deleted] if keep_deleted else [], of="table")
        columns.check_no_others(frame, [*keys, cursor], condition)
        if versions is not None:
            changes = versions.changes(frame, target, columns, cursor, deleted)
            merge = _Merge(changes, target.columns, [*keys, versions.start])
        else:
            check_columns(target, [*keys, cursor], of="table")
            rows = columns.filled(frame)
            held = target.select(escaped(cursor)).schema[0].dataType
            rows = rows.withColumn(cursor, without_loss(rows, cursor, held))
            changes = changes_of(rows, target.columns, keys, cursor, deleted)
            merge = _Merge(changes, target.columns, keys, cursor, columns.lacking(frame))
        merge.into(place, window)

    if iceberg is None or window.job_bookmark_option == DISABLE:
        # Such a merge is noted nowhere: it supersedes no window, and merging it again changes
        # nothing.
        into(table)
    else:
        iceberg_target = IcebergTarget(iceberg, window, is_merge=True, keys=keys)
        iceberg_target.write(
            lambda branch: with_summary(spark, iceberg_target.summary, lambda: into(branch)),
            audits,
            is_repeatable=True,
        )
    if tally:
        tally.report(window, table)
    run_notes.note_written(window, run_notes.table(table), "merge", frame)


def _check_may_audit(
    audits: Sequence[Audit], table: str, iceberg: LoadedTable | None, window: Window
) -> None:
    if not audits:
        return
    if iceberg is None:
        raise WatermarkValueError(
            f"the table {table} is not one of Iceberg, so what is merged into it is seen at once, "
            "and audit= would come too late: leave it out, or make it a table of Iceberg"
        )
    check_is_kept(window, "merge_window with audit=", _INSTEAD)


def _columns(
    table: str, target: DataFrame, iceberg: LoadedTable | None, *, may_lack_any: bool
) -> TargetColumns:
    if may_lack_any:  # a contract has said what may be missing
        every = {name.lower() for name in target.columns}
        return TargetColumns(table, target.schema, every)
    if iceberg:
        return iceberg.columns(table, target.schema).without_fields()
    return TargetColumns(table, target.schema)


@dataclass(frozen=True)
class _Merge:
    """One MERGE INTO: the changes, the columns of the table, and its keys.

    With a cursor column, a row of the table stays if it is newer. A row that is replaced keeps its
    values of the columns that the frame `lacks`.
    """

    changes: DataFrame
    names: Sequence[str]
    keys: Sequence[str]
    cursor: str | None = None
    lacks: Sequence[str] = ()

    def into(self, table: str, window: Window) -> None:
        """Merge into a table."""
        spark = self.changes.sparkSession
        view = f"_tidemark_{window.window_id.replace('-', '_').replace('.', '_')}_{window.attempt}"
        self.changes.createOrReplaceTempView(view)
        same = " AND ".join(f"t.{escaped(key)} <=> s.{escaped(key)}" for key in self.keys)
        try:
            with as_written(spark):
                spark.sql(f"MERGE INTO {table} t USING {view} s ON {same} {self._actions()}")
        finally:
            spark.catalog.dropTempView(view)

    def _actions(self) -> str:
        present = [name for name in self.names if name not in self.lacks]
        sets = ", ".join(f"t.{escaped(name)} = s.{escaped(name)}" for name in present)
        names = ", ".join(map(escaped, self.names))
        values = ", ".join(f"s.{escaped(name)}" for name in self.names)
        is_newer = ""
        if self.cursor is not None:
            cursor = escaped(self.cursor)
            is_newer = f"AND (t.{cursor} IS NULL OR s.{cursor} >= t.{cursor})"
        return (
            f"WHEN MATCHED {is_newer} AND s.{DELETED} THEN DELETE "  # noqa: S608 (escaped)
            f"WHEN MATCHED {is_newer} THEN UPDATE SET {sets} "
            f"WHEN NOT MATCHED AND NOT s.{DELETED} THEN INSERT ({names}) VALUES ({values})"
        )


def _with_flag(frame: DataFrame, name: str, deleted: str | None, history: object) -> DataFrame:
    if deleted is None or history is not None:
        raise WatermarkValueError(
            f"keep_deleted is {name!r}: it needs deleted=, the condition of the rows that it "
            "marks, and history= keeps deletions by itself"
        )
    return with_condition(frame, name, deleted)


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
    check_columns(changes, names)
    return changes.select(*map(escaped, names), DELETED)
