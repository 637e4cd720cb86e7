"""ingest_flights: the flights that changed since the watermark."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from pyspark.errors import AnalysisException

from tests.sampled import at_night
from watermarks import Window

pytestmark = pytest.mark.spark

LANDED = """
    SELECT * FROM VALUES
        (2013, 1, 31, 1, TIMESTAMP'2013-02-01 00:00:00', DATE'2013-02-01'),
        (2013, 2, 28, 2, TIMESTAMP'2013-03-01 00:00:00.000001', DATE'2013-03-01')
    AS flights(year, month, day, flight, updated_at, landed_on)
"""
HEADER = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,"
    "flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour,updated_at\n"
)
ROW_1 = (
    "2013,1,1,517,515,2,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,"
    "2013-01-01T10:00:00Z,2013-01-01T11:00:00.123456Z\n"
)
ROW_2 = (
    "2013,1,2,NA,600,NA,NA,811,NA,MQ,4650,,LGA,ATL,NA,762,6,0,"
    "2013-01-02T11:00:00Z,2013-01-02T12:00:00Z\n"
)


def window(low, high, read_low=None):
    return Window(
        "ingest-flights", "jr_1", "updated_at", "1", 1, low, high, read_low=read_low or low
    )


def numbers(frame):
    return sorted(row["flight"] for row in frame.collect())


def test_without_a_watermark_every_row_has_changed(spark, job):
    assert numbers(job.changed_since(spark.sql(LANDED), None)) == [1, 2]


def test_only_rows_after_the_watermark_have_changed(spark, job):
    low = datetime(2013, 3, 1, tzinfo=UTC)

    assert numbers(job.changed_since(spark.sql(LANDED), low)) == [2]


def test_row_at_the_watermark_to_the_microsecond_has_not_changed(spark, job):
    low = datetime(2013, 3, 1, 0, 0, 0, 1, tzinfo=UTC)

    assert numbers(job.changed_since(spark.sql(LANDED), low)) == []


def test_flights_have_the_date_of_the_flight_and_not_of_the_landing(spark, job):
    flights = job.with_flight_date(spark.sql(LANDED)).orderBy("flight")

    assert flights.columns == ["year", "month", "day", "flight", "updated_at", "flight_date"]
    assert flights.selectExpr("flight", "string(flight_date)").collect() == [
        (1, "2013-01-31"),
        (2, "2013-02-28"),
    ]


def test_rows_without_a_landing_date_can_change_too(spark, job):
    table = spark.sql(LANDED).drop("landed_on")

    assert numbers(job.changed_since(table, datetime(2013, 2, 1, tzinfo=UTC))) == [2]


@pytest.fixture
def landed(spark, job, s3):
    s3.put("landed_on=2013-01-01/a.csv", HEADER + ROW_1)
    s3.put("landed_on=2013-01-02/a.csv", HEADER + ROW_2)
    return job.LandedFiles(spark, s3.uri)


def test_newest_of_landed_files_keeps_microseconds(spark, job, s3):
    s3.put("landed_on=2013-01-01/a.csv", HEADER + ROW_1)

    newest = job.LandedFiles(spark, s3.uri).newest(None)

    assert newest == datetime(2013, 1, 1, 11, 0, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_newest_does_not_depend_on_the_zone_of_the_process(landed, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    time.tzset()

    high = landed.newest(None)

    assert high == datetime(2013, 1, 2, 12, tzinfo=UTC)
    assert landed.newest(high) is None


def test_landed_file_is_read_with_its_types(landed):
    low = datetime(2013, 1, 1, tzinfo=UTC)

    (row,) = landed.rows(window(low, datetime(2013, 1, 2, tzinfo=UTC))).collect()

    assert (row.year, row.carrier, row.flight, row.dep_delay) == (2013, "UA", 1545, 2)
    assert row.updated_at.isoformat() == "2013-01-01T11:00:00.123456"
    assert row.landed_on.isoformat() == "2013-01-01"


def test_value_that_is_not_available_is_null(landed):
    low = datetime(2013, 1, 2, tzinfo=UTC)

    (row,) = landed.rows(window(low, datetime(2013, 1, 3, tzinfo=UTC))).collect()

    assert (row.dep_time, row.dep_delay, row.arr_delay, row.tailnum) == (None, None, None, None)


@pytest.mark.parametrize(
    ("low", "flights"),
    [
        (None, [1545, 4650]),
        (datetime(2013, 1, 1, 11, 0, 0, 123456, tzinfo=UTC), [4650]),
        *at_night(
            (datetime(2013, 1, 1, 11, 0, 0, 123455, tzinfo=UTC), [1545, 4650]),
            (datetime(2013, 1, 2, 12, tzinfo=UTC), []),
        ),
    ],
    ids=["no watermark", "at the first", "just before", "at the last"],
)
def test_rows_are_those_of_the_window_captured_or_recovered(landed, low, flights):
    high = datetime(2013, 1, 3, tzinfo=UTC)
    recovered = numbers(landed.rows(window(low, high)))

    landed.newest(low)

    assert recovered == numbers(landed.rows(window(low, high))) == flights


def test_window_ends_at_its_bound_whatever_has_landed_since(landed):
    landed.newest(None)

    assert numbers(landed.rows(window(None, datetime(2013, 1, 2, tzinfo=UTC)))) == [1545]


def test_lookback_reads_behind_what_the_bound_was_captured_from(landed):
    low = datetime(2013, 1, 2, tzinfo=UTC)
    landed.newest(low)

    looking_back = window(low, datetime(2013, 1, 3, tzinfo=UTC), datetime(2013, 1, 1, tzinfo=UTC))

    assert numbers(landed.rows(looking_back)) == [1545, 4650]


def test_folders_are_left_out_before_their_files_are_read(landed):
    low = datetime(2013, 1, 2, tzinfo=UTC)

    flights = landed.rows(window(low, datetime(2013, 1, 3, tzinfo=UTC)))

    plan = flights._jdf.queryExecution().executedPlan().toString()
    assert "PartitionFilters: [isnotnull(landed_on" in plan


def test_source_where_nothing_ever_landed_is_empty(spark, job, s3):
    assert job.LandedFiles(spark, s3.uri).newest(None) is None


def test_other_failures_to_read_are_raised(spark, job, s3, monkeypatch):
    s3.put("a.csv", "1,1\n")
    monkeypatch.setattr(job, "FLIGHTS_SCHEMA", "flight INT, FLIGHT INT")

    with pytest.raises(AnalysisException, match="COLUMN_ALREADY_EXISTS"):
        job.LandedFiles(spark, s3.uri).newest(None)


def test_jdbc_table_gives_its_bound_and_the_rows_of_a_window(spark, job, monkeypatch):
    driver = "org.apache.derby.jdbc.EmbeddedDriver"
    spark.sql(LANDED).drop("landed_on").write.jdbc(
        "jdbc:derby:ingest;create=true", "flights", properties={"driver": driver}
    )
    argv = ["ingest-flights", "--jdbc_url", "jdbc:derby:ingest", "--jdbc_table", "flights"]
    monkeypatch.setattr("sys.argv", [*argv, "--jdbc_driver", driver])
    low = datetime(2013, 2, 1, tzinfo=UTC)

    table = job.open_source(spark, "jdbc")

    high = table.newest.newest("updated_at", low, "raise")
    assert high == datetime(2013, 3, 1, 0, 0, 0, 1, tzinfo=UTC)
    assert table.newest.newest("updated_at", high, "raise") is None
    assert table.rows(window(low, high)).columns == ["year", "month", "day", "flight", "updated_at"]
    assert numbers(table.rows(window(low, high))) == [2]


def test_unknown_source_is_refused(spark, job):
    with pytest.raises(ValueError, match="--source is 'kafka'; allowed are 'files' and 'jdbc'"):
        job.open_source(spark, "kafka")
