from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from local_glue.bookmarks.versions import Bookmark
from local_glue.commands import JobStatus
from local_glue.definitions import Deployment, JobDefinition, ScheduleDefinition
from local_glue.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from local_glue.home import Home
from local_glue.store import JobRun
from ops.status import bookmark_text, read_watermarks, schedule_lines, status_table
from tests.ops.conftest import TABLE
from watermarks import Watermarks

TITLES = ("job", "last run", "state,", "rows in", "bookmark", "watermark")


def deployment(*names: str) -> Deployment:
    arguments = {"--watermark_table": TABLE.name}
    jobs = {name: JobDefinition(name, "s3://b/k", "5.1", arguments) for name in names}
    return Deployment(jobs, (), (), (TABLE,), (), {}, "us-east-1")


@pytest.fixture
def state(tmp_path: Path) -> Home:
    return Home.open(tmp_path / "home")


def test_watermarks_are_shown_with_the_windows_that_are_open(state) -> None:
    with (
        dynamodb_endpoint(state) as endpoint,
        dynamodb_client(endpoint, "us-east-1") as client,
    ):
        create_tables(client, [TABLE])
        watermarks = Watermarks(TABLE.name, client)
        for job, highs in (("done", [7]), ("running", [7, 9]), ("first", [])):
            for high in highs[:1]:
                window = watermarks.open_window(job_id=job, run_id="jr_1", cursor="o.id", high=high)
                watermarks.commit_window(window)
        for job in ("running", "first"):
            watermarks.open_window(job_id=job, run_id="jr_2", cursor="o.id", high=9)

    assert read_watermarks(deployment("done", "running", "first", "never"), state) == {
        "done": "o.id=7",
        "running": "o.id=7 (1 open)",
        "first": "- (1 open)",
    }


def test_a_home_in_which_nothing_has_run_has_no_watermarks(state) -> None:
    assert read_watermarks(deployment("done"), state) == {}


@pytest.mark.parametrize(
    ("bookmark", "is_enabled", "text"),
    [
        (None, True, "not set"),
        (None, False, "off"),
        (Bookmark("j", 3, 2, "jr_1", None, 0, {}), True, "v3"),
        (
            Bookmark("j", 3, 2, "jr_1", None, 0, {"a": {"high_ms": 0}, "b": {"high_ms": 60_000}}),
            True,
            "v3 to 1970-01-01 00:00Z",
        ),
    ],
    ids=["never", "disabled", "no sources", "the source that is furthest behind"],
)
def test_a_bookmark_is_shown_by_its_version_and_reach(bookmark, is_enabled, text) -> None:
    assert bookmark_text(bookmark, is_enabled) == text


def test_a_terminal_of_80_columns_shows_the_whole_status() -> None:
    run = JobRun(
        run_id="jr_1",
        job_name="ingest-flights",
        workflow_run_id=None,
        trigger_name=None,
        attempt=0,
        state="SUCCEEDED",
        started_at_ms=0,
        log_path="stderr.log",
        bookmark_option="job-bookmark-enable",
        completed_at_ms=1_063_100,
        rows_read=26_276,
        rows_written=12_208,
    )
    bookmark = Bookmark("ingest-flights", 31, 2, "jr_1", None, 0, {"a": {"high_ms": 60_000}})
    console = Console(width=80, record=True)

    console.print(
        status_table(
            deployment(run.job_name),
            [JobStatus(run.job_name, run, bookmark)],
            {run.job_name: "updated_at=2013-01-15T04:00:00.016000+00:00"},
        )
    )

    lines = console.export_text().splitlines()
    edges = [next(line for line in lines if title in line).index(title) for title in TITLES]
    cells = [
        " ".join(line[begin:end].strip() for line in lines[4:] if line[begin:end].strip())
        for begin, end in pairwise([*edges, None])
    ]
    assert cells == [
        "ingest-flights",
        "1970-01-01 00:00Z",
        "SUCCEEDED 1063.1 s",
        "26,276 → 12,208",
        "v31 to 1970-01-01 00:01Z",
        "updated_at= 2013-01-15T 04:00:00.01 6000+00:00",
    ]


def test_the_status_says_what_starts_a_workflow_on_aws_and_here() -> None:
    schedule = ScheduleDefinition("flights", "cron(0 6 * * ? *)", "Europe/Berlin")

    (line,) = schedule_lines(replace(deployment("a"), schedules=(schedule,)))

    for fact in ("cron(0 6 * * ? *)", "Europe/Berlin", "flights", "tidemark run"):
        assert fact in line
