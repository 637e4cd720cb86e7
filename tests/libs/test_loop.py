"""What the loop over windows does when it is left early, or run without a body."""

from __future__ import annotations

import gc
import logging

import pytest

from watermarks import Dialect, WatermarksError, window_predicate


@pytest.fixture
def request_(job):
    return {"job_id": job, "run_id": "jr_1", "cursor": "id", "high": lambda low: 10}


@pytest.fixture
def warned(caplog):
    caplog.set_level(logging.WARNING, logger="watermarks")
    return lambda: [record.getMessage() for record in caplog.records]


def test_a_list_of_windows_commits_nothing_and_says_so(watermarks, request_, rows):
    with pytest.raises(WatermarksError, match="was not looked at before the next one"):
        list(watermarks.windows(**request_))

    assert watermarks.latest(request_["job_id"]) is None
    assert next(watermarks.windows(**request_)).is_recovered


@pytest.mark.parametrize("empty_body", ["pass", "continue"])
def test_a_body_that_does_nothing_commits_nothing(watermarks, request_, empty_body):
    with pytest.raises(WatermarksError, match="nothing was committed"):
        exec(  # noqa: S102 (both bodies, as they are written)
            f"for window in watermarks.windows(**request):\n    {empty_body}",
            {"watermarks": watermarks, "request": request_},
        )

    assert watermarks.latest(request_["job_id"]) is None


def test_a_loop_that_is_left_says_so_and_the_window_is_read_again(watermarks, request_, warned):
    for window in watermarks.windows(**request_):
        assert window.high == 10
        break
    gc.collect()

    (message,) = warned()
    assert "was left open, because its loop ended" in message
    assert watermarks.latest(request_["job_id"]) is None
    assert [w.is_recovered for w in watermarks.windows(**request_)] == [True]


def test_a_loop_may_be_left_after_a_commit(watermarks, request_, warned):
    for window in watermarks.windows(**request_):
        watermarks.commit_window(window)
        break
    gc.collect()

    assert warned() == []
    assert watermarks.latest(request_["job_id"]).watermarks == {"id": 10}


def test_a_window_that_its_loop_has_left_cannot_be_read_or_written(watermarks, request_):
    window = next(watermarks.windows(**request_))
    gc.collect()

    with pytest.raises(WatermarksError, match="nothing would commit the work on it"):
        window_predicate(window, None, Dialect.DERBY)


def test_wrong_arguments_are_refused_when_the_loop_is_made_and_not_when_it_runs(watermarks, job):
    with pytest.raises(TypeError, match="cursr"):
        watermarks.windows(job, run_id="jr_1", cursr="id", high=1)
    with pytest.raises(ValueError, match="bounds is 'x'"):
        watermarks.windows(job, run_id="jr_1", cursor="id", bounds="x", high=1)
    with pytest.raises(TypeError, match="cursor"):
        watermarks.windows(job, run_id="jr_1")


def test_an_error_while_a_window_is_opened_ends_the_loop(watermarks, job):
    def fail(low):
        raise OSError("no route to the source")

    windows = watermarks.windows(job, run_id="jr_1", cursor="id", high=fail)
    with pytest.raises(OSError, match="no route"):
        next(windows)

    assert list(windows) == []


def test_a_window_is_not_committed_twice_when_the_loop_comes_back(watermarks, request_, rows):
    for window in watermarks.windows(**request_):
        watermarks.commit_window(window)

    assert watermarks.latest(request_["job_id"]).version == 1
    assert len(rows()) == 2


@pytest.mark.parametrize("use", [set, dict.fromkeys, str, repr])
def test_a_window_that_was_only_put_away_or_logged_is_not_committed(watermarks, request_, use):
    windows = watermarks.windows(**request_)
    if use in {str, repr}:
        assert "high=10" in use(next(windows))
        with pytest.raises(WatermarksError, match="was not looked at"):
            next(windows)
    else:
        with pytest.raises(WatermarksError, match="was not looked at"):
            use(windows)

    assert watermarks.latest(request_["job_id"]) is None
