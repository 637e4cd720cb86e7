"""curate_flights: one row per flight, its newest version, with the weather at its origin."""

from __future__ import annotations

from datetime import date

import pytest
from pyspark.errors import AnalysisException

pytestmark = pytest.mark.spark

FLIGHTS = """
    SELECT
        2013 AS year, 1 AS month, 1 AS day, dep_time, 515 AS sched_dep_time, dep_delay,
        INT(NULL) AS arr_delay, 'UA' AS carrier, flight, 'N1' AS tailnum, 'EWR' AS origin,
        'IAH' AS dest, 1400 AS distance, TIMESTAMP'2013-01-01 10:00:00' AS time_hour, updated_at,
        DATE'2013-01-01' AS flight_date
    FROM VALUES
        (1, 517, 2, TIMESTAMP'2013-01-01 11:00:00'),
        (1, 520, 5, TIMESTAMP'2013-01-03 11:00:00'),
        (2, NULL, NULL, TIMESTAMP'2013-01-01 11:00:00')
    AS versions(flight, dep_time, dep_delay, updated_at)
"""
WEATHER = """
    SELECT *, DATE'2013-01-01' AS weather_date FROM VALUES
        ('EWR', TIMESTAMP'2013-01-01 10:00:00', 39.0D, 1.0D, 0.0D, 9.0D,
            TIMESTAMP'2013-01-01 11:00:00'),
        ('EWR', TIMESTAMP'2013-01-01 10:00:00', 40.5D, 2.0D, 0.1D, 8.0D,
            TIMESTAMP'2013-01-02 11:00:00'),
        ('EWR', TIMESTAMP'2013-01-01 11:00:00', 50.0D, 3.0D, 0.2D, 7.0D,
            TIMESTAMP'2013-01-01 12:00:00'),
        ('JFK', TIMESTAMP'2013-01-01 10:00:00', 60.0D, 4.0D, 0.3D, 6.0D,
            TIMESTAMP'2013-01-01 11:00:00')
    AS observed(origin, time_hour, temp, wind_speed, precip, visib, updated_at)
"""
CURATED = "SELECT flight, DATE(flight_date) AS flight_date FROM VALUES {} AS c(flight, flight_date)"


def days(spark, s3):
    rows = spark.read.parquet(s3.uri).selectExpr("flight", "string(flight_date)").collect()
    return sorted(tuple(row) for row in rows)


def test_touched_days_are_those_of_all_frames_ascending_and_once(spark, job):
    flights = spark.sql("SELECT * FROM VALUES (2013, 2, 1), (2013, 1, 31) AS f(year, month, day)")
    weather = spark.sql("SELECT * FROM VALUES (2013, 2, 1), (2012, 12, 31) AS w(year, month, day)")

    assert job.touched_days(flights, weather) == [
        date(2012, 12, 31),
        date(2013, 1, 31),
        date(2013, 2, 1),
    ]


def test_empty_increments_touch_no_days(spark, job):
    nothing = spark.sql("SELECT 1 AS year").where("false").drop("year")

    assert job.touched_days(nothing, nothing) == []


def test_newest_keeps_one_row_per_key_the_last_updated(spark, job):
    rows = spark.sql("""
        SELECT * FROM VALUES
            ('EWR', 1, 'old', TIMESTAMP'2013-01-01 11:00:00.000001'),
            ('EWR', 1, 'new', TIMESTAMP'2013-01-01 11:00:00.000002'),
            ('EWR', 2, 'only', TIMESTAMP'2012-01-01 11:00:00'),
            ('JFK', 1, 'other', TIMESTAMP'2012-01-01 11:00:00')
        AS versions(origin, hour, version, updated_at)
    """)

    newest = job.newest(rows, ("origin", "hour"))

    assert newest.columns == ["origin", "hour", "version", "updated_at"]
    assert newest.select("origin", "hour", "version").orderBy("origin", "hour").collect() == [
        ("EWR", 1, "new"),
        ("EWR", 2, "only"),
        ("JFK", 1, "other"),
    ]


def test_newest_of_equal_copies_is_one_of_them(spark, job):
    copies = spark.sql("SELECT 1 AS id, TIMESTAMP'2013-01-01 11:00:00' AS updated_at")

    assert job.newest(copies.unionAll(copies), ("id",)).select("id").collect() == [(1,)]


def test_corrected_version_of_a_flight_wins(spark, job):
    curated = job.curate(spark.sql(FLIGHTS), spark.sql(WEATHER)).where("flight = 1")

    versions = curated.selectExpr("dep_delay", "string(updated_at)")
    assert versions.collect() == [(5, "2013-01-03 11:00:00")]


