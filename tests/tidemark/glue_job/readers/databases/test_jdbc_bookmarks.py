"""Which rows of a table a run reads: bookmark keys against an embedded Derby."""

from __future__ import annotations

import json

import pytest

from tests.tidemark.glue_job.readers.databases.derby import DERBY, by, numbers
from tidemark.glue_job.process.bookmark_session import current_session
from tidemark.local_state.bookmarks.keys import describe
from tidemark.local_state.bookmarks.versions import unpack
from tidemark.local_state.store.database import Store

pytestmark = pytest.mark.spark


@pytest.mark.rule("JDBC sources", source="BMS")
def test_a_run_reads_rows_with_keys_above_the_last_one_read(make_table, read, start_job):
    orders = make_table()
    orders.insert(1, 5)
    first = start_job()
    assert numbers(read(orders, **by("N"))) == [1, 5]
    first.commit()
    orders.insert(3, 7, 100)

    start_job()

    assert numbers(read(orders, **by("N"))) == [7, 100]


@pytest.mark.rule(
    "JDBC sources", source="BMS", choice="without jobBookmarkKeysSortOrder keys rise: asc"
)
def test_descending_keys_are_read_below_the_last_one(make_table, read, start_job):
    orders = make_table()
    orders.insert(-1, -5)
    first = start_job()
    assert numbers(read(orders, **by("N", jobBookmarkKeysSortOrder="desc"))) == [-5, -1]
    first.commit()
    orders.insert(-3, -7, 100)

    start_job()

    assert numbers(read(orders, **by("N", jobBookmarkKeysSortOrder="desc"))) == [-7]


@pytest.mark.rule(
    "JDBC sources",
    source="INFER",
    choice="keys must be unique: a row with the last key counts as read",
)
def test_a_later_row_with_the_key_of_the_last_one_is_never_read(make_table, read, start_job):
    orders = make_table("N INT, NAME VARCHAR(9)")
    orders.insert("1, 'a'")
    first = start_job()
    read(orders, **by("N"))
    first.commit()
    orders.insert("1, 'b'")

    start_job()

    assert read(orders, **by("N")) == []


@pytest.mark.rule(
    "JDBC sources",
    source="INFER",
    choice="the last key is captured when the source opens; later rows wait for the next run",
)
def test_rows_that_arrive_while_a_run_reads_belong_to_the_next_run(
    make_table, glue_context, read, start_job
):
    orders = make_table()
    orders.insert(1)
    first = start_job()
    opened = glue_context.create_data_frame_from_options(
        "custom.jdbc", {**DERBY, "dbTable": orders.name, **by("N")}, transformation_ctx="orders"
    )
    orders.insert(2)
    assert opened.count() == 1
    first.commit()

    start_job()

    assert numbers(read(orders, **by("N"))) == [2]


@pytest.mark.rule(
    "JDBC sources",
    source="BM",
    choice="several keys compare as one tuple, in the order they are given",
)
def test_several_keys_make_one_compound_key(make_table, read, start_job):
    orders = make_table("DAY_OF INT, N INT")
    orders.insert("1, 9", "2, 5")
    first = start_job()
    assert read(orders, **by("DAY_OF", "N")) == [(1, 9), (2, 5)]
    first.commit()
    orders.insert("1, 99", "2, 4", "2, 6", "3, 0")

    start_job()

    assert read(orders, **by("DAY_OF", "N")) == [(2, 6), (3, 0)]


@pytest.mark.rule("JDBC sources", source="TRB")
def test_rows_that_change_are_not_read_again(make_table, read, start_job):
    orders = make_table("N INT, NAME VARCHAR(9)")
    orders.insert("1, 'a'")
    first = start_job()
    read(orders, **by("N"))
    first.commit()
    orders.execute(f"UPDATE {orders.name} SET NAME = 'b'")  # noqa: S608

    start_job()

    assert read(orders, **by("N")) == []


@pytest.mark.rule(
    "JDBC sources", source="INFER", choice="the bound stays: a key that is used again is not read"
)
def test_deleted_rows_do_not_move_the_bookmark_back(make_table, read, start_job):
    orders = make_table()
    orders.insert(1, 9)
    first = start_job()
    read(orders, **by("N"))
    first.commit()
    orders.execute(f"DELETE FROM {orders.name} WHERE N = 9")  # noqa: S608
    second = start_job()
    assert read(orders, **by("N")) == []
    second.commit()
    orders.insert(5, 10)

    start_job()

    assert numbers(read(orders, **by("N"))) == [10]


