from contextlib import ExitStack, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.fixtures.commands import TABLE
from tidemark.cli.progress import print_refused
from tidemark.cli.views.status import read_watermarks, render_bookmark, status_table
from tidemark.glue_service.commands import App
from tidemark.local_state.bookmarks.versions import commit_bookmark, contexts_of_last_commit
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.advice import advice_of
from tidemark.model.assembly.cloud_assembly import Assembly
from tidemark.model.assembly.definitions import (
    Action,
    Deployment,
    JobDefinition,
    ScheduleDefinition,
    TriggerDefinition,
)
from tidemark.operate.home import HomeTarget
from tidemark.operate.job_runs import Run
from tidemark.operate.statuses import Status
from tidemark.operate.target import BookmarkHead
from watermarks import Watermarks

MINUTE = datetime(1970, 1, 1, 0, 1, tzinfo=UTC)
DEPLOYMENT = Deployment(
    {"a": JobDefinition("a", "s3://b/k", "5.1", {})}, (), (), (TABLE,), (), {}, "us-east-1"
)


@pytest.fixture
def state(tmp_path: Path) -> Home:
    return Home.open(tmp_path / "home")


def target_of(home: Home, deployment: Deployment = DEPLOYMENT) -> HomeTarget:
    app = App(home.root, Assembly((), ()), deployment)
    nobody: Any = nullcontext()
    return HomeTarget(home, ExitStack(), nobody, lambda: app, reads_app=True)


def keeping(*jobs: str) -> list[Status]:
    return [Status(job, watermark_table=TABLE.name) for job in jobs]


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

    assert read_watermarks(target_of(state), keeping("done", "running", "first", "never")) == {
        "done": "o.id=7",
        "running": "o.id=7 (1 open)",
        "first": "- (1 open)",
    }


def test_a_home_in_which_nothing_has_run_has_no_watermarks(state) -> None:
    assert read_watermarks(target_of(state), keeping("done")) == {}


@pytest.mark.parametrize(
    ("head", "is_enabled", "text"),
    [
        (None, True, "not set"),
        (None, False, "off"),
        (BookmarkHead(3), True, "v3"),
        (BookmarkHead(3, 60_000), True, "v3 to 1970-01-01 00:01Z"),
    ],
    ids=["never", "disabled", "no sources", "with a source"],
)
def test_a_bookmark_is_shown_by_its_version_and_reach(head, is_enabled, text) -> None:
    assert render_bookmark(Status("j", has_bookmark=is_enabled, bookmark=head)) == text


STATES = {"old": {"high_ms": 0}, "new": {"high_ms": 60_000}}


@pytest.mark.parametrize(
    ("contexts", "until_ms"),
    [(["new"], 60_000), (["new", "old"], 0), (["another"], 0), ([], 0)],
    ids=["renamed", "both opened", "not yet opened", "not known"],
)
def test_a_context_that_no_run_opens_any_more_does_not_hold_the_bookmark_back(
    state, contexts, until_ms
) -> None:
    with Store(state.database) as store:
        for number, ctx in enumerate(contexts):
            opened(store, "jr_1", ctx, number)
        commit_bookmark(store, "j", "jr_1", STATES, 0, 1)

    assert target_of(state).bookmark("j") == BookmarkHead(1, until_ms)


def opened(store: Store, run_id: str, ctx: str, number: int) -> None:
    values = (run_id, "j", ctx, 0, "job-bookmark-enable", number, "{}", 0, 0, None, None)
    marks = ", ".join("?" * len(values))
    with store.transaction():
        store.query(f"INSERT INTO source_read VALUES ({marks})", values)  # noqa: S608


def test_the_contexts_of_a_job_are_those_of_the_run_that_committed_last(state) -> None:
    with Store(state.database) as store:
        opened(store, "jr_1", "old", 0)
        commit_bookmark(store, "j", "jr_1", STATES, 0, 1)
        opened(store, "jr_2", "new", 1)
        assert contexts_of_last_commit(store, "j") == {"old"}  # the second run has not committed

        commit_bookmark(store, "j", "jr_2", STATES, 1, 2)

        assert contexts_of_last_commit(store, "j") == {"new"}


def test_a_terminal_of_80_columns_shows_the_whole_status() -> None:
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    run = Run(
        "jr_1",
        "ingest-flights",
        "SUCCEEDED",
        begin,
        begin + timedelta(milliseconds=1_063_100),
        rows_read=26_276,
        rows_written=12_208,
        billed=None,
    )
    status = Status(run.job, last_run=run, has_bookmark=True, bookmark=BookmarkHead(31, 60_000))
    console = Console(width=80, record=True)

    watermarks = {run.job: "updated_at=2013-01-15T04:00:00.016000+00:00"}
    console.print(status_table([status], watermarks, 0, has_rows=True))

    assert console.export_text().splitlines() == [
        "ingest-flights",
        "  last run         1970-01-01 00:00Z",
        "  state, duration  SUCCEEDED 1063.1 s",
        "  rows in → out    26,276 → 12,208",
        "  bookmark         v31 to 1970-01-01 00:01Z",
        "  watermark        updated_at=2013-01-15T04:00:00.016000+00:00",
    ]


def test_a_run_that_goes_on_is_shown_with_its_age() -> None:
    run = Run("jr_1", "a", "RUNNING", MINUTE)
    console = Console(width=200, record=True)

    console.print(status_table([Status("a", last_run=run)], {}, 61_500, has_rows=False))

    assert "RUNNING 1.5 s" in console.export_text()


def test_the_status_says_what_starts_a_workflow_on_aws_and_here(state) -> None:
    trigger = TriggerDefinition("t", "EVENT", (Action("a"),), "flights")
    schedule = ScheduleDefinition("delays", "cron(0 6 * * ? *)", "Europe/Berlin")
    deployment = replace(DEPLOYMENT, triggers=(trigger,), schedules=(schedule,))

    event, clock = target_of(state, deployment).starts()

    for fact in ("events", "flights", "tidemark run"):
        assert fact in event
    for fact in ("cron(0 6 * * ? *)", "Europe/Berlin", "delays", "tidemark run"):
        assert fact in clock


def test_a_run_that_a_contract_has_refused_is_shown_with_what_to_do():
    refusal = "SchemaContractError: the column tip (bigint) is new (load.py, line 3)"
    remedy = advice_of("failures")["contract-refused"].says()
    runs = [
        Run("jr_1", "frozen", "FAILED", MINUTE, message=refusal),  # of an account
        Run("jr_2", "here", "FAILED", MINUTE, message=f"{refusal}; {remedy}"),
        Run("jr_3", "other", "FAILED", MINUTE, message="ValueError: no"),
    ]
    console = Console(width=1000, record=True, file=StringIO())

    print_refused(console, runs)

    frozen, here = console.export_text().splitlines()
    assert frozen.rstrip() == f"refused frozen, run of 1970-01-01 00:01Z: {refusal}; {remedy}"
    assert here.rstrip() == f"refused here, run of 1970-01-01 00:01Z: {refusal}; {remedy}"
