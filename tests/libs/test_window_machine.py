"""Random interleavings of runs against a naive model: windows tile the cursor, once each."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

import pytest
from botocore.exceptions import ConnectionClosedError
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)

from watermarks import Watermarks, WatermarkSupersededError, Window

JOBS = ("orders-job", "customers-job")
CURSORS = ("id", "lines.id")


@dataclass
class Source:
    """What the model knows of one cursor of one job."""

    newest: int = 0
    committed: list[tuple[int | None, int]] = field(default_factory=list)
    holder: Window | None = None


class WindowMachine(RuleBasedStateMachine):
    """Runs of two jobs with two sources each open, die, take over and commit windows."""

    windows = Bundle("windows")

    @initialize()
    def begin(self) -> None:
        self.suffix = uuid.uuid4().hex
        self.runs = 0
        self.sources = {(job, cursor): Source() for job in JOBS for cursor in CURSORS}
        self.versions = dict.fromkeys(JOBS, 0)
        self.lossy = False
        self.client.meta.events.register("after-call.dynamodb.UpdateItem", self.lose)
        self.client.meta.events.register("after-call.dynamodb.TransactWriteItems", self.lose)

    def teardown(self) -> None:
        self.client.meta.events.unregister("after-call.dynamodb.UpdateItem", self.lose)
        self.client.meta.events.unregister("after-call.dynamodb.TransactWriteItems", self.lose)

    def lose(self, **_: object) -> None:
        if self.lossy:
            self.lossy = False
            raise ConnectionClosedError(endpoint_url="lost")

    @rule(job=st.sampled_from(JOBS), cursor=st.sampled_from(CURSORS), rows=st.integers(1, 5))
    def rows_arrive(self, job: str, cursor: str, rows: int) -> None:
        self.sources[job, cursor].newest += rows

    @rule()
    def next_response_is_lost(self) -> None:
        self.lossy = True

    @rule(target=windows, job=st.sampled_from(JOBS), cursor=st.sampled_from(CURSORS))
    def open(self, job: str, cursor: str) -> Window:
        """A new run opens a window; whoever held one before is superseded."""
        source = self.sources[job, cursor]
        self.runs += 1
        window = self.watermarks.open_window(
            job_id=f"{job}-{self.suffix}",
            run_id=f"jr_{self.runs}",
            cursor=cursor,
            high=lambda _: source.newest or None,
        )
        low = source.committed[-1][1] if source.committed else None
        if source.holder is not None:
            held = source.holder
            assert (window.low, window.high) == (held.low, held.high)
            assert (window.window_id, window.is_recovered) == (held.window_id, True)
            assert window.attempt > held.attempt
        else:
            assert window.low == low
            assert window.is_empty == (source.newest <= (low or 0))
        if not window.is_empty:
            source.holder = window
        return window

    @rule(window=windows)
    def commit(self, window: Window) -> None:
        """A run commits; it may have been superseded, and may have committed before."""
        if window.is_empty:
            return
        job = window.job_id.removesuffix(f"-{self.suffix}")
        source = self.sources[job, window.cursor]
        if source.holder == window:
            self.watermarks.commit_window(window)
            source.committed.append((window.low, window.high))
            source.holder = None
            self.versions[job] += 1
            return
        try:
            stored = self.watermarks.commit_window(window)
        except WatermarkSupersededError:
            return
        # Not refused: it is recognised as committed before.
        assert (window.low, window.high) in source.committed
        assert stored.version <= self.versions[job]

    @rule(window=consumes(windows))
    def crash(self, window: Window) -> None:
        """The run is never heard of again; its window stays open."""

    @invariant()
    def committed_windows_tile_the_cursor(self) -> None:
        for source in self.sources.values():
            lows = [low for low, _ in source.committed]
            highs = [high for _, high in source.committed]
            assert lows == [None, *highs][: len(lows)]
            assert highs == sorted(set(highs))

    @invariant()
    def latest_is_what_was_committed(self) -> None:
        for job in JOBS:
            latest = self.watermarks.latest(f"{job}-{self.suffix}")
            expected = {
                cursor: self.sources[job, cursor].committed[-1][1]
                for cursor in CURSORS
                if self.sources[job, cursor].committed
            }
            found = {} if latest is None else _flat(latest.watermarks)
            assert found == expected
            assert (latest.version if latest else 0) == self.versions[job]


def _flat(watermarks: dict[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in watermarks.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


@pytest.fixture
def machine(new_client, table_name):
    client = new_client()

    class Machine(WindowMachine):
        def __init__(self) -> None:
            super().__init__()
            self.client = client
            self.watermarks = Watermarks(table_name, client, sleep=lambda _: None)

    return Machine


def test_random_runs_tile_the_cursor_whatever_happens(machine):
    machine.TestCase.settings = settings(
        max_examples=60,
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    machine.TestCase().runTest()
