"""What the watermark library raises; errors of AWS that are not listed here propagate untouched.

WatermarksError
├── WatermarkNotFoundError        also KeyError and IndexError
├── AmbiguousWatermarkError
├── WatermarkConflictError
│   ├── WatermarkRunConflictError
│   └── WatermarkSupersededError
├── WatermarkTableNotFoundError
├── WatermarkAccessError
├── WatermarkSchemaError
├── WatermarkRegionError
├── WatermarkCarriedOverError
├── WatermarkCorruptError
├── WatermarkTooLargeError
├── WatermarkClockError
└── WatermarkValueError           also TypeError and ValueError
    ├── WatermarkTypeError
    └── WatermarkNullError
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rows import Latest


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
    """The watermark was moved by another run since this one read it; nothing was written.

    Attributes:
        stored: what the table holds, None if it holds nothing for this job.
        proposed: the watermarks that were refused.
    """

    def __init__(self, message: str, stored: Latest | None, proposed: dict[str, Any]) -> None:
        super().__init__(message, stored, proposed)
        self.stored = stored
        self.proposed = proposed


class WatermarkRunConflictError(WatermarkConflictError):
    """This very run already committed other watermarks, and they cannot be replaced any more."""


class WatermarkSupersededError(WatermarkConflictError):
    """Another run took the window over, or a rewind discarded it; nothing was written."""


class WatermarkTableNotFoundError(WatermarksError):
    """The DynamoDB table does not exist where the client looks for it."""


class WatermarkAccessError(WatermarksError):
    """AWS does not allow the action; nothing was written."""


class WatermarkSchemaError(WatermarksError):
    """The table has other keys than jobName and runId, both strings; nothing was written."""


class WatermarkRegionError(WatermarksError):
    """The table is a copy of one in another region, where the watermarks may have moved on."""


class WatermarkCarriedOverError(WatermarksError):
    """The watermarks of the job are those of another job now; nothing was written."""


class WatermarkCorruptError(WatermarksError):
    """A row of the library holds what the library never writes."""


class WatermarkTooLargeError(WatermarksError):
    """A row would be larger than the 400 KB of a DynamoDB item; nothing was written."""


class WatermarkClockError(WatermarksError):
    """The clock is behind that of an earlier run, and `settle` relies on it."""


class WatermarkValueError(WatermarksError, TypeError, ValueError):
    """A value cannot be a watermark; the message names its path and the remedy."""


class WatermarkTypeError(WatermarkValueError):
    """A cursor has another type than before, and the two have no order."""


class WatermarkNullError(WatermarkValueError):
    """Rows have no cursor value, and the caller wants to know rather than to lose them."""
