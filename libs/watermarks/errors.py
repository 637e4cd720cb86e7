"""What the watermark library raises; errors of AWS that are not listed here propagate untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from .table.latest import Latest

TableProblem: TypeAlias = Literal[
    "not_found", "access_denied", "wrong_keys", "other_region", "too_large"
]
"""What is wrong with the table, or with what was to be written into it."""


class WatermarksError(Exception):
    """Anything this library refuses to do."""

    def __str__(self) -> str:
        # KeyError would print the repr of the message.
        return str(self.args[0]) if self.args else ""


class WatermarkNotFoundError(WatermarksError, KeyError, IndexError):
    """There is no such watermark; callers may also catch KeyError or IndexError."""


class AmbiguousWatermarkError(WatermarksError):
    """Several rows without a head row: which one is the most recent cannot be known."""


class WatermarkConflictError(WatermarksError):
    """What the table holds is not what was read, or not this job's any more; nothing was written.

    Attributes:
        stored: what the table holds, None if it holds nothing for this job.
        proposed: the watermarks that were refused.
    """

    def __init__(
        self,
        message: str,
        stored: Latest | None = None,
        proposed: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message, stored, proposed or {})
        self.stored = stored
        self.proposed = proposed or {}


class WatermarkSupersededError(WatermarkConflictError):
    """Another run took the window over, or a rewind discarded it; nothing was written."""


class WatermarkValueError(WatermarksError, TypeError, ValueError):
    """A value or a column cannot be a watermark; the message says why and what to do."""


class WatermarkCorruptError(WatermarksError):
    """A row holds what this library never writes, or cannot read on this machine."""


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
