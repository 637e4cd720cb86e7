"""What runs have left in the table: one record for each run, and each source of its job."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from watermarks.run_notes import NAME
from watermarks.table.schema import SOURCE_HEADS, Owner, Row
from watermarks.windows.committed import CommittedWindow, windows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from watermarks.table.client import TableClient


@dataclass(frozen=True)
class RunRecord:
    """What a run changed in the watermarks of a job or of one of its sources, and its notes.

    Attributes:
        run_id: the run.
        source: the source of the job; empty for the job itself.
        committed_at: of its last commit.
        before: the watermarks before its first commit; None if there were none, or their row has
            expired.
        before_version: of them.
        watermarks: after its last commit; empty for a job that keeps none.
        version: of them, 0 for a job that keeps none.
        windows: the windows it committed, oldest first.
        notes: `read` (datasets), `committed` (those that `read_committed` read), `written` (modes
            by dataset), `code` (digests), and `cut` if there was no room for all.
    """

    run_id: str
    source: str
    committed_at: datetime
    before: Mapping[str, Any] | None = None
    before_version: int = 0
    watermarks: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0
    windows: tuple[CommittedWindow, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)


def records_of_job(client: TableClient, job_id: str, now: datetime) -> list[RunRecord]:
    """Return the records of all runs of a job, the one that committed last first; one query."""
    owner = Owner(job_id)
    rows = {name: row for name, row in client.all_rows(owner).items() if not row.is_expired(now)}
    return _records(rows.values(), rows)


def records_of_run(client: TableClient, job_id: str, run_id: str) -> list[RunRecord]:
    """Return the records of one run; some reads, however long the history is."""
    job = Owner(job_id)
    sources = [row.owner for row in client.rows(job, *SOURCE_HEADS)]
    rows: dict[str, Row] = {}
    for owner in (job, *sources):
        own = owner.run(run_id)
        stored = client.rows(owner, own, f"{own}#~")
        mine = [row for row in stored if row.name == own or row.name.startswith(f"{own}#")]
        rows |= {row.name: row for row in mine}
    if row := client.row(job, job.checkpoint(run_id)):
        rows[row.name] = row
    read = list(rows.values())
    for row in read:
        if row.prev.name and row.prev.name not in rows and (prev := client.row(job, row.prev.name)):
            rows[prev.name] = prev
    return _records(read, rows)


def _records(notes: Iterable[Row], rows: Mapping[str, Row]) -> list[RunRecord]:
    runs: dict[tuple[str, str], list[Row]] = {}
    for row in notes:
        if row.string("wmKind") in {"commit", "checkpoint"} and row.string("wmAt"):
            runs.setdefault((_run_id(row), row.owner.source), []).append(row)
    records = [_record(run, rows) for run in runs.values()]
    return sorted(records, key=lambda record: record.committed_at, reverse=True)


def _run_id(row: Row) -> str:
    return row.run_id.removeprefix("~CHECKPOINT#")


def _record(made: list[Row], rows: Mapping[str, Row]) -> RunRecord:
    made = sorted(made, key=lambda row: row.version)
    moved = [row for row in made if row.is_ours]
    last = max(made, key=lambda row: row.string("wmAt"))
    notes: dict[str, Any] = {}
    for row in made:
        notes |= json.loads(row.string(NAME) or "{}")
    at = datetime.fromisoformat(last.string("wmAt"))
    if not moved:
        return RunRecord(_run_id(last), last.owner.source, at, notes=notes)
    prev = moved[0].prev
    before = rows.get(prev.name)
    is_there = before is not None and before.version == prev.version and before.has_watermarks
    return RunRecord(
        run_id=_run_id(last),
        source=last.owner.source,
        committed_at=at,
        before=before.latest().watermarks if before and is_there else None,
        before_version=prev.version,
        watermarks=moved[-1].latest().watermarks,
        version=moved[-1].version,
        windows=tuple(window for row in moved for window in windows_of(row)),
        notes=notes,
    )
