"""Watermark values keep their type, or are refused with the remedy."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tries import tries
from watermarks import WatermarksError, WatermarkValueError
from watermarks.table.values import decode, encode

ZONES = [
    UTC,
    timezone(timedelta(hours=5, minutes=45)),
    timezone(-timedelta(hours=3, seconds=7)),
    ZoneInfo("Europe/London"),
    ZoneInfo("America/New_York"),
]
EARLIEST, LAST = datetime(1, 1, 3), datetime(9999, 12, 29)  # noqa: DTZ001 - hypothesis adds the zone

leaves = st.one_of(
    st.datetimes(EARLIEST, LAST, timezones=st.sampled_from(ZONES), allow_imaginary=False),
    st.datetimes(),
    st.dates(),
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.builds(
        lambda digits, exponent: Decimal(digits).scaleb(exponent),
        st.integers(-(10**28) + 1, 10**28 - 1),
        st.integers(-100, 90),
    ),
    st.text(),
)
names = st.text(min_size=1, max_size=20)
states = st.recursive(
    st.dictionaries(names, leaves, max_size=4),
    lambda inner: st.dictionaries(names, st.one_of(leaves, inner), max_size=3),
    max_leaves=8,
)


def typed(value):
    """Return a value with what == does not compare: its type and its zone."""
    if isinstance(value, dict):
        return {name: typed(child) for name, child in value.items()}
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC), value.replace(fold=0).isoformat(), str(value.tzinfo)
    return type(value), value


@settings(
    max_examples=tries(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(state=states)
def test_every_value_comes_back_from_the_table_as_it_went_in(watermarks, state):
    job = f"job-{uuid.uuid4().hex}"

    advanced = watermarks.advance(
        job_id=job, run_id="jr_1", to=state, base=None, future=timedelta.max
    )

    assert typed(watermarks.latest(job).watermarks) == typed(state)
    assert typed(watermarks.get_watermark_values(job, "jr_1")) == typed(state)
    assert typed(advanced.watermarks) == typed(state)


@pytest.mark.parametrize(
    "moment",
    [datetime.min, datetime.max],  # noqa: DTZ901 - naive on purpose
    ids=["min", "max"],
)
def test_first_and_last_naive_datetime_come_back(watermarks, job, moment):
    watermarks.advance(
        job_id=job, run_id="jr_1", to={"at": moment}, base=None, future=timedelta.max
    )

    assert watermarks.latest(job).watermarks == {"at": moment}


def test_aware_datetimes_are_stored_so_that_text_order_is_time_order(watermarks, job, rows):
    london = datetime(2023, 3, 26, 2, 30, 0, 5, ZoneInfo("Europe/London"))

    watermarks.advance(job_id=job, run_id="jr_1", to={"at": london}, base=None)

    head = rows()["~HEAD"]
    assert head["watermarks"] == {"M": {"at": {"S": "2023-03-26T01:30:00.000005Z"}}}
    assert head["wmTypes"] == {"M": {"at": {"S": "tEurope/London"}}}


def test_trailing_zeros_make_no_other_commit(watermarks, job):
    first = watermarks.advance(job_id=job, run_id="jr_1", to={"n": Decimal("1.10")}, base=None)

    again = watermarks.advance(job_id=job, run_id="jr_1", to={"n": Decimal("1.1")}, base=None)

    assert again == first


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (True, r"is a bool \(True\): .*; write it as the int 0 or 1"),
        (None, r"is a NoneType \(None\): .*; leave the name out"),
        (1.5, r"is a float \(1.5\): .*; write it as Decimal\(str\(value\)\), or as an int"),
        (float("nan"), r"is a float \(nan\): "),
        (Decimal("NaN"), r"is Decimal\('NaN'\), not a number: "),
        (Decimal("-Infinity"), r"is Decimal\('-Infinity'\), not a number: "),
        ([1], r"is a list \(\[1\]\): .*; write it as a dict"),
        (b"x", r"is a bytes \(b'x'\): .*; convert it to one of these"),
        ("\ud800", r"is '\\ud800', which holds half of a character .*; repair the string"),
        (10**38, "is an int of more than 38 digits: .*; write it as a str"),
        (Decimal("1e126"), ".*outside what DynamoDB stores exactly .*; round it"),
        (Decimal("1e-131"), ".*outside what DynamoDB stores exactly .*; round it"),
        (Decimal("1." + "1" * 38), ".*outside what DynamoDB stores exactly .*; round it"),
        (datetime.min.replace(tzinfo=ZONES[1]), ".*outside the years 1 to 9999 in UTC"),
    ],
)
def test_value_that_would_not_come_back_is_refused_with_its_path(
    watermarks, job, rows, value, message
):
    state = {"orders": {"updated_at": value}}

    with pytest.raises(WatermarkValueError, match=rf"^watermarks\.orders\.updated_at {message}"):
        watermarks.advance(job_id=job, run_id="jr_1", to=state, base=None)

    assert rows() == {}
    for kind in (TypeError, ValueError, WatermarksError):  # the original raised TypeError
        assert issubclass(WatermarkValueError, kind)


@pytest.mark.parametrize("name", ["", 7])
def test_name_that_is_no_text_is_refused(watermarks, job, name):
    with pytest.raises(WatermarkValueError, match=f"^watermarks.orders has the name {name!r}: "):
        watermarks.advance(job_id=job, run_id="jr_1", to={"orders": {name: 1}}, base=None)


def test_zone_without_a_name_keeps_its_offset():
    class Summer(type(UTC).__base__):
        def utcoffset(self, when):
            return timedelta(hours=1)

    stored, tag = encode(datetime(2013, 7, 1, 12, tzinfo=Summer()), "at")

    assert (stored, tag) == ({"S": "2013-07-01T11:00:00.000000Z"}, {"S": "t+01:00"})
    assert decode(stored, tag).isoformat() == "2013-07-01T12:00:00+01:00"


def test_date_is_not_taken_for_a_datetime():
    assert encode(date(2013, 7, 1), "day") == ({"S": "2013-07-01"}, {"S": "a"})


def test_tag_of_a_newer_version_is_an_error():
    with pytest.raises(WatermarksError, match=r"type tag 'x' .* is unknown: .* use that version"):
        decode({"S": "?"}, {"S": "x"})


def test_zone_that_this_machine_lacks_is_an_error():
    with pytest.raises(WatermarksError, match=r"zone 'Moon/Base', .* install the tzdata package"):
        decode({"S": "2013-07-01T11:00:00.000000Z"}, {"S": "tMoon/Base"})
