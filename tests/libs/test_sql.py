"""SQL for a window: its predicate per dialect as text, run where an engine is at hand, and safe."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import watermarks
from watermarks import WatermarkValueError, Window
from watermarks.spark.dialects import Dialect, literal
from watermarks.spark.sql import Subquery, newest_query, window_predicate

POSTGRESQL, MYSQL, SQL_SERVER, ORACLE, DERBY = Dialect
NEW_YORK = ZoneInfo("America/New_York")
INSTANT = datetime(2013, 7, 1, 6, 30, 0, 1, tzinfo=NEW_YORK)
NAIVE = datetime(2013, 7, 1, 6, 30)  # noqa: DTZ001 - a cursor without a zone

# Of databases that no test runs; DuckDB reads those of PostgreSQL, and Derby its own in spark/.
LITERALS = {
    MYSQL: {
        "instant": (INSTANT, "TIMESTAMP '2013-07-01 10:30:00.000001+00:00'"),
        "naive": (NAIVE, "TIMESTAMP '2013-07-01 06:30:00.000000'"),
        "date": (date(2013, 7, 1), "DATE '2013-07-01'"),
        "int": (-7, "-7"),
        "decimal": (Decimal("-0.50"), "-0.5"),
        "text": ("JFK", "_utf8mb4'JFK' COLLATE utf8mb4_bin"),
        "empty text": ("", "_utf8mb4'' COLLATE utf8mb4_bin"),
        "quote": ("O'H", "_utf8mb4 X'4f2748' COLLATE utf8mb4_bin"),
        "backslash": ("\\'", "_utf8mb4 X'5c27' COLLATE utf8mb4_bin"),
        "unicode": ("ö😀", "_utf8mb4 X'c3b6f09f9880' COLLATE utf8mb4_bin"),
        "nul": ("\0", "_utf8mb4 X'00' COLLATE utf8mb4_bin"),
    },
    SQL_SERVER: {
        "instant": (
            INSTANT,
            "CAST('2013-07-01T10:30:00.000001+00:00' AS datetimeoffset(6))",
        ),
        "naive": (NAIVE, "CAST('2013-07-01T06:30:00.000000' AS datetime2(6))"),
        "date": (date(2013, 7, 1), "CAST('2013-07-01' AS date)"),
        "int": (-7, "-7"),
        "decimal": (Decimal("-0.50"), "-0.5"),
        "text": ("JFK", "N'JFK' COLLATE Latin1_General_100_BIN2"),
        "empty text": ("", "N'' COLLATE Latin1_General_100_BIN2"),
        "quote": (
            "O'H",
            "CAST(0x4f0027004800 AS nvarchar(max)) COLLATE Latin1_General_100_BIN2",
        ),
        "line continuation": (
            "\\\n",
            "CAST(0x5c000a00 AS nvarchar(max)) COLLATE Latin1_General_100_BIN2",
        ),
        "unicode": (
            "😀",
            "CAST(0x3dd800de AS nvarchar(max)) COLLATE Latin1_General_100_BIN2",
        ),
    },
    ORACLE: {
        "instant": (INSTANT, "TIMESTAMP '2013-07-01 10:30:00.000001 +00:00'"),
        "naive": (NAIVE, "TIMESTAMP '2013-07-01 06:30:00.000000'"),
        "date": (date(2013, 7, 1), "DATE '2013-07-01'"),
        "int": (-7, "-7"),
        "decimal": (Decimal("-0.50"), "-0.5"),
        "text": ("JFK", "'JFK'"),
        "quote": ("O'Hare", r"UNISTR('O\0027Hare')"),
        "backslash": ("\\0027", r"UNISTR('\005c0027')"),
        "unicode": ("ö😀\0", r"UNISTR('\00f6\d83d\de00\0000')"),
    },
}

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text("'\"\\\n;-x\0`[]é😀")


def window(low, high, **changes):
    fields = {"job_id": "j", "run_id": "jr_1", "cursor": "c", "window_id": "1", "attempt": 1}
    return Window(**{**fields, "low": low, "high": high, "read_low": low, **changes})


@pytest.mark.parametrize(
    ("dialect", "value", "text"),
    [
        pytest.param(dialect, *case, id=f"{dialect.value} {name}")
        for dialect, cases in LITERALS.items()
        for name, case in cases.items()
    ],
)
def test_literal_is_written_for_the_dialect(dialect, value, text):
    assert literal(value, dialect) == text


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (POSTGRESQL, """("O'h ""A"" `b` [c]" <= 7)"""),
        (MYSQL, """(`O'h "A" ``b`` [c]` <= 7)"""),
        (SQL_SERVER, """([O'h "A" `b` [c]]] <= 7)"""),
        (DERBY, """("O'h ""A"" `b` [c]" <= 7)"""),
    ],
)
def test_column_is_quoted_exactly_as_given(dialect, text):
    assert window_predicate(window(None, 7), 'O\'h "A" `b` [c]', dialect) == text


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("name", ["", "a\0b", "a\nb", "\ud800", "x" * 129, 7])
def test_column_that_is_no_name_is_refused(dialect, name):
    with pytest.raises(ValueError, match=r"column name .* cannot be quoted for .*: give 1 to 128"):
        window_predicate(window(None, 7), name, dialect)


