"""A column that is finer than a cursor loses no row, and has none waiting."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from tests.sampled import at_night
from watermarks import newest_jdbc, read_jdbc
from watermarks.spark.jdbc import next_value

pytestmark = pytest.mark.spark

URL = "jdbc:derby:memory:finer;create=true"
OPTIONS = {
    "url": URL,
    "driver": "org.apache.derby.jdbc.EmbeddedDriver",
    "preferTimestampNTZ": "true",
}


@pytest.fixture
def execute(spark):
    """Return a function that executes SQL in Derby."""
    gateway = spark.sparkContext._jvm
    gateway.java.lang.Class.forName(OPTIONS["driver"])
    connection = gateway.java.sql.DriverManager.getConnection(URL)
    yield lambda sql: connection.createStatement().execute(sql)
    connection.close()


def read(spark, watermarks, job, run, **options):
    found = []
    bound = newest_jdbc(spark, OPTIONS, "TIMES")
    for window in watermarks.windows(
        job, run_id=run, cursor="AT", high=bound, settle=timedelta(0), **options
    ):
        found += [row["ID"] for row in read_jdbc(spark, OPTIONS, "TIMES", window).collect()]
    return found


@pytest.mark.parametrize("options", [{"max_rows": 2}, *at_night({})], ids=["by two", "at once"])
def test_rows_within_a_microsecond_are_read_when_they_are_there_and_once(
    spark, watermarks, job, execute, options
):
    execute('CREATE TABLE TIMES (ID INT, "AT" TIMESTAMP)')
    chance, nanos, number, seen = random.Random(7), 10**9, 0, []  # noqa: S311 (a test)
    try:
        for run in range(5):
            nanos = (nanos // 1000 + 2) * 1000  # the next run is in another microsecond
            for _ in range(chance.randint(1, 4)):
                nanos += chance.choice([0, 1, 70, 999, 1000, 123_456])
                time = f"2026-01-01 00:00:{nanos // 10**9:02}.{nanos % 10**9:09}"
                execute(f"INSERT INTO TIMES VALUES ({number}, TIMESTAMP('{time}'))")  # noqa: S608
                number += 1
            seen += read(spark, watermarks, job, f"jr_{run}", **options)
            assert sorted(seen) == list(range(number))
        assert read(spark, watermarks, job, "jr_9", **options) == []
    finally:
        execute("DROP TABLE TIMES")


@pytest.mark.parametrize(
    ("value", "after"),
    [
        (datetime(2026, 1, 1), datetime(2026, 1, 1, microsecond=1)),  # noqa: DTZ001 (without a zone)
        (datetime.max, datetime.max),  # noqa: DTZ901 (without a zone)
        (Decimal("1.5"), Decimal("1.500000000000000001")),
    ],
)
def test_the_next_value_is_one_step_up(value, after):
    assert next_value(value) == after
