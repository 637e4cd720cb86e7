"""Which texts are days, which may be, and which are ordinary keys."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watermarks import WatermarkValueError
from watermarks.windows.day_strings import FOREVER, day_of
from watermarks.windows.days import check_not_ahead, warn_if_stored_ahead

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
DAY = timedelta(days=1)
FORMS = ["%Y-%m-%d", "%Y/%m/%d %H:%M", "%Y%m%dT%H%M%S", "%d.%m.%Y", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y"]
FORMS += ["%d-%b-%Y", "%B %d, %Y", "%a, %d %b %Y %H:%M:%S GMT", "%d%b%Y", "%b %d %Y %I:%M%p"]
FORMS += ["%G-W%V", "%GW%V-%u", "%Y-%m-%dT%H:%M:%S.%fZ"]
UNSURE = ["%Y%m%d", "%Y%m%d%H%M%S", "%Y-%m", "%Y%m", "%m/%Y", "%b %Y", "%Y-%j", "%Y"]


def judged(value, before=None, future=DAY):
    """Return how a bound is judged: refused, told or passed."""
    told = []
    handler = logging.Handler()
    handler.emit = told.append
    logging.getLogger("watermarks").addHandler(handler)
    try:
        check_not_ahead(value, NOW, future, "day", before)
    except WatermarkValueError:
        return "refused"
    finally:
        logging.getLogger("watermarks").removeHandler(handler)
    return "told" if told else "passed"


@given(st.dates(date(1900, 1, 1), date(9998, 12, 31)), st.sampled_from(FORMS))
def test_a_text_in_a_usual_form_means_its_day_or_one_beside_it(day, form):
    found = day_of(day.strftime(form).replace(str(day.year), f"{day.year:04}"))

    assert found.is_sure
    off = abs(found.time.date() - day)
    ambiguous = form[1] in "dm" and "b" not in form and day.day <= 12
    assert off <= timedelta(days=11) or (ambiguous and found.time.year == day.year)


@given(st.dates(date(1900, 1, 1), date(9998, 12, 31)), st.sampled_from(UNSURE))
def test_a_form_of_ordinary_keys_too_may_mean_its_day(day, form):
    found = day_of(day.strftime(form))

    assert not found.is_sure
    assert found.time.year == day.year


@pytest.mark.parametrize(
    "value",
    [
        "99991231",
        "9999-12",
        "999912",
        "99991231235959",
        "99991231T000000Z",
        "99991231 2359",
        "31.12.9999",
        "12/31/9999",
        "31/12/9999 23:59",
        "31-DEC-9999",
        "Dec 31, 9999",
        "infinity",
        "Infinity",
        " +infinity ",
        "∞",
        "9999-12-31T..",
        "9999-W52",
        "01.01.2999",
        "+292278994-08-17T07:12:55.807Z",
        "294276-12-31 00:00:00",
        "12/9999",
        "December 9999",
        "9999-12-31T23:59:59+00",
        "2027-01-01",
        "2026-13-01",
        "01JAN2031:00:00:00",
        "Fri Dec 31 23:59:59 UTC 9999",
        "Fri Dec 31 23:59:59 9999",
        "Sat Jan  1 00:00:00 CEST 2050",
    ],
)
def test_what_can_only_be_a_time_ahead_is_refused_whatever_came_before(value):
    for before in (None, "A-17", "2026-11-01"):
        assert judged(value, before) == "refused"
    assert judged(value, future=timedelta.max) == "passed"


@pytest.mark.parametrize("value", ["inf", "MAX", "never", "maxvalue", "20301231", "203012", "2030"])
def test_what_may_be_an_ordinary_key_is_judged_by_what_came_before(value):
    assert judged(value) == "told"
    assert judged(value, "20261124") == judged(value, "2026-11") == "refused"
    assert judged(value, "A-17") == judged(value, "47110815") == "passed"
    assert judged(value, future=timedelta.max) == "passed"


@pytest.mark.parametrize(
    "value",
    [
        "99991231-77",
        "A-17",
        "x-9999-12-31",
        "9999-12-310",
        "45.67.2031",
        "4711",
        "471112",
        "550e8400-e29b-41d4-a716-446655440000",
        "1764115200000",
        "-infinity",
        "maximilian",
        "12345678",
        "47110815",
        "marker2099",
        "0000-01-01 x",
        "2026-11-25",
        "20261125",
        "202611",
        "2026-W48",
        "2026",
        "25.11.2026",
        "11/25/2026",
        "٩٩٩٩-12-31",
        "",
        "10.20.2030.4",
        "6.1.7601",
        "4.8.4084",
        "10.12.22000",
        "8471.30.01",
        "8471.30.01.10",
    ],
)
def test_ordinary_keys_and_days_that_have_come_pass(value):
    assert judged(value) == "passed"


@pytest.mark.parametrize("value", ["1.1.2999", "31.1.9999", "4.12.2100 08:00"])
def test_numbers_with_points_are_a_version_unless_a_day_came_before(value):
    assert judged(value, "25.11.2026") == "refused"
    assert judged(value, "6.1.7600") == "passed"


@pytest.mark.parametrize("value", ["20261201", "20271001", "2026-12", "2027"])
def test_a_key_that_goes_on_within_a_year_is_told_and_not_refused(value):
    """Numbers of orders that begin with their year look like days."""
    assert judged(value, "20261124") == "told"


@given(st.text(max_size=30))
def test_every_text_is_judged_without_an_error(text):
    assert judged(text) in {"refused", "told", "passed"}
    assert day_of(text) is None or day_of(text).time <= FOREVER


@pytest.mark.parametrize(("value", "is_sure"), [("infinity", True), ("20301231", False)])
def test_a_stored_text_ahead_is_told_by_each_run(value, is_sure, caplog):
    with caplog.at_level(logging.WARNING, "watermarks"):
        warn_if_stored_ahead(value, NOW, DAY, "day")
        warn_if_stored_ahead("4711", NOW, DAY, "day")

    (record,) = caplog.records
    assert ("if that is a time" in record.getMessage()) is not is_sure
