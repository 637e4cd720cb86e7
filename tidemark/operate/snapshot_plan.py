"""What the next run of a job reads from the snapshots of a table of Iceberg, from its metadata.

The decisions are those of the library, which asks Iceberg itself: `watermarks.spark.snapshots`.

Source: https://iceberg.apache.org/spec/#table-metadata-fields
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.local_state.catalog.table_metadata import REPLACE, line_of
from watermarks import WatermarksError
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


@dataclass(frozen=True)
class NewSnapshot:
    """A snapshot that a run is going to read.

    Attributes:
        id: of the snapshot.
        at_ms: when it was committed, epoch milliseconds.
        operation: Iceberg's word, such as `append`.
        added: how many rows it has added; those of rewritten files, too, that stay as they were.
        deleted: how many rows it has deleted, likewise.
    """

    id: int
    at_ms: int
    operation: str
    added: int
    deleted: int

    @property
    def changes_rows(self) -> bool:
        """Whether it is more than a compaction."""
        return self.operation != REPLACE


@dataclass(frozen=True)
class SnapshotPlan:
    """What is read next.

    Attributes:
        commits: the snapshots, the oldest first.
        refused: why a run is refused; None if it is not.
        refused_appends: why only a run that reads appends is refused; None if it is not.
    """

    commits: tuple[NewSnapshot, ...] = ()
    refused: WatermarksError | None = None
    refused_appends: WatermarksError | None = None


def plan_of(
    name: str, metadata: Mapping[str, Any], read_to: Snapshot | None, until: Snapshot | None
) -> SnapshotPlan:
    """Return what the next run reads: from the end of the last window to that of an open one."""
    for end in (until, read_to):
        if end is not None and (refused := _refusal(name, metadata, end)):
            return SnapshotPlan(refused=refused)
    newest_first = list(line_of(metadata))
    ids = [snapshot["snapshot-id"] for snapshot in newest_first]
    new = newest_first[: ids.index(read_to.id)] if read_to else newest_first
    new.reverse()
    commits = tuple(map(_commit, new))
    if new and not _sequence(new[-1]) and metadata.get("format-version") == 1:
        return SnapshotPlan(commits, refused=no_order_error(name))
    changing = (commit for commit in commits if commit.operation not in READ_AS_NOTHING)
    first = next(changing, None) if read_to else None  # a first window has every row, however made
    appends = rewritten_error(name, first.id, first.operation) if first else None
    return SnapshotPlan(commits, refused_appends=appends)


def _refusal(name: str, metadata: Mapping[str, Any], read_to: Snapshot) -> WatermarksError | None:
    if (uuid := str(metadata.get("table-uuid"))) != read_to.table_uuid:
        return another_table_error(name, uuid, read_to)
    if all(snapshot["snapshot-id"] != read_to.id for snapshot in metadata.get("snapshots") or ()):
        return expired_error(name, read_to)
    line = list(line_of(metadata))
    if any(snapshot["snapshot-id"] == read_to.id for snapshot in line):
        return None
    oldest = line[-1] if line else None
    is_all_later = oldest is None or _sequence(oldest) > read_to.sequence
    if is_all_later and oldest is not None and oldest.get("parent-snapshot-id") is not None:
        return expired_error(name, read_to)
    return replaced_error(name, read_to) if is_all_later else rolled_back_error(name, read_to)


def _commit(snapshot: Mapping[str, Any]) -> NewSnapshot:
    summary = snapshot.get("summary") or {}
    gone = ("deleted-records", "added-position-deletes", "added-equality-deletes")
    return NewSnapshot(
        id=snapshot["snapshot-id"],
        at_ms=snapshot["timestamp-ms"],
        operation=summary.get("operation", "unknown"),
        added=int(summary.get("added-records", 0)),
        deleted=sum(int(summary.get(name, 0)) for name in gone),
    )


def _sequence(snapshot: Mapping[str, Any]) -> int:
    # format-version 1 has none.
    return int(snapshot.get("sequence-number") or 0)
