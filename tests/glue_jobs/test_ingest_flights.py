"""ingest_flights: the flights that changed since the watermark."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from pyspark.errors import AnalysisException

pytestmark = pytest.mark.spark

CHANGED = """
    SELECT * FROM VALUES
        (1, TIMESTAMP'2013-01-01 11:00:00', DATE'2013-01-01'),
        (2, TIMESTAMP'2013-01-01 12:00:00.000001', DATE'2013-01-01'),
        (3, TIMESTAMP'2013-01-02 12:00:00', DATE'2013-01-02')
    AS flights(flight, updated_at, flight_date)
"""
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


def numbers(frame):
    return sorted(row["flight"] for row in frame.collect())


def windows(s3):
    return sorted({name.rpartition("/")[0] for name in s3.names() if name.endswith(".parquet")})


def test_without_a_watermark_every_row_has_changed(spark, job):
    assert numbers(job.changed_since(spark.sql(LANDED), None)) == [1, 2]


def test_only_rows_after_the_watermark_have_changed(spark, job):
    low = datetime(2013, 3, 1, tzinfo=UTC)

    assert numbers(job.changed_since(spark.sql(LANDED), low)) == [2]


def test_row_at_the_watermark_to_the_microsecond_has_not_changed(spark, job):
    low = datetime(2013, 3, 1, 0, 0, 0, 1, tzinfo=UTC)

    assert numbers(job.changed_since(spark.sql(LANDED), low)) == []


def test_changed_rows_have_the_date_of_the_flight_and_not_of_the_landing(spark, job):
    changed = job.changed_since(spark.sql(LANDED), None).orderBy("flight")

    assert changed.columns == ["year", "month", "day", "flight", "updated_at", "flight_date"]
    assert changed.selectExpr("flight", "string(flight_date)").collect() == [
        *((1, "2013-01-31"), (2, "2013-02-28"))
    ]


def test_rows_without_a_landing_date_can_change_too(spark, job):
    table = spark.sql(LANDED).drop("landed_on")

    assert numbers(job.changed_since(table, datetime(2013, 2, 1, tzinfo=UTC))) == [2]


def test_greatest_update_keeps_microseconds(spark, job):
    changed = spark.sql(CHANGED).where("flight < 3")

    assert job.greatest_update(changed) == datetime(2013, 1, 1, 12, 0, 0, 1, tzinfo=UTC)


def test_greatest_update_ignores_rows_without_one(spark, job):
    changed = spark.sql(
        "SELECT * FROM VALUES (TIMESTAMP'2013-01-01 11:00:00'), (NULL) AS f(updated_at)"
    )

    assert job.greatest_update(changed) == datetime(2013, 1, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize("rows", ["flight > 3", "flight = 0"])
def test_greatest_update_of_no_rows_is_none(spark, job, rows):
    assert job.greatest_update(spark.sql(CHANGED).where(rows)) is None


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_watermark_does_not_depend_on_the_zone_of_the_process(spark, job, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    landed = spark.sql(LANDED)

    high = job.greatest_update(landed)

    assert high == datetime(2013, 3, 1, 0, 0, 0, 1, tzinfo=UTC)
    assert numbers(job.changed_since(landed, high)) == []
    assert numbers(job.changed_since(landed, datetime(2013, 2, 1, tzinfo=UTC))) == [2]


def test_window_holds_one_file_per_flight_date(spark, job, s3):
    job.write_window(spark.sql(CHANGED), f"{s3.uri}window=1/", datetime(2013, 1, 3, tzinfo=UTC))

    assert windows(s3) == ["window=1/flight_date=2013-01-01", "window=1/flight_date=2013-01-02"]
    assert len([name for name in s3.names() if name.endswith(".parquet")]) == 2
    assert numbers(spark.read.parquet(s3.uri)) == [1, 2, 3]


def test_window_ends_at_its_watermark(spark, job, s3):
    high = datetime(2013, 1, 1, 12, 0, 0, 1, tzinfo=UTC)

    job.write_window(spark.sql(CHANGED), f"{s3.uri}window=1/", high)

    assert numbers(spark.read.parquet(s3.uri)) == [1, 2]


def test_rerun_replaces_exactly_its_window(spark, job, s3):
    high = datetime(2013, 1, 3, tzinfo=UTC)
    job.write_window(spark.sql(CHANGED), f"{s3.uri}window=1/", high)
    job.write_window(spark.sql(CHANGED), f"{s3.uri}window=2/", high)

    job.write_window(spark.sql(CHANGED).where("flight = 3"), f"{s3.uri}window=2/", high)

    assert windows(s3) == [
        "window=1/flight_date=2013-01-01",
        "window=1/flight_date=2013-01-02",
        "window=2/flight_date=2013-01-02",
    ]
    assert numbers(spark.read.parquet(s3.uri)) == [1, 2, 3, 3]


def test_landed_file_is_read_with_its_types(spark, job, s3):
    s3.put("landed_on=2013-01-01/a.csv", HEADER + ROW_1)

    (row,) = job.read_files(spark, s3.uri, None).collect()

    assert (row.year, row.carrier, row.flight, row.dep_delay) == (2013, "UA", 1545, 2)
    assert row.updated_at.isoformat() == "2013-01-01T11:00:00.123456"
    assert row.landed_on.isoformat() == "2013-01-01"


def test_value_that_is_not_available_is_null(spark, job, s3):
    s3.put("landed_on=2013-01-02/a.csv", HEADER + ROW_2)

    (row,) = job.read_files(spark, s3.uri, None).collect()

    assert (row.dep_time, row.dep_delay, row.arr_delay, row.tailnum) == (None, None, None, None)


@pytest.mark.parametrize(
    ("low", "flights"),
    [
        (None, [1545, 4650]),
        (datetime(2013, 1, 1, 23, 59, tzinfo=UTC), [1545, 4650]),
        (datetime(2013, 1, 2, tzinfo=UTC), [4650]),
        (datetime(2013, 1, 3, tzinfo=UTC), []),
    ],
    ids=["no watermark", "same day", "next day", "later"],
)
def test_folders_that_landed_before_the_day_of_the_watermark_are_left_out(
    spark, job, s3, low, flights
):
    s3.put("landed_on=2013-01-01/a.csv", HEADER + ROW_1)
    s3.put("landed_on=2013-01-02/a.csv", HEADER + ROW_2)

    assert numbers(job.read_files(spark, s3.uri, low)) == flights


def test_folders_are_left_out_before_their_files_are_read(spark, job, s3):
    s3.put("landed_on=2013-01-01/a.csv", HEADER + ROW_1)
    s3.put("landed_on=2013-01-02/a.csv", HEADER + ROW_2)

    flights = job.read_files(spark, s3.uri, datetime(2013, 1, 2, tzinfo=UTC))

    plan = flights._jdf.queryExecution().executedPlan().toString()
    assert "PartitionFilters: [isnotnull(landed_on" in plan
    assert "DataFilters: []" in plan


def test_source_where_nothing_ever_landed_is_empty(spark, job, s3):
    flights = job.read_files(spark, s3.uri, None)

    assert flights.count() == 0
    assert job.greatest_update(job.changed_since(flights, None)) is None


def test_other_failures_to_read_are_raised(spark, job, s3, monkeypatch):
    s3.put("a.csv", "1,1\n")
    monkeypatch.setattr(job, "FLIGHTS_SCHEMA", "flight INT, FLIGHT INT")

    with pytest.raises(AnalysisException, match="COLUMN_ALREADY_EXISTS"):
        job.read_files(spark, s3.uri, None)


def test_jdbc_table_has_lower_case_columns(spark, job, monkeypatch):
    driver = "org.apache.derby.jdbc.EmbeddedDriver"
    spark.sql(LANDED).drop("landed_on").write.jdbc(
        "jdbc:derby:ingest;create=true", "flights", properties={"driver": driver}
    )
    argv = ["ingest-flights", "--jdbc_url", "jdbc:derby:ingest", "--jdbc_table", "flights"]
    monkeypatch.setattr("sys.argv", [*argv, "--jdbc_driver", driver])

    flights = job.read_source(spark, "jdbc", None)

    assert flights.columns == ["year", "month", "day", "flight", "updated_at"]
    assert numbers(job.changed_since(flights, datetime(2013, 2, 1, tzinfo=UTC))) == [2]


def test_unknown_source_is_refused(spark, job):
    with pytest.raises(ValueError, match="--source is 'kafka'; allowed are 'files' and 'jdbc'"):
        job.read_source(spark, "kafka", None)
