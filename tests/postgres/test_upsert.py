"""Windows upserted into PostgreSQL: each is there once and whole, whatever wakes up late."""

from __future__ import annotations

import uuid
from datetime import timedelta
from hashlib import sha256

import pytest
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from watermarks import WatermarkSupersededError, WatermarkValueError, Window, upsert_jdbc
from watermarks.spark.columns import DELETED
from watermarks.spark.upsert import _Target

pytestmark = pytest.mark.spark


@pytest.fixture
def table(server):
    name = f"orders_{uuid.uuid4().hex}"
    with server.connect() as connection:
        connection.execute(
            f"CREATE TABLE {name} (id INT PRIMARY KEY, status TEXT, updated_at BIGINT)"
        )
    return name


@pytest.fixture
def stored(server, table):
    def read():
        with server.connect() as connection:
            return connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()  # noqa: S608

    return read


@pytest.fixture
def upsert(spark, server, table):
    def upsert(rows, window, **options):
        frame = spark.createDataFrame(rows, "id INT, status STRING, updated_at BIGINT, op STRING")
        if not options:
            frame = frame.drop("op")
        return upsert_jdbc(frame, server.options, table, window, ["id"], **options)

    return upsert


def test_rows_that_a_repeated_task_has_staged_twice_count_once(server, table, stored):
    target = _Target(server.options, table, window("1"), ["id"], "updated_at")
    schema = StructType(
        [
            StructField("id", IntegerType()),
            StructField("status", StringType()),
            StructField("updated_at", LongType()),
        ]
    )
    deleted = f'false AS "{DELETED}"'
    with server.connect() as connection:
        connection.execute(f"CREATE TABLE {target.staged} AS SELECT *, {deleted} FROM {table}")  # noqa: S608
        for _ in range(2):
            connection.execute(f"INSERT INTO {target.staged} VALUES (1, 'open', 10, false)")  # noqa: S608
        changed = [connection.execute(one).rowcount for one in target.statements(schema)]

    assert changed == [1, 0]
    assert stored() == [(1, "open", 10)]


def window(name, attempt=1):
    return Window("j", "jr_1", "updated_at", f"{name}-{uuid.uuid4().hex}", attempt, None, 99)


def again(of, attempt):
    return Window("j", "jr_2", "updated_at", of.window_id, attempt, None, 99, is_recovered=True)


def test_rows_are_inserted_replaced_and_deleted(upsert, stored):
    first = [(1, "open", 10, "I"), (2, "open", 11, "I"), (3, "open", 12, "I")]
    assert upsert(first, window("1")) == 3

    second = [(1, "done", 20, "U"), (2, "open", 21, "D"), (4, "new", 22, "I")]
    assert upsert(second, window("2"), deleted="op = 'D'") == 3

    assert stored() == [(1, "done", 20), (3, "open", 12), (4, "new", 22)]


def test_a_window_upserted_twice_is_there_once(upsert, stored):
    w = window("1")
    rows = [(1, "open", 10, "I"), (1, "done", 11, "U")]
    upsert(rows, w)
    upsert(rows, w)

    assert stored() == [(1, "done", 11)]


@pytest.mark.nightly
def test_a_run_that_was_superseded_changes_nothing(upsert, stored):
    slow = window("1")
    upsert([(1, "right", 10, "I")], again(slow, 2))

    with pytest.raises(WatermarkSupersededError, match="a later attempt than 1"):
        upsert([(1, "wrong", 10, "I"), (2, "extra", 11, "I")], slow)

    assert stored() == [(1, "right", 10)]


def test_a_table_that_is_not_there_or_has_no_unique_index_is_named(spark, server, table):
    frame = spark.createDataFrame([(1, "a", 10)], "id INT, status STRING, updated_at BIGINT")

    with pytest.raises(WatermarkValueError, match=f"the database has no table '{table}_2'"):
        upsert_jdbc(frame, server.options, f"{table}_2", window("1"), ["id"])
    with pytest.raises(WatermarkValueError, match="no unique index on exactly the keys status"):
        upsert_jdbc(frame, server.options, table, window("1"), ["status"])


def test_an_older_version_does_not_replace_a_newer_one(upsert, stored):
    upsert([(1, "new", 20, "I")], window("2"))
    upsert([(1, "old", 10, "I"), (2, "old", 10, "D")], window("1"), deleted="op = 'D'")

    assert stored() == [(1, "new", 20)]


