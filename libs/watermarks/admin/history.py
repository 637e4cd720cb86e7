"""The history of a job, read back from the newest entry.

    ~HEAD ──wmLog──▶ jr_7 ──wmPrev──▶ ~AUDIT#000000000006 ──wmPrev──▶ jr_5 ──▶ … ──▶ expired

Every row names the one before it, so one entry costs one read and no index is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from watermarks.table.schema import Row
from watermarks.table.schemas import RefusedSchema, TargetSchema
from watermarks.windows.committed import AUDITS, CommittedWindow, windows_of

Kind: TypeAlias = Literal["commit", "rewind", "adopt", "accept", "legacy"]
"""What made an entry: `accept` is of columns; `legacy` of the v1 class, the last there can be."""


@dataclass(frozen=True)
class HistoryEntry:
    """One change of a job's watermarks; a run that commits several times in a row keeps its last.

    Attributes:
        version: the version of the job that it made; 0 for a row of the v1 class.
        kind: the kind of change.
        run_id: the run whose watermarks held from then on; empty after a rewind to the beginning.
        watermarks: these watermarks; empty after a rewind to the beginning.
        committed_at: by the clock of the machine that wrote it; None for the v1 class.
        windows: the windows the run committed, oldest first; empty for a rewind and an adoption.
        actor: the person or program that requested a rewind, an adoption or an acceptance of
            columns; else empty.
        reason: why; else empty.
        schemas: the columns that contracts keep, by target, from then on.
        accepted: what a contract had refused, if that was accepted.
    """

    version: int
    kind: Kind
    run_id: str
    watermarks: dict[str, Any]
    committed_at: datetime | None
    windows: tuple[CommittedWindow, ...] = ()
    actor: str = ""
    reason: str = ""
    schemas: Mapping[str, TargetSchema] = field(default_factory=dict)
    accepted: RefusedSchema | None = None


def entry_of(row: Row) -> HistoryEntry:
    """Return the entry that a row of a history is."""
    kind: Any = row.string("wmKind") or "legacy"
    at = row.string("wmAt")
    return HistoryEntry(
        version=row.version,
        kind=kind,
        run_id=row.string("wmToRunId") if kind in {*AUDITS, "accept"} else row.run_id,
        watermarks=row.latest().watermarks if row.has_watermarks else {},
        committed_at=datetime.fromisoformat(at) if at else None,
        windows=tuple(windows_of(row)),
        actor=row.string("wmActor"),
        reason=row.string("wmReason"),
        schemas=row.schemas,
        accepted=row.refused,
    )
