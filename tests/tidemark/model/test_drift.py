"""Rows with other columns: one more, one fewer, a value of another type."""

import pytest

from tidemark.model.drift import COLUMN, VALUE, drifted

ROWS = [{"id": 1, "amt": 5, "note": "a"}, {"id": 2, "amt": None, "note": "b"}]


def test_only_the_first_row_has_a_value_in_the_column_more():
    assert drifted(ROWS, "more") == ([{**ROWS[0], COLUMN: VALUE}, ROWS[1]], COLUMN)


def test_the_last_column_is_gone_from_every_row():
    assert drifted(ROWS, "fewer") == ([{"id": 1, "amt": 5}, {"id": 2, "amt": None}], "note")


@pytest.mark.parametrize(
    ("rows", "is_one_type", "values"),
    [
        (ROWS, False, [VALUE, None]),
        ([*ROWS, {"id": 3, "amt": 7}], True, [VALUE, None, "7"]),
        ([{"id": 1, "amt": "5"}, {"id": 2, "amt": "-1.5"}], False, [VALUE, "-1.5"]),
    ],
    ids=["JSON", "one type for a column", "CSV"],
)
def test_a_value_of_the_last_column_of_numbers_is_text(rows, is_one_type, values):
    made = drifted(rows, "type", is_one_type=is_one_type)

    assert made.column == "amt"
    assert [row["amt"] for row in made.rows] == values
    assert rows[0]["amt"] in (5, "5")  # what was given is as it was


@pytest.mark.parametrize(
    ("rows", "drift", "message"),
    [
        ([], "more", "there is no row"),
        ([{"id": 1}], "fewer", "the columns are id; drift 'fewer' needs a second column"),
        ([{"a": "x", "b": True}], "type", "the columns are a, b; .*needs a column of numbers"),
        (ROWS, "less", "drift is 'less'; allowed are more, fewer, type"),
    ],
)
def test_rows_that_cannot_be_otherwise_are_refused(rows, drift, message):
    with pytest.raises(ValueError, match=message):
        drifted(rows, drift)