@pytest.mark.rule(
    "JDBC sources",
    source="INFER",
    choice="state is stored even if there is nothing to read yet",
)
def test_an_empty_table_is_read_once_it_has_rows(make_table, read, start_job):
    orders = make_table()
    first = start_job()
    assert read(orders, **by("N")) == []
    first.commit()
    orders.insert(-5)

    start_job()

    assert numbers(read(orders, **by("N"))) == [-5]


def test_nothing_new_keeps_the_columns_of_the_table(make_table, glue_context, start_job):
    orders = make_table("N INT, NAME VARCHAR(9)")
    start_job()

    frame = glue_context.create_dynamic_frame.from_options(
        "custom.jdbc", {**DERBY, "dbTable": orders.name, **by("N")}, transformation_ctx="orders"
    )

    assert frame.toDF().columns == ["N", "NAME"]


def test_rows_of_an_uncommitted_run_are_read_again(make_table, read, start_job):
    orders = make_table()
    orders.insert(1)
    start_job()
    read(orders, **by("N"))

    start_job()

    assert numbers(read(orders, **by("N"))) == [1]


def test_pause_reads_what_is_new_and_disable_everything_and_neither_writes(
    make_table, read, start_job
):
    orders = make_table()
    orders.insert(1)
    first = start_job()
    read(orders, **by("N"))
    first.commit()
    orders.insert(2)
    for option, expected in [("pause", [2]), ("disable", [1, 2]), ("enable", [2])]:
        job = start_job(f"job-bookmark-{option}")

        assert numbers(read(orders, **by("N"))) == expected

        if option != "enable":
            job.commit()


def test_without_a_context_every_run_reads_everything(make_table, read, start_job):
    orders = make_table()
    orders.insert(1)
    for _ in range(2):
        job = start_job()
        assert numbers(read(orders, ctx="", **by("N"))) == [1]
        job.commit()


def test_before_init_everything_is_read(make_table, read):
    orders = make_table()
    orders.insert(1)

    assert numbers(read(orders, **by("N"))) == [1]


@pytest.mark.rule("JDBC sources", source="BM")
def test_job_bookmark_to_bounds_the_keys_from_above(make_table, read, start_job):
    orders = make_table()
    orders.insert(1)
    first = start_job()
    read(orders, **by("N"))
    first.commit()
    states = current_session().states
    orders.insert(2)

    start_job("job-bookmark-pause")
    current_session().until = states
    current_session().states = {}

    assert numbers(read(orders, **by("N"))) == [1]


def test_an_upper_edge_without_this_source_reads_nothing(make_table, read, start_job):
    orders = make_table()
    orders.insert(1)
    start_job("job-bookmark-pause")
    current_session().until = {}

    assert read(orders, **by("N")) == []


@pytest.mark.parametrize(
    ("options", "pushed"),
    [
        (by("S"), "[*IsNotNull(S), *GreaterThan(S,1), *LessThanOrEqual(S,9)]"),
        (by("D"), "[*IsNotNull(D), *GreaterThan(D,1.50), *LessThanOrEqual(D,2.50)]"),
        (by("T"), "*GreaterThan(T,2013-01-01 00:00:00.000001)"),
    ],
    ids=["smallint", "decimal", "timestamp"],
)
def test_comparisons_are_made_by_the_database(make_table, glue_context, start_job, options, pushed):
    orders = make_table("S SMALLINT, D DECIMAL(9, 2), T TIMESTAMP")
    orders.insert("1, 1.5, '2013-01-01 00:00:00.000001'")
    settings = {**DERBY, "dbTable": orders.name, **options}
    for _ in range(2):
        job = start_job()
        frame = glue_context.create_dynamic_frame.from_options(
            "custom.jdbc", settings, transformation_ctx="orders"
        )
        job.commit()
        orders.insert("9, 2.5, '2014-01-01 00:00:00.000001'")

    plan = frame.toDF()._jdf.queryExecution().executedPlan().toString()

    assert pushed in plan


def test_what_a_run_reads_is_recorded_so_that_it_can_be_explained(
    make_table, read, start_job, spark_home
):
    orders = make_table()
    orders.insert(1, 2)
    first = start_job()
    read(orders, **by("N"))
    first.commit()
    before = dict(current_session().states["orders"])
    orders.insert(5)
    start_job()
    read(orders, **by("N"))

    with Store(spark_home.database) as store:
        (row,) = store.query("SELECT * FROM source_read ORDER BY rowid DESC LIMIT 1")

    source, after = json.loads(row["source"]), unpack(row["next_state"])
    assert row["files"] == 1
    assert describe(source, before, after) == f"rows of {orders.name} with N > 2 and N <= 5"
    assert "derby" not in row["source"]