def test_oracle_column_with_a_double_quote_is_refused():
    with pytest.raises(ValueError, match="cannot be quoted for oracle"):
        window_predicate(window(None, 7), 'a"b', ORACLE)


def test_empty_window_has_no_predicate():
    with pytest.raises(ValueError, match=r"window of job 'j' is empty: .* test window.is_empty"):
        window_predicate(window(3, None, window_id=""), "c", DERBY)


def test_bounds_that_have_no_order_are_refused():
    with pytest.raises(WatermarkValueError, match="the cursor 'c' was a number"):
        window_predicate(window(3, "7"), "c", DERBY)


@pytest.mark.parametrize(
    "value", [True, 1.5, None, b"x", Decimal("NaN")], ids=["bool", "float", "None", "bytes", "NaN"]
)
def test_value_that_is_no_cursor_has_no_literal(value):
    with pytest.raises(WatermarkValueError, match="cursor is"):
        literal(value, DERBY)


@pytest.mark.parametrize("dialect", Dialect)
def test_half_a_character_has_no_literal(dialect):
    with pytest.raises(WatermarkValueError, match="lone surrogate"):
        literal("a\udc00", dialect)


def test_postgresql_has_no_literal_with_a_nul_character():
    with pytest.raises(WatermarkValueError, match=r"NUL character: no row of postgresql"):
        literal("a\0b", POSTGRESQL)


def test_oracle_has_no_literal_of_an_empty_text():
    with pytest.raises(WatermarkValueError, match="which Oracle takes for NULL"):
        literal("", ORACLE)


@pytest.mark.parametrize(
    ("dialect", "fits", "too_long"),
    [
        (DERBY, Decimal("0." + "1" * 31), Decimal("1." + "1" * 31)),
        (SQL_SERVER, Decimal("1" * 38), Decimal("1E+38")),
        (MYSQL, Decimal("0." + "1" * 30), Decimal("0." + "1" * 31)),
        (MYSQL, Decimal("1E+64"), Decimal("1E+65")),
    ],
    ids=["derby", "sqlserver", "mysql scale", "mysql"],
)
def test_number_longer_than_the_database_has_is_refused(dialect, fits, too_long):
    assert literal(fits, dialect) == f"{fits:f}"
    with pytest.raises(WatermarkValueError, match="has more digits than a number of"):
        literal(too_long, dialect)


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        ("jdbc:postgresql://host:5432/flights", POSTGRESQL),
        ("jdbc:mysql://host/flights?user=me", MYSQL),
        ("jdbc:sqlserver://host;databaseName=flights", SQL_SERVER),
        ("jdbc:oracle:thin:@//host:1521/flights", ORACLE),
        ("jdbc:derby:memory:flights;create=true", DERBY),
        ("JDBC:Derby:flights", DERBY),
    ],
)
def test_dialect_is_known_from_the_jdbc_url(url, dialect):
    assert Dialect.of(url) is dialect