def test_a_transaction_that_fails_changes_nothing_and_can_be_done_again(
    upsert, stored, server, table
):
    with server.connect() as connection:
        connection.execute(f"ALTER TABLE {table} ADD CHECK (status <> 'bad')")
    w = window("1")

    with pytest.raises(Exception, match="violates check constraint"):
        upsert([(1, "good", 10, "I"), (2, "bad", 11, "I")], w)
    assert stored() == []

    upsert([(1, "good", 10, "I"), (2, "fine", 11, "I")], again(w, 2))
    assert stored() == [(1, "good", 10), (2, "fine", 11)]


@pytest.mark.nightly
def test_a_slow_run_and_the_one_that_took_over_at_the_same_time(upsert, stored):
    from concurrent.futures import ThreadPoolExecutor

    slow = window("1")
    rows = [(n, "row", 10, "I") for n in range(20)]

    def attempt(held):
        try:
            upsert(rows, held)
        except WatermarkSupersededError:
            return "superseded"
        return "done"

    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(attempt, [slow, again(slow, 2), again(slow, 3)]))

    assert outcomes[-1] == "done"
    assert [row[0] for row in stored()] == list(range(20))


@pytest.mark.nightly
def test_nothing_is_left_of_the_rows_on_their_way(upsert, server, table):
    w = window("1")
    upsert([(1, "open", 10, "I")], w)
    with server.connect() as connection:  # of an attempt that died
        connection.execute(f'CREATE TABLE "{staged_name(table, w)}1" (id INT)')
        connection.execute(f'CREATE TABLE "{staged_name(table, w)}3" (id INT)')
    upsert([(1, "open", 10, "I")], again(w, 2))

    with server.connect() as connection:
        found = connection.execute(
            "SELECT tablename FROM pg_tables WHERE starts_with(tablename, %s)",
            [staged_name(table, w)],
        ).fetchall()
        noted = connection.execute(
            "SELECT attempt FROM tidemark_windows WHERE window_id = %s", [w.window_id]
        ).fetchone()
    assert found == [(f"{staged_name(table, w)}3",)]  # of a later attempt, which may be writing
    assert noted == (2,)


def staged_name(table, window):
    digest = sha256("\n".join([table, window.window_id]).encode()).hexdigest()
    return f"tidemark_{digest[:32]}_"


def test_a_run_that_a_rewind_made_stale_changes_nothing(upsert, stored):
    stale = window("1", attempt=4)  # before the rewind, which raises the count
    upsert([(1, "good rate", 10, "I"), (2, "", 20, "D")], window("1", attempt=6), deleted="op='D'")

    with pytest.raises(WatermarkSupersededError, match="or a later window"):
        upsert([(1, "bad rate", 10, "I"), (2, "x", 10, "I")], stale)

    assert stored() == [(1, "good rate", 10)]


@pytest.mark.nightly
def test_parts_of_a_backfill_and_windows_of_another_cursor_count_by_themselves(upsert, stored):
    upsert([(1, "new", 10, "I")], window("1", attempt=6))
    backfill = "backfill-reload-of-the-rates-of-january-2013-for-all-shops-and-all-currencies"
    for part in (1, 2):
        of = Window("j", "jr_2", "updated_at", f"{backfill}-0123456789abcdef-{part}", 1, 0, 99)
        upsert([(part, "filled", 10, "I")], of)
    other = Window("j", "jr_3", "id", "0000000005-ab", 5, 0, 99)
    upsert([(3, "other", 10, "I")], other)

    assert stored() == [(1, "filled", 10), (2, "filled", 10), (3, "other", 10)]


def test_a_null_key_is_refused_and_nothing_is_changed(upsert, stored):
    with pytest.raises(
        WatermarkValueError, match="a NULL is in a key of the frame, in 1 of its rows"
    ):
        upsert([(None, "x", 10, "I"), (1, "y", 10, "I")], window("1"))

    assert stored() == []


@pytest.fixture
def make(server, spark):
    """Return a maker of tables, an upsert into them, and a reader, all by the table's columns."""
    name = f"made_{uuid.uuid4().hex}"

    def make(columns):
        with server.connect() as connection:
            connection.execute(f"CREATE TABLE {name} ({columns})")

        def upsert(sql, w, keys=("id",), cursor="at", **options):
            of = Window("j", "jr", cursor, w.window_id, w.attempt, None, w.high)
            return upsert_jdbc(spark.sql(sql), server.options, name, of, list(keys), **options)

        def read():
            with server.connect() as connection:
                return connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()  # noqa: S608

        return upsert, read

    return make


@pytest.mark.nightly
def test_texts_are_ordered_as_windows_order_them(make):
    upsert, read = make('id INT PRIMARY KEY, v TEXT, at TEXT COLLATE "en-x-icu"')
    upsert("SELECT * FROM VALUES (1, 'old', 'B'), (2, 'old', 'B') AS t(id, v, at)", window("1"))

    upsert(
        "SELECT * FROM VALUES (1, 'new', 'a'), (2, 'gone', 'a') AS t(id, v, at)",
        window("2"),
        deleted="v = 'gone'",
    )

    assert read() == [(1, "new", "a")]


