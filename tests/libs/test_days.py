"""Days and other cursors coarser than their arrivals lose no row; no bound lies in the future."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tries import tries
from watermarks import Watermarks, WatermarkValueError

TODAY = date(2026, 11, 25)
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.fixture
def clock():
    class Clock:
        time = NOW

    return Clock()


@pytest.fixture
def watermarks(watermarks, clock):
    return Watermarks(watermarks.table_name, watermarks.dynamodb_client, now=lambda: clock.time)


def read(watermarks, job, rows, run, **options):
    """Return the ids of the rows, pairs of cursor and id, that the windows of a run have."""
    found = []
    high = max((value for value, _ in rows), default=None)
    for window in watermarks.windows(job, run_id=run, cursor="day", high=high, **options):
        low_in, high_in = window.bounds[0] == "[", window.bounds[1] == "]"
        found += [
            row
            for value, row in rows
            if (window.low is None or value > window.low or (low_in and value == window.low))
            and (value < window.high or (high_in and value == window.high))
        ]
    return found


def day(kind, number):
    value = TODAY - timedelta(days=20 - number)
    return value if kind == "date" else value.isoformat()


@pytest.mark.parametrize("kind", ["date", "text"])
def test_a_row_that_comes_later_on_the_last_day_is_read(watermarks, job, kind):
    rows = [(day(kind, 1), 1), (day(kind, 2), 2)]
    first = read(watermarks, job, rows, "jr_1")
    rows += [(day(kind, 2), 3), (day(kind, 3), 4)]

    assert first + read(watermarks, job, rows, "jr_2") == [1, 2, 3]


@pytest.mark.parametrize("kind", ["date", "text"])
def test_a_day_of_the_old_bounds_is_read_a_day_after_it_was_seen(watermarks, job, clock, kind):
    rows = [(day(kind, 1), 1)]
    old = {"bounds": "(]", "settle": timedelta(0)}
    assert read(watermarks, job, rows, "jr_1", **old) == [1]  # as it was stored before
    rows.append((day(kind, 2), 2))

    assert read(watermarks, job, rows, "jr_2") == []
    rows.append((day(kind, 2), 3))
    clock.time += timedelta(days=1)
    assert read(watermarks, job, rows, "jr_3") == [2, 3]


@settings(max_examples=tries(30), deadline=None)
@given(
    st.lists(
        st.lists(st.integers(0, 3), max_size=4),  # rows of a run, by how many days they are ahead
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["date", "text"]),
    st.randoms(use_true_random=False),
)
def test_rows_of_days_that_are_not_over_are_read_once(runs, kind, random):
    watermarks, job = _fresh(random)
    rows, found, today = [], [], 1
    for number, steps in enumerate(runs):
        for step in sorted(steps):  # no row of a day comes after one of a later day
            today += step // 3
            rows.append((day(kind, today), len(rows)))
        found += read(watermarks, job, rows, f"jr_{number:02}")
    last = max((value for value, _ in rows), default=None)
    assert sorted(found) == [row for value, row in rows if value < last]


@pytest.fixture(autouse=True)
def _table(watermarks):
    _TABLE[:] = [watermarks]


_TABLE = []


def _fresh(random):
    return _TABLE[0], f"days-{random.getrandbits(64)}-{id(object())}-{next(_NUMBERS)}"


_NUMBERS = iter(range(10**9))


@pytest.mark.parametrize(
    "value",
    [
        date(9999, 12, 31),
        date(2062, 11, 25),
        datetime(2027, 1, 1),  # noqa: DTZ001 (without a zone)
        datetime.max.replace(tzinfo=UTC),
        "9999-12-31",
        "2027-01-01 10:00:00",
        "9999-12-31 23:59:59 UTC",
        "9999-12-31T00:00:00+00:00[UTC]",
        "9999-12-31 24:00:00",
        "9999-99-99",
        "2026-13-01",
        "2999/12/31 10:00",
        "9999.12.31",
    ],
    ids=repr,
)
def test_a_bound_ahead_of_the_clock_is_refused_and_nothing_is_written(watermarks, job, value):
    options = {"cursor": "day", "high": value, "settle": timedelta(0)}

    with pytest.raises(WatermarkValueError, match=r"clock says 2026-11-25T12:00.*future=timedelta"):
        watermarks.open_window(job, run_id="jr_1", **options)

    assert watermarks.latest(job) is None
    window = watermarks.open_window(job, run_id="jr_1", future=timedelta.max, **options)
    assert window.high == value


def test_a_stored_watermark_ahead_of_the_clock_is_told_each_run(watermarks, job, clock, caplog):
    clock.time = NOW + timedelta(days=900)
    ahead = (NOW + timedelta(days=400)).replace(tzinfo=None)
    assert read(watermarks, job, [(ahead, 1)], "jr_1") == [1]
    clock.time = NOW

    with caplog.at_level(logging.WARNING, "watermarks"):
        assert read(watermarks, job, [(NOW.replace(tzinfo=None), 2)], "jr_2") == []

    assert "no row before it is read; rewind" in caplog.text


@pytest.mark.parametrize(
    "high",
    [
        10**15,
        99991231,
        "x-9999-12-31",
        9999,
        "9999-12-310",
        "9999-12/31",
        "0000-01-01 x",
        "2026/11/25",
    ],
    ids=str,
)
def test_numbers_and_other_texts_are_not_judged(watermarks, job, high):
    assert watermarks.open_window(job, run_id="jr_1", cursor="day", high=high).high == high


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (20261101, 20261102),
        (2025, 2026),
        (datetime(2026, 11, 1), datetime(2026, 11, 2)),  # noqa: DTZ001 (without a zone)
        (datetime(2026, 11, 1, 7), datetime(2026, 11, 1, 8)),  # noqa: DTZ001
        (202610, 202611),
        (2026110107, 2026110108),
        ("2026-10", "2026-11"),
        ("202610", "202611"),
        ("2026/11/01", "2026/11/02"),
        ("20261101", "20261102"),
        ("2026-W47", "2026-W48"),
        ("2026-11-01 00:00:00", "2026-11-02 00:00:00"),
        ("2026-11-01T07", "2026-11-01T08:00:00.000+01:00"),
    ],
    ids=repr,
)
def test_values_that_look_like_whole_units_are_warned_of(watermarks, job, caplog, low, high):
    read(watermarks, job, [(low, 1)], "jr_1")
    assert not caplog.text

    with caplog.at_level(logging.WARNING, "watermarks"):
        read(watermarks, job, [(high, 1)], "jr_2")

    assert "rows with this value may still come" in caplog.text
    caplog.clear()
    later = read(watermarks, job, [(high, 1)], "jr_3", settle=timedelta(hours=1))
    assert later == []
    assert not caplog.text


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (20260001, 20261302),
        (202613, 202614),
        (1_700_000_000, 1_700_003_600),
        (1967, 2009),  # ids of orders
        (2025, 2031),
        (201901, 202611),
        ("1968", "2009"),
        (datetime(2026, 11, 1, 7, 1), datetime(2026, 11, 1, 7, 2)),  # noqa: DTZ001
        ("2026-11-01 07:12:00", "2026-11-01 08:01:00"),
        ("a-2026-10", "a-2026-11"),
    ],
    ids=str,
)
def test_values_that_are_finer_are_not_warned_of(watermarks, job, caplog, low, high):
    with caplog.at_level(logging.WARNING, "watermarks"):
        read(watermarks, job, [(low, 1)], "jr_1")
        read(watermarks, job, [(high, 1)], "jr_2")

    assert not caplog.text


@pytest.mark.parametrize(
    "high", [int, len, lambda: 1, lambda a, b: 1], ids=["int", "len", "none", "two"]
)
def test_what_is_no_function_of_a_lower_bound_is_refused(watermarks, job, high):
    with pytest.raises(WatermarkValueError, match="give a function of one argument"):
        watermarks.open_window(job, run_id="jr_1", cursor="id", high=high)


@pytest.mark.parametrize("future", [1, None, timedelta(-1)])
def test_how_far_ahead_is_a_timedelta(watermarks, job, future):
    with pytest.raises(WatermarkValueError, match="future is"):
        watermarks.open_window(job, run_id="jr_1", cursor="id", high=1, future=future)
