"""Queries and options of a JDBC source."""

from __future__ import annotations

import pytest

from tests.tidemark.glue_job.readers.databases.derby import DERBY, by, numbers
from tidemark.errors import UsageError
from tidemark.glue_job.process.bookmark_session import current_session

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("option", ["sampleQuery", "query"])
@pytest.mark.rule("JDBC sources", source="JDBC", choice="also with query; a warning, no state")
def test_a_query_is_read_in_full_by_every_run(
    make_table, glue_context, start_job, warnings, option
):
    orders = make_table()
    orders.insert(1, 2)
    options = {**DERBY, option: f"SELECT N FROM {orders.name} WHERE N > 1", **by("N")}  # noqa: S608
    for _ in range(2):
        job = start_job()
        frame = glue_context.create_dynamic_frame.from_options(
            "custom.jdbc", options, transformation_ctx="orders"
        )
        assert frame.toDF().collect() == [(2,)]
        job.commit()

    assert current_session().states == {}
    assert any("the source orders has a sampleQuery or query" in text for text in warnings())


PARTS = {"partitionColumn": "n", "lowerBound": "0", "upperBound": "9", "numPartitions": "3"}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"hashfield": "n", "hashpartitions": "3"}, ["hashfield", "hashpartitions"]),
        ({"hashexpression": "N + 1"}, ["hashexpression"]),
        (PARTS, []),
    ],
    ids=["field", "expression", "Spark's"],
)
@pytest.mark.parametrize("source", [{}, {"dbTable": None, "query": "SELECT N FROM {}"}])
def test_options_for_several_connections_change_no_row_and_those_without_effect_are_named(
    make_table, read, start_job, warnings, options, named, source
):
    orders = make_table()
    orders.insert(1, -1, -2, 7, "NULL")
    given = {name: text and text.format(orders.name) for name, text in source.items()}
    rows = [(-2,), (-1,), (1,), (7,)]
    start_job()

    assert [row for row in read_all(read, orders, **given, **options) if row != (None,)] == rows
    if not source:
        job = start_job()
        assert read(orders, **by("N"), **options) == rows
        job.commit()
        orders.insert(8)
        start_job()
        assert numbers(read(orders, **by("N"), **options)) == [8]
    told = [text for text in warnings() if "several connections" in text]
    assert len(told) == bool(named)
    assert all(name in told[0] for name in named)


def read_all(read, table, **options):
    """Read a table without a bookmark, whose NULL does not compare."""
    return sorted(
        read(table, ctx="", is_sorted=False, **options), key=lambda row: (row[0] is None, row[0])
    )


def test_the_options_of_spark_read_by_several_connections(make_table, glue_context, start_job):
    orders = make_table()
    orders.insert(1, 4, 8, "NULL")
    start_job()

    frame = glue_context.create_dynamic_frame.from_options(
        "custom.jdbc", {**DERBY, "dbTable": orders.name, **PARTS}
    ).toDF()

    assert frame.rdd.getNumPartitions() == 3
    assert frame.count() == 4


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"hashexpression": "NOPE"}, "'hashexpression': 'NOPE'.*is refused.*NOPE"),
        ({"hashfield": "nope"}, "'hashfield': 'nope'.*is refused.*NOPE"),
        ({"hashfield": "N", "hashpartitions": "0"}, "'0'; it must be a number of 1 or more"),
        ({"hashfield": "N", "hashpartitions": "x"}, "'x'; it must be a number of 1 or more"),
        ({**PARTS, "partitionColumn": "NOPE"}, "NOPE not found"),
        ({"partitionColumn": "N"}, "'lowerBound', 'upperBound', and 'numPartitions'"),
        ({"lowerBound": "1"}, "'lowerBound'.*all or none"),
    ],
    ids=["expression", "field", "zero", "text", "column", "alone", "bound"],
)
def test_an_option_for_several_connections_that_cannot_be_met_is_refused(
    make_table, read, start_job, options, text
):
    orders = make_table()
    start_job()

    with pytest.raises(UsageError, match=f"(?s){text}"):
        read(orders, **options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (by("N", "N"), "names a column twice"),
        ({"jobBookmarkKeys": "N"}, "'N'; it must be a list of column names"),
        (by("N", jobBookmarkKeysSortOrder="up"), "'up'; allowed are asc and desc"),
        ({"driver": "org.example.Driver"}, "org.example.Driver is not on the class path"),
        ({"dbtable": "x"}, r"\['dbTable', 'dbtable'\] mean the same"),
        ({"dbTable": None}, "has no table; a custom.jdbc source needs 'dbtable'"),
        ({"url": ""}, "has no url"),
        ({"query": "SELECT 1"}, "a query and a table; give one"),
    ],
    ids=["twice", "no list", "order", "driver", "two tables", "no table", "no url", "both"],
)
def test_wrong_option_is_refused_with_what_was_given(make_table, read, start_job, options, text):
    orders = make_table()
    start_job()

    with pytest.raises(UsageError, match=text):
        read(orders, **options)


def test_a_network_and_the_place_of_a_driver_change_no_row(make_table, read):
    orders = make_table()
    orders.insert(1, 2)

    rows = read(orders, connectionName="network", customJdbcDriverS3Path="s3://jars/driver.jar")

    assert rows == read(orders) != []


@pytest.mark.parametrize("option", ["sampleSize", "tables"])
def test_unsupported_option_is_refused_by_name(make_table, read, option):
    with pytest.raises(NotImplementedError, match=rf"connection_options \['{option}'\]"):
        read(make_table(), **{option: "x"})
