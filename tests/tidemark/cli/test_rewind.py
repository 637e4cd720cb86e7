"""`tidemark rewind` on this machine: plan, record, undo, and what it refuses."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tidemark.cli.main import main
from tidemark.local_state.bookmarks.versions import commit_bookmark, latest_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.records import CLEARED, MARK, RewindCause, record_start
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead, DatasetWritten

POSITION = {"kind": "files", "until_ms": 1}


@pytest.fixture
def app(home, write_assembly) -> Path:
    """Return the app of a job Ünï and of one behind it, each of which has run twice."""
    folder = write_assembly({"load-ü": "", "report": ""}, {"report": ["load-ü"]})
    with Store(Home.open(home).database) as store:
        for number in (1, 2):
            for job, read, written in (
                ("load-ü", "s3://landing/ü/", "s3://raw/"),
                ("report", "s3://raw/", "s3://mart/"),
            ):
                put_run(store, job, f"jr_{job[0]}{number}", 1000 * number, read, written)
    return folder


def put_run(store, job, run_id, at, read, written):
    run = JobRun(run_id, job, None, None, 0, "SUCCEEDED", at, "", "job-bookmark-enable")
    store.put_job_run(replace(run, completed_at_ms=at + 90))
    latest = latest_bookmark(store, job)
    commit_bookmark(store, job, run_id, {"ctx": {}}, latest.version if latest else 0, at + 50)
    put_checkpoint(
        store,
        Checkpoint(
            job,
            run_id,
            at + 50,
            read=(DatasetRead(read, "ctx", files=1, rows=7, after=POSITION),),
            written=(DatasetWritten(written, "append", rows=7, files=1),),
        ),
    )


def rewind(app, *words):
    return tidemark("rewind", *words, "--app", str(app))


def versions(home):
    with Store(Home.open(home).database) as store:
        found = [latest_bookmark(store, job) for job in ("load-ü", "report")]
    return [(one.version, one.run_id) for one in found]


def test_a_plan_is_shown_in_80_columns_and_changes_nothing(app, home):
    result = rewind(app, "load-ü", "--to", "l1", "--dry-run")

    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "bookmark jr_l2 -> jr_l1, undoing 1 run" in result.stdout
    assert "reads again 1 file, 7 rows of s3://landing/ü/ (ctx)" in result.stdout
    assert "s3://raw/ DOUBLES: appends" in result.stdout
    assert "report (downstream; its state stays)" in result.stdout
    assert versions(home) == [(2, "jr_l2"), (2, "jr_r2")]


@pytest.mark.parametrize("undo", [["undo"], ["--undo"]], ids=" ".join)
def test_a_rewind_is_recorded_and_undone(app, home, undo):
    shown = rewind(app, "load-ü", "--to", "previous", "--dry-run", "--format", "json")
    plan = json.loads(shown.stdout)
    done = rewind(
        app,
        "load-ü",
        "--to",
        "previous",
        "--with-downstream",
        "--yes",
        "--reason",
        "a bad day",
        "--actor",
        "ada",
    )

    assert [one["job"] for one in plan["jobs"]] == ["load-ü", "report"]
    assert not plan["is_right"]
    assert done.exit_code == 0, done.output
    assert "`tidemark rewind undo 1` takes it back" in done.stdout
    assert versions(home) == [(3, "jr_l1"), (3, "jr_r1")]
    assert "ada: a bad day" in rewind(app, "list").stdout

    undone = rewind(app, *undo, "--yes")

    assert undone.exit_code == 0, undone.output
    assert versions(home) == [(4, "jr_l2"), (4, "jr_r2")]
    assert "done, undone by 2" in rewind(app, "list").stdout
    again = rewind(app, "load-ü", "--to", "jr_l2", "--yes", "--reason", "x")
    assert "Nothing to rewind" in again.stdout


def test_the_answer_no_changes_nothing(app, home):
    words = ["rewind", "report", "--to", "r1", "--reason", "x", "--app", str(app)]
    result = CliRunner().invoke(main, words, input="n\n")

    assert result.exit_code == 1
    assert versions(home)[1] == (2, "jr_r2")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("load-ü", "--to", "jr_nobody"), "there is no run 'jr_nobody' here; the nearest: "),
        (("lod-ü", "--to", "beginning"), "there is no job 'lod-ü'; did you mean load-ü?"),
        (("load-ü", "--to", "2999-01-01"), "is in the future"),
        (("load-ü", "--to", "2026-13-01"), "is not a moment"),
        (("load-ü", "--to", "jr_r1"), "run jr_r1 is of job report"),
        (("load-ü",), "say which jobs and where to"),
        ((), "say which jobs and where to"),
        (("load-ü", "--undo", "1"), "--undo, --resume and --list each stand alone"),
        (("undo", "first", "--yes"), "rewind undo first: give a number"),
        (("undo", "--yes"), "nothing was rewound here"),
        (("resume",), "no rewind was interrupted"),
        (("load-ü", "--to", "l1", "--format", "json"), "--format json does not ask"),
        (("load-ü", "--to", "l1", "--yes"), "say why, for the record: --reason TEXT"),
        (("load-ü", "--to", "l1", "--yes", "--reason", "x", "--actor", ""), "--actor '' is blank"),
        (("load-ü", "--to", "l1", "--yes", "--reason", "ü" * 4501), "--reason has 9,002 bytes"),
        (("load-ü", "--to", "l1", "--yes", "--reason", "\udcff"), "is not UTF-8"),
        (("load-ü", "--to", "l1", "--clear", "--yes", "--reason", "x"), "cannot be proven"),
    ],
)
def test_what_cannot_be_is_one_line_and_changes_nothing(app, home, words, said):
    before = versions(home)

    result = rewind(app, *words)

    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert versions(home) == before


def test_runs_in_flight_refuse_it(app, home):
    where = Home.open(home)
    with Store(where.database) as store:
        store.put_job_run(JobRun("jr_now", "report", None, None, 0, "RUNNING", 5000, "", "x"))

    with where.exclusive():
        result = rewind(app, "load-ü", "--to", "l1", "--yes", "--reason", "x")
    left_over = rewind(app, "load-ü", "--to", "l1", "--dry-run")

    assert_one_clear_line(result, 2, "runs in progress: report jr_now")
    assert left_over.exit_code == 0, left_over.output


def test_whatever_stops_a_rewind_it_leaves_everything_as_it_was_and_says_so(app, home):
    where = Home.open(home)
    written = where.lake / "raw" / "part.parquet"
    written.parent.mkdir()
    written.write_text("rows", encoding="utf-8")
    os.utime(written, (2.05, 2.05))  # while the run was at work
    (where.root / CLEARED).write_text("a file where a folder has to be", encoding="utf-8")
    before = versions(home)

    result = rewind(app, "load-ü", "--to", "l1", "--clear", "--yes", "--reason", "x")

    assert result.exit_code == 1
    (error,) = result.stderr.splitlines()
    assert error.startswith("error: cannot use")
    assert "everything is as it was" in error
    assert versions(home) == before
    assert written.exists()


def test_while_one_is_half_done_nothing_else_is_rewound(app, home):
    where = Home.open(home)
    with Store(where.database) as store, store.transaction():
        steps = {"bookmarks": [], "watermarks": [], "files": []}
        record_start(store, RewindCause("ada", "a bad day", 1), {"to": "jr_l1", "steps": steps})
    (where.root / MARK).touch()

    refused = rewind(app, "load-ü", "--to", "l1", "--dry-run")
    (app / "script.py").write_text("print(1)", encoding="utf-8")
    run = tidemark("submit", str(app / "script.py"))
    resumed = rewind(app, "resume")

    assert_one_clear_line(refused, 2, "rewind 1 was interrupted and is half done", "resume")
    assert_one_clear_line(run, 1, "rewind 1 was interrupted and is half done")
    assert resumed.exit_code == 0, resumed.output
    assert not (where.root / MARK).exists()


def test_the_old_options_work_and_warn(app, home):
    listed = rewind(app, "--list")
    refused = rewind(app, "--undo", "7", "--yes")
    resumed = rewind(app, "--resume")

    assert "`tidemark rewind --list` becomes `tidemark rewind list`" in listed.stderr
    assert listed.stdout.startswith("nothing was rewound in")
    assert "there is no rewind 7" in refused.stderr
    assert "no rewind was interrupted" in resumed.stderr


@pytest.mark.parametrize("option", ["--dry-run", "--clear", "--with-downstream"])
@pytest.mark.parametrize("verb", ["--undo", "--resume"])
def test_an_old_option_takes_no_option_that_it_would_not_follow(app, home, verb, option):
    assert_one_clear_line(rewind(app, verb, option), 2, f"{option} does nothing with {verb}")


def test_options_stand_after_a_verb(app, home):
    refused = rewind(app, "--yes", "undo")

    assert_one_clear_line(refused, 2, "tidemark rewind undo …")


def test_a_shell_is_offered_the_options_of_a_verb():
    completion = ShellComplete(main, {}, "tidemark", "TIDEMARK")

    offered = {item.value for item in completion.get_completions(["rewind", "list"], "--")}

    assert "--format" in offered
    assert "--to" not in offered


@pytest.mark.parametrize("verb", ["list", "resume", "undo"])
def test_with_a_target_the_name_of_a_verb_is_that_of_a_job(app, home, verb):
    result = rewind(app, verb, "--to", "beginning")

    assert result.exit_code == 2
    assert f"there is no job '{verb}'" in result.stderr
