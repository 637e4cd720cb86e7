"""Rows of a window and the newest cursor value: Spark decides as Python does, in any zone."""

from __future__ import annotations

import json
import time
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sampled import at_night, sampled
from tests.tries import tries
from watermarks import WatermarkValueError, Window, newest, rows_of, window_condition

pytestmark = pytest.mark.spark

NEW_YORK = ZoneInfo("America/New_York")
MICROSECOND = timedelta(microseconds=1)
# 1:30 in the morning comes twice: first in summer time, an hour later in winter time.
FIRST = datetime(2013, 11, 3, 1, 30, tzinfo=NEW_YORK)
SECOND = FIRST.replace(fold=1)
HOUR_SKIPPED = datetime(2013, 3, 10, 2, 30)  # noqa: DTZ001 - no clock of New York shows it

ASCENDING = {
    "timestamp": [
        datetime(1, 1, 3, tzinfo=UTC),
        datetime(1582, 10, 10, tzinfo=UTC),
        FIRST,
        FIRST + MICROSECOND,
        SECOND,
        SECOND.replace(microsecond=1),
        datetime(2013, 11, 3, 13, 15, tzinfo=timezone(timedelta(hours=5, minutes=45))),
        datetime(9999, 12, 30, tzinfo=UTC),
    ],
    "timestamp_ntz": [
        datetime(1, 1, 1),  # noqa: DTZ001
        datetime(1582, 10, 10),  # noqa: DTZ001
        HOUR_SKIPPED,
        HOUR_SKIPPED + MICROSECOND,
        datetime(9999, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001
    ],
    "date": [date(1, 1, 1), date(1582, 10, 10), date(2013, 3, 10), date(9999, 12, 31)],
    "tinyint": [-128, 0, 127],
    "int": [-(2**31), -1, 0, 1, 2**31 - 1],
    "bigint": [-(2**63), -1, 0, 2**31, 2**63 - 1],
    "decimal(38,0)": [Decimal(-(10**37)), Decimal(0), Decimal(2**63), Decimal(10**38 - 1)],
    "decimal(20,6)": [Decimal("-0.000001"), Decimal(0), Decimal("0.000001"), Decimal("1.5")],
    "string": ["", "\0", "A", "O'Hare", "\\", "`", "a", "a ", "é\n", "\uffff", "😀"],
}
ZONES = ["UTC", "America/New_York"]
IN_ZONES = [
    pytest.param(kind, zone, id=f"{zone}-{kind}")
    for kind in ASCENDING
    for zone in ZONES
    if kind in ("timestamp", "timestamp_ntz", "date") or zone == "UTC"  # the others know no zone
]


def window(low, high, **changes):
    fields = {"job_id": "j", "run_id": "jr_1", "cursor": "c", "window_id": "1", "attempt": 1}
    return Window(**{**fields, "low": low, "high": high, "read_low": low, **changes})


def utc(value):
    """Return a value that Python compares as an instant, which it does not within one zone."""
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value


def selected(values, low, high, bounds):
    low, high = utc(low), utc(high)
    if bounds == "(]":
        return [n for n, value in enumerate(map(utc, values)) if low < value <= high]
    return [n for n, value in enumerate(map(utc, values)) if low <= value < high]


def frame_of(spark, kind, values):
    """Return numbered values as Spark itself parses them: no conversion of Python's has a part."""
    if kind == "string":
        return spark.createDataFrame(list(enumerate(values)), "n INT, c STRING")
    texts = [(n, None if value is None else str(utc(value))) for n, value in enumerate(values)]
    frame = spark.createDataFrame(texts, "n INT, c STRING")
    return frame.selectExpr("n", f"CAST(c AS {kind}) AS c")


def numbers(frame):
    return sorted(row["n"] for row in frame.collect())


@pytest.fixture(params=ZONES)
def zone(request, spark, monkeypatch):
    """Run in a zone: session and Python process; one with summer time must change nothing."""
    spark.conf.set("spark.sql.session.timeZone", request.param)
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def numbers_in(frame, windows):
    """Return the numbers of the rows in each window, by one query."""
    conditions = [window_condition(each, "c").alias(f"w{n}") for n, each in enumerate(windows)]
    rows = frame.select("n", *conditions).collect()
    return [sorted(row["n"] for row in rows if row[f"w{n}"]) for n in range(len(windows))]


@pytest.mark.parametrize(("kind", "zone"), IN_ZONES, indirect=["zone"])
def test_window_selects_the_rows_that_python_selects_ties_included(spark, zone, kind):
    ascending = ASCENDING[kind]
    values = [value for value in ascending for _ in range(2)]
    ends = [
        (low, high, bounds)
        for low, high in ((ascending[1], ascending[-2]), (ascending[0], ascending[-1]))
        for bounds in ("(]", "[)")
    ]

    windows = [window(low, high, bounds=bounds) for low, high, bounds in ends]

    assert numbers_in(frame_of(spark, kind, values), windows) == [
        selected(values, *of_window) for of_window in ends
    ]


@pytest.mark.parametrize("kind", sampled(ASCENDING, "timestamp", "string", "date"))
def test_consecutive_windows_take_every_row_once(spark, kind):
    values = ASCENDING[kind]
    windows = [window(low, high) for low, high in pairwise([None, *values])]

    assert numbers_in(frame_of(spark, kind, values), windows) == [[n] for n in range(len(values))]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [4, 5]),
        ({"bounds": "[)"}, [3, 4]),
        ({"bounds": "[]"}, [3, 4, 5]),
        ({"read_low": 2}, [3, 4, 5]),
        ({"read_low": 2, "bounds": "[)"}, [2, 3, 4]),
        ({"low": None, "read_low": None}, [1, 2, 3, 4, 5]),
        ({"low": None, "read_low": None, "bounds": "[)"}, [1, 2, 3, 4]),
        ({"nulls": "exclude"}, [4, 5]),
        ({"nulls": "include"}, [0, 4, 5]),
        ({"nulls": "include", "low": None, "read_low": None}, [0, 1, 2, 3, 4, 5]),
    ],
    ids=[
        "after low up to high",
        "from low to before high",
        "both ends",
        "lookback",
        "lookback from low",
        "first run",
        "first run to before high",
        "nulls excluded",
        "nulls included",
        "nulls included in the first run",
    ],
)
def test_window_has_its_edges_and_its_nulls(spark, changes, expected):
    frame = frame_of(spark, "int", [None, 1, 2, 3, 4, 5, 6])

    rows = rows_of(frame, window(**{"low": 3, "high": 5, **changes}), "c")

    assert numbers(rows) == expected