def test_rows_are_compared_by_the_types_of_the_table(make):
    upsert, read = make("id CHAR(5) PRIMARY KEY, v JSONB, at NUMERIC(10,1)")
    first = "SELECT 'ab   ' AS id, '{}' AS v, CAST(1.1 AS DECIMAL(10,3)) AS at"
    upsert(first, window("1"))
    assert [row[0] for row in read()] == ["ab   "]

    upsert(first, window("2"), deleted="true")

    assert read() == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("DATE", "TIMESTAMP'2024-02-28 18:00:00'"),
        ("DATE", "'2024-02-28 18:00:00'"),
        ("BIGINT", "10.5"),
        ("NUMERIC(10,1)", "1.06"),
    ],
)
def test_a_cursor_that_the_table_cannot_hold_whole_is_refused(make, kind, value):
    upsert, read = make(f"id INT PRIMARY KEY, at {kind}")

    with pytest.raises(Exception, match="of the column 'at' does not fit into the table's"):
        upsert(f"SELECT 1 AS id, {value} AS at", window("1"))

    assert read() == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("DATE", "TIMESTAMP'2024-02-28'"),
        ("NUMERIC", "CAST(1e30 AS DECIMAL(38,0))"),
        ("TIMESTAMPTZ", "'2024-02-28T18:00:00Z'"),
        ("TIMESTAMP", "CAST(NULL AS TIMESTAMP)"),
    ],
)
def test_a_cursor_of_another_type_that_is_held_whole_is_taken(make, kind, value):
    upsert, _ = make(f"id INT PRIMARY KEY, at {kind}")

    assert upsert(f"SELECT 1 AS id, {value} AS at", window("1")) == 1


@pytest.mark.nightly
def test_an_hour_that_comes_twice_stays_two_hours(make, spark):
    upsert, read = make("id INT PRIMARY KEY, at TIMESTAMPTZ")
    hours = "TIMESTAMP'2013-10-27 00:30:00Z'", "TIMESTAMP'2013-10-27 01:30:00Z'"

    rows = f"VALUES (1, {hours[0]}), (2, {hours[1]}) AS t(id, at)"
    upsert(f"SELECT * FROM {rows}", window("1"))  # noqa: S608 (our own)

    first, second = (row[1] for row in read())
    assert second - first == timedelta(hours=1)


def test_a_name_that_spark_cannot_quote_is_refused_before_anything_is_made(make):
    upsert, read = make('id INT PRIMARY KEY, at INT, "x"" int); drop table y; --" INT')

    with pytest.raises(WatermarkValueError, match="with a quotation mark"):
        upsert("SELECT 1 AS id, 2 AS at", window("1"))

    assert read() == []


@pytest.mark.nightly
def test_names_with_dots_and_capitals_are_names(make):
    upsert, read = make('"Id" INT PRIMARY KEY, "a.b" TEXT, "At" INT')

    upsert("SELECT 1 AS Id, 'x' AS `a.b`, 5 AS At", window("1"), keys=("Id",), cursor="At")

    assert read() == [(1, "x", 5)]


@pytest.mark.parametrize(("keys", "cursor"), [(("nope",), "at"), (("id",), "nope")])
def test_a_key_or_cursor_that_the_table_has_not_got_is_named(make, keys, cursor):
    upsert, _ = make("id INT PRIMARY KEY, at INT")

    with pytest.raises(WatermarkValueError, match="has no column 'nope'"):
        upsert("SELECT 1 AS id, 2 AS at, 3 AS nope", window("1"), keys=keys, cursor=cursor)


@pytest.mark.parametrize(
    ("keys", "url", "message"),
    [
        ([], None, "keys is"),
        ("id", None, "keys is 'id'"),
        (["id"], "jdbc:mysql://x/y", "not one of PostgreSQL"),
    ],
)
def test_what_cannot_be_upserted_is_refused(spark, server, table, keys, url, message):
    options = {**server.options, **({"url": url} if url else {})}
    frame = spark.createDataFrame([(1, "a", 1)], "id INT, status STRING, updated_at BIGINT")

    with pytest.raises(ValueError, match=message):
        upsert_jdbc(frame, options, table, window("1"), keys)


def test_a_column_that_is_missing_is_named(spark, server, table):
    frame = spark.createDataFrame([(1, 1)], "id INT, updated_at BIGINT")

    with pytest.raises(WatermarkValueError, match="has no column 'status'"):
        upsert_jdbc(frame, server.options, table, window("1"), ["id"])
