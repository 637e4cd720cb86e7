"""The order of cursor values, across the hour that a zone repeats."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, Inexact, localcontext
from zoneinfo import ZoneInfo

import pytest

from watermarks import WatermarkValueError
from watermarks.windows.cursors import (
    check_same_family,
    entry_of,
    is_before,
    value_after,
    value_before,
)

NEW_YORK = ZoneInfo("America/New_York")
SUMMER = datetime(2013, 11, 3, 1, 30, tzinfo=NEW_YORK)
WINTER = datetime(2013, 11, 3, 1, 10, tzinfo=NEW_YORK, fold=1)


def test_later_instant_with_the_earlier_wall_clock_is_later():
    assert is_before(SUMMER, WINTER)
    assert not is_before(WINTER, SUMMER)


def test_distance_behind_is_elapsed_time_and_keeps_the_zone():
    moved = value_before(
        datetime(2013, 11, 3, 3, 30, tzinfo=NEW_YORK), timedelta(hours=3), "lookback"
    )

    assert moved.astimezone(UTC) == datetime(2013, 11, 3, 5, 30, tzinfo=UTC)
    assert moved.tzinfo is NEW_YORK


@pytest.mark.parametrize(
    ("value", "distance", "expected"),
    [
        (10, 3, 7),
        (Decimal("1.5"), Decimal("0.5"), Decimal("1.0")),
        (date(2013, 1, 3), timedelta(days=2), date(2013, 1, 1)),
    ],
)
def test_distance_behind_other_values(value, distance, expected):
    assert value_before(value, distance, "lookback") == expected


@pytest.mark.parametrize(
    ("value", "distance"), [("a", 1), (10, timedelta(1)), (SUMMER, 1), (10, True), (10, -1)]
)
def test_distance_that_does_not_fit_is_refused(value, distance):
    with pytest.raises(WatermarkValueError, match="lookback is"):
        value_before(value, distance, "lookback")


def test_distance_to_before_the_first_year_is_refused():
    with pytest.raises(WatermarkValueError, match="there is no year: give less"):
        value_before(date(1, 1, 5), timedelta(days=9), "lookback")


def test_name_of_several_watermarks_is_no_cursor():
    with pytest.raises(WatermarkValueError, match=r"there are the watermarks .* would be lost"):
        entry_of({"orders": {"id": 5}}, "orders")


def test_int_and_decimal_are_of_one_family():
    check_same_family(1, Decimal("1.5"), "id")


@pytest.mark.parametrize(
    ("value", "distance", "expected"),
    [
        (10, 3, 13),
        (10, Decimal("0.5"), Decimal("10.5")),
        (date(2013, 1, 3), timedelta(days=2), date(2013, 1, 5)),
        (date(9999, 12, 31), timedelta(days=2), None),
    ],
)
def test_distance_ahead(value, distance, expected):
    assert value_after(value, distance, "max_span") == expected


@pytest.mark.parametrize(("value", "distance"), [(10, 0), (date(2013, 1, 3), timedelta(hours=5))])
def test_distance_ahead_that_leads_nowhere_is_refused(value, distance):
    with pytest.raises(WatermarkValueError, match=r"max_span is .*, no step from"):
        value_after(value, distance, "max_span")


@pytest.mark.parametrize("digits", [6, 28])
def test_numbers_are_exact_whatever_context_the_script_has_set(digits):
    key = Decimal("1000000000000000000000000000999.5")

    with localcontext(prec=digits) as context:
        context.traps[Inexact] = True
        assert value_before(key, 1, "lookback") == Decimal("1000000000000000000000000000998.5")
        assert value_before(10**30 + 1, Decimal(1), "settle") == 10**30
        assert value_before(Decimal("12345678.99"), Decimal("0.01"), "settle") == Decimal(
            "12345678.98"
        )


@pytest.mark.parametrize("distance", [Decimal("NaN"), Decimal("Infinity")])
def test_a_distance_that_is_no_number_is_refused(distance):
    with pytest.raises(WatermarkValueError, match="settle is Decimal"):
        value_before(5, distance, "settle")
