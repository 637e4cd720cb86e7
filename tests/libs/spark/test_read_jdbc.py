"""A table behind JDBC, read window by window: on embedded Derby, through Spark."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tries import tries
from watermarks import (
    Subquery,
    Watermarks,
    WatermarkValueError,
    Window,
    newest_jdbc,
    read_jdbc,
)

pytestmark = pytest.mark.spark

OPTIONS = {
    "url": "jdbc:derby:memory:read;create=true",
    "driver": "org.apache.derby.jdbc.EmbeddedDriver",
}
NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
_tables = itertools.count(1)


@pytest.fixture
def connection(spark):
    connection = spark._jvm.java.sql.DriverManager.getConnection(OPTIONS["url"])
    yield connection
    connection.close()


@pytest.fixture
def table(connection):
    """Return a table with the columns N and UPDATED_AT, as Derby spells names without quotes."""
    name = f"ORDERS{next(_tables)}"
    connection.createStatement().execute(f"CREATE TABLE {name} (n INT, updated_at TIMESTAMP)")
    return name


@pytest.fixture
def insert(connection, table):
    def insert(rows):
        for n, at in rows:
            moment = "NULL" if at is None else f"TIMESTAMP('{at:%Y-%m-%d %H:%M:%S.%f}')"
            number = "NULL" if n is None else n
            connection.createStatement().execute(
                f"INSERT INTO {table} VALUES ({number}, {moment})"  # noqa: S608 (our own)
            )

    return insert


def window(low, high, **changes):
    fields = {"job_id": "j", "run_id": "jr_1", "cursor": "n", "window_id": "1", "attempt": 1}
    return Window(**{**fields, "low": low, "high": high, "read_low": low, **changes})


def numbers(frame):
    return sorted(row["N"] for row in frame.collect())


def test_a_job_in_one_import(spark, insert, table, client, table_name, job):
    watermarks = Watermarks(table_name, client)
    found: list[list[int]] = []
    for run, hours in (("jr_1", [0, 1]), ("jr_2", [2]), ("jr_3", [])):
        insert((hour, NOON + timedelta(hours=hour)) for hour in hours)
        windows = watermarks.windows(
            job, run_id=run, cursor="updated_at", high=newest_jdbc(spark, OPTIONS, table)
        )
        found += [numbers(read_jdbc(spark, OPTIONS, table, window)) for window in windows]

    assert found == [[0, 1], [2]]


@pytest.mark.nightly
@pytest.mark.parametrize("bounds", ["(]", "[)"])
def test_a_first_load_in_bites(spark, insert, table, client, table_name, job, bounds):
    insert((n, None) for n in [1, 2, 2, 2, 3, 3, 9])
    request = {
        "run_id": "jr_1",
        "cursor": "n",
        "high": newest_jdbc(spark, OPTIONS, table),
        "settle": timedelta(0),
        "max_rows": 2,
        "bounds": bounds,
    }

    found = [
        numbers(read_jdbc(spark, OPTIONS, table, window))
        for window in Watermarks(table_name, client).windows(job, **request)
    ]

    assert found == [[1, 2, 2, 2], [3, 3], [9]] if bounds == "(]" else [[1, 2, 2, 2], [3, 3]]


def test_an_id_of_a_live_table_is_refused_without_a_settle(
    spark, insert, table, client, table_name, job
):
    insert([(1, None)])
    request = {"run_id": "jr_1", "cursor": "n", "high": newest_jdbc(spark, OPTIONS, table)}

    with pytest.raises(WatermarkValueError, match=r"give settle=timedelta\(\.\.\.\)"):
        Watermarks(table_name, client).open_window(job, **request)


@pytest.mark.nightly
@settings(
    max_examples=tries(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    low=st.one_of(st.none(), st.integers(-1, 12)),
    size=st.integers(1, 14),
    bounds=st.sampled_from(["(]", "[)", "[]"]),
    nulls=st.sampled_from(["exclude", "include"]),
    partitions=st.integers(1, 9),
)
def test_partitions_have_every_row_of_the_window_once(
    spark, connection, low, size, bounds, nulls, partitions
):
    name = "PARTED"
    if not connection.getMetaData().getTables(None, None, name, None).next():
        statement = connection.createStatement()
        statement.execute(f"CREATE TABLE {name} (n INT)")
        for n in [*range(12), 3, 3, 7, "NULL"]:
            statement.execute(f"INSERT INTO {name} VALUES ({n})")  # noqa: S608 (our own)
    high = size if low is None else low + size
    if bounds == "[]" and low is None:
        bounds = "(]"
    wanted = window(low, high, bounds=bounds, nulls=nulls)

    whole = read_jdbc(spark, OPTIONS, name, wanted)
    parted = read_jdbc(spark, OPTIONS, name, wanted, partitions=partitions)

    assert parted.rdd.getNumPartitions() <= partitions
    found = [row["N"] for row in parted.collect()]
    assert sorted(found, key=str) == sorted((row["N"] for row in whole.collect()), key=str)


def test_partitions_split_instants(spark, insert, table):
    insert((hour, NOON + timedelta(hours=hour)) for hour in range(24))
    day = window(NOON, NOON + timedelta(hours=23), cursor="updated_at")

    frame = read_jdbc(spark, OPTIONS, table, day, partitions=4)

    assert frame.rdd.getNumPartitions() == 4
    assert frame.rdd.glom().map(len).collect() == [5, 6, 6, 6]
    assert numbers(frame) == list(range(1, 24))


def test_a_select_is_read_as_a_table_is(spark, insert, table):
    insert([(1, NOON), (2, NOON), (3, NOON)])
    query = Subquery(f"SELECT n, n * 10 AS ten FROM {table} WHERE n <> 2")  # noqa: S608 (our own)

    assert numbers(read_jdbc(spark, OPTIONS, query, window(0, 3))) == [1, 3]
    assert newest_jdbc(spark, OPTIONS, query).newest("ten", None, "raise") == 30


def test_a_column_that_the_table_has_not_got_is_named(spark, insert, table):
    with pytest.raises(WatermarkValueError, match="has no column 'm', it has N, UPDATED_AT"):
        read_jdbc(spark, OPTIONS, table, window(0, 3, cursor="m"))


@pytest.mark.parametrize("option", ["dbtable", "query", "partitionColumn", "numPartitions"])
def test_an_option_that_reads_something_else_is_refused(spark, table, option):
    options = {**OPTIONS, option: "n"}

    with pytest.raises(ValueError, match=f"options has '{option}'"):
        read_jdbc(spark, options, table, window(0, 3))
    with pytest.raises(ValueError, match=f"options has '{option}'"):
        newest_jdbc(spark, options, table).newest("n", None, "raise")


@pytest.mark.parametrize("partitions", [0, -1, True, 2.0, 1001])
def test_partitions_that_cannot_be_are_refused(spark, table, partitions):
    with pytest.raises(ValueError, match="partitions is"):
        read_jdbc(spark, OPTIONS, table, window(0, 3), partitions=partitions)


def test_options_without_a_url_are_refused(spark, table):
    with pytest.raises(ValueError, match="options has no 'url'"):
        read_jdbc(spark, {"driver": "x"}, table, window(0, 3))


@pytest.mark.parametrize(
    "bound",
    ["text", 5.0, datetime(2013, 1, 1, tzinfo=UTC), datetime(2013, 1, 1).date()],  # noqa: DTZ001
)
def test_a_column_of_another_type_than_the_bounds_is_refused(spark, insert, table, bound):
    if isinstance(bound, float):
        with pytest.raises(WatermarkValueError):
            read_jdbc(spark, OPTIONS, table, window(None, bound))
        return
    with pytest.raises(WatermarkValueError, match="the database would compare them by a guess"):
        read_jdbc(spark, OPTIONS, table, window(None, bound))
