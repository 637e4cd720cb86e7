"""How the rows of two targets of Parquet or CSV differ, by DuckDB."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tries import AT_NIGHT
from tidemark.errors import UsageError
from tidemark.operate.diff.comparing import Asked
from tidemark.operate.diff.duck import NotForDuckError, compared_by_duck
from tidemark.operate.diff.pairs import check_asked

NAN = "'NaN'::DOUBLE"


def side_of(folder, query, kind="parquet"):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"rows.{kind}"
    duckdb.sql(f"COPY ({query}) TO '{file}' (FORMAT {kind})")
    return {"folder": str(folder), "files": [str(file)]}


@pytest.fixture
def diff(tmp_path):
    """Return what compares the rows of two queries."""

    def compared(old, new, kind="parquet", **asked):
        sides = {
            "old": side_of(tmp_path / "o", old, kind),
            "new": side_of(tmp_path / "n", new, kind),
        }
        return compared_by_duck({"format": kind, "asked": asked, **sides}, tmp_path)

    return compared


def differs(answer):
    return bool(any(answer["only"]) or answer["changed"])


def test_rows_are_told_apart_by_their_key(diff):
    answer = diff(
        "SELECT i AS id, i * 10 AS n, 'a' AS s FROM range(5) t(i)",
        "SELECT i AS id, CASE i WHEN 2 THEN 7 ELSE i * 10 END AS n, 'a' AS s FROM range(1, 7) t(i)",
        key=["id"],
    )

    assert (answer["rows"], answer["only"], answer["changed"]) == ((5, 6), (1, 2), 1)
    assert answer["columns"] == {"n": 1}
    assert answer["examples"] == {
        "old": [{"id": "0", "n": "0", "s": "a"}],
        "new": [{"id": "5", "n": "50", "s": "a"}, {"id": "6", "n": "60", "s": "a"}],
        "changed": [{"column": "n", "key": {"id": "2"}, "values": ["20", "7"]}],
    }


def test_a_null_is_a_key_like_any_other(diff):
    answer = diff("SELECT NULL::INT AS id, 1 AS n", "SELECT NULL::INT AS id, 2 AS n", key=["id"])

    assert (answer["only"], answer["changed"]) == ((0, 0), 1)
    assert answer["examples"]["changed"][0] == {
        "column": "n",
        "key": {"id": None},
        "values": ["1", "2"],
    }


@pytest.mark.parametrize("key", [["id"], []])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (NAN, NAN),
        ("-0.0::DOUBLE", "0.0::DOUBLE"),
        ("NULL::INT", "NULL::INT"),
        ("'a'::BLOB", "'a'::BLOB"),
        ("[{'a': NULL::INT}]", "[{'a': NULL::INT}]"),
    ],
)
def test_values_that_sql_calls_unequal_are_equal(diff, key, old, new):
    answer = diff(f"SELECT 1 AS id, {old} AS v", f"SELECT 1 AS id, {new} AS v", key=key)

    assert not differs(answer)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (NAN, "NULL::DOUBLE"),
        ("1.10::DECIMAL(9,2)", "1.11::DECIMAL(9,2)"),
        ("TIMESTAMP '2026-01-01 00:00:00.000001'", "TIMESTAMP '2026-01-01'"),
        ("'a'::BLOB", "'b'::BLOB"),
        ("[1, 2]", "[2, 1]"),
        ("{'a': 1}", "{'a': NULL::INT}"),
    ],
)
def test_values_that_differ_in_a_little_are_told(diff, old, new):
    answer = diff(f"SELECT 1 AS id, {old} AS v", f"SELECT 1 AS id, {new} AS v", key=["id"])

    assert answer["columns"] == {"v": 1}


@pytest.mark.parametrize(
    ("old", "new", "is_equal"),
    [
        ("9007199254740992", "9007199254740993", False),
        ("12345678901234567890.01::DECIMAL(38,2)", "12345678901234567890.99::DECIMAL(38,2)", False),
        ("1.00::DECIMAL(9,2)", "1.50::DECIMAL(9,2)", True),
        ("1", "1.25::DOUBLE", True),
        ("(-9223372036854775808)::BIGINT", "9223372036854775807", False),
    ],
)
def test_a_tolerance_is_exact_for_exact_numbers(diff, old, new, is_equal):
    answer = diff(
        f"SELECT 1 AS id, {old} AS v", f"SELECT 1 AS id, {new} AS v", key=["id"], tolerance=0.5
    )

    assert (not differs(answer)) is is_equal


def test_columns_that_are_called_as_those_of_windows_are_data(diff):
    answer = diff("SELECT 'a' AS window, 1 AS attempt", "SELECT 'b' AS window, 2 AS attempt")

    assert answer["only"] == (1, 1)


def test_rows_of_one_key_are_a_multiset_and_told(diff):
    rows = "SELECT * FROM (VALUES {}) t(id, n)"

    answer = diff(
        rows.format("(1, 1), (1, 1), (1, 2), (2, 0)"),
        rows.format("(1, 2), (1, 1), (2, 9)"),
        key=["id"],
    )

    assert (answer["twice"], answer["twice_example"]) == ((1, 1), {"id": "1"})
    assert (answer["only"], answer["changed"]) == ((1, 0), 1)
    assert answer["examples"]["old"] == [{"id": "1", "n": "1"}]


def test_columns_of_one_side_are_told_and_the_others_compared(diff):
    answer = diff(
        "SELECT 1 AS id, 2 AS n", "SELECT 1 AS id, 3::BIGINT AS n, 'x' AS more", key=["id"]
    )

    assert answer["types"] == [
        {"id": "int", "n": "int"},
        {"id": "int", "n": "bigint", "more": "string"},
    ]
    assert answer["columns"] == {"n": 1}


def test_a_number_and_its_digits_are_compared_as_texts(diff):
    answer = diff("SELECT 1 AS id, 7 AS n", "SELECT 1 AS id, '7' AS n", key=["id"])

    assert not differs(answer)


def test_a_tolerance_is_for_numbers_alone(diff):
    old = f"SELECT 1 AS id, 1.0::DOUBLE AS a, {NAN} AS b, 'x' AS s"
    new = "SELECT 1 AS id, 1.05::DOUBLE AS a, 1.0::DOUBLE AS b, 'y' AS s"

    assert diff(old, new, key=["id"], tolerance=0.1)["columns"] == {"b": 1, "s": 1}


def test_a_condition_is_that_of_spark(diff):
    rows = "SELECT i AS `a b`, i AS n FROM range({}) t(i)".replace("`", '"')

    answer = diff(rows.format(5), rows.format(9), key=["n"], where="`a b` < 3 AND n <=> n")

    assert answer["rows"] == (3, 3)


def test_lines_of_csv_are_compared_by_their_columns(diff):
    answer = diff("SELECT 1 AS id, 'a,\"b' AS s", "SELECT 1 AS id, 'a' AS s", "csv", key=["id"])

    assert answer["examples"]["changed"][0]["values"] == ['a,"b', "a"]


def test_no_more_examples_than_asked_for(diff):
    answer = diff("SELECT i AS id FROM range(9) t(i)", "SELECT 99 AS id", key=["id"], sample=2)

    assert [len(rows) for rows in answer["examples"].values()] == [2, 1]


def test_what_duckdb_would_read_otherwise_is_left_to_spark(diff, tmp_path):
    for old, new in (
        ("SELECT MAP {1: 2} AS m", "SELECT MAP {1: 2} AS m"),
        ("SELECT TIMESTAMP '2026-01-01' AS t", "SELECT TIMESTAMPTZ '2026-01-01' AS t"),
    ):
        with pytest.raises(NotForDuckError):
            diff(old, new)
    (tmp_path / "o" / "rows.parquet").write_text("no Parquet")
    side = {"folder": str(tmp_path / "o"), "files": [str(tmp_path / "o" / "rows.parquet")]}
    with pytest.raises(NotForDuckError):
        compared_by_duck({"format": "parquet", "asked": {}, "old": side, "new": side}, tmp_path)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (Asked(where="a ="), "is not a condition of SQL"),
        (Asked(where="a IN (SELECT 1)"), "is more than a condition"),
        (Asked(where="a = 1 ORDER BY a"), "is more than a condition"),
        (Asked(tolerance=-1), "--tolerance -1 is not a number"),
        (Asked(tolerance=float("nan")), "--tolerance nan is not a number"),
    ],
)
def test_a_wrong_question_is_refused(asked, told):
    with pytest.raises(UsageError, match=told):
        check_asked(asked)


VALUES = st.tuples(
    st.one_of(st.none(), st.integers(0, 3)),
    st.one_of(st.none(), st.sampled_from([0.5, float("nan"), float("inf")])),
    st.one_of(st.none(), st.sampled_from(["", "a", "ä'"])),
)
SQL_ROW = "({}::INT, {}::DOUBLE, {}::VARCHAR)"


def query_of(rows):
    def literal(value):
        return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"

    texts = [SQL_ROW.format(*map(literal, row)) for row in rows]
    if not texts:
        return f"SELECT * FROM (VALUES {SQL_ROW.format(1, 1, 1)}) t(a, b, c) WHERE FALSE"  # noqa: S608
    return f"SELECT * FROM (VALUES {', '.join(texts)}) t(a, b, c)"  # noqa: S608


ON_EVERY_CHANGE, AT_NIGHT_TRIES = 8, 200
TRIES = AT_NIGHT_TRIES if settings.get_current_profile_name() == AT_NIGHT else ON_EVERY_CHANGE


@settings(max_examples=TRIES)
@given(st.lists(VALUES, max_size=8), st.lists(VALUES, max_size=8))
def test_the_counts_are_those_of_except_all(tmp_path_factory, one, other):
    folder = tmp_path_factory.mktemp("pair")
    queries = query_of(one), query_of(other)
    sides = dict(
        zip(
            ("old", "new"),
            (side_of(folder / str(n), query) for n, query in enumerate(queries)),
            strict=True,
        )
    )
    expected = tuple(
        duckdb.sql(f"SELECT count(*) FROM ({a} EXCEPT ALL {b})").fetchall()[0][0]  # noqa: S608
        for a, b in (queries, queries[::-1])
    )

    whole = compared_by_duck({"format": "parquet", "asked": {}, **sides}, folder)
    by_key = compared_by_duck({"format": "parquet", "asked": {"key": ["a"]}, **sides}, folder)

    assert whole["only"] == expected
    # A row with other values is one row on each side.
    assert tuple(count + by_key["changed"] for count in by_key["only"]) == expected
