"""How far a bound is held back: behind the clock, or until it was seen long enough ago."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from watermarks import WatermarkAdmin, WatermarkValueError

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


class Clock:
    def __init__(self):
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def watermarks(client, table_name, clock):
    return WatermarkAdmin(table_name, client, now=clock)


def read(watermarks, job, rows, run_id, **options):
    """Read what is new of rows; return the rows of the windows."""
    found = []
    for window in watermarks.windows(
        job, run_id=run_id, cursor="id", high=lambda _: max(rows, default=None), **options
    ):
        found += [row for row in rows if is_in(row, window)]
    return found


def is_in(row, window):
    low, high = window.low, window.high
    is_after = low is None or row > low or (window.bounds[0] == "[" and row == low)
    return is_after and (row < high or (window.bounds[1] == "]" and row == high))


@pytest.mark.parametrize("bounds", ["(]", "[)"])
def test_ten_rows_a_day_are_all_read_and_a_day_late_at_most(watermarks, job, clock, bounds):
    rows: list[int] = []
    found: list[int] = []
    for day in range(5):
        rows += range(10 * day, 10 * day + 10)
        found += read(watermarks, job, rows, f"jr_{day}", settle=HOUR, bounds=bounds)
        clock.time += timedelta(days=1)
    found += read(watermarks, job, rows, "jr_last", settle=HOUR, bounds=bounds)

    assert found == rows if bounds == "(]" else found == rows[:-1]


def test_a_row_that_commits_after_a_greater_one_is_read(watermarks, job, clock):
    rows = [1, 2, 4]
    assert read(watermarks, job, rows, "jr_1", settle=HOUR) == []
    rows.insert(2, 3)  # its transaction was open
    clock.time += HOUR

    assert read(watermarks, job, rows, "jr_2", settle=HOUR) == [1, 2, 3, 4]
    assert read(watermarks, job, rows, "jr_3", settle=HOUR) == []


def test_a_bound_waits_however_often_it_is_looked_at(watermarks, job, clock, rows):
    values = [5]
    for number in range(6):
        assert read(watermarks, job, values, f"jr_{number}", settle=HOUR) == []
        clock.time += 9 * MINUTE
        values.append(values[-1] + 1)
    clock.time += 6 * MINUTE

    assert read(watermarks, job, values, "jr_9", settle=HOUR) == [5]
    assert watermarks.latest(job).watermarks == {"id": 5}
    assert read(watermarks, job, values, "jr_10", settle=HOUR) == []
    clock.time += HOUR
    assert read(watermarks, job, values, "jr_11", settle=HOUR) == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize(
    "values",
    [
        [date(2026, 1, 1), date(2026, 1, 2)],
        [datetime(2026, 1, 1), datetime(2026, 1, 2)],  # noqa: DTZ001 (without a zone)
        [Decimal("1.5"), Decimal("2.5")],
        ["a", "b"],
    ],
)
def test_what_the_clock_says_nothing_about_is_held_back_by_time(watermarks, job, clock, values):
    assert read(watermarks, job, values, "jr_1", settle=HOUR) == []
    clock.time += HOUR

    assert read(watermarks, job, values, "jr_2", settle=HOUR) == values


def test_a_rewind_does_not_make_a_bound_wait_again(watermarks, job, clock):
    rows = [1, 2, 3]
    read(watermarks, job, rows, "jr_1", settle=HOUR)
    clock.time += HOUR
    assert read(watermarks, job, rows, "jr_2", settle=HOUR) == rows
    watermarks.rewind(job, to_run=None, reason="x", actor="y")

    assert read(watermarks, job, rows, "jr_3", settle=HOUR) == rows


def test_instants_stay_five_minutes_behind_the_clock_unless_told(watermarks, job, clock):
    at = clock.time - MINUTE
    request = {"cursor": "at", "high": lambda _: at}

    assert watermarks.open_window(job, run_id="jr_1", **request).high == clock.time - 5 * MINUTE
    other = f"{job}-2"
    zero = watermarks.open_window(other, run_id="jr_1", settle=timedelta(0), **request)
    assert zero.high == at


def test_without_a_bound_a_window_ends_behind_the_clock(watermarks, job, clock):
    first = watermarks.open_window(job, run_id="jr_1", cursor="at")
    watermarks.commit_window(first)

    assert first.high == clock.time - 5 * MINUTE
    assert watermarks.open_window(job, run_id="jr_2", cursor="at").is_empty
    clock.time += MINUTE
    assert watermarks.open_window(job, run_id="jr_3", cursor="at").low == first.high


def test_without_a_bound_a_number_is_refused(watermarks, job, rows):
    with pytest.raises(WatermarkValueError, match="high is not given, and the cursor 'id' is a n"):
        watermarks.open_window(job, run_id="jr_1", cursor="id", initial=5)

    assert rows() == {}


class LiveTable:
    """A table whose rows become visible in no order."""

    is_live = True

    def newest(self, cursor, low, nulls):
        return 7

    def after_rows(self, cursor, low, is_low_in, rows):
        raise AssertionError


def test_a_number_of_a_live_table_needs_a_word_on_when_it_is_complete(watermarks, job, rows, clock):
    request = {"cursor": "id", "high": LiveTable()}
    with pytest.raises(WatermarkValueError, match=r"or settle=timedelta\(0\), if rows come in ord"):
        watermarks.open_window(job, run_id="jr_1", **request)

    assert rows() == {}
    at_once = watermarks.open_window(job, run_id="jr_1", settle=timedelta(0), **request)
    assert at_once.high == 7
    other = f"{job}-2"
    assert watermarks.open_window(other, run_id="jr_1", settle=HOUR, **request).is_empty
    clock.time += HOUR
    assert watermarks.open_window(other, run_id="jr_2", settle=HOUR, **request).high == 7


def test_a_clock_that_was_ahead_is_unlocked_by_a_rewind(watermarks, job, clock, client, table_name):
    ahead = WatermarkAdmin(table_name, client, now=lambda: clock.time + timedelta(days=3650))
    read(ahead, job, [clock.time - HOUR], "jr_1")

    with pytest.raises(Exception, match="rewind the job to its current run 'jr_1'"):
        watermarks.open_window(job, run_id="jr_2", cursor="id", high=clock.time)
    watermarks.rewind(job, to_run="jr_1", reason="its clock was wrong", actor="ada")

    window = watermarks.open_window(job, run_id="jr_3", cursor="id", high=clock.time)
    assert window.high == clock.time - 5 * MINUTE


def test_a_lost_answer_to_what_is_only_noted_is_no_failure(lossy_client, table_name, job, clock):
    lossy = WatermarkAdmin(
        table_name, lossy_client(2, "UpdateItem"), now=clock, sleep=lambda _: None
    )
    assert read(lossy, job, [1, 2], "jr_1", settle=HOUR) == []
    clock.time += HOUR

    assert read(lossy, job, [1, 2], "jr_2", settle=HOUR) == [1, 2]


def test_what_was_seen_of_another_type_says_nothing(watermarks, job, clock):
    read(watermarks, job, [1, 2], "jr_1", settle=HOUR)
    clock.time += HOUR
    read(watermarks, job, [1, 2], "jr_2", settle=HOUR)
    watermarks.rewind(job, to_run=None, reason="the ids are texts now", actor="ada")

    assert read(watermarks, job, ["a", "b"], "jr_3", settle=HOUR) == []
    clock.time += HOUR
    assert read(watermarks, job, ["a", "b"], "jr_4", settle=HOUR) == ["a", "b"]


def test_a_window_does_not_end_behind_the_bound_that_is_asked_for(watermarks, job, clock):
    request = {"cursor": "id", "settle": HOUR}
    watermarks.open_window(job, run_id="jr_1", high=100, **request)
    clock.time += HOUR

    assert watermarks.open_window(job, run_id="jr_2", high=50, **request).high == 50


def test_a_first_row_at_initial_is_read_when_it_was_seen_long_enough(watermarks, job, clock):
    assert read(watermarks, job, [5], "jr_1", settle=HOUR, initial=5) == []
    clock.time += HOUR
    assert read(watermarks, job, [5], "jr_2", settle=HOUR, initial=5) == [5]


def test_a_clock_without_a_zone_is_refused(client, table_name, job, rows):
    naive = WatermarkAdmin(table_name, client, now=lambda: datetime(2026, 1, 1))  # noqa: DTZ001

    with pytest.raises(ValueError, match="without a zone"):
        naive.open_window(job, run_id="jr_1", cursor="id", high=5, settle=HOUR)

    assert rows() == {}
