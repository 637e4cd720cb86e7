"""Random interleavings of runs against a naive model: windows tile the cursor, once each."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

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

from watermarks import RefusedSchema, WatermarkAdmin, WatermarkSupersededError, Window
from watermarks.windows.held import note_refused

JOBS = ("orders-job", "customers-job")
CURSORS = ("id", "lines_id")


@dataclass
class Source:
    """What the model knows of one cursor of one job."""

    newest: int = 0
    committed: tuple[Window, ...] = ()
    holder: Window | None = None

    @property
    def mark(self) -> int | None:
        """Where the next window begins."""
        return self.committed[-1].high if self.committed else None


class WindowMachine(RuleBasedStateMachine):
    """Runs of two jobs with two sources each open, die, take over and commit windows."""

    windows = Bundle("windows")

    @initialize()
    def begin(self) -> None:
        self.suffix = uuid.uuid4().hex
        self.runs = 0
        self.sources = {(job, cursor): Source() for job in JOBS for cursor in CURSORS}
        self.versions = dict.fromkeys(JOBS, 0)
        # What was in force when a run committed; None is the beginning.
        self.states = {job: {None: dict.fromkeys(CURSORS, ())} for job in JOBS}
        self.everything: list[Window] = []
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

    @rule(
        target=windows,
        job=st.sampled_from(JOBS),
        cursor=st.sampled_from(CURSORS),
        runs_ago=st.integers(0, 3),
    )
    def open(self, job: str, cursor: str, runs_ago: int) -> Window:
        """A new run, or an earlier one, opens a window; whoever held it before is superseded."""
        source = self.sources[job, cursor]
        self.runs += not runs_ago
        window = self.watermarks.open_window(
            job_id=f"{job}-{self.suffix}",
            run_id=f"jr_{max(self.runs - runs_ago, 0)}",
            cursor=cursor,
            high=lambda _: source.newest or None,
        )
        low = source.mark
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
            stored = self.watermarks.commit_window(window)
            source.committed += (window,)
            source.holder = None
            self.versions[job] += 1
            self.everything.append(window)
            self.states[job][stored.run_id] = {
                cursor: self.sources[job, cursor].committed for cursor in CURSORS
            }
            return
        if window in self.everything:  # recognised, whatever has happened since
            stored = self.watermarks.commit_window(window)
            assert stored.version <= self.versions[job]
            return
        with pytest.raises(WatermarkSupersededError):
            self.watermarks.commit_window(window)

    @rule(job=st.sampled_from(JOBS), data=st.data())
    def rewind(self, job: str, data: st.DataObject) -> None:
        """An operator goes back to a run, or to the beginning; open windows are discarded."""
        runs = list(self.states[job])
        if len(runs) == 1:
            return  # nothing was ever committed
        to_run = data.draw(st.sampled_from(runs))
        self.watermarks.rewind(
            f"{job}-{self.suffix}", to_run=to_run, reason=f"{self.runs}", actor="ops"
        )
        self.runs += 1  # so that no two rewinds are alike
        self.versions[job] += 1
        for cursor, committed in self.states[job][to_run].items():
            self.sources[job, cursor].committed = committed
            self.sources[job, cursor].holder = None

    @rule(window=windows)
    def is_refused_and_accepted(self, window: Window) -> None:
        """A contract refuses the columns of a window, and an operator accepts them."""
        if window.is_empty:
            return
        job = window.job_id.removesuffix(f"-{self.suffix}")
        if self.sources[job, window.cursor].holder != window:
            return
        refused = RefusedSchema("s3://lake/out/", {"id": f"decimal({window.attempt % 38 + 1},0)"})
        note_refused(window, refused)
        latest = self.watermarks.accept_schema(window.job_id, reason="new", actor="ops")
        self.versions[job] += 1
        assert latest.version == self.versions[job]

    @rule(job=st.sampled_from(JOBS), parts=st.integers(1, 3))
    def backfill(self, job: str, parts: int) -> None:
        """A backfill reads a range again; nothing incremental may move by it."""
        self.runs += 1
        windows = self.watermarks.backfill(
            f"{job}-{self.suffix}",
            backfill_id=f"b{self.runs}",
            cursor="id",
            low=0,
            high=30,
            run_id=f"jr_{self.runs}",
            parts=parts,
        )
        ranges = [(window.low, window.high) for window in windows]
        assert ranges[0][0] == 0
        assert ranges[-1][1] == 30
        assert [high for _, high in ranges[:-1]] == [low for low, _ in ranges[1:]]

    @rule(job=st.sampled_from(JOBS))
    def original_class_writes_a_row(self, job: str) -> None:
        """A writer of the v1 class is still around; the head does not know its row."""
        if not self.versions[job]:
            return
        self.runs += 1
        row = {
            "jobName": {"S": f"{job}-{self.suffix}"},
            "runId": {"S": f"jr_{self.runs}"},
            "watermarks": {"M": {"id": {"N": "999"}}},
        }
        self.client.put_item(TableName=self.watermarks.table_name, Item=row)

    @rule(window=consumes(windows))
    def crash(self, window: Window) -> None:
        """The run is never heard of again; its window stays open."""

    @invariant()
    def committed_windows_tile_the_cursor(self) -> None:
        for (job, cursor), source in self.sources.items():
            lows = [window.low for window in source.committed]
            highs = [window.high for window in source.committed]
            assert lows == [None, *highs][: len(lows)]
            assert highs == sorted(set(highs))
            in_force = self.watermarks.committed_windows(f"{job}-{self.suffix}", cursor)
            assert sorted(in_force) == sorted((w.window_id, w.attempt) for w in source.committed)

    @invariant()
    def latest_is_what_was_committed(self) -> None:
        for job in JOBS:
            latest = self.watermarks.latest(f"{job}-{self.suffix}")
            marks = {cursor: self.sources[job, cursor].mark for cursor in CURSORS}
            expected = {cursor: mark for cursor, mark in marks.items() if mark is not None}
            assert ({} if latest is None else _flat(latest.watermarks)) == expected
            if latest is not None:
                assert latest.version == self.versions[job]


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
            self.watermarks = WatermarkAdmin(table_name, client, sleep=lambda _: None)

    return Machine


@pytest.mark.stress
@pytest.mark.parametrize("examples", [6, pytest.param(60, marks=pytest.mark.nightly)])
def test_random_runs_tile_the_cursor_whatever_happens(machine, examples):
    machine.TestCase.settings = settings(
        max_examples=examples,
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    machine.TestCase().runTest()
