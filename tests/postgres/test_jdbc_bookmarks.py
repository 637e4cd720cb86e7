"""Bookmark keys on PostgreSQL: its types, its collations, its schemas, and late commits."""

from __future__ import annotations

import uuid

import pytest

from tidemark.glue_job.process import bookmark_session
from tidemark.local_state.run_warnings import read_warnings

pytestmark = pytest.mark.spark


@pytest.fixture
def glue_context(spark, monkeypatch):
    from awsglue.context import GlueContext

    monkeypatch.setattr(bookmark_session, "_sessions", [])
    return GlueContext(spark.sparkContext)


@pytest.fixture
def start_job(glue_context):
    """Return a starter of runs of one job that no other test uses."""
    from awsglue.job import Job

    name = f"job-{uuid.uuid4().hex}"

    def start():
        job = Job(glue_context)
        settings = {"job_bookmark_option": "job-bookmark-enable", "JOB_RUN_ID": "jr_1"}
        job.init(name, settings)
        return job

    return start


@pytest.fixture
def read(glue_context, server):
    """Return a reader of a table's first column, sorted."""

    def read(table, **options):
        connection = {name: server.options[name] for name in ("url", "user", "password")}
        frame = glue_context.create_dynamic_frame.from_options(
            connection_type="postgresql",
            connection_options={**connection, "dbtable": table, **options},
            transformation_ctx="orders",
        )
        return sorted(row[0] for row in frame.toDF().collect())

    return read


@pytest.fixture
def warnings(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_RUN_FOLDER", str(tmp_path))
    return lambda: read_warnings(tmp_path)


@pytest.fixture
def database(server):
    with server.connect() as connection:
        connection.autocommit = True
        yield connection


@pytest.fixture
def make_table(database):
    def make(columns):
        name = f"orders_{uuid.uuid4().hex}"
        database.execute(f"CREATE TABLE {name} ({columns})")
        return name

    return make


def insert(connection, table, *rows):
    values = ", ".join(f"({row})" for row in rows)
    connection.execute(f"INSERT INTO {table} VALUES {values}")  # noqa: S608 (our own rows)


def by(*keys):
    return {"jobBookmarkKeys": list(keys)}


KINDS = {
    "bigint": ["-9223372036854775808", "0", "9223372036854775807"],
    "numeric": ["-0.000000000000000001", "0", "12345678901234567890.5"],
    "numeric(20, 0)": ["-5", "0", "99999999999999999999"],
    "date": ["'0001-01-01'", "'2013-03-10'", "'9999-12-31'"],
    "timestamp": [
        "'1900-01-01'",
        "'2013-03-10 02:30:00.123456'",
        "'2013-03-10 02:30:00.123457'",
    ],
    "timestamptz": [
        "'1900-01-01 00:00:00+00'",
        "'2013-11-03 01:30:00.000001-04'",
        "'2013-11-03 01:30:00-05'",
    ],
    "text": ["''", "'B''\\'", "'a'"],
    "uuid": [f"'{character * 32}'" for character in "19a"],
}


AT_EVERY_CHANGE = ("numeric", "timestamptz")


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in AT_EVERY_CHANGE else pytest.mark.nightly)
        for kind in KINDS
    ],
)
def test_a_key_of_every_type_splits_the_rows_exactly(
    make_table, database, read, start_job, kind, warnings
):
    low, middle, high = KINDS[kind]
    orders = make_table(f"n int, k {kind}")
    insert(database, orders, f"1, {low}", f"2, {middle}")
    first = start_job()
    assert read(orders, **by("k")) == [1, 2]
    first.commit()
    insert(database, orders, f"3, {high}")
    second = start_job()

    assert read(orders, **by("k")) == [3]

    second.commit()
    third = start_job()
    assert read(orders, **by("k")) == []
    third.commit()
    ahead = warnings()
    assert len(ahead) == ("9999-12-31" in high)
    assert all("9999-12-31, which is ahead of the clock" in text for text in ahead)
    insert(database, orders, f"4, {low}")
    start_job()
    assert read(orders, **by("k")) == []
    (warning,) = set(warnings()) - set(ahead)
    assert warning.startswith("1 row of orders came below the bookmark")


def test_text_compares_by_code_points_although_the_column_sorts_otherwise(
    make_table, database, read, start_job
):
    orders = make_table('k text COLLATE "und-x-icu"')
    insert(database, orders, "'Z'")
    first = start_job()
    read(orders, **by("k"))
    first.commit()
    insert(database, orders, "'a'", "'Y'")

    start_job()

    assert read(orders, **by("k")) == ["a"]


@pytest.mark.rule(
    "JDBC sources",
    source="INFER",
    choice="a row committed late, with a key below the bound, is lost to every later run",
)
def test_a_row_that_is_committed_late_with_an_earlier_key_is_never_read(
    make_table, database, read, start_job, server, warnings
):
    orders = make_table("id bigint PRIMARY KEY")
    with server.connect() as slow:
        insert(slow, orders, "1")
        insert(database, orders, "2")
        first = start_job()
        assert read(orders, **by("id")) == [2]
        first.commit()
        slow.commit()

    start_job()

    assert read(orders, **by("id")) == []
    assert [text for text in warnings() if "1 row of orders came below the bookmark" in text]


def test_the_default_key_is_found_in_the_schema_of_the_table_and_no_other(
    make_table, database, read, start_job, tmp_path, monkeypatch
):
    monkeypatch.setenv("TIDEMARK_RUN_FOLDER", str(tmp_path))
    orders = make_table("id int")
    schema = f"schema_{uuid.uuid4().hex}"
    database.execute(f"CREATE SCHEMA {schema}")
    database.execute(f"CREATE TABLE {schema}.{orders} (id int PRIMARY KEY)")
    for table in (orders, f"{schema}.{orders}"):
        insert(database, table, "1", "2")
    for table, expected in [(f"{schema}.{orders}", []), (orders, [1, 2])]:
        first = start_job()
        read(table)
        first.commit()

        start_job()

        assert read(table) == expected
    (warning,) = read_warnings(tmp_path)
    assert f"the table {orders} has no primary key" in warning


def test_a_quoted_table_and_key_are_read_as_they_are_spelt(database, read, start_job):
    orders = f'"Orders {uuid.uuid4().hex}"'
    database.execute(f'CREATE TABLE {orders} ("Order Id" int PRIMARY KEY)')
    insert(database, orders, "1")
    first = start_job()
    assert read(orders) == [1]
    first.commit()
    insert(database, orders, "2")

    start_job()

    assert read(orders, **by("Order Id")) == [2]
