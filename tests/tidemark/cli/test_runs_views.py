"""How job runs, workflow runs and triggers are shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from rich.console import Console

from tidemark.cli.views.runs import (
    Changes,
    not_started_lines,
    run_json,
    runs_listing,
    since_of,
    triggers_listing,
)
from tidemark.cli.views.status import status_table
from tidemark.errors import UsageError
from tidemark.operate.job_runs import Run
from tidemark.operate.statuses import Status
from tidemark.operate.target import BookmarkHead
from tidemark.operate.triggers import Trigger
from tidemark.operate.workflow_runs import WorkflowRun

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ID = f"jr_{'0123456789abcdef' * 4}"
JOB = "ingest-flights-of-the-whole-year"
DONE = Run(ID, JOB, "SUCCEEDED", NOW, NOW + timedelta(seconds=2))
STATUS = Status(JOB, True, DONE, True, BookmarkHead(12))


def shown(*parts: object) -> str:
    console = Console(file=StringIO(), width=80)
    for part in parts:
        console.print(part, soft_wrap=True)
    return console.file.getvalue()


@pytest.mark.parametrize(
    "listing",
    [
        runs_listing([DONE, Run(f"{ID}_attempt_1", JOB, "RUNNING", NOW)]),
        status_table([STATUS], {JOB: "time_hour=2013-01-31T05:00"}, 0, has_rows=False),
        triggers_listing([Trigger(f"start-{JOB}", "CONDITIONAL", "ACTIVATED", "flow", (JOB, "b"))]),
    ],
)
def test_lists_fit_eighty_columns(listing):
    lines = shown(listing).splitlines()

    assert any(JOB in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_each_change_of_a_run_is_told_once():
    going = Run("jr_1", "load", "RUNNING", NOW)
    failed = Run("jr_1", "load", "FAILED", NOW, NOW + timedelta(seconds=3), "no rows")
    changes = Changes(" --deployed prod")

    assert shown(*changes.lines([going])) == "  load  started\n"
    assert changes.lines([going]) == []
    assert shown(*changes.lines([failed])).splitlines() == [
        "✗ load FAILED: no rows",
        "  after 3.0 s, log: tidemark logs load --run jr_1 --deployed prod",
    ]
    assert changes.lines([failed]) == []


def test_a_run_that_read_nothing_says_so():
    run = replace(DONE, job="load", detail="nothing new")

    assert "SUCCEEDED nothing new  2.0 s" in shown(runs_listing([run]))
    assert shown(*Changes().lines([run])) == "✓ load  SUCCEEDED in 2.0 s: nothing new\n"
    assert run_json(run)["detail"] == "nothing new"
    assert "Waiting" not in shown(runs_listing([replace(run, state="WAITING", detail="Waiting")]))


def test_a_run_of_this_machine_ends_with_its_rows():
    changes = Changes(with_rows=lambda run: replace(run, rows_read=1, rows_written=1200))

    (line,) = changes.lines([replace(DONE, job="load")])

    assert shown(line) == "✓ load  SUCCEEDED in 2.0 s, 1 row read, 1,200 written\n"


def test_what_was_not_started_is_told_with_what_it_waits_for():
    run = WorkflowRun("flow", "wr_1", "COMPLETED", (), {"b": ("a SUCCEEDED (is FAILED)",), "c": ()})

    assert shown(*not_started_lines(run)) == (
        "b was not started: it waits for a SUCCEEDED (is FAILED)\n"
        "c was not started: it waits for a trigger that is not active\n"
    )


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (None, None),
        ("30m", NOW - timedelta(minutes=30)),
        ("12h", NOW - timedelta(hours=12)),
        ("7d", NOW - timedelta(days=7)),
        ("2026-01-30", datetime(2026, 1, 30, tzinfo=UTC)),
        ("2026-01-30T06:00", datetime(2026, 1, 30, 6, tzinfo=UTC)),
        ("2026-01-30T06:00+02:00", datetime(2026, 1, 30, 4, tzinfo=UTC)),
    ],
)
def test_since_is_a_distance_or_a_date(text, at):
    assert since_of(text, NOW) == at


@pytest.mark.parametrize(
    "text", ["", "yesterday", "-1d", "12", "999999d", "2026-13-01", "0001-01-01T00:00+14:00"]
)
def test_other_texts_are_refused_for_since(text):
    with pytest.raises(UsageError, match="--since"):
        since_of(text, NOW)
