"""A snapshot of a table of Iceberg as a cursor, and why windows over snapshots cannot continue."""

from __future__ import annotations

from dataclasses import dataclass

from watermarks.errors import (
    SnapshotExpiredError,
    SnapshotRewrittenError,
    SnapshotRolledBackError,
    TableReplacedError,
    WatermarkValueError,
)

READ_AS_NOTHING = ("append", "replace")
"""Operations that change no row: `replace` is a compaction."""

_DIGITS = 12
_AGAIN = "rewind the watermark to the beginning, and replace what was loaded from it"


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of a table, as a cursor holds it.

    Attributes:
        sequence: its sequence number; snapshots sort by it.
        id: its id.
        table_uuid: the UUID of the table.
    """

    sequence: int
    id: int
    table_uuid: str

    def __str__(self) -> str:
        return f"{self.sequence:0{_DIGITS}d}/{self.id}/{self.table_uuid}"

    @classmethod
    def of(cls, value: object) -> Snapshot:
        """Return the snapshot of a cursor's value."""
        parts = value.split("/") if isinstance(value, str) else []
        if len(parts) != 3 or not (parts[0].isdecimal() and parts[1].lstrip("-").isdecimal()):
            raise WatermarkValueError(
                f"{value!r} is not a snapshot: open the window with "
                "high=newest_snapshot(spark, table), and give the cursor to no other source"
            )
        return cls(int(parts[0]), int(parts[1]), parts[2])


def another_table_error(name: str, uuid: str, read_to: Snapshot) -> TableReplacedError:
    """Return the error that another table has the name."""
    return TableReplacedError(
        f"the table {name} was dropped and created again (its UUID is {uuid}, and was "
        f"{read_to.table_uuid}): its snapshots are not those that were read; {_AGAIN}"
    )


def replaced_error(name: str, read_to: Snapshot) -> TableReplacedError:
    """Return the error that the table has new contents under its UUID."""
    return TableReplacedError(
        f"the table {name} was replaced (CREATE OR REPLACE TABLE), and nothing of the snapshot "
        f"{read_to.id}, the last one read, is in it: {_AGAIN}"
    )


def expired_error(name: str, read_to: Snapshot) -> SnapshotExpiredError:
    """Return the error that a snapshot is not kept any more."""
    return SnapshotExpiredError(
        f"the snapshot {read_to.id} of {name}, the last one read, has expired, or one after "
        f"it: what came after it is not known; {_AGAIN}, and keep snapshots "
        "longer than the longest pause of the job (history.expire.max-snapshot-age-ms)"
    )


def rolled_back_error(name: str, read_to: Snapshot) -> SnapshotRolledBackError:
    """Return the error that the table was taken back to before a snapshot."""
    return SnapshotRolledBackError(
        f"the table {name} was rolled back to before the snapshot {read_to.id}, up to which "
        "was read: rows that were loaded are there no more; rewind the watermark to a run "
        "that read up to a snapshot before it, and clear what was loaded since"
    )


def rewritten_error(name: str, snapshot_id: int, operation: str) -> SnapshotRewrittenError:
    """Return the error that a snapshot changes rows, and appends are read."""
    return SnapshotRewrittenError(
        f"the snapshot {snapshot_id} of {name} has the operation "
        f"{operation}: rows were changed or deleted, and appends would leave that "
        'out; read read="changes", with keys= for rows that are updated'
    )


def no_order_error(name: str) -> WatermarkValueError:
    """Return the error that the snapshots of a table have no sequence numbers."""
    return WatermarkValueError(
        f"the table {name} has format-version 1, whose snapshots have no order: run ALTER "
        f"TABLE {name} SET TBLPROPERTIES ('format-version' = '2')"
    )
