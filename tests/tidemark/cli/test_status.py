from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.fixtures.commands import TABLE
from tidemark.cli.views.status import bookmark_text, read_watermarks, schedule_lines, status_table
from tidemark.glue_service.commands import JobStatus
from tidemark.local_state.bookmarks.versions import (
    Bookmark,
    commit_bookmark,
    contexts_of_last_commit,
)
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import (
    Action,
    Deployment,
    JobDefinition,
    ScheduleDefinition,
    TriggerDefinition,
)
from watermarks import Watermarks


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
                window = watermarks.open_window(
                    job, run_id="jr_1", cursor="id", source="o", high=high
                )
                watermarks.commit_window(window)
        for job in ("running", "first"):
            watermarks.open_window(job, run_id="jr_2", cursor="id", source="o", high=9)

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


STATES = {"old": {"high_ms": 0}, "new": {"high_ms": 60_000}}


@pytest.mark.parametrize(
    ("contexts", "text"),
    [
        ({"new"}, "v3 to 1970-01-01 00:01Z"),
        ({"new", "old"}, "v3 to 1970-01-01 00:00Z"),
        ({"another"}, "v3 to 1970-01-01 00:00Z"),
        ((), "v3 to 1970-01-01 00:00Z"),
    ],
    ids=["renamed", "both opened", "not yet opened", "not known"],
)
def test_a_context_that_no_run_opens_any_more_does_not_hold_the_bookmark_back(
    contexts, text
) -> None:
    assert bookmark_text(Bookmark("j", 3, 2, "jr_1", None, 0, STATES), True, contexts) == text


def test_the_contexts_of_a_job_are_those_of_the_run_that_committed_last(state) -> None:
    with Store(state.database) as store:
        for number, (run_id, ctx) in enumerate((("jr_1", "old"), ("jr_2", "new"))):
            with store.transaction():
                values = (
                    run_id,
                    "j",
                    ctx,
                    0,
                    "job-bookmark-enable",
                    number,
                    "{}",
                    0,
                    0,
                    None,
                    None,
                )
                marks = ", ".join("?" * len(values))
                store.query(f"INSERT INTO source_read VALUES ({marks})", values)  # noqa: S608
            if run_id == "jr_1":
                commit_bookmark(store, "j", run_id, STATES, 0, 1)
        assert contexts_of_last_commit(store, "j") == {"old"}  # the second run has not committed

        commit_bookmark(store, "j", "jr_2", STATES, 1, 2)

        assert contexts_of_last_commit(store, "j") == {"new"}


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

    assert console.export_text().splitlines() == [
        "ingest-flights",
        "  last run         1970-01-01 00:00Z",
        "  state, duration  SUCCEEDED 1063.1 s",
        "  rows in → out    26,276 → 12,208",
        "  bookmark         v31 to 1970-01-01 00:01Z",
        "  watermark        updated_at=2013-01-15T04:00:00.016000+00:00",
    ]


def test_the_status_says_that_events_start_a_workflow_on_aws() -> None:
    trigger = TriggerDefinition("t", "EVENT", (Action("a"),), "flights")

    (line,) = schedule_lines(replace(deployment("a"), triggers=(trigger,)))

    for fact in ("events", "flights", "tidemark run"):
        assert fact in line


def test_the_status_says_what_starts_a_workflow_on_aws_and_here() -> None:
    schedule = ScheduleDefinition("flights", "cron(0 6 * * ? *)", "Europe/Berlin")

    (line,) = schedule_lines(replace(deployment("a"), schedules=(schedule,)))

    for fact in ("cron(0 6 * * ? *)", "Europe/Berlin", "flights", "tidemark run"):
        assert fact in line