def test_condition_works_on_a_nested_column(spark):
    frame = frame_of(spark, "int", [1, 2]).selectExpr("n", "struct(c) AS s")

    assert numbers(frame.where(window_condition(window(1, 2), "s.c"))) == [1]
    assert numbers(rows_of(frame, window(1, 2), "s.c")) == [1]


def test_parquet_scan_is_given_the_condition(spark, s3):
    values = [FIRST, FIRST + MICROSECOND, SECOND, SECOND.replace(microsecond=1)]
    frame_of(spark, "timestamp", values).write.parquet(s3.uri)

    rows = rows_of(spark.read.parquet(s3.uri), window(FIRST, SECOND), "c")

    plan = rows._jdf.queryExecution().executedPlan().toString()
    assert "GreaterThan(c,2013-11-03 05:30:00.0), LessThanOrEqual(c,2013-11-03 06:30:00.0)]" in plan
    assert numbers(rows) == [1, 2]


@pytest.mark.nightly
@settings(
    max_examples=tries(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=8))
def test_any_text_is_compared_as_python_compares_it(spark, values):
    low, high = sorted(values[:2])
    frame = spark.createDataFrame(list(enumerate(values)), "n INT, c STRING")

    assert numbers(rows_of(frame, window(low, high), "c")) == selected(values, low, high, "(]")


def test_empty_window_has_no_condition(spark):
    with pytest.raises(ValueError, match=r"window of job 'j' is empty"):
        window_condition(window(3, None, window_id=""), "c")


@pytest.mark.parametrize(
    ("kind", "high"),
    [
        ("timestamp", datetime(2013, 1, 1)),  # noqa: DTZ001
        ("timestamp_ntz", FIRST),
        ("string", FIRST),
        ("timestamp", date(2013, 1, 1)),
        ("string", 5),
        ("int", "5"),
    ],
)
def test_column_of_another_type_than_the_window_is_refused(spark, kind, high):
    frame = frame_of(spark, kind, [])

    with pytest.raises(WatermarkValueError, match=rf"column 'c' is a {kind}, and the window ends"):
        rows_of(frame, window(None, high), "c")


def test_half_a_character_is_refused(spark):
    with pytest.raises(WatermarkValueError, match="lone surrogate"):
        window_condition(window(None, "\ud800"), "c")


def test_number_beyond_what_spark_has_is_refused(spark):
    with pytest.raises(WatermarkValueError, match="more digits than a decimal of Spark"):
        window_condition(window(None, Decimal("1E-39")), "c")


@pytest.mark.parametrize("nulls", ["exclude", *at_night("include")])
@pytest.mark.parametrize(("kind", "zone"), IN_ZONES, indirect=["zone"])
def test_newest_is_the_greatest_value_with_its_type(spark, zone, kind, nulls):
    values = ASCENDING[kind]
    frame = frame_of(spark, kind, [values[-1], None, *values])

    found = newest(frame, "c", nulls)

    assert found == values[-1]
    assert type(found) is type(values[-1])
    if kind == "timestamp":
        assert found.tzinfo is UTC


