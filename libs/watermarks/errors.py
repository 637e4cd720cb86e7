"""The errors of the watermark library; errors of AWS that are not listed propagate untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from .schema.changes import SchemaChange
    from .table.latest import Latest

TableProblem: TypeAlias = Literal[
    "not_found", "access_denied", "wrong_keys", "other_region", "too_large"
]
"""The table, or a row to write into it, is wrong."""


class WatermarksError(Exception):
    """Base class: something that this library refuses to do."""

    def __str__(self) -> str:
        # KeyError would print the repr of the message.
        return str(self.args[0]) if self.args else ""


class WatermarkNotFoundError(WatermarksError, KeyError, IndexError):
    """The watermark does not exist; callers may also catch KeyError or IndexError."""


class AmbiguousWatermarkError(WatermarksError):
    """Several rows without a head row: the most recent one is not known."""


class WatermarkConflictError(WatermarksError):
    """The table has changed since it was read, or is not this job's any more; nothing was written.

    Attributes:
        stored: the stored watermarks, None if the table holds nothing for this job.
        proposed: the watermarks that were refused.
    """

    def __init__(
        self, message: str, stored: Latest | None = None, proposed: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message, stored, proposed or {})
        self.stored = stored
        self.proposed = proposed or {}


class WatermarkSupersededError(WatermarkConflictError):
    """Another run took the window over, or a rewind discarded it; nothing was written."""


class WatermarkValueError(WatermarksError, TypeError, ValueError):
    """A value or a column cannot be a watermark; the message says why and what to do."""


class SchemaContractError(WatermarksError):
    """A frame has what its contract refuses; nothing was written.

    Attributes:
        changes: what is refused, column by column.
    """

    def __init__(self, message: str, changes: list[SchemaChange]) -> None:
        super().__init__(message, changes)
        self.changes = changes


class AuditFailedError(WatermarksError):
    """An audit does not hold for what a window would make of its target; nothing was published.

    Attributes:
        audit: the audit, or the name of its function.
        place: where the rows are until the next attempt at the window: a branch, or a folder.
    """

    def __init__(self, message: str, audit: str, place: str) -> None:
        super().__init__(message, audit, place)
        self.audit = audit
        self.place = place


class WatermarkCorruptError(WatermarksError):
    """A row holds a value that this library never writes, or cannot read on this machine."""


class SnapshotError(WatermarksError):
    """The snapshots of a table of Iceberg do not continue those that a job has read or written."""


class SnapshotExpiredError(SnapshotError):
    """The snapshot that a job has read or written last, or one after it, is not kept any more."""


class SnapshotRolledBackError(SnapshotError):
    """The table was rolled back to before the snapshot that a job has read or written last."""


class SnapshotRewrittenError(SnapshotError):
    """A snapshot changes or deletes rows, and the job reads appended rows only."""


class TableReplacedError(SnapshotError):
    """The table was dropped or replaced, and another one has its name."""


class WatermarkTableError(WatermarksError):
    """The table cannot be used; nothing was written.

    Attributes:
        reason: `not_found`, `access_denied`, `wrong_keys` (not jobName and runId, both strings),
            `other_region` (a copy of a table whose watermarks may have moved on) or `too_large`
            (a row would exceed the 400 KB of a DynamoDB item).
    """

    def __init__(self, message: str, reason: TableProblem) -> None:
        super().__init__(message, reason)
        self.reason = reason
