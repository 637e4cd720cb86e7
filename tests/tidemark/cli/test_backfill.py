"""`tidemark backfill` and `gaps` on a port: Python shell jobs, which need no JVM."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tidemark.cli.test_cli import PROJECT, assert_one_clear_line, tidemark
from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import Store
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead, DatasetWritten

pytestmark = pytest.mark.stress  # starts many processes

RANGE = {"--backfill_from": "none", "--backfill_to": "none"}
# Notes what it was told; fails, or waits for a file, where a file says so.
NOTES = """
import pathlib, sys, time
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
low = given["--backfill_from"]
here = pathlib.Path({folder!r})
while (here / f"wait-{{low}}").exists():
    time.sleep(0.01)
assert not (here / f"fail-{{low}}").exists()
told = (low, given["--backfill_to"], given.get("--job-bookmark-option"), given.get("--kind"))
with (here / "told").open("a") as file:
    print(*told, file=file)
"""
DAYS = ("--from", "2013-01-01", "--to", "2013-01-06")


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """A served home for all tests of this file."""
    home = Home.open(tmp_path_factory.mktemp("backfill") / "home")
    with serving(home) as (url, engine):
        yield Port(home, url, engine)


@pytest.fixture
def port(account: Port, monkeypatch: pytest.MonkeyPatch) -> Port:
    monkeypatch.setenv("TIDEMARK_HOME", str(account.home.root))
    return account


@pytest.fixture
def job(port: Port, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A job of this test's own that can be filled, and notes what it is told in `tmp_path`."""
    return define(port, request.node.name.split("[")[0][:60], tmp_path)


def define(port: Port, name: str, folder: Path, **members: Any) -> str:
    arguments = {"DefaultArguments": {**RANGE, "--job-bookmark-option": "job-bookmark-enable"}}
    return port.job(name, NOTES.format(folder=str(folder)), **{**arguments, **members})


def told(folder: Path) -> list[str]:
    file = folder / "told"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def states(job: str, *options: str) -> list[tuple[str, str, str]]:
    answer = tidemark("gaps", job, "--format", "json", *options)
    assert answer.exit_code == 0, answer.output
    return [(it["from"], it["to"], it["state"]) for it in json.loads(answer.stdout)["intervals"]]


def test_a_range_is_run_in_parts_and_each_run_is_told_its_own(port, job, tmp_path):
    port.glue.create_trigger(
        Name=f"start-{job}",
        Type="ON_DEMAND",
        Actions=[{"JobName": job, "Arguments": {"--kind": "daily"}}],
    )

    result = tidemark("backfill", job, *DAYS, "--parts", "2", "--yes")

    assert result.exit_code == 0, result.output
    assert told(tmp_path) == [
        "2013-01-01 2013-01-04 job-bookmark-disable daily",
        "2013-01-04 2013-01-07 job-bookmark-disable daily",
    ]
    assert "in 2 job runs, one after another" in result.output
    assert f"{job}, 2013-01-01 to 2013-01-06: loaded" in result.output
    by_number = tidemark("backfill", job, "--from", "1", "--to", "2", "--yes")
    assert_one_clear_line(by_number, 2, "is kept by day, not by number")
    lines = tidemark("gaps", job, "--from", "2012-12-30", "--to", "2013-01-10").stdout.splitlines()
    assert lines[1].split() == [
        "2012-12-30",
        "2012-12-31",
        "2",
        "days",
        "missing",
        "not",
        "loaded",
    ]
    assert f"{job}, 2012-12-30 to 2013-01-10: 12 days, 6 done, 6 missing" in lines
    assert max(map(len, lines[:3])) < 80


