"""Windows over the snapshots of a table of Iceberg: what was committed since the last window.

The cursor of such windows is a snapshot. Its value is a string that sorts by age: the sequence
number, the id of the snapshot, and the UUID of the table.

Source: https://iceberg.apache.org/docs/1.10.0/spark-queries/#incremental-read
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from watermarks import run_notes
from watermarks.errors import WatermarkValueError
from watermarks.windows.snapshot_cursors import (
    READ_AS_NOTHING,
    Snapshot,
    another_table_error,
    expired_error,
    no_order_error,
    replaced_error,
    rewritten_error,
    rolled_back_error,
)
from watermarks.windows.window import Nulls, Window, edges

from .change_log import CHANGE, all_inserted, net_changes
from .iceberg_tables import LoadedTable, iceberg_table
from .merge import check_keys

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession


def newest_snapshot(spark: SparkSession, table: str) -> SnapshotBound:
    """Return the bound for windows over a table of Iceberg: its snapshot when one is opened.

    Args:
        spark: the session.
        table: name of the table, as SQL takes it, such as `glue_catalog.sales.orders`.

    Returns:
        The bound for `high`. With `max_rows` a window ends at the snapshot that brings its rows to
        that number.

    Raises:
        WatermarkValueError: the table is not one of Iceberg, or its format-version is 1.
        SnapshotExpiredError: when a window is opened: its start has been expired.
        SnapshotRolledBackError: the table was rolled back to before it.
        TableReplacedError: the table was dropped and created again.

    Example:
        ::

            for window in watermarks.windows(
                job, run_id=run, source="orders", cursor="snapshot",
                high=newest_snapshot(spark, "glue_catalog.sales.orders"),
            ):
                orders = read_snapshots(spark, "glue_catalog.sales.orders", window)
                append_window(orders, "glue_catalog.sales.orders_clean", window)
    """
    return SnapshotBound(_found(spark, table), table)


@dataclass(frozen=True)
class SnapshotBound:
    """The bounds of windows over the snapshots of a table."""

    table: LoadedTable
    name: str
    is_live: ClassVar[bool] = False

    def newest(self, cursor: str, low: Any, nulls: Nulls) -> Any:
        """Return the table's snapshot, None if it has none."""
        self.table.java.refresh()
        head = self.table.java.currentSnapshot()
        if head is None:
            if low is not None:
                _check_is_before(self.table, self.name, Snapshot.of(low))
            return None
        if low is not None:
            _check_is_before(self.table, self.name, Snapshot.of(low))
        return str(_snapshot(self.table, self.name, head))

    def after_rows(self, cursor: str, low: Any, is_low_in: bool, rows: int) -> Any:
        """Return the first snapshot with that many rows added; None if there are fewer."""
        if self.newest(cursor, low, "raise") is None:
            return None
        added, head = 0, self.table.java.currentSnapshot().snapshotId()
        for snapshot in _between(self.table, None if low is None else Snapshot.of(low), None):
            added += int(snapshot.summary().get("added-records") or 0)
            # Those that were made with format-version 1 have no order: all of them are one bite.
            if added >= rows and (snapshot.sequenceNumber() or snapshot.snapshotId() == head):
                return str(_snapshot(self.table, self.name, snapshot))
        return None


