"""What a commit tells CloudWatch, in its embedded metric format."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from watermarks import Watermarks
from watermarks.metrics import RESCUED, commit_report, rows_report

NOW = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)


def metrics_of(line):
    (about,) = line["_aws"]["CloudWatchMetrics"]
    return about


@pytest.mark.parametrize(
    ("value", "age"),
    [
        (NOW - timedelta(hours=2), 7_200),
        (datetime(2026, 11, 21, 5, 0), 3_600),  # noqa: DTZ001 (a naive one is UTC)
        (datetime(2026, 11, 21, 8, 0, tzinfo=timezone(timedelta(hours=3))), 3_600),
        (date(2026, 11, 20), 30 * 3_600),
        (NOW + timedelta(minutes=1), 0),
    ],
)
def test_a_watermark_that_is_a_time_has_an_age(value, age):
    line = json.loads(commit_report("ingest", {"updated_at": value}, NOW))

    assert line["WatermarkAge"] == age
    assert line["WatermarkCommits"] == 1
    assert line["JobName"] == "ingest"
    assert line["_aws"]["Timestamp"] == 1_795_240_800_000
    assert metrics_of(line) == {
        "Namespace": "Tidemark",
        "Dimensions": [["JobName"]],
        "Metrics": [
            {"Name": "WatermarkCommits", "Unit": "Count"},
            {"Name": "WatermarkAge", "Unit": "Seconds"},
        ],
    }


def test_rows_that_a_contract_takes_aside_are_a_line_of_their_own():
    line = json.loads(rows_report("ingest", RESCUED, 3, "s3://lake/out", NOW))

    assert (line["RescuedRows"], line["JobName"], line["Target"]) == (3, "ingest", "s3://lake/out")
    assert metrics_of(line)["Metrics"] == [{"Name": "RescuedRows", "Unit": "Count"}]


def test_the_oldest_of_several_watermarks_gives_the_age():
    values = {"orders": NOW - timedelta(hours=1), "returns": NOW - timedelta(hours=5), "n": 7}

    assert json.loads(commit_report("ingest", values, NOW))["WatermarkAge"] == 5 * 3_600


def test_a_watermark_that_is_no_time_is_counted_and_has_no_age():
    line = json.loads(commit_report("ingest", {"id": 7, "name": "x"}, NOW))

    assert "WatermarkAge" not in line
    assert [metric["Name"] for metric in metrics_of(line)["Metrics"]] == ["WatermarkCommits"]


def test_every_commit_is_reported_once_on_a_line_of_its_own(table_name, client, job):
    report = io.StringIO()
    watermarks = Watermarks(table_name, client, report=report, now=lambda: NOW)

    latest = watermarks.advance(job_id=job, run_id="jr_1", to={"id": 1}, base=None)
    watermarks.advance(job_id=job, run_id="jr_2", to={"id": 2}, base=latest)
    with watermarks.window(job_id=job, run_id="jr_3", cursor="id", high=lambda low: 3):
        assert len(report.getvalue().splitlines()) == 2

    assert [json.loads(line)["JobName"] for line in report.getvalue().splitlines()] == [job] * 3


def test_a_window_with_nothing_new_is_not_reported(table_name, client, job):
    report = io.StringIO()
    watermarks = Watermarks(table_name, client, report=report)

    with watermarks.window(job_id=job, run_id="jr_1", cursor="id", high=lambda low: None):
        pass

    assert report.getvalue() == ""