def test_an_app_that_is_named_says_what_its_job_is(port, job, tmp_path):
    """Also what is not deployed yet: here the column of days, and that it can be told a range."""
    for day, hour in (("2013-01-01", "2013-01-05"), ("2013-01-02", "2013-01-06")):
        folder = port.home.lake / "landing" / job / f"day={day}" / f"other={hour}"
        folder.mkdir(parents=True)
        (folder / "a.json").touch()
    told = {"--backfill_by": "other", "--backfill_source": f"s3://landing/{job}/"}
    command = {"Name": "pythonshell", "ScriptLocation": "s3://assets/x.py", "PythonVersion": "3.9"}
    resources = {
        "Job": {
            "Type": "AWS::Glue::Job",
            "Properties": {"Name": job, "Command": command, "DefaultArguments": {**RANGE, **told}},
        }
    }
    stack = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "t.json"}}
    for name, document in {
        "t.json": {"Resources": resources},
        "manifest.json": {"version": "1", "artifacts": {"stack": stack}},
    }.items():
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")

    assert states(job, *DAYS, "--app", str(tmp_path)) == [
        ("2013-01-01", "2013-01-04", "missing"),
        ("2013-01-05", "2013-01-06", "missing"),
    ]
    plan = tidemark("backfill", job, *DAYS, "--dry-run", "--app", str(tmp_path))
    assert plan.exit_code == 0, plan.output
    refused = tidemark("gaps", define(port, f"x-{job}", tmp_path), *DAYS, "--app", str(tmp_path))
    assert_one_clear_line(refused, 2, f"the app has no job 'x-{job}'", job)


def test_a_job_behind_that_does_not_see_the_rows_is_told(port, job, tmp_path):
    raw = f"s3://raw/{job}/"
    mart = define(port, f"mart-{job}", tmp_path)
    by_key = DatasetRead(raw, after={"kind": "keys", "values": {"id": "9"}})
    with Store(port.home.database) as store:
        put_checkpoint(
            store, Checkpoint(job, f"jr_{job}", 1, written=(DatasetWritten(raw, "merge"),))
        )
        put_checkpoint(store, Checkpoint(mart, f"jr_{mart}", 2, read=(by_key,)))

    shown = tidemark("backfill", job, *DAYS, "--dry-run", "--format", "json")

    assert shown.exit_code == 0, shown.output
    (warning,) = json.loads(shown.stdout)["warnings"]
    assert warning.startswith(f"{mart} reads {raw} by a key")
    assert warning in " ".join(tidemark("backfill", job, *DAYS, "--dry-run").stdout.split())


@pytest.mark.nightly
def test_what_failed_is_told_with_what_runs_the_rest_and_only_that_is_run(port, job, tmp_path):
    (tmp_path / "fail-2013-01-03").touch()

    failed = tidemark("backfill", job, *DAYS, "--parts", "3", "--yes")
    ledger = states(job, *DAYS)
    (tmp_path / "fail-2013-01-03").unlink()
    before = told(tmp_path)
    again = tidemark("backfill", job, *DAYS, "--parts", "3", "--yes", "--only-missing")

    assert failed.exit_code == 1
    assert (
        f"1 of 3 job runs done; `tidemark backfill {job} --from 2013-01-03 --to 2013-01-06 "
        "--parts 2` runs the rest" in failed.stderr
    )
    assert ledger == [("2013-01-01", "2013-01-02", "done"), ("2013-01-03", "2013-01-06", "missing")]
    assert again.exit_code == 0, again.output
    assert [line.split()[0] for line in told(tmp_path)[len(before) :]] == [
        "2013-01-03",
        "2013-01-05",
    ]


def test_what_runs_now_is_running_and_is_not_run_twice(port, job, tmp_path):
    (tmp_path / "wait-2013-01-02").touch()
    run_id = port.start(
        job, Arguments={"--backfill_from": "2013-01-02", "--backfill_to": "2013-01-04"}
    )
    try:
        running = states(job, *DAYS)
        same = tidemark("backfill", job, *DAYS, "--yes")
        other = tidemark("backfill", job, "--from", "2012-01-01", "--to", "2012-01-01", "--yes")
    finally:
        (tmp_path / "wait-2013-01-02").unlink()
    port.ended(job, run_id)

    assert ("2013-01-02", "2013-01-03", "running") in running
    assert_one_clear_line(same, 2, f"{run_id} of {job} fills 2013-01-02 to 2013-01-03 now")
    assert_one_clear_line(other, 2, "1 of its runs may run at once: wait for it")
    assert port.states(job) == ["SUCCEEDED"]


