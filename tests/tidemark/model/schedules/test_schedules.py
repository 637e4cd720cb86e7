"""Schedules: what AWS documents is taken and followed, the rest is refused in one line."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.errors import ScheduleError
from tidemark.model.schedules import schedules
from tidemark.model.schedules.cron import parse_cron
from tidemark.model.schedules.schedules import Schedule

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)  # a Sunday
BERLIN = ZoneInfo("Europe/Berlin")

NEXT = {
    "cron(0 6 * * ? *)": "2026-11-23 06:00",
    "cron(30 9 * * ? *)": "2026-11-23 09:30",  # not the minute that has begun
    "cron(31 9 * * ? *)": "2026-11-22 09:31",
    "cron(0 22-23,0-2 * * ? *)": "2026-11-22 22:00",
    "cron(0/20 * * * ? *)": "2026-11-22 09:40",
    "cron(15 12 ? * MON-FRI *)": "2026-11-23 12:15",
    "cron(15 12 ? * 2-6 *)": "2026-11-23 12:15",
    "cron(0 0 ? * L *)": "2026-11-28 00:00",  # Saturday
    "cron(15 10 ? * 6L 2026-2027)": "2026-11-27 10:15",  # the last Friday
    "cron(0 8 ? * TUE#1 *)": "2026-12-01 08:00",
    "cron(0 8 ? * 1#5 *)": "2026-11-29 08:00",
    "cron(0 8 L * ? *)": "2026-11-30 08:00",
    "cron(0 8 22W * ? *)": "2026-11-23 08:00",  # the 22nd is a Sunday
    "cron(0 8 1W AUG ? 2027)": "2027-08-02 08:00",  # the 1st is a Sunday
    "cron(0 8 1W MAY ? 2027)": "2027-05-03 08:00",  # the 1st is a Saturday
    "cron(0 8 31W OCT ? 2027)": "2027-10-29 08:00",  # the 31st is a Sunday
    "cron(0 0 29 2 ? *)": "2028-02-29 00:00",
    "cron(0 0 31 */2 ? *)": "2027-01-31 00:00",
    "cron(00 06 1,15 JAN,JUL ? 2027/2)": "2027-01-01 06:00",
    "rate(5 minutes)": "2026-11-22 09:35",
    "rate(1 day)": "2026-11-23 09:30",
}


@pytest.mark.parametrize(("expression", "fires"), NEXT.items(), ids=NEXT)
def test_a_schedule_fires_next_when_aws_says(expression, fires):
    assert f"{Schedule(expression).next_after(NOW):%Y-%m-%d %H:%M}" == fires


REFUSED = {
    "cron(0 22-2 * * ? *)": ("hours", "22-2", "22-23,0-2"),
    "cron(0 22-0 * * ? *)": ("hours", "22-0", "22-23,0"),
    "cron(5-1 6 * * ? *)": ("minutes", "5-1", "5-59,0-1"),
    "cron(0 6 ? * FRI-MON *)": ("day-of-week", "FRI-MON", "FRI-SAT,SUN-MON"),
    "cron(0 6 1 NOV-FEB ? *)": ("month", "NOV-FEB", "NOV-DEC,JAN-FEB"),
    "cron(60 6 * * ? *)": ("minutes", "60", "0-59"),
    "cron(0 24 * * ? *)": ("hours", "24", "0-23"),
    "cron(0 6 32 * ? *)": ("day-of-month", "32", "1-31"),
    "cron(0 6 0 * ? *)": ("day-of-month", "0", "1-31"),
    "cron(0 6 * 13 ? *)": ("month", "13", "1-12 or JAN-DEC"),
    "cron(0 6 ? * XYZ *)": ("day-of-week", "XYZ", "1-7 or SUN-SAT"),
    "cron(0 6 ? * mon *)": ("day-of-week", "mon", "SUN-SAT"),
    "cron(0 6 ? * 8 *)": ("day-of-week", "8", "1-7"),
    "cron(0 6 ? * 0 *)": ("day-of-week", "0", "1-7"),
    "cron(0 6 * * ? 1969)": ("year", "1969", "1970-2199"),
    "cron(0 6 * * ? 2200)": ("year", "2200", "1970-2199"),
    "cron(0/0 6 * * ? *)": ("minutes", "0/0", "1 to 59"),
    "cron(0/90 6 * * ? *)": ("minutes", "0/90", "1 to 59"),
    "cron(0 0/24 * * ? *)": ("hours", "0/24", "1 to 23"),
    "cron(0 6 1 * MON *)": ("day-of-month", "MON", "? for exactly one"),
    "cron(0 6 ? * ? *)": ("day-of-month", "?", "? for exactly one"),
    "cron(0 6 * * * *)": ("day-of-month", "*", "? for exactly one"),
    "cron(? 6 * * ? *)": ("minutes", "?", ", - * /"),
    "cron(0 6 L,3 * ? *)": ("day-of-month", "L", "1-31"),
    "cron(0 6 3W,5 * ? *)": ("day-of-month", "3W", "1-31"),
    "cron(0 6 32W * ? *)": ("day-of-month", "32", "1-31"),
    "cron(0 6 ? * 3#1,6#3 *)": ("day-of-week", "3#1", "1-7"),
    "cron(0 6 ? * 3#6 *)": ("day-of-week", "3#6", "1-7"),
    "cron(0 6 ? * 9L *)": ("day-of-week", "9", "1-7"),
    "cron(0 6 *,3 * ? *)": ("day-of-month", "*", "1-31"),
    "cron(0 6 *-3 * ? *)": ("day-of-month", "*-3", "1-31"),
    "cron(0, 6 * * ? *)": ("minutes", '""', "0-59"),
    "cron(0 6 * * ?)": ("5 fields", "six", "cron(0 6 * * ? *)"),
    "cron(0 6 *  * ? *)": ("7 fields", "six", "one space"),
    "cron(0 6 * * ? *) ": ("fields", "six", "one space"),
    "cron(0 6 * * ? *)\n": ("fields", "six", "one space"),
    "cron(\u0663 6 * * ? *)": ("minutes", "0-59", "numbers"),
    "cron(0 0 31 2 ? *)": ("no future time", "UTC", "days and years"),
    "cron(0 0 30 FEB ? *)": ("no future time", "UTC", "days and years"),
    "cron(0 6 * * ? 1999)": ("no future time", "UTC", "days and years"),
    "cron(0 0 29 2 ? 2027)": ("no future time", "UTC", "days and years"),
    "cron(0 0 ? 2 MON#5 2027)": ("no future time", "UTC", "days and years"),
    "cron(0/3 * * * ? *)": ("3 min apart", "5 min", "0/5"),
    "cron(58,1 * * * ? *)": ("3 min apart", "5 min", "0/5"),
    "rate(1 minute)": ("1 min apart", "5 min", "0/5"),
    "rate(1 hours)": ("unit hours", "allowed with 1", "hour"),
    "rate(2 hour)": ("unit hour", "allowed with 2", "hours"),
    "rate(0 hours)": ("rate(value unit)", "from 1", "rate(1 hour)"),
    "rate(1 week)": ("rate(value unit)", "days", "rate(1 hour)"),
    "rate(400 days)": ("400 days", "366 days", "less"),
    "rate(9999999999 days)": ("9999999999 days", "366 days", "less"),
    "at(2027-01-01T00:00:00)": ("neither", "cron(", "rate("),
    "0 6 * * ? *": ("neither", "cron(", "rate("),
    "": ("neither", "cron(", "rate("),
}


@pytest.mark.parametrize(("expression", "facts"), REFUSED.items(), ids=map(repr, REFUSED))
def test_what_aws_does_not_document_or_what_never_fires_is_refused(expression, facts):
    with pytest.raises(ScheduleError) as refused:
        Schedule(expression)

    assert [fact for fact in facts if fact not in str(refused.value)] == []
    assert "\n" not in str(refused.value)


def test_what_is_not_a_string_is_refused():
    for wrong in (7, ["cron(0 6 * * ? *)"], None):
        with pytest.raises(ScheduleError):
            Schedule(wrong)
        with pytest.raises(ScheduleError):
            Schedule("cron(0 6 * * ? *)", wrong)


def test_cron_fields_are_read_on_the_clock_of_the_time_zone():
    summer, winter = datetime(2026, 7, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
    schedule = Schedule("cron(0 6 * * ? *)", "Europe/Berlin")

    assert schedule.next_after(summer) == datetime(2026, 7, 1, 4, tzinfo=UTC)
    assert schedule.next_after(winter) == datetime(2026, 12, 1, 5, tzinfo=UTC)


def test_a_time_that_the_clock_skips_in_spring_does_not_come():
    before = datetime(2027, 3, 27, 12, tzinfo=BERLIN)
    schedule = Schedule("cron(30 2 * * ? *)", "Europe/Berlin")

    assert schedule.next_after(before) == datetime(2027, 3, 29, 2, 30, tzinfo=BERLIN)
    with pytest.raises(ScheduleError, match="no future time in Europe/Berlin"):
        Schedule("cron(30 2 28 3 ? 2027)", "Europe/Berlin")


def test_a_time_that_the_clock_shows_twice_in_autumn_comes_once():
    first = datetime(2026, 10, 24, 12, tzinfo=UTC)
    schedule = Schedule("cron(45 2 * * ? *)", "Europe/Berlin")

    comes = schedule.next_after(first)
    assert comes == datetime(2026, 10, 25, 0, 45, tzinfo=UTC)
    for later in (comes, datetime(2026, 10, 25, 1, 15, tzinfo=UTC)):
        assert schedule.next_after(later) == datetime(2026, 10, 26, 1, 45, tzinfo=UTC)


def test_a_rate_knows_no_clock():
    before_a_gap = datetime(2027, 3, 28, 0, 58, tzinfo=UTC)

    schedule = Schedule("rate(5 minutes)", "Europe/Berlin")

    assert schedule.next_after(before_a_gap) == datetime(2027, 3, 28, 1, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("europe/berlin", "Europe/Berlin"), ("Europe/Berln", "Europe/Berlin"), ("CEST+1!", "UTC")],
)
def test_a_time_zone_that_nobody_knows_is_refused(name, meant):
    with pytest.raises(ScheduleError) as refused:
        Schedule("cron(0 6 * * ? *)", name)

    assert name in str(refused.value)
    assert meant in str(refused.value)


def test_without_a_time_zone_database_there_is_utc(monkeypatch):
    monkeypatch.setattr(schedules, "_known_zones", set)

    assert Schedule("cron(0 6 * * ? *)").next_after(NOW)
    with pytest.raises(ScheduleError, match="pip install tzdata"):
        Schedule("cron(0 6 * * ? *)", "Europe/Berlin")


@pytest.mark.parametrize(
    ("expression", "minutes"),
    [
        ("cron(0 6 * * ? *)", 1440),
        ("cron(0 6,18 * * ? *)", 720),
        ("cron(0 * * * ? *)", 60),
        ("cron(0/20 * * * ? *)", 20),
        ("cron(0,7,21 * * * ? *)", 7),
        ("cron(50 23,0 * * ? *)", 60),
        ("rate(2 hours)", 120),
    ],
)
def test_the_finest_step_of_a_schedule_is_told(expression, minutes):
    assert Schedule(expression).finest_minutes == minutes


def lists(low, high, words=()):
    """Return a strategy for what a field with numbers may be."""
    names = st.sampled_from([*map(str, range(low, high + 1)), *words])
    order = {word: low + place for place, word in enumerate(words)}

    def up(pair):
        return "-".join(sorted(pair, key=lambda text: order.get(text) or int(text)))

    ranges = st.tuples(names, names).map(up)
    steps = st.integers(1, high - low).map(str)
    stepped = st.tuples(names | ranges, steps).map("/".join)
    star = st.just("*") | steps.map("*/{}".format)
    return star | st.lists(names | ranges | stepped, min_size=1, max_size=4).map(",".join)


WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAY = st.sampled_from([*WEEKDAYS, *"1234567"])
DAYS = lists(1, 28) | st.just("L") | st.integers(1, 28).map("{}W".format)
WEEKDAY_FIELDS = (
    lists(1, 7, WEEKDAYS)
    | st.just("L")
    | WEEKDAY.map("{}L".format)
    | st.builds("{}#{}".format, WEEKDAY, st.integers(1, 4))
)
DAY_PAIRS = DAYS.map(lambda day: (day, "?")) | WEEKDAY_FIELDS.map(lambda day: ("?", day))
YEARS = st.just("*") | st.integers(2100, 2199).map("2090-{}".format)
EXPRESSIONS = st.builds(
    lambda minute, hour, days, month, year: (
        f"cron({minute} {hour} {days[0]} {month} {days[1]} {year})"
    ),
    lists(0, 59),
    lists(0, 23),
    DAY_PAIRS,
    lists(1, 12, MONTHS),
    YEARS,
)


@given(EXPRESSIONS)
def test_every_documented_expression_is_taken_and_fires_again(expression):
    cron = parse_cron(expression)

    now = datetime(2026, 11, 22, 9, 30)  # noqa: DTZ001 - a wall clock
    fires = next(cron.times_after(now))
    assert fires > now
    assert (fires.minute, fires.hour) in {(m, h) for m in cron.minutes for h in cron.hours}
    assert fires.month in cron.months
    assert cron.finest_minutes >= 1


@given(EXPRESSIONS, st.data())
def test_a_damaged_expression_is_taken_or_refused_in_one_line(expression, data):
    place = data.draw(st.integers(0, len(expression)))
    cut = data.draw(st.integers(0, 4))
    put = data.draw(st.text("0123456789?*/,-LW#SUNMO() \n\u00b2x", max_size=4))
    damaged = expression[:place] + put + expression[place + cut :]

    found = fires_or_error(damaged)
    if isinstance(found, ScheduleError):
        assert "; " in str(found)
        assert "\n" not in str(found)
    else:
        assert found > NOW


def fires_or_error(expression):
    try:
        return Schedule(expression).next_after(NOW)
    except ScheduleError as error:
        return error


@given(st.text())
def test_any_text_is_taken_or_refused_in_one_line(text):
    for expression in (text, f"cron({text})", f"rate({text})"):
        with pytest.raises(ScheduleError, match=r"^[^\n]*$"):
            Schedule(expression)
