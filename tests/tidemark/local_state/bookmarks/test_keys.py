"""Which keys a run may read, and what its bookmark becomes: no database, no Spark."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.keys import (
    ASC,
    DESC,
    JdbcSource,
    KeyRange,
    choose_keys,
    conditions,
    describe,
    encode,
    is_sequence,
    key_type,
    microseconds,
    range_to_read,
    state_after,
)
from tidemark.local_state.bookmarks.sources import Edges

ORDERS = JdbcSource("public.orders", "orders", ("id",))
COMPOUND = JdbcSource("orders", "orders", ("a", "b", "c"))
HOLDS = {
    "=": lambda x, y: x == y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def ints(*values):
    return tuple(("int", str(value)) for value in values)


def state(*values, **changes):
    bound = [["int", str(value)] for value in values] or None
    return {
        "kind": "jdbc",
        "table": "public.orders",
        "keys": ["id"],
        "order": "asc",
        "bound": bound,
        **changes,
    }


def satisfies(source, keys, row):
    """Tell whether a row of ints satisfies the conditions, as a database would."""
    values = dict(zip(source.keys, row, strict=True))
    return all(
        any(all(HOLDS[c.operator](values[c.key], int(c.value[1])) for c in way) for way in ways)
        for ways in conditions(source, keys)
    )


keys_of_three = st.tuples(*[st.integers(0, 3)] * 3)


@given(keys_of_three, keys_of_three, keys_of_three)
def test_conditions_compare_compound_keys_as_one_tuple(low, high, row):
    rising = KeyRange(ints(*low), ints(*high))

    assert satisfies(COMPOUND, rising, row) == (low < row <= high)
    falling = JdbcSource("orders", "orders", COMPOUND.keys, DESC)
    assert satisfies(falling, rising, row) == (high <= row < low)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans())), st.sampled_from([ASC, DESC]))
def test_every_row_is_read_by_exactly_one_committed_run(runs, order):
    source = JdbcSource("orders", "orders", ("id",), order)
    direction = 1 if order == ASC else -1
    table, committed, stored = [], [], None
    for arriving, commits in runs:
        table += [direction * (len(table) + n) for n in range(arriving)]
        allowed = range_to_read(source, ["int"], Edges(stored))
        new = [row for row in table if satisfies(source, allowed, [row])]
        last = ints(max(new) if order == ASC else min(new)) if new else None
        read = [row for row in table if satisfies(source, KeyRange(allowed.low, last), [row])]
        assert not new or read == new
        if commits:
            committed += new
            stored = state_after(source, allowed.low, last)

    missing = range_to_read(source, ["int"], Edges(stored))
    committed += [row for row in table if satisfies(source, missing, [row])]
    assert committed == table


def test_a_range_without_limits_has_no_conditions():
    assert conditions(ORDERS, KeyRange()) == []


@pytest.mark.parametrize("low", [None, state()], ids=["no state", "nothing was there"])
def test_first_run_reads_every_key(low):
    assert range_to_read(ORDERS, ["int"], Edges(low)) == KeyRange()


def test_next_run_reads_what_lies_after_the_stored_bound():
    assert range_to_read(ORDERS, ["int"], Edges(state(7))) == KeyRange(ints(7))


def test_state_of_job_bookmark_to_is_the_upper_limit():
    found = range_to_read(ORDERS, ["int"], Edges(state(7), state(9)))

    assert found == KeyRange(ints(7), ints(9))


@pytest.mark.parametrize("high", [{}, state()], ids=["no state", "nothing was there"])
def test_nothing_is_read_when_nothing_was_read_by_the_end_of_job_bookmark_to(high):
    assert range_to_read(ORDERS, ["int"], Edges(state(7), high)).is_closed


def test_state_holds_the_last_keys_that_were_read():
    assert state_after(ORDERS, ints(7), ints(9)) == state(9)


def test_state_keeps_its_bound_when_nothing_is_new():
    assert state_after(ORDERS, ints(7), None) == state(7)
    assert state_after(ORDERS, None, None) == state()


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        (state(7, keys=["no"]), r"the keys no \(asc\), and the source now has id \(asc\)"),
        (state(7, order="desc"), r"the keys id \(desc\), and the source now has id \(asc\)"),
        (state(7, bound=[["date", "2013-01-01"]]), "holds keys of the types date, .* are int"),
        ({"kind": "s3", "high_ms": 1}, "made by a source of kind 's3', not by a table"),
    ],
    ids=["other keys", "other order", "other type", "files"],
)
def test_state_that_cannot_be_compared_is_refused_with_the_remedy(stored, text):
    with pytest.raises(UsageError, match=rf"{text}.*its own transformation_ctx, or reset"):
        range_to_read(ORDERS, ["int"], Edges(stored))


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("int", -7, "-7"),
        ("decimal", Decimal("0E-18"), "0.000000000000000000"),
        ("string", "O'Hare", "O'Hare"),
        ("timestamp", 1, "1970-01-01T00:00:00.000001Z"),
        ("timestamp", -62135596800000000, "0001-01-01T00:00:00Z"),
    ],
)
def test_key_is_stored_as_text_that_people_can_read(kind, value, text):
    assert encode(kind, value) == (kind, text)


@given(st.integers(-62135596800000000, 253402300799999999))
def test_timestamp_keeps_its_microseconds(value):
    assert microseconds(encode("timestamp", value)[1]) == value


def test_timestamp_that_no_calendar_holds_is_refused():
    with pytest.raises(UsageError, match="years 1 to 9999 can be stored"):
        encode("timestamp", 9223372036825200000)


@pytest.mark.parametrize(
    ("spark_type", "kind"),
    [("smallint", "int"), ("bigint", "int"), ("decimal(38,18)", "decimal"), ("date", "date")],
)
def test_type_of_a_key(spark_type, kind):
    assert key_type("id", spark_type) == kind


@pytest.mark.parametrize("spark_type", ["double", "boolean", "binary", "array<int>"])
def test_other_types_are_refused(spark_type):
    with pytest.raises(UsageError, match="cannot be a bookmark key"):
        key_type("id", spark_type)


def test_key_must_be_spelt_as_the_table_spells_it():
    assert choose_keys(["id", "No"], ["No", "id"], "orders") == ("id", "No")

    with pytest.raises(UsageError, match=r"'ID'.*orders has no such column; it has id, No"):
        choose_keys(["ID"], ["id", "No"], "orders")
    with pytest.raises(UsageError, match="id, ID of the table orders differ in case alone"):
        choose_keys(["ID"], ["id", "ID"], "orders")
    with pytest.raises(UsageError, match="names a column twice"):
        choose_keys(["id", "id"], ["id"], "orders")


@pytest.mark.parametrize(
    ("count", "least", "greatest", "expected"),
    [(0, None, None, True), (1, 5, 5, True), (3, -1, 1, True), (2, 1, 3, False)],
    ids=["empty", "one", "three", "gap"],
)
def test_sequence_has_no_gap(count, least, greatest, expected):
    assert is_sequence(count, least, greatest) is expected


def test_source_survives_its_json_and_what_is_added_to_it():
    document = {**COMPOUND.to_json(), "window": ["jr_1", "jr_2"]}

    assert JdbcSource.from_json(document) == COMPOUND


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, None, "all rows of public.orders"),
        (None, state(9), "rows of public.orders with id <= 9"),
        (state(7), None, "rows of public.orders with id > 7"),
        (state(7), state(9), "rows of public.orders with id > 7 and id <= 9"),
        (state(7), state(7), "no rows of public.orders: nothing is new after 7"),
        (state(), state(), "all rows of public.orders"),
    ],
    ids=["in full", "first run", "next run", "a run", "nothing new", "empty table"],
)
def test_range_in_words(before, after, words):
    assert describe(ORDERS.to_json(), before, after) == words


def test_compound_and_descending_keys_in_words():
    source = JdbcSource("orders", "orders", ("day", "name"), DESC)
    before = {"bound": [["date", "2013-01-02"], ["string", "x"]]}

    words = describe(source.to_json(), before)

    assert words == "rows of orders with (day, name) < (2013-01-02, 'x')"


def test_source_without_keys_and_a_query_read_all_their_rows():
    assert describe(JdbcSource("orders", "o").to_json(), state(7)) == "all rows of orders"
    assert describe(JdbcSource("", "o").to_json(), None) == "all rows of its query"
    assert JdbcSource("").name == "a query"