def test_ctrl_c_stops_what_was_started_and_says_what_runs_the_rest(
    port, job, tmp_path, monkeypatch
):
    (tmp_path / "wait-2013-01-01").touch()

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    waits = SimpleNamespace(sleep=interrupted)  # of this module: other threads wait as well
    monkeypatch.setattr("tidemark.operate.backfill.filling.time", waits)
    result = tidemark("backfill", job, *DAYS, "--parts", "3", "--only-missing", "--yes")
    monkeypatch.undo()

    (run,) = port.glue.get_job_runs(JobName=job)["JobRuns"]
    assert port.ended(job, run["Id"])["JobRunState"] == "STOPPED"
    assert result.exit_code == 130
    assert (
        f"stopped: 0 of 3 job runs done; `tidemark backfill {job} --from 2013-01-01 --to "
        "2013-01-06 --only-missing --parts 3` runs the rest" in result.stderr
    )
    assert told(tmp_path) == []


def test_parts_run_at_once_as_far_as_the_job_may(port, tmp_path):
    job = define(port, "wide", tmp_path, ExecutionProperty={"MaxConcurrentRuns": 2})

    result = tidemark("backfill", job, *DAYS, "--parts", "4", "--yes")

    assert result.exit_code == 0, result.output
    assert "in 4 job runs, 2 at once" in result.output
    starts = [line for line in result.output.splitlines() if " RUNNING " in line or "✓" in line]
    assert [" RUNNING " in line for line in starts[:2]] == [True, True]
    assert len(told(tmp_path)) == 4


def test_a_plan_is_shown_and_nothing_is_started_unless_it_is_wanted(port, job):
    dry = tidemark("backfill", job, *DAYS, "--parts", "2", "--dry-run", "--format", "json")
    asked = tidemark("backfill", job, *DAYS)

    assert json.loads(dry.stdout)["parts"] == [
        {"from": "2013-01-01", "to": "2013-01-03"},
        {"from": "2013-01-04", "to": "2013-01-06"},
    ]
    assert asked.exit_code == 2
    assert "Start 1 job run?" in asked.stderr
    assert "--yes answers" in asked.stderr
    assert port.states(job) == []


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--from", "2013-01-02", "--to", "2013-01-01"), "is after --to 2013-01-01"),
        (("--from", "2013-01-02", "--to", "9998-01-01"), "is in the future"),
        (("--from", "January", "--to", "2013-01-01"), "--from 'January' is neither a day"),
        ((*DAYS, "--parts", "0"), "--parts 0 is not allowed: give an integer from 1 to 1000"),
        ((*DAYS, "--parts", "7"), "--parts 7 is more than the 6 days"),
    ],
)
def test_what_cannot_be_asked_for_is_told_before_any_job_is_looked_at(home, words, part):
    assert_one_clear_line(tidemark("backfill", "orders", *words, "--yes"), 2, part)


def test_a_job_that_cannot_be_told_a_range_is_refused_with_what_to_add(port, tmp_path):
    port.job("plain")
    fixed = {"NonOverridableArguments": RANGE}
    define(port, "fixed", tmp_path, **fixed)

    refused = tidemark("backfill", "plain", *DAYS, "--yes")

    assert_one_clear_line(refused, 2, "add 'backfill_from': 'none' and 'backfill_to': 'none' to")
    assert_one_clear_line(
        tidemark("backfill", "fixed", *DAYS, "--yes"), 2, "--backfill_from in its NonOverridable"
    )
    assert_one_clear_line(tidemark("gaps", "plain"), 2, "plain has no days or numbers")
    assert_one_clear_line(tidemark("gaps", "fixed"), 2, "give both --from and --to")
    assert port.states("plain") == []