def test_flight_that_never_departed_is_cancelled(spark, job):
    curated = job.curate(spark.sql(FLIGHTS), spark.sql(WEATHER)).orderBy("flight")

    assert curated.select("flight", "is_cancelled").collect() == [(1, False), (2, True)]


def test_weather_is_the_newest_at_the_hour_and_origin(spark, job):
    curated = job.curate(spark.sql(FLIGHTS), spark.sql(WEATHER)).where("flight = 1")

    observed = curated.select("temp", "wind_speed", "precip", "visib")
    assert observed.collect() == [(40.5, 2.0, 0.1, 8.0)]


def test_flight_without_an_observation_is_kept_with_nulls(spark, job):
    elsewhere = spark.sql(WEATHER).where("origin = 'JFK'")

    curated = job.curate(spark.sql(FLIGHTS), elsewhere).orderBy("flight")

    observed = curated.select("flight", "temp", "wind_speed", "precip", "visib")
    assert observed.collect() == [(1, None, None, None, None), (2, None, None, None, None)]


def test_curated_rows_have_the_columns_they_promise(spark, job):
    curated = job.curate(spark.sql(FLIGHTS), spark.sql(WEATHER))

    assert curated.dtypes == [
        ("year", "int"),
        ("month", "int"),
        ("day", "int"),
        ("flight_date", "date"),
        ("carrier", "string"),
        ("flight", "int"),
        ("tailnum", "string"),
        ("origin", "string"),
        ("dest", "string"),
        ("sched_dep_time", "int"),
        ("dep_delay", "int"),
        ("arr_delay", "int"),
        ("distance", "int"),
        ("is_cancelled", "boolean"),
        ("temp", "double"),
        ("wind_speed", "double"),
        ("precip", "double"),
        ("visib", "double"),
        ("updated_at", "timestamp"),
    ]


def test_same_flight_number_at_another_time_is_another_flight(spark, job):
    morning = spark.sql(FLIGHTS).where("flight = 2")
    evening = morning.withColumn("sched_dep_time", morning.sched_dep_time + 1200)

    curated = job.curate(morning.unionAll(evening), spark.sql(WEATHER)).orderBy("sched_dep_time")

    assert curated.select("flight", "sched_dep_time").collect() == [(2, 515), (2, 1715)]


def test_replaced_days_leave_other_days_alone(spark, job, s3):
    first = spark.sql(CURATED.format("(1, '2013-01-01'), (2, '2013-01-02'), (3, '2013-01-02')"))
    job.replace_days(first, s3.uri)
    untouched = [name for name in s3.names() if "2013-01-01" in name]

    job.replace_days(spark.sql(CURATED.format("(4, '2013-01-02')")), s3.uri)

    assert days(spark, s3) == [(1, "2013-01-01"), (4, "2013-01-02")]
    assert [name for name in s3.names() if "2013-01-01" in name] == untouched


def test_replacing_a_day_twice_leaves_its_rows_once(spark, job, s3):
    curated = spark.sql(CURATED.format("(1, '2013-01-01')"))

    job.replace_days(curated, s3.uri)
    job.replace_days(curated, s3.uri)

    assert days(spark, s3) == [(1, "2013-01-01")]


def test_day_is_written_as_one_file(spark, job, s3):
    curated = spark.sql(CURATED.format("(1, '2013-01-01'), (2, '2013-01-01')"))

    job.replace_days(curated.repartition(2), s3.uri)

    assert [name.partition("/")[0] for name in s3.names()] == ["flight_date=2013-01-01"]


def test_raw_data_that_was_never_ingested_has_no_rows(spark, job, s3):
    weather = job.read_raw(spark, s3.uri, job.WEATHER_SCHEMA)

    assert weather.count() == 0
    assert job.curate(spark.sql(FLIGHTS), weather).count() == 2


def test_raw_data_is_read_with_the_date_of_its_folder(spark, job, s3):
    spark.sql(FLIGHTS).write.partitionBy("flight_date").parquet(f"{s3.uri}window=0000000001/")

    flights = job.read_raw(spark, s3.uri, job.FLIGHTS_SCHEMA).where("flight = 2")

    assert flights.selectExpr("flight", "string(flight_date)").collect() == [(2, "2013-01-01")]


def test_other_failures_to_read_are_raised(spark, job, s3):
    spark.sql(CURATED.format("(1, '2013-01-01')")).write.parquet(s3.uri)

    with pytest.raises(AnalysisException, match="COLUMN_ALREADY_EXISTS"):
        job.read_raw(spark, s3.uri, "flight INT, FLIGHT INT")
