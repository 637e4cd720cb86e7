"""Windows of runs with job-bookmark-pause and job-bookmark-disable, as a job passes the option."""

from __future__ import annotations

import gc
import logging
import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from watermarks import (
    Watermarks,
    WatermarksError,
    Window,
    append_window,
    merge_window,
    upsert_jdbc,
    write_window,
)

ENABLE, PAUSE, DISABLE = (f"job-bookmark-{name}" for name in ("enable", "pause", "disable"))


@pytest.fixture
def read(watermarks, job):
    """Return a run of a job: the ranges of its windows, with their ids."""

    def read(option, high, run_id="jr_1", **others):
        given = {"cursor": "id", "high": high, "job_bookmark_option": option, **others}
        found = watermarks.windows(job, run_id=run_id, **given)
        return [(window.low, window.high, window.window_id) for window in found]

    return read


def test_a_paused_run_commits_nothing_and_the_next_gets_its_window(read, watermarks, job):
    read(ENABLE, 10)

    ((low, high, paused),) = read(PAUSE, 20, "jr_2")
    again, new = read(ENABLE, 30, "jr_3")

    assert (low, high) == (10, 20)
    assert again == (10, 20, paused)
    assert new[:2] == (20, 30)
    assert watermarks.latest(job).watermarks == {"id": 30}
    assert [run_id for _, _, run_id in read(PAUSE, 30, "jr_4")] == []


def test_paused_runs_get_one_window_until_a_run_has_committed_it(read, caplog):
    caplog.set_level(logging.WARNING, logger="watermarks")
    (first,) = read(PAUSE, 10)

    (again,) = read(PAUSE, 20, "jr_2")

    assert again == first
    (record,) = caplog.records
    assert "job-bookmark-pause: this run gets window" in record.getMessage()


def test_a_paused_loop_has_the_first_of_several_windows(read):
    high = {"max_span": 10, "initial": 0}

    assert [window[:2] for window in read(PAUSE, 30, **high)] == [(0, 10)]
    assert [window[:2] for window in read(ENABLE, 30, **high)] == [(0, 10), (10, 20), (20, 30)]


def test_commit_window_leaves_a_paused_window_open(watermarks, job, caplog):
    given = {"cursor": "id", "high": 10, "job_bookmark_option": PAUSE}
    for window in watermarks.windows(job, run_id="jr_1", **given):
        assert watermarks.commit_window(window) is None
        break
    with watermarks.window(job, run_id="jr_2", **given) as again:
        assert again.window_id == window.window_id

    assert watermarks.latest(job) is None
    assert [one.window_id for one in watermarks.open_windows(job)] == [window.window_id]
    assert caplog.records == []


def test_a_disabled_run_has_one_window_over_everything_and_leaves_no_trace(read, rows):
    read(ENABLE, 10)
    before = rows()

    ((low, high, window_id),) = read(DISABLE, 30, "jr_2", max_span=5)

    assert (low, high) == (None, 30)
    assert window_id.startswith("disabled-")
    assert rows() == before


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({"high": date(2013, 1, 5)}, (None, date(2013, 1, 5), "(]")),
        ({"high": 9, "initial": 3, "bounds": "[)"}, (3, 9, "[]")),
        ({"high": 9, "settle": timedelta(hours=1)}, (None, 9, "(]")),
        ({"high": lambda low: low or 7}, (None, 7, "(]")),
    ],
    ids=["days", "from initial", "settle", "a function"],
)
def test_a_disabled_window_reaches_its_bound(watermarks, job, options, ends):
    window = watermarks.open_window(
        job, run_id="jr_1", cursor="id", job_bookmark_option=DISABLE, **options
    )

    assert (window.low, window.high, window.bounds) == ends


def test_a_disabled_run_needs_no_table(client, job):
    nowhere = Watermarks("no-such-table", client, now=lambda: datetime(2013, 1, 1, tzinfo=UTC))

    (window,) = (
        (one.low, one.high)
        for one in nowhere.windows(job, run_id="jr", cursor="at", job_bookmark_option=DISABLE)
    )

    assert window == (None, datetime(2013, 1, 1, tzinfo=UTC))


