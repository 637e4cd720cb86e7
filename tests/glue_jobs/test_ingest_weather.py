"""ingest_weather: one set of types, whatever a batch of JSON looks like."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark

TYPES = [
    ("origin", "string"),
    ("year", "int"),
    ("month", "int"),
    ("day", "int"),
    ("hour", "int"),
    ("temp", "double"),
    ("humid", "double"),
    ("wind_speed", "double"),
    ("precip", "double"),
    ("visib", "double"),
    ("time_hour", "timestamp"),
    ("updated_at", "timestamp"),
    ("weather_date", "date"),
]
BATCHES = {
    "fractions": '"temp": 39.02, "humid": 59.37, "wind_speed": 10.35, "precip": 0.1, "visib": 9.5',
    "integers": '"temp": 39, "humid": 59, "wind_speed": 10, "precip": 0, "visib": 10',
    "nulls": '"temp": null, "humid": null, "wind_speed": null, "precip": null, "visib": null',
}
VALUES = {
    "fractions": (39.02, 59.37, 10.35, 0.1, 9.5),
    "integers": (39.0, 59.0, 10.0, 0.0, 10.0),
    "nulls": (None, None, None, None, None),
}


def observation(values):
    return (
        '{"origin": "EWR", "year": 2013, "month": 1, "day": 1, "hour": 1, '
        f'{values}, "time_hour": "2013-01-01T06:00:00Z", "updated_at": "2013-01-01T07:00:00Z"}}\n'
    )


@pytest.mark.parametrize("batch", ["fractions", "integers", "nulls"])
def test_types_do_not_depend_on_what_a_batch_infers(spark, job, s3, batch):
    s3.put("a.json", observation(BATCHES[batch]))

    weather = job.typed_weather(spark.read.json(s3.uri))

    assert weather.dtypes == TYPES
    measured = weather.select("temp", "humid", "wind_speed", "precip", "visib")
    assert measured.collect() == [VALUES[batch]]


def test_times_are_utc_and_the_date_is_that_of_the_columns(spark, job, s3):
    s3.put("a.json", observation(BATCHES["fractions"]))

    weather = job.typed_weather(spark.read.json(s3.uri))

    times = weather.selectExpr("string(time_hour)", "string(updated_at)", "string(weather_date)")
    assert times.collect() == [("2013-01-01 06:00:00", "2013-01-01 07:00:00", "2013-01-01")]


def test_columns_that_the_table_does_not_have_are_left_out(spark, job, s3):
    s3.put("a.json", observation('"dewp": 26.06, ' + BATCHES["fractions"]))

    assert job.typed_weather(spark.read.json(s3.uri)).dtypes == TYPES
