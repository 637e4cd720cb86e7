"""Ranges of days and numbers: read from texts, cut into parts."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.errors import UsageError
from tidemark.operate.backfill.ranges import (
    Span,
    Unit,
    parse_range,
    parts_of,
    point_of,
    point_of_string,
)

TODAY = date(2026, 1, 31)
DAY = date(2013, 1, 1).toordinal()


def test_both_ends_belong_to_a_range():
    assert parse_range("2013-01-01", "2013-01-03", TODAY) == (Unit.DAY, Span(DAY, DAY + 3))
    assert parse_range("10", "10", TODAY) == (Unit.NUMBER, Span(10, 11))
    assert Span(DAY, DAY + 3).text(Unit.DAY) == "2013-01-01 to 2013-01-03"
    assert parse_range("2026-01-31", "2026-01-31", TODAY)[1].text(Unit.DAY) == "2026-01-31"


@pytest.mark.parametrize(
    ("begin", "end", "part"),
    [
        ("2013-01-02", "2013-01-01", "--from 2013-01-02 is after --to 2013-01-01"),
        ("2026-01-01", "2026-02-01", "--to 2026-02-01 is in the future: today is 2026-01-31"),
        ("2013-02-31", "2013-03-01", "--from '2013-02-31' is neither a day"),
        ("20130101", "2013-01-03", "--from 20130101 is a number and --to 2013-01-03 a day"),
        ("2013-01-01T00:00", "2013-01-03", "neither a day, such as 2013-01-31, nor an integer"),
        ("\N{ARABIC-INDIC DIGIT ONE}", "2", "nor an integer"),
        ("", "2", "nor an integer"),
        ("1.5", "2", "nor an integer"),
        ("9" * 19, "2", "nor an integer"),
    ],
)
def test_what_is_no_range_is_told(begin, end, part):
    with pytest.raises(UsageError) as error:
        parse_range(begin, end, TODAY)

    assert part in str(error.value)


@given(st.integers(-1000, 1000), st.integers(1, 400), st.data())
def test_parts_tile_a_range_and_differ_by_one_point(low, size, data):
    asked = Span(low, low + size)
    parts = parts_of(asked, data.draw(st.integers(1, size)), Unit.NUMBER)

    assert [parts[0].low, parts[-1].high] == [asked.low, asked.high]
    assert all(left.high == right.low for left, right in pairwise(parts))
    assert max(it.size for it in parts) - min(it.size for it in parts) <= 1


@pytest.mark.parametrize("parts", [0, -1, 1001, 4])
def test_a_number_of_parts_that_cannot_be_is_told(parts):
    with pytest.raises(UsageError, match=f"--parts {parts} "):
        parts_of(Span(DAY, DAY + 3), parts, Unit.DAY)


@pytest.mark.parametrize(
    ("value", "point"),
    [
        (datetime(2013, 1, 1, 23, 59, tzinfo=UTC), (Unit.DAY, DAY)),
        (datetime(2013, 1, 1, 23, tzinfo=timezone(timedelta(hours=-2))), (Unit.DAY, DAY + 1)),
        (datetime(2013, 1, 1, 23), (Unit.DAY, DAY)),  # noqa: DTZ001 (of a source without zones)
        (date(2013, 1, 1), (Unit.DAY, DAY)),
        (7, (Unit.NUMBER, 7)),
        (Decimal("7.9"), (Unit.NUMBER, 7)),
        (Decimal("-7.1"), (Unit.NUMBER, -8)),
        ("a", None),
        (True, None),
    ],
)
def test_a_watermark_lies_in_a_day_or_a_number(value, point):
    assert point_of(value) == point


def test_values_of_checkpoints_are_read_from_their_text():
    assert point_of_string("2013-01-01T10:00:00+00:00") == (Unit.DAY, DAY)
    assert point_of_string("2013-01-01") == (Unit.DAY, DAY)
    assert point_of_string("12") == (Unit.NUMBER, 12)
    assert point_of_string("none") is None
