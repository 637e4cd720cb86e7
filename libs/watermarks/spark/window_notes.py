"""What a table of Iceberg notes of a window, and whether the window is in the table: by facts.

A rollback takes rows back and leaves the note, and snapshots expire. So the note alone says
nothing: the window is in the table if the line of snapshots that ends at the current one has it.
Snapshots that have expired are in earlier files of the table's metadata, which its log names.

Source: https://iceberg.apache.org/spec/#table-metadata-fields
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from watermarks.errors import SnapshotExpiredError, SnapshotRolledBackError
from watermarks.windows.window import Window

WINDOW, ATTEMPT, RUN = "tidemark.window", "tidemark.attempt", "tidemark.run"
"""Properties of a snapshot: the window that it holds, its attempt, and the run."""

CONTRACT = "tidemark.contract"
"""The property of a snapshot that tells apart the contracts that have taken rows out of it."""

KEYS = "tidemark.keys"
"""The property of a snapshot that names the keys of a merge, divided by commas."""

LANE = "tidemark.lane"
"""The property of a snapshot that tells the writes of one window apart: the name of their note."""

NO_SNAPSHOT = -1
_PICKED_FROM = "source-snapshot-id"  # of a snapshot that cherry-picks another

Metadata = Mapping[str, Any]
"""A file of a table's metadata, as Iceberg writes it."""


@dataclass(frozen=True)
class Note:
    """The last window of a job's cursor that was written into a table.

    Attributes:
        attempt: the attempt that wrote it.
        window_id: the window.
        snapshot: the snapshot that it was written as; None if somebody has noted the window by
            hand, and so answers for it.
        sequence: no snapshot with a smaller sequence number holds it.
    """

    attempt: int
    window_id: str
    snapshot: int | None = None
    sequence: int = 0

    @classmethod
    def of(cls, value: str) -> Note:
        """Return the note that a property holds."""
        attempt, window_id, *written = value.split(" ")
        return cls(int(attempt), window_id, *map(int, written))

    def __str__(self) -> str:
        written = () if self.snapshot is None else (self.snapshot, self.sequence)
        return " ".join(map(str, (self.attempt, self.window_id, *written)))


def is_written(note: Note, lane: str, versions: Iterable[Metadata]) -> bool | None:
    """Return whether the window of a note is in a table; None if its metadata do not tell.

    Args:
        note: the note.
        lane: the name of the note.
        versions: the metadata of the table, and earlier ones, the newest first; they are read as
            far as they are needed.
    """
    if note.snapshot is None:
        return True
    snapshots, is_known = _Snapshots(iter(versions)), True
    snapshot_id = snapshots.head
    while snapshot_id is not None:
        is_held = _is_held(note, lane, snapshot_id, snapshots)
        if is_held:
            return True
        is_known &= is_held is not None
        snapshot = snapshots.find(snapshot_id)
        if snapshot is None:
            return None
        if snapshot.get("sequence-number", 0) < note.sequence:
            break
        snapshot_id = snapshot.get("parent-snapshot-id")
    return False if is_known else None


def _is_held(note: Note, lane: str, snapshot_id: int, snapshots: _Snapshots) -> bool | None:
    """Return whether a snapshot brought the window, itself or by picking one that did."""
    while snapshot_id != note.snapshot:
        snapshot = snapshots.find(snapshot_id)
        if snapshot is None:
            return None
        summary = snapshot.get("summary", {})
        if (summary.get(LANE), summary.get(WINDOW)) == (lane, note.window_id):
            return True
        if _PICKED_FROM not in summary:
            return False
        snapshot_id = int(summary[_PICKED_FROM])
    return True


def not_known_error(
    window: Window, note: Note, table: str, property_name: str
) -> SnapshotExpiredError:
    """Return the error that the metadata of a table do not tell whether a window is in it."""
    accepted = Note(note.attempt, note.window_id)
    return SnapshotExpiredError(
        f"attempt {note.attempt} at window {window.window_id} of {window.owner} wrote it into "
        f"{table} as snapshot {note.snapshot}; that has expired, and whether the table was rolled "
        "back to before it is not known: nothing was changed. Look whether the rows with "
        f"{window.cursor} from {window.low!r} to {window.high!r} are there. If not, run ALTER "
        f"TABLE {table} UNSET TBLPROPERTIES ('{property_name}') and the job: it writes them. If "
        f"so, run ALTER TABLE {table} SET TBLPROPERTIES ('{property_name}' = '{accepted}') and "
        "the job: it counts them as written"
    )


def rolled_back_error(
    window: Window, note: Note, table: str, property_name: str
) -> SnapshotRolledBackError:
    """Return the error that a table lacks the window that a job has committed last."""
    return SnapshotRolledBackError(
        f"window {note.window_id} of {window.owner} was committed, and {table} was rolled back to "
        "before it, or replaced, since: its rows are there no more; nothing was changed. To load "
        "them again, rewind the watermark to a run before it, with WatermarkAdmin.rewind(job, "
        "to_run=..., reason=..., actor=...). To continue without them, run "
        f"ALTER TABLE {table} UNSET TBLPROPERTIES ('{property_name}')"
    )


class _Snapshots:
    """Snapshots by id: of the metadata, and of as many earlier ones as were needed so far."""

    def __init__(self, versions: Iterator[Metadata]) -> None:
        self._versions = versions
        self._by_id: dict[int, Metadata] = {}
        current = (self._read() or {}).get("current-snapshot-id")
        self.head: int | None = current if current in self._by_id else None

    def find(self, snapshot_id: int) -> Metadata | None:
        while snapshot_id not in self._by_id:
            if self._read() is None:
                return None
        return self._by_id[snapshot_id]

    def _read(self) -> Metadata | None:
        version = next(self._versions, None)
        for snapshot in version.get("snapshots", ()) if version else ():
            self._by_id.setdefault(snapshot["snapshot-id"], snapshot)
        return version