@pytest.mark.parametrize("url", ["jdbc:h2:mem:x;password=secret", "postgresql://me:secret@host/"])
def test_url_of_another_database_is_refused_without_showing_its_password(url):
    with pytest.raises(ValueError, match=r"supported are jdbc:postgresql, jdbc:mysql") as error:
        Dialect.of(url)

    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (MYSQL, "SELECT MAX(`c`) AS `newest`, COUNT(*) - COUNT(`c`) AS `null_rows` FROM `s`.`t`"),
        (
            SQL_SERVER,
            "SELECT MAX([c]) AS [newest], COUNT_BIG(*) - COUNT_BIG([c]) AS [null_rows] "
            "FROM [s].[t]",
        ),
        (
            ORACLE,
            'SELECT MAX("c") AS "newest", COUNT(*) - COUNT("c") AS "null_rows" FROM "s"."t"',
        ),
    ],
)
def test_newest_and_the_number_of_nulls_are_one_query(dialect, text):
    assert newest_query("s.t", "c", dialect) == text


@pytest.mark.parametrize("nulls", ["include", "exclude"])
def test_nulls_that_are_allowed_are_not_counted(nulls):
    query = newest_query("t", "c", DERBY, above=5, nulls=nulls)

    assert query == 'SELECT MAX("c") AS "newest" FROM "t" WHERE "c" > 5'


def test_newest_above_a_value_still_counts_nulls():
    query = newest_query("t", "c", DERBY, above=5)

    assert query.endswith(' FROM "t" WHERE "c" > 5 OR "c" IS NULL')


def test_newest_reads_a_subquery_as_it_is():
    query = newest_query(Subquery("SELECT * FROM t WHERE a = ')'"), "c", DERBY, nulls="exclude")

    assert query == 'SELECT MAX("c") AS "newest" FROM (SELECT * FROM t WHERE a = \')\'\n) captured'


@pytest.mark.parametrize(
    ("dialect", "greatest"),
    [
        (POSTGRESQL, 'MAX(CAST("c" AS text) COLLATE "C")'),
        (MYSQL, "MAX(CONVERT(`c` USING utf8mb4) COLLATE utf8mb4_bin)"),
        (SQL_SERVER, "MAX([c] COLLATE Latin1_General_100_BIN2)"),
        (ORACLE, 'MAX("c")'),
        (DERBY, 'MAX("c")'),
    ],
)
def test_greatest_text_is_found_in_binary_order(dialect, greatest):
    assert newest_query("t", "c", dialect, is_string=True).startswith(f"SELECT {greatest} AS")
    assert newest_query("t", "c", dialect, above="a").startswith(f"SELECT {greatest} AS")


@pytest.mark.parametrize("table", ["", "s..t", "t\n", "(SELECT 1\n)", None, ("s", "t")])
def test_table_that_is_no_name_is_refused(table):
    with pytest.raises(ValueError, match=r"table .* Subquery"):
        newest_query(table, "c", DERBY)


def test_nulls_that_are_not_allowed_are_refused():
    with pytest.raises(ValueError, match="nulls is 'ignore': allowed are raise, include, exclude"):
        newest_query("t", "c", DERBY, nulls="ignore")


def unquoted(text, backslash=False):
    """Return what is before a literal's quotes, what a scanner reads in them, and what follows."""
    start = position = text.index("'") + 1
    read = ""
    while True:
        if backslash and text[position] == "\\":
            read += text[position + 1]
            position += 2
        elif text.startswith("''", position):
            read += "'"
            position += 2
        elif text[position] == "'":
            return text[: start - 1], read, text[position + 1 :]
        else:
            read += text[position]
            position += 1


@given(texts.filter(lambda text: "\0" not in text))
def test_no_text_leaves_its_postgresql_literal(value):
    prefix, read, rest = unquoted(literal(value, POSTGRESQL), backslash=True)

    assert (prefix in {"", "E"}, read, rest) == (True, value, ' COLLATE "C"')
    assert prefix == "E" or "\\" not in value


