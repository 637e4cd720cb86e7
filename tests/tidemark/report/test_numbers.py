"""What the page counts: points of charts, the last period, DPU-hours, USD."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tidemark.operate.app_jobs import PipelineJob, job_of
from tidemark.operate.job_runs import Run
from tidemark.report.commits import PipelineRun
from tidemark.report.costs import costs_of, dpu_seconds_of, price_of
from tidemark.report.series import MAX_BARS, last_period, points_of
from tidemark.report.words import age, amount, took, usd

MINUTE = 60_000
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def run(start: int, minutes: float = 1, state: str = "SUCCEEDED", job: str = "a") -> PipelineRun:
    end = start + round(minutes * MINUTE)
    return PipelineRun(job, f"jr_{start}", state, start, end, rows_read=100, dpu_seconds=120.0)


def test_a_few_runs_are_a_point_each_and_many_are_means() -> None:
    few = points_of([run(0, 1), run(10, 3)])
    many = points_of([run(0, 1), run(10, 3, "FAILED"), run(20, 2)], most=2)

    assert [(it.runs, it.seconds) for it in few] == [(1, 60.0), (1, 180.0)]
    assert [(it.runs, it.failed, it.seconds) for it in many] == [(2, 1, 120.0), (1, 0, 120.0)]
    assert points_of([]) == []


def test_what_no_run_told_is_no_number() -> None:
    (point,) = points_of([PipelineRun("a", "jr_1", "RUNNING", 0)])

    assert (point.seconds, point.rows_read) == (None, None)


def test_the_last_period_ends_at_a_pause_and_at_what_is_still_running() -> None:
    early, late = run(0, 5), run(60 * MINUTE, 5)
    going = PipelineRun("b", "jr_b", "RUNNING", 0)

    assert last_period([early, late], 100 * MINUTE) == [late]
    assert last_period([going, late], 100 * MINUTE) == [going, late]
    assert len(last_period([run(number) for number in range(500)], 10_000)) == MAX_BARS


def test_costs_are_by_month_and_job_and_by_the_prices_of_the_class() -> None:
    jobs = [PipelineJob("a", worker_type="G.1X"), PipelineJob("b", worker_type="R.1X")]
    january, february = 1_767_225_600_000, 1_769_904_000_000
    hour = [
        PipelineRun("a", "1", "SUCCEEDED", january, january + 1, dpu_seconds=3600),
        PipelineRun("a", "2", "SUCCEEDED", january, january + 1, dpu_seconds=3600, flex=True),
        PipelineRun("b", "3", "FAILED", february, february + 1, dpu_seconds=3600),
        PipelineRun("gone", "4", "SUCCEEDED", february, february + 1, dpu_seconds=0),
        PipelineRun("a", "5", "RUNNING", february),
    ]

    found = [(it.month, it.job, it.runs, round(it.usd, 2)) for it in costs_of(jobs, hour)]

    assert found == [
        ("2026-02", "b", 1, 0.52),
        ("2026-02", "gone", 1, 0.0),
        ("2026-01", "a", 2, 0.73),
    ]


def test_glue_6_has_prices_of_its_own() -> None:
    jobs = [PipelineJob("a", worker_type="G.1X", glue_version="6.0")]
    runs = [PipelineRun("a", "1", "SUCCEEDED", 0, 1, dpu_seconds=3600)]

    assert round(costs_of(jobs, runs)[0].usd, 3) == 0.308


def test_a_run_is_billed_a_minute_at_least_and_what_aws_tells_wins() -> None:
    job = PipelineJob("a", worker_type="G.1X", dpu=2)

    here = Run("jr_1", "a", "SUCCEEDED", NOW, NOW + timedelta(seconds=3))
    workers = {"ExecutionTime": 5, "WorkerType": "G.2X", "NumberOfWorkers": 3}
    never_started = {"ExecutionTime": 0, "MaxCapacity": 2.0}

    assert dpu_seconds_of(job, here) == 60 * job.dpu
    assert dpu_seconds_of(job, replace(here, ended_at=NOW + timedelta(seconds=90))) == 90 * job.dpu
    assert dpu_seconds_of(job, replace(here, billed={"DPUSeconds": 7.5, **workers})) == 7.5
    assert dpu_seconds_of(job, replace(here, billed=workers)) == 360
    assert dpu_seconds_of(job, replace(here, billed=never_started)) == 0
    assert dpu_seconds_of(job, replace(here, state="RUNNING", billed=workers)) is None


def test_amounts_are_written_for_people() -> None:
    assert [age(it * 1000) for it in (-1, 119, 120, 7200, 200_000)] == [
        "0 s",
        "119 s",
        "2 min",
        "2 h",
        "2 days",
    ]
    assert [took(it) for it in (None, 2.44, 45, 300, 12_000)] == [
        "\N{EN DASH}",
        "2.4 s",
        "45 s",
        "5 min",
        "3 h 20 min",
    ]
    assert [amount(it) for it in (None, 3.0, 2.25, 1234.5, 7)] == [
        "\N{EN DASH}",
        "3",
        "2.2",
        "1,234",
        "7",
    ]
    assert [usd(it) for it in (0, 0.0042, 1234.5)] == ["0.00", "0.0042", "1,234.50"]


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({}, 0.308),
        ({"GlueVersion": "auto"}, 0.308),
        ({"GlueVersion": "5.1"}, 0.44),
        ({"GlueVersion": "auto", "AutoUpgradeMetadata": {"SourceVersion": "5.1"}}, 0.44),
    ],
)
def test_a_job_is_priced_by_the_version_that_it_runs_on(stated, expected):
    job = job_of("a", {"Command": {"Name": "glueetl"}, **stated})

    assert price_of(job, flex=False) == pytest.approx(expected)