# A watermark job as docs/backfill.md has it, without Spark; killed at a step that a file names.
WATERMARK_JOB = """
import os, pathlib, signal, sys, uuid
from datetime import UTC, datetime
from watermarks import Watermarks
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
here = pathlib.Path({folder!r})

def step(name):
    if (here / "kill").exists() and (here / "kill").read_text() == name:
        (here / "kill").unlink()
        os.kill(os.getpid(), signal.SIGKILL)

def day(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)

watermarks = Watermarks(given["--watermark_table"])
name, run_id, low = {job!r}, uuid.uuid4().hex, given["--backfill_from"]
step("begin")
if low != "none":
    windows = watermarks.backfill(
        name, backfill_id=run_id, cursor="updated_at", low=day(low),
        high=day(given["--backfill_to"]), run_id=run_id, bounds="[)",
    )
else:
    windows = watermarks.windows(name, run_id=run_id, cursor="updated_at", high=day("2013-01-05"))
for window in windows:
    step("window")
    with (here / "loaded").open("a") as file:
        print(window.low, window.high, sep="|", file=file)
    step("written")
step("end")
"""


@pytest.fixture
def watermark_job(port: Port, tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """A job that has loaded up to 2013-01-05, and what returns its state, bit for bit."""
    table = watermark_table("glue-watermarks")
    text = WATERMARK_JOB.format(folder=str(tmp_path), job=tmp_path.name)
    libs = port.home.lake / "scripts" / "libs"
    shutil.make_archive(str(libs), "zip", PROJECT / "libs", "watermarks")
    arguments = {
        **RANGE,
        "--watermark_table": "glue-watermarks",
        "--extra-py-files": "s3://scripts/libs.zip",
    }
    with dynamodb_endpoint(port.home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
        create_tables(client, [table])
        job = port.job(tmp_path.name, text, DefaultArguments=arguments)
        assert port.ended(job, port.start(job))["JobRunState"] == "SUCCEEDED"

        def state() -> list[Any]:
            rows = client.scan(TableName="glue-watermarks", ConsistentRead=True)["Items"]
            kept = [it for it in rows if not it["runId"]["S"].startswith("~BACKFILL#")]
            with sqlite3.connect(port.home.database) as store:
                versions = store.execute("SELECT * FROM bookmark").fetchall()
            return [sorted(kept, key=lambda it: it["runId"]["S"]), versions]

        yield job, state


@pytest.mark.parametrize(
    "steps",
    [("written",), pytest.param(("begin", "window", "end"), marks=pytest.mark.nightly)],
    ids=["written", "every other step"],
)
def test_filling_by_windows_moves_no_watermark_wherever_it_dies(
    port, watermark_job, tmp_path, steps
):
    job, state = watermark_job
    before = state()

    assert states(job, "--from", "2013-01-03", "--to", "2013-01-07") == [
        ("2013-01-03", "2013-01-05", "done"),
        ("2013-01-06", "2013-01-07", "missing"),
    ]
    for at in steps:
        (tmp_path / "kill").write_text(at, encoding="utf-8")
        killed = tidemark("backfill", job, *DAYS, "--parts", "2", "--yes")
        assert killed.exit_code == 1, at
        assert state() == before, at
    again = tidemark("backfill", job, *DAYS, "--yes")

    assert again.exit_code == 0, again.output
    assert state() == before
    last = (tmp_path / "loaded").read_text(encoding="utf-8").splitlines()[-1]
    assert last == "2013-01-01 00:00:00+00:00|2013-01-07 00:00:00+00:00"
    assert states(job, *DAYS) == [("2013-01-01", "2013-01-06", "done")]
