"""Submitted scripts without an app: runs are listed, followed and stopped as those of jobs."""

from __future__ import annotations

import json
from pathlib import Path

import boto3
import pytest

from tests.signing import variables_of
from tests.tidemark.cli.processes import read_until, started
from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_service.entities import Entity, EntityKind, put_entity
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.runs.run_requests import RunRequest, put_run_request
from tidemark.glue_service.submitted import submitted_jobs
from tidemark.local_state.engine import executable
from tidemark.local_state.home import Home
from tidemark.local_state.machine import node_packages
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import BOOKMARK_OPTION, ENABLE
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead

pytestmark = pytest.mark.stress  # starts many processes
NAME = "daily-totals"


@pytest.fixture
def repository(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without an app, without Node, and without the engine of DynamoDB."""
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(node_packages, "CHECKOUT", folder)
    monkeypatch.setattr(executable, "IN_WHEEL", folder)
    monkeypatch.setattr(executable.sys, "prefix", str(folder / ".venv"))
    return folder


def script(repository: Path, text: str) -> str:
    path = repository / "daily_totals.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_script_that_asks_no_dynamodb_runs_without_the_engine_and_is_looked_at_afterwards(
    repository: Path, home: Path
) -> None:
    text = "import sys\nprint('totals')\nprint('careful', file=sys.stderr)\n"

    submitted = tidemark("submit", script(repository, text), BOOKMARK_OPTION, ENABLE)
    (run,) = json.loads(tidemark("runs", "--format", "json").stdout)
    (same,) = json.loads(tidemark("runs", NAME, "--format", "json").stdout)
    (status,) = json.loads(tidemark("status", "--format", "json").stdout)
    logs, followed = tidemark("logs", NAME), tidemark("logs", NAME, "--follow", "--output")
    shown = tidemark("run", "show", run["run_id"])

    assert submitted.exit_code == 0, submitted.output
    assert run == same
    assert (run["job"], run["state"]) == (NAME, "SUCCEEDED")
    assert (status["job"], status["is_deployed"]) == (NAME, True)
    assert status["last_run"]["run_id"] == run["run_id"]
    assert status["bookmark"]["is_enabled"]
    assert (logs.stdout, "careful" in logs.stderr) == ("totals\n", True)
    assert (followed.exit_code, followed.stdout) == (0, "totals\n")
    assert f"{NAME} SUCCEEDED" in shown.stdout
    assert [file.name for file in (home / "dynamodb").iterdir()] == ["state-record.json"]


@pytest.mark.parametrize("code", [0, 1])
def test_a_submitted_run_can_be_had_as_json(home: Path, tmp_path: Path, code: int) -> None:
    text = f"import sys\nprint('totals')\nsys.exit({code})\n"

    submitted = tidemark("submit", "--format", "json", script(tmp_path, text))
    found = json.loads(submitted.stdout)
    (listed,) = json.loads(tidemark("runs", "--format", "json").stdout)

    assert submitted.exit_code == code
    assert found == listed
    assert (found["job"], found["state"]) == (NAME, "FAILED" if code else "SUCCEEDED")
    assert "totals" in submitted.stderr


def test_a_script_that_asks_a_dynamodb_that_is_not_installed_is_told_how_to_get_it(
    repository: Path, home: Path
) -> None:
    text = "import boto3\nboto3.client('dynamodb').list_tables()\n"

    submitted = tidemark("submit", script(repository, text))

    assert submitted.exit_code == 1
    assert "the embedded DynamoDB engine is not installed" in submitted.stdout
    assert "npm install @dynoxide/" in submitted.stdout


WATERMARKS = """
import sys
from awsglue.utils import getResolvedOptions
from watermarks import Watermarks
args = getResolvedOptions(sys.argv, ["JOB_NAME"])
for window in Watermarks("glue-watermarks").windows(
    args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor="id", high=7
):
    print("window up to", window.high)
"""


@pytest.mark.nightly  # the test of the installed wheel is a sample of it
def test_a_script_keeps_watermarks_in_the_table_of_local_table(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # no app
    missing = tidemark("submit", script(tmp_path, WATERMARKS))
    created, again = tidemark("table"), tidemark("table", "glue-watermarks")
    submitted = tidemark("submit", script(tmp_path, WATERMARKS))
    shown = tidemark("watermark", "show", NAME)
    (status,) = json.loads(tidemark("status", "--format", "json").stdout)
    explained = json.loads(tidemark("explain", NAME, "--format", "json").stdout)
    told = tidemark("explain", NAME)
    rewound = tidemark(
        "watermark", "rewind", NAME, "--reason", "wrong", "--yes", "--to", "beginning"
    )
    again_read = tidemark("submit", script(tmp_path, WATERMARKS))

    assert "tidemark table NAME" in missing.stdout
    assert created.stdout == f"created: the table glue-watermarks of {home}\n"
    assert again.stdout == f"already there: the table glue-watermarks of {home}\n"
    assert "window up to 7" in submitted.stdout
    assert "7" in shown.stdout
    assert status["watermark"] == explained["watermark"] == "id=7"
    assert f"watermark of {NAME}: id=7" in told.stdout
    assert rewound.exit_code == 0, rewound.output
    assert "window up to 7" in again_read.stdout


def test_a_name_that_no_table_can_have_is_refused(home: Path) -> None:
    assert_one_clear_line(tidemark("table", "a b"), 2, "'a b'", "3 to 255 letters")


def test_without_an_app_and_without_runs_a_command_says_what_to_do(
    repository: Path, home: Path
) -> None:
    status = tidemark("status")
    assert (status.exit_code, "tidemark submit SCRIPT.py" in status.stdout) == (0, True)
    assert tidemark("status", "--format", "json").stdout == "[]\n"
    assert tidemark("runs").stdout == f"no job has a run in {home}\n"
    assert_one_clear_line(tidemark("logs", NAME), 2, f"there is no job '{NAME}'")


def test_a_script_is_run_by_the_glue_that_serves_the_home(repository: Path, home: Path) -> None:
    with serving(Home.open(home)) as (url, _):
        good = tidemark("submit", script(repository, "print('totals')"))
        bad = tidemark("submit", script(repository, "raise ValueError('too few')"))
        port = boto3.client("glue", "us-east-1", endpoint_url=url, **keys(Home.open(home), url))
        states = [run["JobRunState"] for run in port.get_job_runs(JobName=NAME)["JobRuns"]]
        none = port.get_jobs()["Jobs"]

    assert (good.exit_code, bad.exit_code) == (0, 1), good.output + bad.output
    assert good.stdout.startswith("  daily-totals  started\ntotals\n✓ daily-totals  SUCCEEDED")
    assert "ValueError: too few (daily_totals.py, line 1)" in bad.stdout
    assert states == ["FAILED", "SUCCEEDED"]
    assert none == []


@pytest.mark.nightly
def test_a_script_that_waits_for_a_core_is_not_replaced_by_another_one_of_its_name(
    repository: Path, home: Path
) -> None:
    mark, other = repository / "mark", repository / "other" / "daily_totals.py"
    other.parent.mkdir()
    other.write_text("print('other')", encoding="utf-8")
    waits = repository / "waits.py"
    waits.write_text(
        "import pathlib, time\nprint('begun', flush=True)\n"
        f"while not pathlib.Path({str(mark)!r}).exists(): time.sleep(0.05)\n",
        encoding="utf-8",
    )
    with (
        serving(Home.open(home), Options(max_parallel=1)),
        started("submit", str(waits)) as first,
    ):
        read_until(first, b"begun")
        with started("submit", script(repository, "print('mine')")) as queued:
            wait_until(lambda: NAME in tidemark("runs", "--format", "json").stdout)
            refused = tidemark("submit", str(other))
            mark.touch()
            output, _ = queued.communicate(timeout=BOUND_S)
        first.communicate(timeout=BOUND_S)

    assert "Concurrent runs exceeded" in refused.output
    assert b"mine" in output
    assert b"other" not in output


def keys(home: Home, url: str) -> dict[str, str]:
    variables = variables_of(home, url)
    return {
        "aws_access_key_id": variables["AWS_ACCESS_KEY_ID"],
        "aws_secret_access_key": variables["AWS_SECRET_ACCESS_KEY"],
    }


def test_what_only_an_own_process_can_have_is_refused_while_the_home_is_served(
    repository: Path, home: Path
) -> None:
    with serving(Home.open(home)):
        result = tidemark("submit", "--isolated", script(repository, ""))

    assert_one_clear_line(result, 2, "leave out --executors, --isolated")


@pytest.mark.nightly
def test_a_script_that_another_command_runs_is_stopped(repository: Path, home: Path) -> None:
    waits = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.1)\n"
    with started("submit", script(repository, waits)) as process:
        read_until(process, b"begun")
        stopped = tidemark("stop", NAME)
        output, _ = process.communicate(timeout=BOUND_S)
    none = tidemark("stop", NAME)

    assert "is being stopped" in stopped.stdout
    assert b"STOPPED" in output
    assert process.returncode == 130
    assert "has no run in progress" in none.stdout


def test_a_command_that_holds_the_home_is_not_stopped_for_a_run_of_a_dead_one(home: Path) -> None:
    opened = Home.open(home)
    with Store(opened.database) as store:
        store.put_job_run(JobRun("jr_1", NAME, None, None, 0, "RUNNING", 7, "log", "x"))
        put_run_request(store, RunRequest("jr_1", is_submitted=True))

    with opened.exclusive():  # by this process, which a signal would reach
        stopped = tidemark("stop", NAME)

    assert "has no run in progress" in stopped.stdout


@pytest.mark.parametrize("by", [pytest.param("ctrl-c", marks=pytest.mark.nightly), "stop"])
def test_a_script_in_a_served_home_is_stopped(repository: Path, home: Path, by: str) -> None:
    waits = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.1)\n"
    with serving(Home.open(home)), started("submit", script(repository, waits)) as process:
        read_until(process, b"begun")
        if by == "ctrl-c":
            process.send_signal(15)
        else:
            assert "is being stopped" in tidemark("stop", NAME).stdout
        output, errors = process.communicate(timeout=BOUND_S)
        (run,) = json.loads(tidemark("runs", NAME, "--format", "json").stdout)

    assert b"STOPPED" in output, errors
    assert process.returncode == (130 if by == "ctrl-c" else 1)
    assert run["state"] == "STOPPED"


@pytest.mark.nightly
def test_logs_follow_a_script_that_another_command_runs(repository: Path, home: Path) -> None:
    mark = repository / "mark"
    text = (
        "import pathlib, time\nprint('begun', flush=True)\n"
        f"while not pathlib.Path({str(mark)!r}).exists(): time.sleep(0.05)\nprint('ended')\n"
    )
    with started("submit", script(repository, text)) as run:
        read_until(run, b"begun")
        with started("logs", NAME, "--follow", "--output") as logs:
            read_until(logs, b"begun")
            mark.touch()
            rest, _ = logs.communicate(timeout=BOUND_S)
        run.communicate(timeout=BOUND_S)

    assert rest == b"ended\n"
    assert logs.returncode == 0


def test_runs_of_a_job_that_is_defined_are_those_of_the_job(tmp_path: Path) -> None:
    with Store(Home.open(tmp_path / "home").database) as store:
        for run_id, name in (("jr_1", "load"), ("jr_2", "totals"), ("jr_3", "gone")):
            store.put_job_run(JobRun(run_id, name, None, None, 0, "SUCCEEDED", 7, "log", "x", 8))
        for run_id in ("jr_1", "jr_2"):
            put_run_request(store, RunRequest(run_id, is_submitted=True))
        put_entity(store, Entity(EntityKind.JOB, "load", {"Command": {}}, {}, 0, 0))

        assert submitted_jobs(store) == ["totals"]


def test_a_run_that_committed_nothing_is_named_as_such_everywhere(
    repository: Path, home: Path
) -> None:
    read = DatasetRead(
        "s3://landing/", source="landed", files=1, after={"kind": "files", "until_ms": 7}
    )
    with Store(Home.open(home).database) as store:
        log = str(home / "runs/jr_1/stderr.log")
        store.put_job_run(JobRun("jr_1", NAME, None, None, 0, "SUCCEEDED", 7, log, ENABLE, 8))
        put_run_request(store, RunRequest("jr_1", {BOOKMARK_OPTION: ENABLE}, is_submitted=True))
        put_checkpoint(store, Checkpoint(NAME, "jr_1", 8, read=(read,), is_committed=False))
    again = "nothing committed"

    (run,) = json.loads(tidemark("runs", "--format", "json").stdout)

    assert run["detail"] == again
    assert f"SUCCEEDED {again}" in tidemark("runs").stdout
    assert f"SUCCEEDED {again}" in tidemark("status").stdout
    assert f"{again}: the next run reads this again" in tidemark("run", "show", "jr_1").stdout


def test_a_home_is_ignored_by_git(repository: Path, home: Path) -> None:
    tidemark("bucket", "landing")

    assert (home / ".gitignore").read_text(encoding="utf-8") == "*\n"
