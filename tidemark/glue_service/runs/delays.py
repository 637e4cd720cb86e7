"""Watches how long runs are in one state, for runs with NotifyDelayAfter.

Source: https://docs.aws.amazon.com/glue/latest/dg/automating-awsglue-with-cloudwatch-events.html
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tidemark.glue_service.runs.active import RUNNING, STARTING, STOPPING, ActiveRun
from tidemark.local_state.store.database import JobRun

REPORTED_STATES = (STARTING, RUNNING, STOPPING)
MS_PER_MINUTE = 60_000


def delay_of(definition: Mapping[str, Any], settings: Mapping[str, Any]) -> int | None:
    """Return the minutes after which a run is reported; None for never."""
    for members in (settings, definition):
        delay = members.get("NotificationProperty", {}).get("NotifyDelayAfter")
        if delay is not None:
            return int(delay)
    return None


class Delays:
    """Since when each watched run is in its state; one notice per state."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[str, int | None]] = {}  # None after the notice

    def late(self, runs: Iterable[ActiveRun], now_ms: int) -> list[tuple[JobRun, int]]:
        """Return the runs that are in one state for longer than their delay, with the delay."""
        found: list[tuple[JobRun, int]] = []
        since: dict[str, tuple[str, int | None]] = {}
        for active in runs:
            run, delay = active.run, active.start.delay_minutes or 0
            state, at_ms = self._since.get(run.run_id, ("", None))
            if state != run.state:
                at_ms = now_ms if run.state in REPORTED_STATES else None
            if at_ms is not None and now_ms - at_ms > delay * MS_PER_MINUTE:
                found.append((run, delay))
                at_ms = None
            since[run.run_id] = run.state, at_ms
        self._since = since
        return found
