"""Catching up in bites: many committed windows instead of one, and no tie in two of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tries import tries
from watermarks import WatermarkAdmin, WatermarkValueError

DAY = timedelta(days=1)


class Rows:
    """A source in memory that answers as `newest(frame)` does."""

    is_live = False

    def __init__(self, rows):
        self.rows = sorted(rows)
        self.asked = 0

    def newest(self, cursor, low, nulls):
        self.asked += 1
        return self.rows[-1] if self.rows else None

    def after_rows(self, cursor, low, is_low_in, rows):
        found = [row for row in self.rows if low is None or row > low or (is_low_in and row == low)]
        return found[rows - 1] if len(found) >= rows else None

    def of(self, window):
        low, high = window.low, window.high
        return [
            row
            for row in self.rows
            if (low is None or row > low or (window.bounds[0] == "[" and row == low))
            and (row < high or (window.bounds[1] == "]" and row == high))
        ]


def bites(watermarks, job, source, run_id="jr_1", **options):
    request = {"run_id": run_id, "cursor": "id", "high": source, **options}
    return [source.of(window) for window in watermarks.windows(job, **request)]


@pytest.fixture
def watermarks(client, table_name):
    return WatermarkAdmin(table_name, client)


def test_a_year_is_read_day_by_day_and_days_without_rows_cost_nothing(watermarks, job):
    days = [date(2025, 1, 1), date(2025, 1, 2), date(2025, 6, 1), date(2025, 12, 31)]

    found = bites(watermarks, job, Rows(days), max_span=DAY, settle=timedelta(0))

    assert found == [days[:2], [days[2]], [days[3]]]
    assert watermarks.latest(job).watermarks == {"id": days[-1]}
    assert len(watermarks.committed_windows(job)) == 3


def test_the_bound_is_asked_for_once(watermarks, job):
    source = Rows(range(100))

    assert len(bites(watermarks, job, source, max_rows=10)) == 10
    assert source.asked == 1


def test_rows_that_are_equal_stay_together(watermarks, job):
    rows = [1, 2, 2, 2, 2, 3, 3, 4]

    assert bites(watermarks, job, Rows(rows), max_rows=2) == [[1, 2, 2, 2, 2], [3, 3], [4]]


def test_rows_that_are_equal_stay_together_with_the_upper_end_open(watermarks, job):
    rows = [1, 2, 2, 2, 2, 3, 3, 4]

    found = bites(watermarks, job, Rows(rows), max_rows=2, bounds="[)")

    assert found == [[1, 2, 2, 2, 2], [3, 3]]  # 4 is still arriving


def test_a_run_that_dies_in_the_middle_is_continued_there(watermarks, job):
    source = Rows(range(10))
    request = {"run_id": "jr_1", "cursor": "id", "high": source, "max_rows": 3}
    windows = watermarks.windows(job, **request)
    found = [source.of(next(windows)), source.of(next(windows))]
    del windows

    again = bites(watermarks, job, source, "jr_2", max_rows=3)

    assert found == [[0, 1, 2], [3, 4, 5]]
    assert again == [[3, 4, 5], [6, 7, 8], [9]]


def test_a_recovered_window_is_not_the_last_one(watermarks, job):
    watermarks.open_window(job, run_id="jr_1", cursor="id", high=3)

    assert bites(watermarks, job, Rows(range(10)), "jr_2") == [[0, 1, 2, 3], [4, 5, 6, 7, 8, 9]]


def test_a_bound_without_a_source_is_cut_by_span_from_initial(watermarks, job):
    request = {"run_id": "jr_1", "cursor": "id", "high": 10, "max_span": 4}
    with pytest.raises(WatermarkValueError, match="no lower end to count from: give initial="):
        watermarks.open_window(job, **request)

    windows = [(w.low, w.high, w.bounds) for w in watermarks.windows(job, initial=0, **request)]

    assert windows == [(0, 4, "[]"), (4, 8, "(]"), (8, 10, "(]")]


def test_the_clock_is_cut_by_span(watermarks, job):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    request = {"run_id": "jr_1", "cursor": "at", "initial": start, "max_span": 2 * DAY}
    watermarks = WatermarkAdmin(
        watermarks.table_name, watermarks.dynamodb_client, now=lambda: start + 5 * DAY
    )

    highs = [window.high for window in watermarks.windows(job, **request)]

    assert highs == [start + 2 * DAY, start + 4 * DAY, start + 5 * DAY - timedelta(minutes=5)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"high": 10, "max_rows": 5}, "no one can count the rows of this source"),
        ({"high": 10, "max_rows": 0}, "max_rows is 0: give an integer of at least 1"),
        ({"high": 10, "max_rows": True}, "max_rows is True"),
        ({"high": 10, "max_rows": 5, "max_span": 5}, "give one of them"),
        ({"high": 10, "max_span": DAY}, "max_span is .*: a number takes a number"),
        ({"high": 10, "initial": 0, "max_span": 0}, "no step from 0: give more"),
        ({"high": 10, "initial": 0, "max_span": -1}, "give a distance that is not negative"),
        ({"high": "b", "initial": "a", "max_span": 1}, "a string takes no distance"),
        ({"high": Rows([date(2026, 1, 1)]), "max_span": timedelta(hours=5)}, "no step from"),
        ({"high": Rows(["a"]), "max_span": 1}, "a string takes no distance"),
    ],
)
def test_a_size_that_leads_nowhere_is_refused_before_anything_is_written(
    watermarks, job, rows, options, message
):
    with pytest.raises(ValueError, match=message):
        watermarks.open_window(job, run_id="jr_1", cursor="id", **options)

    assert rows() == {}


@settings(
    max_examples=tries(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    batches=st.lists(st.lists(st.decimals(0, 40, places=1), max_size=12), min_size=1, max_size=4),
    bounds=st.sampled_from(["(]", "[)"]),
    limit=st.one_of(
        st.builds(lambda n: {"max_rows": n}, st.integers(1, 5)),
        st.builds(lambda n: {"max_span": n}, st.sampled_from([1, 7, Decimal("0.3")])),
        st.just({}),
    ),
    initial=st.one_of(st.none(), st.just(Decimal(0))),
)
def test_every_row_is_in_one_window_whatever_the_bites(watermarks, batches, bounds, limit, initial):
    job = f"bites-{id(batches)}-{datetime.now(UTC).timestamp()}"
    source, found = Rows([]), []
    for number, batch in enumerate(batches):
        newest = source.rows[-1] if source.rows else Decimal(0)
        low = newest if bounds == "[)" else newest + Decimal("0.1")
        source.rows = sorted([*source.rows, *(low + abs(row) for row in batch)])
        options = {"bounds": bounds, "initial": initial, **limit}
        windows = bites(watermarks, job, source, f"jr_{number}", **options)
        found += [row for window in windows for row in window]
        if "max_rows" in limit:
            for window in windows:
                before_the_last_tie = [row for row in window if row != window[-1]]
                assert len(before_the_last_tie) < limit["max_rows"]

    expected = source.rows
    if bounds == "[)" and expected:
        expected = [row for row in expected if row < expected[-1]]
    assert found == expected
