"""Which rows of a table a run reads: bookmark keys against an embedded Derby."""

from __future__ import annotations

import itertools
import json

import pytest

from tests.sampled import sampled
from tidemark.errors import UsageError
from tidemark.glue_job.process.bookmark_session import current_session
from tidemark.local_state.bookmarks.keys import describe
from tidemark.local_state.bookmarks.versions import unpack
from tidemark.local_state.run_warnings import read_warnings
from tidemark.local_state.store.database import Store

pytestmark = pytest.mark.spark

DERBY = {
    "url": "jdbc:derby:memory:keys;create=true",
    "driver": "org.apache.derby.jdbc.EmbeddedDriver",
}
_tables = itertools.count(1)


class Table:
    """A table that no other test uses, changed through a connection of its own."""

    def __init__(self, connection, columns):
        self.connection = connection
        self.name = f"T{next(_tables)}"
        self.execute(f"CREATE TABLE {self.name} ({columns})")

    def insert(self, *rows):
        for row in rows:
            self.execute(f"INSERT INTO {self.name} VALUES ({row})")  # noqa: S608

    def execute(self, statement):
        self.connection.createStatement().execute(statement)


@pytest.fixture
def make_table(spark):
    connection = spark._jvm.java.sql.DriverManager.getConnection(DERBY["url"])
    yield lambda columns="N INT": Table(connection, columns)
    connection.close()


@pytest.fixture
def read(glue_context):
    """Return a reader of a table's rows, sorted; options are those of the connection."""

    def read(table, ctx="orders", is_sorted=True, **options):
        frame = glue_context.create_dynamic_frame.from_options(
            connection_type="custom.jdbc",
            connection_options={**DERBY, "dbTable": table.name, **options},
            transformation_ctx=ctx,
        )
        rows = [tuple(row) for row in frame.toDF().collect()]
        return sorted(rows) if is_sorted else rows

    return read


@pytest.fixture
def warnings(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_RUN_FOLDER", str(tmp_path))
    return lambda: read_warnings(tmp_path)


def by(*keys, **options):
    return {"jobBookmarkKeys": list(keys), **options}


def numbers(rows):
    return [row[0] for row in rows]


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
    assert "below it there are others (2 rows of orders)" in warning


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
    assert "below it there are others (2 rows of orders)" in warning
    start_job()
    assert read(orders, **by("N")) == []
    assert warnings() == [warning]


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
    assert "below it there are others (2 rows of orders)" in warning


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


@pytest.mark.rule(
    "JDBC sources",
    source="INFER",
    choice="a row without a key is read by no run, and a warning counts it",
)
def test_rows_without_a_key_are_never_read(make_table, read, start_job, warnings):
    orders = make_table("A INT, B INT")
    orders.insert("1, 1", "9, NULL", "NULL, 9")
    first = start_job()
    assert read(orders, **by("A", "B")) == [(1, 1)]
    first.commit()

    start_job()

    assert read(orders, **by("A", "B")) == []
    (warning,) = warnings()
    assert "no value in the bookmark keys, 2 rows of orders" in warning


KINDS = {
    "SMALLINT": ["-32768", "0", "32767"],
    "INT": ["-2147483648", "0", "2147483647"],
    "BIGINT": ["-9223372036854775807", "0", "9223372036854775807"],
    "DECIMAL(31, 6)": ["-1000000000000000000000000.5", "0.000001", "1.5"],
    "DECIMAL(18, 18)": ["-0.1", "0.0", "0.000000000000000002"],
    "DATE": ["'0001-01-01'", "'2013-03-10'", "'9999-12-31'"],
    "TIMESTAMP": [
        "'1900-01-01 00:00:00'",
        "'2013-03-10 02:30:00.123456'",
        "'2013-03-10 02:30:00.123457'",
    ],
    "VARCHAR(20)": ["''", "'B'", "'O''Hare\\ \"{?}é'"],
    "CHAR(3)": ["'A'", "'B'", "'a'"],
}


@pytest.mark.rule(
    "JDBC sources", source="INFER", choice="integer, decimal, string, date and timestamp"
)
@pytest.mark.parametrize(
    "kind", sampled(KINDS, "DECIMAL(31, 6)", "DATE", "TIMESTAMP", "VARCHAR(20)")
)
def test_a_key_of_every_allowed_type_splits_the_rows_exactly(
    make_table, read, start_job, kind, warnings
):
    low, middle, high = KINDS[kind]
    orders = make_table(f"N INT, K {kind}")
    orders.insert(f"1, {low}", f"2, {middle}")
    first = start_job()
    assert numbers(read(orders, **by("K"))) == [1, 2]
    first.commit()
    orders.insert(f"3, {high}")
    second = start_job()

    assert numbers(read(orders, **by("K"))) == [3]
    second.commit()
    third = start_job()
    assert read(orders, **by("K")) == []
    third.commit()
    ahead = warnings()
    assert len(ahead) == ("9999-12-31" in high)
    assert all("9999-12-31, which is ahead of the clock" in text for text in ahead)
    orders.insert(f"4, {low}")
    start_job()
    assert read(orders, **by("K")) == []
    (warning,) = set(warnings()) - set(ahead)
    assert warning.startswith("1 row of orders came below the bookmark")


@pytest.mark.rule(
    "JDBC sources",
    source="INFER",
    choice="strings compare by code points, whatever the collation",
)
def test_string_keys_compare_by_code_points(make_table, read, start_job):
    orders = make_table("K VARCHAR(9)")
    orders.insert("'Z'")
    first = start_job()
    read(orders, **by("K"))
    first.commit()
    orders.insert("'Y'", "'a'", "'é'")

    start_job()

    assert numbers(read(orders, **by("K"))) == ["a", "é"]


@pytest.mark.rule(
    "JDBC sources",
    source="INFER",
    choice="keys have microseconds; a row after the last one waits for a later row",
)
def test_a_timestamp_finer_than_microseconds_is_read_late_and_never_lost(
    make_table, read, start_job
):
    orders = make_table("N INT, K TIMESTAMP")
    seen = []
    for number, nanoseconds in [(1, "000001000"), (2, "000001500"), (3, "000002000")]:
        orders.insert(f"{number}, '2013-01-01 00:00:00.{nanoseconds}'")
        job = start_job()
        seen.append(numbers(read(orders, **by("K"))))
        job.commit()

    assert seen == [[1], [], [2, 3]]


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        ("DOUBLE", "casts it to a decimal"),
        ("BOOLEAN", "it has no order"),
        ("VARCHAR(9) FOR BIT DATA", "take another column"),
    ],
    ids=["double", "boolean", "binary"],
)
def test_a_key_of_another_type_is_refused_with_what_to_do(
    make_table, read, start_job, kind, remedy
):
    orders = make_table(f"K {kind}")
    start_job()

    with pytest.raises(UsageError, match=f"'K' is a .* cannot be a bookmark key.*{remedy}"):
        read(orders, **by("K"))


