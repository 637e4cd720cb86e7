"""What runs leave as named strings, and what differs by nature: times of the runs, random names."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, TypeAlias

from tidemark.model.clock import time_of

TIME_OF_RUN = "the time of the run"
# Folders of `write_window`: their names are random.
WINDOW_FOLDER = re.compile(r"/(?:window|attempt)=[^/]+")
Facts: TypeAlias = Mapping[str, str]
"""Values by their names, all as strings."""


@dataclass(frozen=True)
class State:
    """A bookmark, a watermark, a database or a table.

    Attributes:
        facts: its values.
        summary: the most important ones in one line.
    """

    facts: Facts
    summary: str


@dataclass(frozen=True)
class Interval:
    """From the beginning of the first run to the end of the last, epoch milliseconds."""

    began_ms: int = 0
    ended_ms: int = -1

    def moment(self, ms: int) -> str:
        """Return a moment as a string: the time of the run, or the time itself."""
        if self.has(ms):
            return TIME_OF_RUN
        try:
            at = time_of(ms)
        except (ValueError, OverflowError):
            return f"{ms} ms"
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def value(self, value: Any) -> str:
        """Return the value of a watermark; the moments of the run are one."""
        if isinstance(value, datetime):
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            if self.has(aware.timestamp() * 1000):
                return TIME_OF_RUN
        return str(value) if isinstance(value, date) else repr(value)

    def has(self, ms: float) -> bool:
        """Return whether a moment lies within."""
        return self.began_ms <= ms <= self.ended_ms


NEVER = Interval()


def without_window(uri: str) -> str:
    """Return a path without the folders of windows."""
    return WINDOW_FOLDER.sub("", uri)


def json_string(value: Any) -> str:
    """Return a JSON value as a string, the same for the same."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