def test_newest_of_the_hour_that_comes_twice_is_the_later_instant(spark, zone):
    frame = frame_of(spark, "timestamp", [SECOND.replace(microsecond=1), FIRST + MICROSECOND])

    assert newest(frame, "c") == datetime(2013, 11, 3, 6, 30, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize("kind", sampled(ASCENDING, "timestamp", "string"))
def test_newest_of_no_rows_is_none(spark, kind):
    assert newest(frame_of(spark, kind, []), "c") is None


@pytest.mark.parametrize("kind", sampled(ASCENDING, "timestamp", "string"))
def test_newest_of_nulls_alone_is_none_where_they_are_allowed(spark, kind):
    assert newest(frame_of(spark, kind, [None, None]), "c", nulls="exclude") is None


def test_nulls_are_raised_with_their_number(spark):
    frame = frame_of(spark, "int", [None, 1, None])

    with pytest.raises(WatermarkValueError, match=r"the column 'c' has no value in 2 of the rows"):
        newest(frame, "c")


def test_newest_is_one_query(spark, logged):
    frame = frame_of(spark, "int", [1, 2])

    events = [json.loads(line)["Event"] for line in logged(lambda: newest(frame, "c")).splitlines()]

    starts = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
    assert events.count(starts) == 1


def test_newest_of_a_nested_column(spark):
    frame = spark.sql("SELECT struct(struct(7 AS c) AS b) AS a")

    assert newest(frame, "a.b.c") == 7


@pytest.mark.parametrize(
    ("value", "kind", "remedy"),
    [
        ("1.5D", "double", r"cast it to a decimal, such as decimal\(38, 9\)"),
        ("CAST(1 AS FLOAT)", "float", r"cast it to a decimal, such as decimal\(38, 9\)"),
        ("true", "boolean", "it has no order; take another column"),
        ("struct(1 AS x)", "struct<x:int>", "name one of its fields, such as 'column.field'"),
        ("array(1)", "array<int>", "cast it to one of these, or take another column"),
        ("X'00'", "binary", "cast it to one of these, or take another column"),
        ("INTERVAL 1 DAY", "interval day", "cast it to one of these, or take another column"),
    ],
)
def test_column_that_cannot_be_a_cursor_is_refused_with_the_remedy(spark, value, kind, remedy):
    frame = spark.sql(f"SELECT {value} AS c")

    with pytest.raises(WatermarkValueError, match=rf"column 'c' is a {kind}: .*; {remedy}"):
        newest(frame, "c")
    with pytest.raises(WatermarkValueError, match=rf"column 'c' is a {kind}: .*; {remedy}"):
        rows_of(frame, window(1, 2), "c")


@pytest.mark.parametrize(
    "value",
    [
        "DATE'+10000-01-01'",
        "TIMESTAMP_NTZ'+10000-01-01 00:00:00'",
        "timestamp_seconds(253402300800)",
        "DATE'0000-01-01'",
    ],
)
def test_value_that_python_cannot_hold_is_refused(spark, value):
    frame = spark.sql(f"SELECT {value} AS c")

    with pytest.raises(WatermarkValueError, match=r"column 'c' lies outside the years 1 to 9999"):
        newest(frame, "c")


def test_nulls_that_are_not_allowed_are_refused(spark):
    with pytest.raises(ValueError, match="nulls is 'ignore': allowed are raise, include, exclude"):
        newest(spark.sql("SELECT 1 AS c"), "c", nulls="ignore")


@pytest.mark.parametrize(
    ("kind", "values", "low", "high", "expected"),
    [
        ("decimal(38,18)", ["1.5", "1"], None, Decimal(10**25), ["1.5", "1"]),
        ("decimal(38,18)", ["1.5", "1"], Decimal(-(10**25)), Decimal(1), ["1"]),
        ("decimal(38,18)", ["1.5", "1"], Decimal(10**24), Decimal(10**25), []),
        ("decimal(38,0)", [str(10**38 - 1), "1"], Decimal("0.5"), Decimal(10**38 - 1), None),
        ("decimal(10,2)", ["1.23", "1.24"], Decimal("1.234"), Decimal("1.2401"), ["1.24"]),
        ("decimal(10,2)", ["1.23", "1.24"], Decimal("1.2299"), Decimal("1.2399"), ["1.23"]),
    ],
)
def test_a_decimal_is_compared_in_its_own_type(spark, kind, values, low, high, expected):
    rows = ", ".join(f"(CAST('{value}' AS {kind}))" for value in values)
    frame = spark.sql(f"SELECT * FROM VALUES {rows} AS t(c)")  # noqa: S608 (our own)
    held = Window("j", "jr", "c", "1", 1, low, high)

    found = [row["c"] for row in rows_of(frame, held).collect()]

    assert sorted(found) == sorted(map(Decimal, values if expected is None else expected))