@pytest.mark.parametrize("key", ["n", "ID"], ids=["other case", "no such column"])
@pytest.mark.rule("JDBC sources", source="BM", choice="a key must be spelled as in the table")
def test_a_key_that_is_not_a_column_is_refused_with_the_columns(make_table, read, start_job, key):
    orders = make_table("N INT, NAME VARCHAR(9)")
    start_job()

    with pytest.raises(UsageError, match=rf"'{key}'.* no such column; it has N, NAME: use"):
        read(orders, **by(key))


@pytest.mark.rule("JDBC sources", source="BM")
def test_a_column_whose_name_depends_on_case_cannot_be_a_key(make_table, read, start_job, spark):
    orders = make_table('N INT, "n" INT')
    start_job()
    spark.conf.set("spark.sql.caseSensitive", "true")

    try:
        with pytest.raises(UsageError, match=r"N, n of the table .* differ in case alone"):
            read(orders, **by("n"))
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.rule("JDBC sources", source="BM")
def test_the_default_key_is_a_primary_key_without_gaps(make_table, read, start_job, warnings):
    orders = make_table("NAME VARCHAR(9), N INT PRIMARY KEY")
    orders.insert("'a', 7", "'b', 8")
    first = start_job()
    assert read(orders) == [("a", 7), ("b", 8)]
    first.commit()
    orders.insert("'c', 9")

    start_job()

    assert read(orders) == [("c", 9)]
    assert warnings() == []


@pytest.mark.rule(
    "JDBC sources",
    source="BM",
    choice="without a usable key the whole table is read, with a warning",
)
@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ("N INT PRIMARY KEY", ["1", "3"]),
        ("N INT", ["1", "2"]),
        ("N INT, M INT, PRIMARY KEY (N, M)", ["1, 1", "2, 2"]),
        ("N VARCHAR(9) PRIMARY KEY", ["'1'", "'2'"]),
    ],
    ids=["gap", "no primary key", "two columns", "text"],
)
def test_a_table_without_a_usable_primary_key_is_read_in_full_by_every_run(
    make_table, read, start_job, warnings, columns, rows
):
    orders = make_table(columns)
    orders.insert(*rows)
    first = start_job()
    assert len(read(orders)) == 2
    first.commit()

    start_job()

    assert len(read(orders)) == 2
    (warning,) = warnings()
    assert f"the table {orders.name} has no primary key without gaps" in warning


def test_the_default_key_is_found_in_the_schema_that_the_table_names(make_table, read, start_job):
    orders = make_table("N INT PRIMARY KEY")
    orders.insert(1, 2)
    orders.name = f"app.{orders.name}"
    first = start_job()
    read(orders)
    first.commit()

    start_job()

    assert read(orders) == []


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
    "changed",
    [by("M"), by("N", "M"), by("N", jobBookmarkKeysSortOrder="desc")],
    ids=["other key", "one more key", "other order"],
)
@pytest.mark.rule(
    "JDBC sources",
    source="INFER",
    choice="an error: the stored bound cannot be compared with other keys",
)
def test_other_keys_under_an_old_context_are_refused(make_table, read, start_job, changed):
    orders = make_table("N INT, M INT")
    orders.insert("1, 1")
    first = start_job()
    read(orders, **by("N"))
    first.commit()

    start_job()

    with pytest.raises(UsageError, match=r"made with the keys N \(asc\).*reset the bookmark"):
        read(orders, **changed)


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


def test_a_key_whose_type_changed_is_refused(make_table, read, start_job):
    orders, other = make_table("K INT"), make_table("K VARCHAR(9)")
    orders.insert(5)
    first = start_job()
    read(orders, **by("K"))
    first.commit()

    start_job()

    with pytest.raises(UsageError, match=r"holds keys of the types int, .* now are string"):
        read(other, **by("K"))


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
