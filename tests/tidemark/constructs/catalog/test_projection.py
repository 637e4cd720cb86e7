"""Partition projection as Athena documents it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.constructs import (
    DateProjection,
    DateUnit,
    EnumProjection,
    InjectedProjection,
    IntegerProjection,
    Projection,
)
from tidemark.errors import JobDefinitionError


def test_every_kind_of_key_has_its_documented_properties():
    projection = Projection(
        {
            "day": DateProjection("2020-01-01", "NOW+1DAY"),
            "hour": IntegerProjection(0, 23, digits=2),
            "region": EnumProjection(["eu", "us"]),
            "device": InjectedProjection(),
        },
        folders="${region}/${device}/dt=${day}/${hour}/",
    )

    assert projection.parameters("s3://lake/clicks/") == {
        "projection.enabled": "true",
        "projection.day.type": "date",
        "projection.day.range": "2020-01-01,NOW+1DAY",
        "projection.day.format": "yyyy-MM-dd",
        "projection.day.interval": "1",
        "projection.day.interval.unit": "DAYS",
        "projection.hour.type": "integer",
        "projection.hour.range": "0,23",
        "projection.hour.interval": "1",
        "projection.hour.digits": "2",
        "projection.region.type": "enum",
        "projection.region.values": "eu,us",
        "projection.device.type": "injected",
        "storage.location.template": "s3://lake/clicks/${region}/${device}/dt=${day}/${hour}/",
    }


def test_folders_of_hive_need_no_template():
    assert "storage.location.template" not in Projection(
        {"day": DateProjection("2020-01-01")}
    ).parameters("s3://lake/clicks/")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda: EnumProjection([]), r"values \[\]; allowed: at least one"),
        (lambda: EnumProjection(["a,b"]), "none empty or with a comma"),
        (lambda: EnumProjection(["a", "a"]), "each of them once"),
        (lambda: EnumProjection("ab"), "values 'ab'; allowed: a list"),
        (lambda: EnumProjection([None]), r"values \[None\]; allowed: a list"),
        (lambda: IntegerProjection(2, 1), r"range \(2, 1\); allowed: least <= most"),
        (lambda: IntegerProjection(0, 2**63), "in the range of a bigint"),
        (lambda: IntegerProjection("0", 1), "least '0'; allowed: an integer"),
        (lambda: IntegerProjection(0, True), "most True; allowed: an integer"),
        (lambda: IntegerProjection(0, 1, interval=0), "interval 0; allowed: a number of 1"),
        (lambda: IntegerProjection(0, 100, digits=2), "digits 2; allowed: enough for 100"),
        (lambda: IntegerProjection(-1, 1, digits=2), "no negative numbers"),
        (lambda: IntegerProjection(0, 1, digits=0), "digits 0; allowed: None, or a number"),
        (lambda: DateProjection("2020"), "start '2020'; allowed: a date in the format yyyy-MM-dd"),
        (lambda: DateProjection("2020-1-1"), "start '2020-1-1'"),
        (lambda: DateProjection("2020-02-30"), "start '2020-02-30'"),
        (lambda: DateProjection(None), "start None"),
        (lambda: DateProjection("2020-01-01", "TODAY"), "end 'TODAY'"),
        (lambda: DateProjection("2020-01-02", "2020-01-01"), "allowed: start <= end"),
        (lambda: DateProjection("2020-01-01", format="YYYY-MM-dd"), "format 'YYYY-MM-dd'"),
        (lambda: DateProjection("2020-01-01", format="yyyy-MM-DD"), "format 'yyyy-MM-DD'"),
        (lambda: DateProjection("01-01", format="MM-dd"), "coarser ones too"),
        (lambda: DateProjection("2020", format="yyyy"), "unit .*allowed: DateUnit.YEARS"),
        (lambda: DateProjection("2020-01-01", unit=DateUnit.HOURS), "must show every step"),
        (lambda: DateProjection("2020-01-01", interval=0), "interval 0"),
        (lambda: Projection({"a": InjectedProjection()}, "${a}"), r"folders '\$\{a\}'"),
        (lambda: Projection({"a": InjectedProjection()}, "x/"), "allowed: each of a once"),
        (lambda: Projection({"a": InjectedProjection()}, "${a}/${a}/"), "each of a once"),
        (lambda: Projection({"a": InjectedProjection()}, "/${a}/"), "folders below the data"),
        (lambda: Projection({"a": InjectedProjection()}, "../${a}/"), r"folders '\.\./"),
    ],
)
def test_what_athena_would_not_take_is_refused(wrong, text):
    with pytest.raises(JobDefinitionError, match=text):
        wrong()


@pytest.mark.parametrize("text", ["NOW", "NOW-3YEARS", "NOW+1MONTH", "NOW - 36 HOURS"])
def test_a_range_may_move_with_today(text):
    assert DateProjection("2020-01-01", text).properties()["range"] == f"2020-01-01,{text}"
    assert DateProjection("NOW-9YEARS", text).properties()["range"] == f"NOW-9YEARS,{text}"


@given(st.dates(), st.dates())
def test_a_range_of_dates_is_taken_if_and_only_if_it_is_one(one, other):
    first, last = sorted([one.isoformat(), other.isoformat()])

    assert DateProjection(first, last).properties()["range"] == f"{first},{last}"
    if first != last:
        with pytest.raises(JobDefinitionError):
            DateProjection(last, first)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 8))
def test_digits_are_enough_for_the_last_number_or_refused(least, span, digits):
    most = least + span
    if len(str(most)) <= digits:
        assert IntegerProjection(least, most, digits=digits).properties()["digits"] == str(digits)
    else:
        with pytest.raises(JobDefinitionError):
            IntegerProjection(least, most, digits=digits)
