"""The fixture `glue_clock`: the time for Glue in one test."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tidemark.errors import UsageError
from tidemark.model.clock import OFFSET_VARIABLE, now, now_ms


class GlueClock:
    """The clock of Glue: times of runs, upper edges of bookmarks, times of files of `lake.put`.

    It runs at the speed of the machine's. A script's own ``datetime.now()``, and the times of files
    that jobs write, are those of the machine.

    Example:
        >>> glue_clock.set("2026-01-01T06:00")
        datetime.datetime(2026, 1, 1, 6, 0, tzinfo=datetime.timezone.utc)
        >>> glue_clock.advance(days=1).date()
        datetime.date(2026, 1, 2)
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        """Take what sets the environment of the test, which all its runs inherit."""
        self._patch = patch

    def __repr__(self) -> str:
        return f"GlueClock({self.now.isoformat()})"

    @property
    def now(self) -> datetime:
        """The time, in UTC."""
        return now()

    def set(self, moment: datetime | str) -> datetime:
        """Set the clock; return the time.

        Args:
            moment: a datetime, or a string such as ``2024-03-01T06:00``; without a zone it is UTC.

        Raises:
            UsageError: it is not a time.
        """
        try:
            parsed = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
            aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        except (AttributeError, ValueError) as error:
            raise UsageError(
                f"glue_clock.set({moment!r}): give a datetime, or '2024-03-01T06:00'"
            ) from error
        self._put(int(aware.timestamp() * 1000) - time.time_ns() // 1_000_000)
        return aware.astimezone(UTC)

    def advance(self, delta: timedelta | None = None, **parts: float) -> datetime:
        """Set the clock forward; return the time.

        Args:
            delta: the distance.
            **parts: minutes, hours, days and so on instead, as `timedelta` takes them.

        Raises:
            UsageError: it is not a length of time.
        """
        try:
            by = delta if delta is not None else timedelta(**parts)
            milliseconds = int(by.total_seconds() * 1000)
        except (AttributeError, TypeError) as error:
            length = delta if delta is not None else parts
            raise UsageError(
                f"glue_clock.advance({length!r}): write advance(minutes=5), or give a timedelta"
            ) from error
        if not milliseconds:
            raise UsageError("glue_clock.advance() moves nothing; write advance(minutes=5)")
        self._put(now_ms() - time.time_ns() // 1_000_000 + milliseconds)
        return self.now

    tick = advance

    def _put(self, offset_ms: Any) -> None:
        self._patch.setenv(OFFSET_VARIABLE, str(offset_ms))
