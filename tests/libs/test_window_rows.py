"""The rows that record windows when one run commits several of them."""

from __future__ import annotations

import pickle

import pytest

from watermarks import WatermarkSupersededError
from watermarks.windows import commit


def open_to(watermarks, job, high, run_id, cursor):
    return watermarks.open_window(job_id=job, run_id=run_id, cursor=cursor, high=high)


def test_windows_of_one_run_are_in_its_row_and_each_is_recognised(watermarks, job, rows):
    orders = open_to(watermarks, job, 5, "jr_1", "orders_id")
    customers = open_to(watermarks, job, 7, "jr_1", "customers_id")
    watermarks.commit_window(orders)
    latest = watermarks.commit_window(customers)

    assert watermarks.commit_window(pickle.loads(pickle.dumps(orders))) == latest  # noqa: S301
    assert set(rows()) == {"jr_1", "~HEAD"}
    assert watermarks.latest(job) == latest


def test_run_commits_one_more_window_after_another_run_has_committed(watermarks, job, rows):
    first = open_to(watermarks, job, 5, "jr_1", "orders_id")
    second = open_to(watermarks, job, 7, "jr_1", "customers_id")
    watermarks.commit_window(first)
    watermarks.commit_window(open_to(watermarks, job, 9, "jr_2", "items_id"))

    latest = watermarks.commit_window(second)
    watermarks.commit_window(open_to(watermarks, job, 11, "jr_3", "items_id"))

    assert (latest.run_id, latest.version) == ("jr_1", 3)
    assert latest.log == f"jr_1#{second.window_id}"
    assert latest.watermarks == {"orders_id": 5, "customers_id": 7, "items_id": 9}
    names = [entry.run_id for entry in watermarks.history(job)]
    assert names == ["jr_3", "jr_1", "jr_2", "jr_1"]
    assert watermarks.commit_window(second).version == 3
    assert watermarks.commit_window(first).version == 1
    assert len(watermarks.committed_windows(job)) == 4


def test_run_can_be_rewound_to_its_second_row(watermarks, job):
    first = open_to(watermarks, job, 5, "jr_1", "orders_id")
    second = open_to(watermarks, job, 7, "jr_1", "customers_id")
    watermarks.commit_window(first)
    watermarks.commit_window(open_to(watermarks, job, 9, "jr_2", "items_id"))
    stored = watermarks.commit_window(second)
    watermarks.commit_window(open_to(watermarks, job, 11, "jr_3", "items_id"))

    rewound = watermarks.rewind(job, to_run=stored.run_id, reason="bad rows", actor="ops")

    assert rewound.watermarks == stored.watermarks
    assert len(watermarks.committed_windows(job)) == 3


def test_superseded_run_that_committed_another_window_is_told_by_whom(watermarks, job, rows):
    watermarks.commit_window(open_to(watermarks, job, 5, "jr_1", "orders_id"))
    late = open_to(watermarks, job, 7, "jr_1", "customers_id")
    watermarks.commit_window(open_to(watermarks, job, 7, "jr_2", "customers_id"))
    before = rows()

    with pytest.raises(WatermarkSupersededError, match=r"run 'jr_1' proposed .* but 'jr_2'"):
        watermarks.commit_window(late)

    assert rows() == before


def test_row_of_a_run_that_goes_on_and_on_does_not_grow(watermarks, job, rows, monkeypatch):
    monkeypatch.setattr(commit, "_WINDOWS_IN_A_ROW", 2)
    windows = []
    for high in range(1, 6):
        windows.append(open_to(watermarks, job, high, "manual", "id"))
        watermarks.commit_window(windows[-1])

    assert sorted(rows()) == [
        "manual",
        *(f"manual#{window.window_id}" for window in windows[2:]),
        "~HEAD",
    ]
    assert [watermarks.commit_window(window).version for window in windows] == [2, 2, 3, 4, 5]
    assert len(watermarks.committed_windows(job)) == 5
