"""publish_delays: integers per route and day."""

from __future__ import annotations

from datetime import date

import pytest

from tidemark.testing import assert_idempotent

pytestmark = pytest.mark.spark

CURATED = """
    SELECT
        DATE(flight_date) AS flight_date, origin, dest, is_cancelled, dep_delay, arr_delay, precip
    FROM VALUES
        ('2013-01-01', 'EWR', 'IAH', false, 14, -3, 0.0D),
        ('2013-01-01', 'EWR', 'IAH', false, 15, 20, 0.1D),
        ('2013-01-01', 'EWR', 'IAH', false, -5, NULL, NULL),
        ('2013-01-01', 'EWR', 'IAH', true, NULL, NULL, 0.2D),
        ('2013-01-01', 'JFK', 'ORD', true, NULL, NULL, NULL),
        ('2013-01-02', 'EWR', 'IAH', false, 60, 61, 0.0D)
    AS flights(flight_date, origin, dest, is_cancelled, dep_delay, arr_delay, precip)
"""
DELAYS = "SELECT flights, DATE(day) AS flight_date FROM VALUES {} AS delays(flights, day)"
MEASURES = (
    "flights",
    "cancelled",
    "delayed",
    "dep_delay_minutes",
    "arr_delay_minutes",
    "flights_in_rain",
)


def days(spark, s3):
    rows = spark.read.parquet(s3.uri).selectExpr("flights", "string(flight_date)").collect()
    return sorted(tuple(row) for row in rows)


def test_route_has_one_row_per_day(spark, job):
    delays = job.daily_delays(spark.sql(CURATED)).orderBy("flight_date", "origin")

    assert delays.selectExpr("string(flight_date)", "origin", "dest").collect() == [
        ("2013-01-01", "EWR", "IAH"),
        ("2013-01-01", "JFK", "ORD"),
        ("2013-01-02", "EWR", "IAH"),
    ]


def test_flights_of_a_route_are_counted_and_their_minutes_summed(spark, job):
    one_day = spark.sql(CURATED).where("flight_date = '2013-01-01' AND origin = 'EWR'")

    assert job.daily_delays(one_day).select(*MEASURES).collect() == [(4, 1, 1, 24, 17, 2)]


def test_route_whose_flights_were_all_cancelled_has_zeros(spark, job):
    cancelled = spark.sql(CURATED).where("origin = 'JFK'")

    assert job.daily_delays(cancelled).select(*MEASURES).collect() == [(1, 1, 0, 0, 0, 0)]


@pytest.mark.parametrize(("minutes", "delayed"), [(14, 0), (15, 1)])
def test_flight_is_delayed_from_fifteen_minutes_on(spark, job, minutes, delayed):
    flight = spark.sql(CURATED).where(f"dep_delay = {minutes}")

    assert job.daily_delays(flight).select("delayed").collect() == [(delayed,)]


def test_delays_have_the_columns_they_promise(spark, job):
    assert job.daily_delays(spark.sql(CURATED)).dtypes == [
        ("flight_date", "date"),
        ("origin", "string"),
        ("dest", "string"),
        *((name, "bigint") for name in MEASURES),
    ]


def test_no_flights_have_no_delays(spark, job):
    assert job.daily_delays(spark.sql(CURATED).where("false")).collect() == []


def test_rewritten_days_are_ascending_and_once(spark, job):
    rewritten = spark.sql(
        "SELECT * FROM VALUES (2013, 2, 1), (2013, 1, 31), (2013, 2, 1) AS f(year, month, day)"
    )

    assert job.rewritten_days(rewritten) == [date(2013, 1, 31), date(2013, 2, 1)]


def test_empty_increment_rewrites_no_days(spark, job):
    assert job.rewritten_days(spark.sql("SELECT 1 AS year").drop("year")) == []


def test_replaced_days_leave_other_days_alone(spark, job, s3):
    job.replace_days(spark.sql(DELAYS.format("(1, '2013-01-01'), (2, '2013-01-02')")), s3.uri)

    job.replace_days(spark.sql(DELAYS.format("(3, '2013-01-02')")), s3.uri)

    assert days(spark, s3) == [(1, "2013-01-01"), (3, "2013-01-02")]


def test_a_run_writes_the_days_that_are_new_and_again_without_effect(spark, lake, glue_job):
    paths = {"source_path": "s3://curated/flights/", "target_path": "s3://mart/delays/"}
    parts = (f"{part}(flight_date) AS {part}" for part in ("year", "month", "day"))
    flights = spark.sql(CURATED).selectExpr("*", *parts)
    for number in (1, 2):
        day = f"flight_date=2013-01-0{number}"
        rows = flights.where(day.replace("=", " = '") + "'").drop("flight_date")
        lake.put(f"curated/flights/{day}/a.parquet", rows, minutes_ago=20)

    first = glue_job("publish_delays.py", bookmark="enable", **paths).check()
    lake.touch("curated/flights/flight_date=2013-01-02/a.parquet")
    second = glue_job("publish_delays.py", bookmark="enable", **paths).check()

    assert (first.rows_written, second.rows_written) == (3, 1)
    assert second.files_read == ["curated/flights/flight_date=2013-01-02/a.parquet"]
    assert_idempotent("publish_delays.py", **paths)
