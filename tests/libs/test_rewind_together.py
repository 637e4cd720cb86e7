"""Rewinding several jobs and sources at once: all or none, and once however often it is sent."""

from __future__ import annotations

import pytest

from watermarks import WatermarkAdmin, WatermarkConflictError, WatermarkNotFoundError
from watermarks.admin import Rewind

WHY = {"reason": "a bad day (rewind 1)", "actor": "ada"}


@pytest.fixture
def jobs(watermarks, job):
    """Return two jobs, the second with a source, that have committed twice."""
    owners = [(f"{job}-a", ""), (f"{job}-b", "orders")]
    for name, source in owners:
        for count in (1, 2):
            watermarks.advance(
                job_id=name,
                run_id=f"jr_{count}",
                to={"id": count},
                base=watermarks.latest(name, source=source),
                source=source,
            )
    return owners


def rewinds(jobs, to_run="jr_1", version=2):
    return [Rewind(name, to_run, version, source) for name, source in jobs]


def values(watermarks, jobs):
    found = [watermarks.latest(name, source=source) for name, source in jobs]
    return [(one.version, one.watermarks) if one else None for one in found]


def test_all_go_back_at_once_and_each_history_says_who_and_why(watermarks, jobs):
    watermarks.rewind_together(rewinds(jobs), **WHY)

    assert values(watermarks, jobs) == [(3, {"id": 1}), (3, {"id": 1})]
    for name, source in jobs:
        newest = next(watermarks.history(name, source=source))
        assert (newest.kind, newest.actor, newest.reason) == ("rewind", "ada", WHY["reason"])


def test_doing_it_again_changes_nothing(watermarks, jobs):
    for _ in range(2):
        watermarks.rewind_together(rewinds(jobs, to_run=None), **WHY)

    assert [watermarks.head_of(name, source=source)[0] for name, source in jobs] == [3, 3]
    assert values(watermarks, jobs) == [None, None]


def test_one_that_has_moved_on_leaves_all_as_they_are(watermarks, jobs):
    name, source = jobs[1]
    base = watermarks.latest(name, source=source)
    watermarks.advance(job_id=name, run_id="jr_3", to={"id": 3}, base=base, source=source)

    with pytest.raises(WatermarkConflictError, match=r"source 'orders' has moved its watermarks"):
        watermarks.rewind_together(rewinds(jobs), **WHY)

    assert values(watermarks, jobs) == [(2, {"id": 2}), (3, {"id": 3})]


def test_an_unknown_run_of_one_leaves_all_as_they_are(watermarks, jobs):
    both = [*rewinds(jobs[:1]), *rewinds(jobs[1:], to_run="jr_9")]

    with pytest.raises(WatermarkNotFoundError, match="jr_9"):
        watermarks.rewind_together(both, **WHY)

    assert values(watermarks, jobs) == [(2, {"id": 2}), (2, {"id": 2})]


def test_a_lost_answer_is_found_out(watermarks, jobs, lossy_client, table_name):
    admin = WatermarkAdmin(table_name, lossy_client(1), sleep=lambda _: None)

    admin.rewind_together(rewinds(jobs), **WHY)

    assert values(watermarks, jobs) == [(3, {"id": 1}), (3, {"id": 1})]


def test_open_windows_are_discarded_and_may_be_brought_back(watermarks, jobs):
    name, _ = jobs[0]
    watermarks.open_window(job_id=name, run_id="jr_dead", cursor="id", high=9)
    _, windows = watermarks.head_of(name)

    watermarks.rewind_together(rewinds(jobs), **WHY)
    assert watermarks.open_windows(name) == []
    back = [Rewind(name, "jr_2", 3, windows=windows)]
    watermarks.rewind_together(back, reason="undo", actor="ada")

    assert [window.high for window in watermarks.open_windows(name)] == [9]
    taken = watermarks.open_window(job_id=name, run_id="jr_3", cursor="id", high=20)
    assert (taken.is_recovered, taken.high) == (True, 9)
    watermarks.commit_window(taken)
    assert watermarks.latest(name).watermarks == {"id": 9}


def test_more_than_a_transaction_has_room_for_are_refused(watermarks, job):
    with pytest.raises(ValueError, match="51 rewinds are more than one transaction"):
        watermarks.rewind_together(rewinds([(job, "")] * 51), **WHY)