def test_a_disabled_loop_that_is_left_promises_no_run_that_reads_its_window_again(
    watermarks, job, caplog
):
    given = {"cursor": "id", "high": 10, "job_bookmark_option": DISABLE}
    assert next(watermarks.windows(job, run_id="jr", **given)).high == 10
    gc.collect()

    assert caplog.records == []


def test_a_disabled_run_without_rows_has_no_window(read):
    assert read(DISABLE, None) == []


@pytest.mark.parametrize("option", ["enable", "", None])
def test_another_option_is_refused(read, option):
    with pytest.raises(ValueError, match=f"job_bookmark_option is {option!r}: allowed are job-bo"):
        read(option, 10)


@pytest.mark.parametrize(
    ("write", "remedy"),
    [
        (lambda window: append_window(None, "t", window), "overwrite the table with spark.table"),
        (lambda window: write_window(None, "s3://b/t/", window), "to another folder"),
        (lambda window: upsert_jdbc(None, {}, "t", window, ["id"]), "JDBC writer"),
    ],
    ids=["append", "files", "upsert"],
)
def test_a_disabled_window_is_not_written_where_it_could_double(watermarks, job, write, remedy):
    window = watermarks.open_window(
        job, run_id="jr_1", cursor="id", high=10, job_bookmark_option=DISABLE
    )

    with pytest.raises(WatermarksError, match="cannot write window disabled-") as refused:
        write(window)

    assert remedy in str(refused.value)
    assert "or run the job with job-bookmark-enable" in str(refused.value)


def test_a_merge_that_deletes_needs_deleted_rows_that_are_kept(watermarks, job):
    window = watermarks.open_window(
        job, run_id="jr_1", cursor="id", high=10, job_bookmark_option=DISABLE
    )

    with pytest.raises(WatermarksError, match="keep_deleted= or history="):
        merge_window(None, "t", window, ["id"], deleted="id = 1")


@dataclass
class Appended:
    """A table that a window is appended to as append_window does: by the note of the last one."""

    rows: Counter[int] = field(default_factory=Counter)
    note: tuple[int, str] = (0, "")

    def append(self, window: Window) -> None:
        """Append the rows of a window, unless it is there."""
        if window.window_id == self.note[1]:
            return
        assert window.attempt > self.note[0]
        self.rows.update(range((window.low or 0) + 1, window.high + 1))
        self.note = window.attempt, window.window_id


RUNS = st.lists(
    st.tuples(
        st.sampled_from([ENABLE, PAUSE]),
        st.integers(0, 7),  # rows that came before it
        st.sampled_from([None, None, "before the write", "after the write"]),
    ),
    max_size=12,
)


@pytest.mark.stress
@pytest.mark.parametrize("examples", [12, pytest.param(200, marks=pytest.mark.nightly)])
def test_whatever_runs_are_paused_or_killed_each_row_is_there_once(watermarks, examples):
    every = list(HealthCheck)
    check = settings(max_examples=examples, deadline=None, suppress_health_check=every)
    check(given(runs=RUNS)(each_row_is_there_once))(watermarks)


def each_row_is_there_once(watermarks, runs):
    job, newest, target = f"paused-{uuid.uuid4().hex}", 0, Appended()

    def run(number, option, dies=None):
        given = {"cursor": "id", "high": newest or None, "max_span": 5, "initial": 0}
        given |= {"run_id": f"jr_{number}", "job_bookmark_option": option}
        for window in watermarks.windows(job, **given):
            if dies == "before the write":
                raise RuntimeError(dies)
            target.append(window)
            if dies:
                raise RuntimeError(dies)

    for number, (option, rows, dies) in enumerate(runs):
        newest += rows
        try:
            run(number, option, dies)
        except RuntimeError:
            continue
        if option == ENABLE:
            assert target.rows == Counter(range(1, newest + 1))
    run(len(runs), ENABLE)

    assert target.rows == Counter(range(1, newest + 1))
