"""Windows upserted into PostgreSQL: each is there once and whole, whatever wakes up late."""

from __future__ import annotations

import uuid

import pytest

from watermarks import WatermarkSupersededError, WatermarkValueError, Window, upsert_jdbc

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
        return upsert_jdbc(frame, server.options, table, window, ["id"], **options)

    return upsert


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


def test_a_run_that_was_superseded_changes_nothing(upsert, stored):
    slow = window("1")
    upsert([(1, "right", 10, "I")], again(slow, 2))

    with pytest.raises(WatermarkSupersededError, match="than 1 has been upserted"):
        upsert([(1, "wrong", 10, "I"), (2, "extra", 11, "I")], slow)

    assert stored() == [(1, "right", 10)]


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


def test_nothing_is_left_of_the_rows_on_their_way(upsert, server):
    w = window("1")
    with server.connect() as connection:  # of an attempt that died
        connection.execute(f'CREATE TABLE "tidemark_{w.window_id}_0" (id INT)')
    upsert([(1, "open", 10, "I")], w)

    with server.connect() as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_tables WHERE starts_with(tablename, %s)",
            [f"tidemark_{w.window_id}"],
        ).fetchone()
        noted = connection.execute(
            "SELECT attempt, job_id FROM tidemark_windows WHERE window_id = %s", [w.window_id]
        ).fetchone()
    assert found == (0,)
    assert noted == (1, "j")


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