def read_snapshots(
    spark: SparkSession,
    table: str,
    window: Window,
    *,
    read: Literal["appends", "changes"] = "appends",
    keys: Sequence[str] = (),
) -> DataFrame:
    """Return what the snapshots of a window have brought: after its low, up to its high.

    Args:
        spark: the session.
        table: name of the table, as SQL takes it.
        window: a window that was opened with `high=newest_snapshot(spark, table)`.
        read: `appends` are the rows that were appended, and no snapshot of the window may change
            or delete rows; `changes` are the rows that were added, and those that were
            deleted.
        keys: the columns that identify a row, for `changes`: an update is then one row, `INSERT`,
            and not two.

    Returns:
        The rows, with the columns that the table has now; `changes` have `_change_type` besides,
        `INSERT` or `DELETE`. The first window has every row of the table.

    Raises:
        ValueError: the window is empty.
        WatermarkValueError: an argument is not usable, or the table is not one of Iceberg.
        SnapshotRewrittenError: rows were changed or deleted, and `read` is `appends`.
        SnapshotExpiredError, SnapshotRolledBackError, TableReplacedError: see `newest_snapshot`.
    """
    low, high = edges(window)
    if read not in ("appends", "changes"):
        raise WatermarkValueError(f"read is {read!r}: allowed are appends, changes")
    if keys:
        check_keys(keys)
    iceberg = _found(spark, table)
    iceberg.java.refresh()
    end = Snapshot.of(high)
    _check_is_before(iceberg, table, end)
    there = spark.table(iceberg.name)
    run_notes.note_read(window, run_notes.table(table), there)
    if read == "changes" and CHANGE in there.columns:
        raise WatermarkValueError(
            f"the table {table} has a column {CHANGE}, which changes have too: rename it"
        )
    if low is None:
        rows = spark.read.option("snapshot-id", end.id).table(iceberg.name)
        return rows if read == "appends" else all_inserted(rows)
    start = Snapshot.of(low)
    _check_is_before(iceberg, table, start)
    if read == "appends":
        for snapshot in _between(iceberg, start, end):
            if snapshot.operation() not in READ_AS_NOTHING:
                raise rewritten_error(table, snapshot.snapshotId(), snapshot.operation())
        return _between_ids(spark, start, end).table(iceberg.name)
    return net_changes(_between_ids(spark, start, end).table(f"{iceberg.name}.changes"), keys)


def _found(spark: SparkSession, table: str) -> LoadedTable:
    iceberg = iceberg_table(spark, table)
    if iceberg is None:
        raise WatermarkValueError(
            f"the table {table} is not one of Iceberg, so it has no snapshots: read files through "
            "a job bookmark, or rows by a cursor column with rows_of"
        )
    return iceberg


def _snapshot(table: LoadedTable, name: str, java: Any) -> Snapshot:
    if not java.sequenceNumber() and int(table.java.operations().current().formatVersion()) == 1:
        raise no_order_error(name)
    return Snapshot(java.sequenceNumber(), java.snapshotId(), str(table.java.uuid()))


def _check_is_before(table: LoadedTable, name: str, snapshot: Snapshot) -> None:
    """Raise unless a snapshot is one of the table's own, or the current one's ancestor."""
    java = table.java
    if (uuid := str(java.uuid())) != snapshot.table_uuid:
        raise another_table_error(name, uuid, snapshot)
    if java.snapshot(snapshot.id) is None:
        raise expired_error(name, snapshot)
    head = java.currentSnapshot()
    util: Any = table.spark._jvm.org.apache.iceberg.util.SnapshotUtil  # type: ignore[union-attr]
    if head is not None and util.isAncestorOf(java, head.snapshotId(), snapshot.id):
        return
    oldest = None if head is None else util.oldestAncestorOf(java, head.snapshotId())
    is_all_later = oldest is None or oldest.sequenceNumber() > snapshot.sequence
    if is_all_later and oldest is not None and oldest.parentId() is not None:
        raise expired_error(name, snapshot)
    raise replaced_error(name, snapshot) if is_all_later else rolled_back_error(name, snapshot)


def _between(table: LoadedTable, low: Snapshot | None, high: Snapshot | None) -> Iterator[Any]:
    """Yield the snapshots after one up to another, the oldest first; Iceberg's objects."""
    java = table.java
    snapshot = java.currentSnapshot() if high is None else java.snapshot(high.id)
    newest_first = []
    while snapshot is not None and (low is None or snapshot.snapshotId() != low.id):
        newest_first.append(snapshot)
        parent = snapshot.parentId()
        snapshot = None if parent is None else java.snapshot(parent)
    yield from reversed(newest_first)


def _between_ids(spark: SparkSession, start: Snapshot, end: Snapshot) -> DataFrameReader:
    options = {"start-snapshot-id": str(start.id), "end-snapshot-id": str(end.id)}
    return spark.read.options(**options)
