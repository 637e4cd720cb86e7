"""Columns that can be bookmark keys, and rows that lack them."""

from __future__ import annotations

import pytest

from tests.sampled import sampled
from tests.tidemark.glue_job.readers.databases.derby import by, numbers
from tidemark.errors import UsageError

pytestmark = pytest.mark.spark


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
    assert (
        "without a value in the bookmark keys are read by no run with bookmarks, 2 rows of orders"
        in warning
    )


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


def test_a_key_whose_type_changed_is_refused(make_table, read, start_job):
    orders, other = make_table("K INT"), make_table("K VARCHAR(9)")
    orders.insert(5)
    first = start_job()
    read(orders, **by("K"))
    first.commit()

    start_job()

    with pytest.raises(UsageError, match=r"holds keys of the types int, .* now are string"):
        read(other, **by("K"))