@given(texts.filter(bool))
def test_no_text_leaves_its_oracle_literal(value):
    prefix, read, rest = unquoted(literal(value, ORACLE))

    assert (prefix, rest) in {("", ""), ("UNISTR(", ")")}
    assert read.isascii()
    assert "'" not in read
    units = re.sub(r"\\([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), read)
    assert units.encode("utf-16-be", "surrogatepass").decode("utf-16-be") == value


@given(texts)
def test_mysql_and_sql_server_literals_hold_only_plain_text_or_hexadecimal(value):
    mysql = literal(value, MYSQL).removesuffix(" COLLATE utf8mb4_bin")
    sql_server = literal(value, SQL_SERVER).removesuffix(" COLLATE Latin1_General_100_BIN2")

    if mysql.startswith("_utf8mb4'"):
        assert (mysql, sql_server) == (f"_utf8mb4'{value}'", f"N'{value}'")
        assert value.isascii()
        assert not set(value) & set("'\\\n\0")
    else:
        (digits,) = mysql.split("'")[1:-1]
        assert bytes.fromhex(digits).decode() == value
        digits = sql_server.removeprefix("CAST(0x").removesuffix(" AS nvarchar(max))")
        assert bytes.fromhex(digits).decode("utf-16-le") == value


names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


@given(names | st.text("\"`[];'-x", min_size=1, max_size=20))
def test_no_name_leaves_its_quotes(name):
    for dialect, (opening, closing) in {
        POSTGRESQL: '""',
        MYSQL: "``",
        SQL_SERVER: "[]",
        DERBY: '""',
    }.items():
        condition = window_predicate(window(None, 7), name, dialect)

        quoted = condition.removeprefix(f"({opening}").removesuffix(f"{closing} <= 7)")
        assert quoted.replace(closing * 2, "") == name.replace(closing, "")
        assert quoted.replace(closing * 2, closing) == name


# DuckDB reads PostgreSQL's literals, so it stands in for it.
instants = st.datetimes(
    datetime(1900, 1, 1),  # noqa: DTZ001
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, NEW_YORK, timezone(timedelta(hours=5, minutes=45))]),
)
KINDS = {
    "TIMESTAMPTZ": instants,
    "TIMESTAMP": st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),  # noqa: DTZ001
    "DATE": st.dates(),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "DECIMAL(38, 6)": st.decimals(-(10**30), 10**30, allow_nan=False, places=6),
    "VARCHAR": texts.filter(lambda text: "\0" not in text),
}


@pytest.fixture(scope="module")
def database():
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.parametrize("kind", KINDS)
def test_predicate_selects_the_rows_that_python_selects(database, kind):
    @given(st.data())
    def check(data):
        values = data.draw(st.lists(KINDS[kind], min_size=3, max_size=6))
        some = st.sampled_from(values)
        earlier, low, high = sorted(data.draw(st.tuples(some, some, some)))
        low = data.draw(st.sampled_from([low, None]))  # None as in the first run
        read_low = data.draw(st.sampled_from([earlier, low, None])) if low is not None else None
        lowest = low if read_low is None else read_low
        bounds = data.draw(st.sampled_from(["(]", "[)", "[]"]))
        nulls = data.draw(st.sampled_from(["raise", "exclude", "include"]))
        rows = ", ".join(
            f"({number}, CAST({literal(value, POSTGRESQL)} AS {kind}))"
            for number, value in enumerate(values)
        )
        selected = window(low, high, bounds=bounds, nulls=nulls, read_low=read_low)
        condition = window_predicate(selected, "C", POSTGRESQL)

        query = f'SELECT n FROM (VALUES {rows}, (-1, NULL)) AS t(n, "C") WHERE {condition}'  # noqa: S608
        found = database.sql(query)

        def is_in(value):
            is_above = lowest is None or value > lowest or (bounds[0] == "[" and value == lowest)
            return is_above and (value < high or (bounds[1] == "]" and value == high))

        expected = {number for number, value in enumerate(values) if is_in(value)}
        expected |= {-1} if nulls == "include" else set()
        assert {number for (number,) in found.fetchall()} == expected

    check()


def test_newest_query_finds_the_greatest_value_and_counts_nulls(database):
    rows = Subquery("SELECT * FROM (VALUES ('a'), ('B'), (NULL)) AS t(c) -- all of them;  ")

    assert database.sql(newest_query(rows, "c", POSTGRESQL)).fetchall() == [("a", 1)]
    assert database.sql(newest_query(rows, "c", POSTGRESQL, above="a")).fetchall() == [(None, 1)]


def test_spark_is_imported_only_when_a_function_is_called():
    probe = "import sys, watermarks.spark; print('pyspark' in sys.modules)"
    libs = str(Path(watermarks.__file__).parents[1])
    command = [sys.executable, "-W", "error", "-c", probe]

    done = subprocess.run(
        command, env={"PYTHONPATH": libs}, capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"
