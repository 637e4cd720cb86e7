"""The clock of the local Glue: the machine's, or the one that a test has set."""

import os
import time
from datetime import UTC, datetime

OFFSET_VARIABLE = "TIDEMARK_CLOCK_OFFSET_MS"  # for tests: the offset of the clock


def is_moved() -> bool:
    """Return whether the clock is not the machine's."""
    return bool(int(os.environ.get(OFFSET_VARIABLE) or 0))


def now_ms() -> int:
    """Return the time in epoch milliseconds."""
    return time.time_ns() // 1_000_000 + int(os.environ.get(OFFSET_VARIABLE) or 0)


def now() -> datetime:
    """Return the time, in UTC."""
    return time_of(now_ms())


def time_of(at_ms: float) -> datetime:
    """Return a time in UTC, given in epoch milliseconds."""
    return datetime.fromtimestamp(at_ms / 1000, UTC)
