"""Predicates and bound captures that a real database runs: embedded Derby, through Spark."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sampled import sampled
from tests.tries import tries
from watermarks import WatermarkValueError, Window, newest_jdbc
from watermarks.spark.dialects import Dialect, literal
from watermarks.spark.sql import Subquery, newest_query, window_predicate

pytestmark = pytest.mark.spark

DERBY = Dialect.DERBY
OPTIONS = {
    "url": "jdbc:derby:memory:windows;create=true",
    "driver": "org.apache.derby.jdbc.EmbeddedDriver",
}
NEW_YORK = ZoneInfo("America/New_York")
SUMMER = datetime(2013, 11, 3, 1, 30, 0, 1, tzinfo=NEW_YORK)
ASCENDING = {
    "TIMESTAMP": [
        datetime(1, 1, 3, tzinfo=UTC),
        SUMMER,
        SUMMER.replace(fold=1),
        datetime(2013, 11, 3, 12, 15, 0, 2, tzinfo=timezone(timedelta(hours=5, minutes=45))),
        datetime(9999, 12, 30, tzinfo=UTC),
    ],
    "DATE": [date(1, 1, 1), date(2013, 3, 10), date(9999, 12, 31)],
    "SMALLINT": [-(2**15), -1, 0, 2**15 - 1],
    "INTEGER": [-(2**31), -1, 0, 1, 2**31 - 1],
    "BIGINT": [-(2**63), -1, 0, 2**31, 2**63 - 1],
    "DECIMAL(31, 6)": [Decimal("-1e24"), Decimal("-0.000001"), Decimal(0), Decimal("1.5")],
    "VARCHAR(99)": ["", "' OR 1=1 --", "A", "O'Hare", "O''Hare", "\\", "a", "a\\'", "é{?}"],
    "CHAR(9)": ["A", "O'Hare", "a"],
}
_tables = itertools.count(1)


def window(low, high, **changes):
    fields = {"job_id": "j", "run_id": "jr_1", "cursor": "c", "window_id": "1", "attempt": 1}
    return Window(**{**fields, "low": low, "high": high, "read_low": low, **changes})


def utc(value):
    return value.astimezone(UTC) if isinstance(value, datetime) else value


@pytest.fixture
def make_table(spark):
    """Return a maker of a table with the columns n and c, through a connection of its own."""
    connection = spark._jvm.java.sql.DriverManager.getConnection(OPTIONS["url"])

    def make(kind, values):
        name = f"Flights {next(_tables)}"
        connection.createStatement().execute(f'CREATE TABLE "{name}" ("n" INT, "c" {kind})')
        for number, value in enumerate(values):
            text = "NULL" if value is None else literal(value, DERBY)
            insert = f'INSERT INTO "{name}" VALUES ({number}, {text})'  # noqa: S608
            connection.createStatement().execute(insert)
        return name

    yield make
    connection.close()


@pytest.fixture
def select(spark):
    """Return a function that returns the sorted numbers of the rows that satisfy a condition."""

    def select(table, condition):
        query = f'SELECT "n" FROM "{table}" WHERE {condition}'  # noqa: S608
        found = spark.read.format("jdbc").options(**OPTIONS).option("query", query).load()
        return sorted(row["n"] for row in found.collect())

    return select


@pytest.mark.parametrize("kind", ASCENDING)
def test_predicate_selects_the_rows_that_python_selects_ties_included(make_table, select, kind):
    values = [value for value in ASCENDING[kind] for _ in range(2)]
    table = make_table(kind, [*values, None])
    low, high = ASCENDING[kind][0], ASCENDING[kind][-2]

    above_low = window_predicate(window(low, high), "c", DERBY)
    from_low = window_predicate(window(low, high, bounds="[)"), "c", DERBY)

    exact = [utc(value) for value in values]
    low, high = utc(low), utc(high)
    assert select(table, above_low) == [n for n, v in enumerate(exact) if low < v <= high]
    assert select(table, from_low) == [n for n, v in enumerate(exact) if low <= v < high]


@pytest.mark.parametrize("kind", sampled(ASCENDING, "TIMESTAMP", "BIGINT"))
def test_included_nulls_are_read_and_the_condition_can_be_combined(make_table, select, kind):
    table = make_table(kind, [None, *ASCENDING[kind]])
    condition = window_predicate(
        window(ASCENDING[kind][0], ASCENDING[kind][1], nulls="include"), "c", DERBY
    )

    assert select(table, condition) == [0, 2]
    assert select(table, f'{condition} AND "n" > 1') == [2]


@pytest.mark.parametrize("kind", ASCENDING)
def test_newest_is_the_greatest_value_with_its_type(spark, make_table, kind):
    values = ASCENDING[kind]
    table = make_table(kind, [values[-1], None, *values])

    found = newest_jdbc(spark, OPTIONS, table, "c", nulls="exclude")

    found = found.rstrip() if kind.startswith("CHAR") else found
    assert found == values[-1]
    assert type(found) is type(values[-1])


@pytest.mark.parametrize("kind", sampled(ASCENDING, "TIMESTAMP", "BIGINT"))
def test_newest_above_a_value_is_none_when_nothing_is_newer(spark, make_table, kind):
    values = ASCENDING[kind]
    table = make_table(kind, values)

    assert newest_jdbc(spark, OPTIONS, table, "c", DERBY, above=values[-1]) is None
    assert newest_jdbc(spark, OPTIONS, table, "c", DERBY, above=values[-2]) is not None


def test_newest_of_a_table_without_rows_is_none(spark, make_table):
    assert newest_jdbc(spark, OPTIONS, make_table("INT", []), "c") is None


def test_nulls_are_raised_with_their_number_even_above_a_value(spark, make_table):
    table = make_table("INT", [None, 1, None, 2])

    with pytest.raises(WatermarkValueError, match=r"the column 'c' has no value in 2 of the rows"):
        newest_jdbc(spark, OPTIONS, table, "c")
    with pytest.raises(WatermarkValueError, match=r"the column 'c' has no value in 2 of the rows"):
        newest_jdbc(spark, OPTIONS, table, "c", above=1)


def test_newest_of_a_subquery(spark, make_table):
    table = make_table("INT", [1, 2, 3])
    rows = Subquery(f'SELECT "c" FROM "{table}" WHERE "c" < 3')  # noqa: S608

    assert newest_jdbc(spark, OPTIONS, rows, "c") == 2


def test_timestamp_without_a_zone_is_naive_when_spark_is_told_so(spark, make_table, select):
    skipped = datetime(2013, 3, 10, 2, 30, 0, 123456)  # noqa: DTZ001 - a cursor without a zone
    table = make_table("TIMESTAMP", [skipped])
    options = {**OPTIONS, "preferTimestampNTZ": "true"}

    assert newest_jdbc(spark, options, table, "c") == skipped
    assert select(table, window_predicate(window(None, skipped), "c", DERBY)) == [0]


def test_newest_of_text_is_asked_for_in_the_order_of_python(spark, make_table, monkeypatch):
    asked = []

    def spy(*args, **options):
        asked.append(options)
        return newest_query(*args, **options)

    monkeypatch.setattr("watermarks.spark.jdbc.newest_query", spy)

    assert newest_jdbc(spark, OPTIONS, make_table("VARCHAR(9)", ["B", "a"]), "c") == "a"
    assert asked == [{"cast": "{}"}, {"is_string": True}]


def test_newest_of_a_double_is_refused_before_it_is_asked_for(spark, make_table, logged):
    table = make_table("DOUBLE", [])

    def ask():
        with pytest.raises(WatermarkValueError, match=r"'c' is a double: .* cast it to a decimal"):
            newest_jdbc(spark, OPTIONS, table, "c")

    assert "SparkListenerJobStart" not in logged(ask)


def test_newest_is_one_query(spark, make_table, logged):
    table = make_table("INT", [1])

    log = logged(lambda: newest_jdbc(spark, OPTIONS, table, "c"))

    events = [json.loads(line)["Event"] for line in log.splitlines()]
    starts = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
    assert events.count(starts) == 1


def test_database_of_another_kind_needs_a_dialect(spark):
    with pytest.raises(ValueError, match="JDBC URL starts with 'jdbc:h2'"):
        newest_jdbc(spark, {"url": "jdbc:h2:mem:x"}, "t", "c")


# Derby pads with spaces before it compares, and orders by UTF-16 as Java does.
comparable = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xD7FF)).map(str.rstrip)
tricky = st.text("'\"\\;-x[]`{?}é/*").map(str.rstrip)


@pytest.mark.nightly
@settings(
    max_examples=tries(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(comparable | tricky, min_size=2, max_size=6))
def test_no_text_leaves_its_literal_and_any_is_compared_as_python_does(spark, values):
    low, high = sorted(values[:2])
    rows = ", ".join(f"({n}, {literal(value, DERBY)})" for n, value in enumerate(values))
    condition = window_predicate(window(low, high), "c", DERBY)
    query = f'SELECT "n", "c" FROM (VALUES {rows}) AS t("n", "c") WHERE {condition}'  # noqa: S608
    found = spark.read.format("jdbc").options(**OPTIONS).option("query", query).load()

    # A column of literals is CHAR, as wide as the widest.
    assert sorted((row["n"], row["c"].rstrip(" ")) for row in found.collect()) == [
        (n, value.rstrip(" ")) for n, value in enumerate(values) if low < value <= high
    ]


@settings(
    max_examples=tries(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.text(st.characters(exclude_categories=["Cs"])) | st.text("'\"\\\n\r\0;-x{?}"))
def test_any_text_is_the_value_of_its_literal(spark, value):
    rows = f"VALUES (CAST({literal(value, DERBY)} AS VARCHAR(9999)))"
    query = f'SELECT * FROM ({rows}) AS t("c")'  # noqa: S608
    found = spark.read.format("jdbc").options(**OPTIONS).option("query", query).load()

    assert found.collect() == [(value,)]


names = st.text(st.characters(exclude_categories=["C", "Z"], max_codepoint=0xD7FF), max_size=20)


@settings(
    max_examples=tries(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(names.filter(bool) | st.text("\"'`;-[]x)", min_size=1, max_size=20))
def test_no_name_leaves_its_quotes(spark, name):
    quoted = name.replace('"', '""')
    rows = Subquery(f'SELECT * FROM (VALUES 1, 2) AS t("{quoted}")')  # noqa: S608

    assert newest_jdbc(spark, OPTIONS, rows, name, above=1) == 2
