"""A warning of a run is shown until a later run resolves it, whoever is killed when."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tidemark.cli.processes import read_until, started
from tests.waiting import BOUND_S, wait_until
from tidemark.cli.main import main
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import (
    keep_warnings,
    open_warnings,
    show_unseen,
    unseen_warnings,
)
from tidemark.model.checkpoints.checkpoint import Checkpoint

pytestmark = pytest.mark.stress

NOTE = """
from tidemark.local_state.run_warnings import RunWarning, note
note(RunWarning.CTX_MISSING, "s3://landing/orders/")
"""
WAIT = """
import pathlib, time
pathlib.Path({mark!r}).touch()
time.sleep(600)
"""
WARNING = "a source without transformation_ctx is read in full"
RUN = JobRun("jr_1", "ingest", None, None, 0, "SUCCEEDED", 7, "stderr.log", "job-bookmark-enable")


def tidemark(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "mark"


def set_script(home: Path, name: str, text: str) -> None:
    (home / "lake" / "assets" / f"{name}.py").write_text(text, encoding="utf-8")


def test_warning_is_printed_as_soon_as_its_job_ends_and_then_counts_as_seen(
    home, write_assembly, mark
):
    app = str(write_assembly({"one": NOTE, "two": WAIT.format(mark=str(mark))}, {"two": ["one"]}))

    with started("run", "--app", app) as run:
        read_until(run, WARNING.encode())
        wait_until(mark.exists)

        assert tidemark("status", "--app", app).count(WARNING) == 1
        run.kill()

    # It is open until a later run of the job succeeds.
    assert tidemark("status", "--app", app).count(WARNING) == 1
    assert tidemark("runs", "one").count(WARNING) == 1
    (status, _) = json.loads(tidemark("status", "--app", app, "--format", "json"))
    (run,) = json.loads(tidemark("runs", "one", "--format", "json"))
    assert [WARNING in it["text"] for it in status["warnings"]] == [True]
    assert [WARNING in text for text in run["warnings"]] == [True]


@pytest.mark.nightly
@pytest.mark.parametrize("command", ["status", "run"])
def test_warning_of_a_run_that_was_killed_with_its_command_is_shown_by_the_next_one(
    home, write_assembly, mark, command
):
    app = str(write_assembly({"one": NOTE + WAIT.format(mark=str(mark))}))
    with started("run", "--app", app) as run:
        wait_until(mark.exists)
        run.kill()
    set_script(home, "one", "")

    shown = tidemark(command, "--app", app)

    assert shown.count(WARNING) == 1
    assert "warning one, run of 20" in shown
    assert tidemark(command, "--app", app).count(WARNING) == (command == "status")


def test_a_warning_is_open_until_a_later_run_of_its_job_commits(tmp_path):
    other = replace(RUN, run_id="jr_other", job_name="other")
    later = replace(RUN, run_id="jr_2", started_at_ms=8)
    last = replace(RUN, run_id="jr_3", started_at_ms=9)
    failed = replace(RUN, run_id="jr_4", started_at_ms=10, state="FAILED")
    with Store(Home.open(tmp_path / "home").database) as store:

        def opened():
            return [(it.run_id, it.text) for it in open_warnings(store)]

        store.put_job_run(RUN)
        store.put_job_run(other)
        keep_warnings(store, "jr_1", ["never committed"])
        keep_warnings(store, "jr_other", ["never committed"])
        show_unseen(store, lambda warnings: None)
        assert opened() == [("jr_1", "never committed"), ("jr_other", "never committed")]

        store.put_job_run(later)  # it SUCCEEDED, and committed nothing either
        put_checkpoint(store, Checkpoint("ingest", "jr_2", 8, is_committed=False))
        keep_warnings(store, "jr_2", ["never committed"])
        assert opened() == [("jr_other", "never committed"), ("jr_2", "never committed")]

        store.put_job_run(last)
        put_checkpoint(store, Checkpoint("ingest", "jr_3", 9))
        keep_warnings(store, "jr_3", ["read in full"])
        store.put_job_run(failed)
        assert opened() == [("jr_other", "never committed"), ("jr_3", "read in full")]


def test_warning_of_a_job_that_was_killed_is_shown_when_it_ends(home, write_assembly):
    app = str(write_assembly({"one": f"{NOTE}\nimport os; os.kill(os.getpid(), 9)"}))

    result = CliRunner().invoke(main, ["run", "--app", app], env={"COLUMNS": "200"})

    assert result.output.count(WARNING) == 1
    assert "killed by SIGKILL" in result.output


def test_warning_that_could_not_be_printed_does_not_count_as_seen(tmp_path):
    def broken(warnings):
        raise BrokenPipeError

    def full(warnings):
        raise OSError(errno.ENOSPC, "no room")

    with Store(Home.open(tmp_path / "home").database) as store:
        store.put_job_run(RUN)
        keep_warnings(store, "jr_1", ["late", "late", "other"])

        show_unseen(store, broken)
        with pytest.raises(OSError, match="no room"):
            show_unseen(store, full)

        assert [warning.text for warning in unseen_warnings(store)] == ["late", "other"]
        show_unseen(store, lambda warnings: None)
        keep_warnings(store, "jr_1", ["late"])
        assert unseen_warnings(store) == []


def test_status_shows_a_run_that_died_with_its_command_as_failed(home, write_assembly, mark):
    app = str(write_assembly({"one": WAIT.format(mark=str(mark))}))
    with started("run", "--app", app) as run:
        wait_until(mark.exists)
        assert "RUNNING" in tidemark("status", "--app", app)
        run.kill()

    output = tidemark("status", "--app", app)

    assert "RUNNING" not in output
    assert "FAILED -" in output
    assert "killed one, run of 20" in output


@pytest.mark.nightly
def test_reader_that_leaves_stops_no_run_and_leaves_its_warnings_to_be_shown(
    home, write_assembly, mark
):
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(mark)!r}).exists(): time.sleep(0.01)"
    app = str(write_assembly({"one": wait, "two": NOTE}, {"two": ["one"]}))

    with started("run", "--app", app) as run:
        read_until(run, b"one  started")
        run.stdout.close()
        mark.touch()
        assert run.wait(BOUND_S) == 0

    assert WARNING in tidemark("status", "--app", app)
    with Store(home / "glue.sqlite") as store:
        assert [store.latest_job_run(name).state for name in ("one", "two")] == ["SUCCEEDED"] * 2


FAILS_ONCE = """
import pathlib
tried = pathlib.Path({tried!r})
if not tried.exists():
    tried.touch()
    raise ValueError("no rows yet")
"""


@pytest.mark.nightly
def test_who_starts_a_run_on_a_served_home_is_shown_its_warnings_and_so_is_who_serves_it(
    home, write_assembly, tmp_path
):
    fails = FAILS_ONCE.format(tried=str(tmp_path / "tried"))
    app = str(write_assembly({"ingest": NOTE, "fails": NOTE + fails}))
    with started("serve", "--app", app, "--port", "0", "--jvms", "0") as server:
        terminal = read_until(server, b"AWS_DEFAULT_REGION")

        whole = CliRunner().invoke(main, ["run", "--app", app], env={"COLUMNS": "200"})
        resumed = tidemark("resume", "--app", app)
        only = tidemark("run", "--only", "ingest", "--app", app)
        seen = tidemark("status", "--app", app)

        while terminal.count(b"warning") < 4:
            terminal += read_until(server, b"\n")
    assert [text.count(WARNING) for text in (whole.output, resumed, only)] == [2, 1, 1]
    assert "run of" not in resumed  # it is this command's run
    assert seen.count(WARNING) == 2  # they are open, and were seen once
    assert b"warning fails: " + WARNING.encode() in terminal
