"""A warning of a run is shown until somebody has seen it, whoever is killed when."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tidemark.cli.processes import read_until, started
from tests.waiting import BOUND_S, wait_until
from tidemark.cli.main import main
from tidemark.local_glue.home import Home
from tidemark.local_glue.runs.stored_warnings import keep_warnings, show_unseen, unseen_warnings
from tidemark.local_glue.store.database import JobRun, Store

pytestmark = pytest.mark.stress

NOTE = """
from tidemark.local_glue.runs.run_warnings import RunWarning, note
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

        # Who runs jobs now shows their warnings: no one else need.
        assert WARNING not in tidemark("status", "--app", app)
        run.kill()

    assert WARNING not in tidemark("status", "--app", app)


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
    assert WARNING not in tidemark(command, "--app", app)


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
    assert "The last run was killed while one ran" in output


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
