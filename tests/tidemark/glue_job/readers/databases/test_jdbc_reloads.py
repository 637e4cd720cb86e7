"""Tables that were loaded again, or exchanged, under a bookmark: what is skipped is told."""

from __future__ import annotations

import pytest

from tests.tidemark.glue_job.readers.databases.derby import by, numbers
from tidemark.glue_job.process.bookmark_session import current_session

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_table_that_was_loaded_again_below_the_bookmark_is_told(
    make_table, read, start_job, warnings, order
):
    sign = 1 if order == "asc" else -1
    orders = make_table("N INT, M INT")
    options = by("N", "M", jobBookmarkKeysSortOrder=order)
    orders.insert(f"{10 * sign}, 1", f"{20 * sign}, 1")
    first = start_job()
    assert len(read(orders, **options)) == 2
    first.commit()
    orders.execute(f"DELETE FROM {orders.name} WHERE N = {10 * sign}")  # noqa: S608
    start_job().commit()
    start_job()
    assert read(orders, **options) == []
    assert warnings() == []
    orders.execute(f"DELETE FROM {orders.name}")  # noqa: S608
    start_job()
    assert read(orders, **options) == []
    assert warnings() == []

    orders.insert(f"{1 * sign}, 1", f"{2 * sign}, 1")
    start_job()

    assert read(orders, **options) == []
    (warning,) = warnings()
    assert "there are rows below it (2 rows of orders)" in warning


def test_a_table_that_was_loaded_again_around_the_bookmark_is_told(
    make_table, read, start_job, warnings
):
    orders = make_table()
    orders.insert(10, 20)
    first = start_job()
    read(orders, **by("N"))
    first.commit()
    orders.execute(f"DELETE FROM {orders.name}")  # noqa: S608
    orders.insert(5, 15, 25)
    second = start_job()

    assert numbers(read(orders, **by("N"))) == [25]
    second.commit()
    (warning,) = warnings()
    assert "there are rows below it (2 rows of orders)" in warning
    start_job()
    assert read(orders, **by("N")) == []
    assert warnings() == [warning]


@pytest.mark.nightly
@pytest.mark.rule(
    "Warnings",
    source="INFER",
    choice="the database counts the rows below the bookmark: an increase is reported",
)
def test_a_reloaded_table_with_a_row_at_the_bookmark_is_reported_once(
    make_table, read, start_job, warnings
):
    orders = make_table('"Order Id" INT, M INT')
    options = by("Order Id", "M")
    orders.insert("10, 1", "20, 1")
    first = start_job()
    read(orders, **options)
    first.commit()
    orders.execute(f"DELETE FROM {orders.name}")  # noqa: S608
    orders.insert("5, 1", "15, 1", "20, 1", "20, 2", "3, NULL")

    for expected in ([(20, 2)], []):
        job = start_job()
        assert read(orders, **options) == expected
        job.commit()

    told = [text for text in warnings() if "came below" in text]
    assert len(told) == 1
    assert told[0].startswith("2 rows of orders came below the bookmark")


@pytest.mark.rule(
    "Warnings",
    source="INFER",
    choice="also where it is one row that is missing: a table that was loaded again with the keys "
    "of all others looks like that",
)
def test_a_row_of_the_bookmark_that_is_gone_is_reported_once(make_table, read, start_job, warnings):
    orders = make_table()
    orders.insert(1, 2, 9)
    first = start_job()
    read(orders, **by("N"))
    first.commit()
    orders.execute(f"DELETE FROM {orders.name}")  # noqa: S608
    orders.insert(1, 2)

    for _ in range(2):
        job = start_job()
        assert read(orders, **by("N")) == []
        job.commit()

    (warning,) = warnings()
    assert "there are rows below it (2 rows of orders)" in warning


def test_a_count_that_the_database_refuses_fails_no_run(make_table, read, start_job, warnings):
    orders = make_table()
    orders.insert(10, 20)
    first = start_job()
    read(orders, **by("N"))
    first.commit()
    orders.insert(5, 30)
    held = current_session().states["orders"]["passed"]
    held[0] = [[["int", "not a number"]], 0]
    second = start_job()
    current_session().states["orders"]["passed"] = held

    assert numbers(read(orders, **by("N"))) == [30]

    second.commit()
    assert warnings() == []


@pytest.mark.rule("JDBC sources", source="BM", choice="the old bound applies, with a warning")
def test_another_table_under_an_old_context_is_read_from_the_old_bound(
    make_table, read, start_job, warnings
):
    orders, other = make_table(), make_table()
    orders.insert(5)
    other.insert(1, 9)
    first = start_job()
    read(orders, **by("N"))
    first.commit()

    start_job()

    assert numbers(read(other, **by("N"))) == [9]
    (warning,) = warnings()
    assert "the source orders now reads another table" in warning
