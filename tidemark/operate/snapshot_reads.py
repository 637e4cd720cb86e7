"""Finds what a job reads from snapshot to snapshot: its cursors, and the tables they belong to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import UUID

from tidemark.errors import TidemarkError
from tidemark.model.assembly.definitions import WATERMARK_TABLE
from tidemark.operate.snapshot_plan import SnapshotPlan, plan_of
from tidemark.operate.target import Target, arguments_of
from watermarks import WatermarkAdmin, WatermarksError, WatermarkTableError
from watermarks.windows.snapshot_cursors import Snapshot

MetadataOf: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""Returns the metadata of a table of Iceberg; None without one of this name."""

_TABLE = "table:"
_GONE = "the Data Catalog has no table of Iceberg {}: it was dropped, or is in another catalog"


@dataclass(frozen=True)
class SnapshotCursor:
    """A cursor of a job whose values are snapshots.

    Attributes:
        source: the source of the job; empty if it has only one.
        name: of the watermark.
        read_to: the snapshot at which the last window ended; None before the first commit.
        until: the end of a window that a run has left open; None without one.
    """

    source: str
    name: str
    read_to: Snapshot | None
    until: Snapshot | None = None

    @property
    def table_uuid(self) -> str:
        """The UUID of the table that it belongs to."""
        known = self.read_to or self.until
        return known.table_uuid if known else ""


@dataclass(frozen=True)
class SnapshotRead:
    """What the next run of a job reads of one table.

    Attributes:
        cursor: the cursor.
        table: the table, as `database.name`; empty if it is not known.
        unknown: why it is not known what is read; empty if it is.
        plan: what is read.
    """

    cursor: SnapshotCursor
    table: str = ""
    unknown: str = ""
    plan: SnapshotPlan = field(default_factory=SnapshotPlan)


def snapshot_reads(target: Target, job: str) -> list[SnapshotRead]:
    """Return what the next run of a job reads from snapshots; nothing without such a cursor."""
    name = arguments_of(target.definition(job)).get(WATERMARK_TABLE)
    if not name:
        return []
    try:
        with target.watermarks(name) as admin:
            cursors = list(cursors_of_job(admin, job))
            records = admin.run_records(job) if cursors else []  # the last run's first
    except WatermarksError as error:
        if isinstance(error, WatermarkTableError) and error.reason == "not_found":
            return []  # nothing has run yet
        raise TidemarkError(f"watermarks of {job}: {error}") from error
    noted = [name for record in records for name in record.notes.get("read", ())]
    tables = dict.fromkeys(data.removeprefix(_TABLE) for data in noted if data.startswith(_TABLE))
    return reads_of(cursors, list(tables), target.iceberg_metadata)


def cursors_of_job(admin: WatermarkAdmin, job: str) -> Iterable[SnapshotCursor]:
    """Yield the cursors of a job whose values are snapshots."""
    for source in ["", *admin.sources(job)]:
        latest = admin.latest(job, source=source)
        read = {
            name: _snapshot(value) for name, value in (latest.watermarks if latest else {}).items()
        }
        ends = {
            window.cursor: _snapshot(window.high)
            for window in admin.open_windows(job, source=source)
            # One that does not start at the watermark is not taken over.
            if read.get(window.cursor) in (None, _snapshot(window.low))
        }
        for name in dict.fromkeys([*read, *ends]):
            cursor = SnapshotCursor(source, name, read.get(name), ends.get(name))
            if cursor.table_uuid:
                yield cursor


def _snapshot(value: object) -> Snapshot | None:
    """Return the snapshot that a watermark is; None for another one, such as 01/02/2013."""
    try:
        snapshot = Snapshot.of(value)
        UUID(snapshot.table_uuid)
    except ValueError:  # of the library's, too
        return None
    return snapshot


def reads_of(
    cursors: Sequence[SnapshotCursor], names: Sequence[str], metadata_of: MetadataOf
) -> list[SnapshotRead]:
    """Return what is read by each cursor, given the tables that runs have noted."""
    tables = {name: metadata for name in names if (metadata := metadata_of(name)) is not None}
    return [_read(cursor, cursors, names, tables) for cursor in cursors]


def _read(
    cursor: SnapshotCursor,
    cursors: Sequence[SnapshotCursor],
    names: Sequence[str],
    tables: Mapping[str, Mapping[str, Any]],
) -> SnapshotRead:
    uuids = {name: str(metadata.get("table-uuid")) for name, metadata in tables.items()}
    own = [name for name, uuid in uuids.items() if uuid == cursor.table_uuid]
    # A table that was created again has another UUID: it is the one that no other cursor has.
    of_others = {other.table_uuid for other in cursors if other is not cursor}
    left = own or [name for name in names if uuids.get(name) not in of_others]
    if len(left) != 1:
        noted = f"runs have noted {', '.join(left)}" if left else "no committed run has noted it"
        why = f"which table has the UUID {cursor.table_uuid} is not known: {noted}"
        return SnapshotRead(cursor, unknown=why)
    (name,) = left
    if name not in tables:
        return SnapshotRead(cursor, name, unknown=_GONE.format(name))
    return SnapshotRead(
        cursor, name, plan=plan_of(name, tables[name], cursor.read_to, cursor.until)
    )
