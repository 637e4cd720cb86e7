"""ingest_weather: flat rows of one set of types, whatever a batch of reports looks like."""

from __future__ import annotations

import pytest

from infra.flights_stack import RAW_WEATHER
from tests.sampled import at_night
from tidemark.constructs import SchemaPolicy
from watermarks import Contract

pytestmark = pytest.mark.spark

TYPES = {
    "report_id": "bigint",
    "origin": "string",
    **dict.fromkeys(("year", "month", "day", "hour"), "int"),
    **dict.fromkeys(("temp", "humid", "wind_speed", "precip", "visib"), "double"),
    "time_hour": "timestamp",
    "updated_at": "timestamp",
    "weather_date": "date",
    "_rescued_data": "string",
}
# An observation with fractions, one with whole numbers, one without any.
FRACTIONS = '"temp": 39.02, "humid": 59.37, "wind_speed": 10.35, "precip": 0.1, "visib": 9.5'
WHOLE = '"temp": 39, "humid": 59, "wind_speed": 10, "precip": 0, "visib": 10'
NULLS = '"temp": null, "humid": null, "wind_speed": null, "precip": null, "visib": null'
VALUES = {
    FRACTIONS: (39.02, 59.37, 10.35, 0.1, 9.5),
    WHOLE: (39.0, 59.0, 10.0, 0.0, 10.0),
    NULLS: (None, None, None, None, None),
}


CONTRACT = SchemaPolicy.rescue(RAW_WEATHER)


def report(origin, *batches):
    found = ", ".join(
        f'{{"year": 2013, "month": 1, "day": 1, "hour": {hour}, {values}, '
        '"time_hour": "2013-01-01T06:00:00Z", "updated_at": "2013-01-01T07:00:00Z"}'
        for hour, values in enumerate(batches, 1)
    )
    return f'{{"origin": "{origin}", "observations": [{found}]}}\n'


@pytest.fixture
def flat(glue_context, job, s3):
    """Return a function that returns the flat rows of reports, in their order."""

    def flat(*reports):
        s3.put("a.json", "".join(reports))
        landed = glue_context.create_dynamic_frame.from_options(
            connection_type="s3", connection_options={"paths": [s3.uri]}, format="json"
        )
        contract = Contract.from_json(CONTRACT.argument)
        rows = contract.apply(job.observations(landed, "s3://staging/"))
        return rows.orderBy("report_id", "hour")

    return flat


@pytest.mark.parametrize(
    "batches", [(WHOLE,), (FRACTIONS, WHOLE, NULLS), *at_night(((FRACTIONS,),), ((NULLS,),))]
)
def test_types_and_values_do_not_depend_on_how_numbers_are_written(flat, batches):
    weather = flat(report("EWR", *batches))

    assert dict(weather.dtypes) == TYPES
    measured = weather.select("temp", "humid", "wind_speed", "precip", "visib")
    assert measured.collect() == [VALUES[batch] for batch in batches]


def test_every_observation_has_the_airport_of_its_report_and_utc_times(flat):
    weather = flat(report("EWR", WHOLE, FRACTIONS), report("JFK", NULLS, WHOLE))

    rows = weather.selectExpr(
        "report_id",
        "origin",
        "hour",
        "string(time_hour)",
        "string(updated_at)",
        "string(weather_date)",
    )
    times = ("2013-01-01 06:00:00", "2013-01-01 07:00:00", "2013-01-01")
    assert rows.collect() == [
        (1, "EWR", 1, *times),
        (1, "EWR", 2, *times),
        (2, "JFK", 1, *times),
        (2, "JFK", 2, *times),
    ]


@pytest.mark.parametrize(
    ("more", "rescued"),
    [
        (', "pressure": 1012.5', '{"pressure":1012.5}'),
        (', "pressure": 1012, "gust": null', '{"pressure":1012}'),
        (', "station": {"id": 7, "name": "K"}', '{"station.id":7,"station.name":"K"}'),
    ],
)
def test_what_a_report_has_more_is_kept_beside_the_columns(flat, more, rescued):
    (row,) = flat(report("EWR", WHOLE + more)).select("temp", "_rescued_data").collect()

    assert row == (39.0, rescued)


def test_a_number_that_became_text_is_kept_and_its_column_is_null(flat):
    rows = flat(report("EWR", FRACTIONS), report("JFK", FRACTIONS.replace("39.02", '"warm"')))

    assert rows.select("origin", "temp", "_rescued_data").collect() == [
        ("EWR", 39.02, None),
        ("JFK", None, '{"temp.string":"warm"}'),
    ]


def test_a_run_reads_the_reports_that_are_new(lake, glue_job, bookmark):
    arguments = {
        "source_path": "s3://landing/weather/",
        "target_path": "s3://raw/weather/",
        "schema_of_target_path": CONTRACT.argument,
        "TempDir": "s3://staging/",
    }
    lake.put("landing/weather/1.json", report("EWR", WHOLE), minutes_ago=5)
    first = glue_job("ingest_weather.py", bookmark="enable", **arguments).check()
    lake.put("landing/weather/2.json", report("JFK", WHOLE, NULLS))
    second = glue_job("ingest_weather.py", bookmark="enable", **arguments).check()

    assert (first.rows_written, second.rows_written) == (1, 2)
    assert second.files_read == ["landing/weather/2.json"]
    rows = lake.rows("raw/weather/")
    assert sorted((row["report_id"], row["origin"], row["hour"]) for row in rows) == [
        (1, "EWR", 1),
        (2, "JFK", 1),
        (2, "JFK", 2),
    ]
    assert bookmark("ingest-weather").new_files == []
