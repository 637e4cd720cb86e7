"""Readers of a table of Iceberg from snapshot to snapshot, and tables that go back to one."""

import re
from collections.abc import Collection

from tidemark.model.checkpoints.checkpoint import (
    APPEND,
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    Position,
)
from tidemark.operate.replaced_partitions import TABLE

SNAPSHOTS = "snapshots"  # the kind of a position
BY_SNAPSHOTS: Position = {"kind": SNAPSHOTS, "values": {}}
FAILS = (
    "the table goes back to before what it has read there: its next run fails with "
    "SnapshotRolledBackError"
)
# The value of a cursor of snapshots, as the library writes it: sequence number, id, table's UUID.
_VALUE = re.compile(r"\d{12,}/-?\d+/[0-9a-f-]{36}")


def reads_by_snapshots(one: Checkpoint) -> bool:
    """Return whether a run has moved a watermark over the snapshots of a table."""
    return any(_VALUE.fullmatch(value) for move in one.watermarks for value in move.after.values())


def is_by_snapshots(read: DatasetRead) -> bool:
    """Return whether a read goes from snapshot to snapshot."""
    return (read.after or read.before or {}).get("kind") == SNAPSHOTS


def goes_back(writer: str, written: DatasetWritten, cleared: Collection[str]) -> bool:
    """Return whether a rewind takes a table back that a job writes; some jobs are cleared."""
    is_appended = written.dataset.startswith(TABLE) and written.mode == APPEND
    return writer in cleared and is_appended
