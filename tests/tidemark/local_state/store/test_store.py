"""The state database."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from tests.disks import can_mount
from tidemark.errors import BookmarkVersionMismatchError, DamagedDatabaseError, UsageError
from tidemark.local_state.bookmarks.versions import commit_bookmark, latest_bookmark
from tidemark.local_state.store import sqlite_files
from tidemark.local_state.store.database import TEMPORARY, JobRun, Store
from tidemark.local_state.store.store_errors import check_database

RUN = JobRun(
    run_id="jr_1",
    job_name="ingest",
    workflow_run_id="wr_1",
    trigger_name="start",
    attempt=0,
    state="RUNNING",
    started_at_ms=100,
    log_path="runs/jr_1/stderr.log",
    bookmark_option="job-bookmark-enable",
)
COMMIT = """
import sys
from pathlib import Path
from tidemark.errors import BookmarkVersionMismatchError
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.store.database import TEMPORARY, Store

with Store(Path(sys.argv[1])) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        print(commit_bookmark(store, "ingest", sys.argv[2], {"ctx": {"by": sys.argv[2]}}, 1, 0))
    except BookmarkVersionMismatchError as error:
        print(error)
"""


@pytest.fixture
def database(tmp_path):
    return tmp_path / "glue.sqlite"


@pytest.fixture
def store(database):
    with Store(database) as store:
        yield store


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_database_that_another_process_is_about_to_write_is_waited_for(database, begin):
    with Store(database):
        pass
    with closing(sqlite3.connect(database, isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA journal_mode = DELETE")  # as a copy has it
        other.execute(begin)
        other.execute("CREATE TABLE other (id)")
        commit = threading.Timer(0.2, other.execute, ["COMMIT"])
        commit.start()

        with Store(database) as store:
            tables = store.query("SELECT name FROM sqlite_master WHERE name = 'other'")
        commit.join()

    assert [row["name"] for row in tables] == ["other"]


def test_state_is_there_after_closing_and_opening(database):
    with Store(database) as store:
        store.put_job_run(RUN)

    with Store(database) as store:
        assert store.latest_job_run("ingest") == RUN


def test_job_run_is_replaced_by_its_id(store):
    finished = replace(
        RUN, state="FAILED", completed_at_ms=200, error_message="x", rows_read=3, rows_written=0
    )
    store.put_job_run(RUN)
    store.put_job_run(finished)

    assert store.job_runs_of("wr_1") == [finished]


def test_job_runs_of_one_millisecond_keep_the_order_of_their_starts(store):
    second = replace(RUN, run_id="jr_2")
    store.put_job_run(RUN)
    store.put_job_run(second)
    finished = replace(RUN, state="SUCCEEDED")
    store.put_job_run(finished)

    assert store.job_runs_of("wr_1") == [finished, second]
    assert store.latest_job_run("ingest") == second


def test_latest_job_run_is_the_one_started_last(store):
    for run_id, started in (("jr_a", 10), ("jr_b", 30), ("jr_c", 20)):
        store.put_job_run(replace(RUN, run_id=run_id, started_at_ms=started))
    store.put_job_run(replace(RUN, run_id="jr_z", job_name="other", started_at_ms=99))

    assert store.latest_job_run("ingest").run_id == "jr_b"
    assert store.latest_job_run("never ran") is None


def test_unfinished_job_runs_are_those_without_a_final_state_oldest_first(store):
    states = ("RUNNING", "SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "STARTING")
    for n, state in enumerate(states):
        store.put_job_run(replace(RUN, run_id=state, state=state, started_at_ms=100 - n))

    assert [run.run_id for run in store.unfinished_job_runs()] == ["STARTING", "RUNNING"]


def test_interrupted_workflow_runs_are_stopped_and_others_stay(store, database):
    store.put_workflow_run("wr_1", "flow", "RUNNING", 1)
    store.put_workflow_run("wr_2", "flow", "COMPLETED", 2, 3)

    assert store.interrupt_workflow_runs(9) == ["wr_1"]
    assert store.interrupt_workflow_runs(10) == []
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT * FROM workflow_run ORDER BY run_id").fetchall()
    assert rows == [("wr_1", "flow", "STOPPED", 1, 9), ("wr_2", "flow", "COMPLETED", 2, 3)]


def test_bookmark_counts_versions_per_commit_and_runs_per_run(store):
    assert latest_bookmark(store, "ingest") is None

    assert commit_bookmark(store, "ingest", "jr_1", {"a": {"high_ms": 1}}, 0, 11) == 1
    assert commit_bookmark(store, "ingest", "jr_1", {"a": {"high_ms": 2}}, 1, 12) == 2
    same_run = latest_bookmark(store, "ingest")
    assert commit_bookmark(store, "ingest", "jr_2", {"a": {"high_ms": 3}}, 2, 13) == 3
    next_run = latest_bookmark(store, "ingest")
    assert commit_bookmark(store, "ingest", "jr_2", {}, 3, 14) == 4
    again = latest_bookmark(store, "ingest")

    assert (same_run.version, same_run.run, same_run.run_id) == (2, 1, "jr_1")
    assert same_run.previous_run_id is None
    assert (next_run.version, next_run.run, next_run.run_id) == (3, 2, "jr_2")
    assert (next_run.previous_run_id, next_run.committed_at_ms) == ("jr_1", 13)
    assert next_run.states == {"a": {"high_ms": 3}}
    assert (again.version, again.run, again.previous_run_id) == (4, 2, "jr_1")


def test_bookmarks_of_two_jobs_do_not_collide(store):
    commit_bookmark(store, "one", "jr_1", {}, 0, 0)

    assert commit_bookmark(store, "two", "jr_2", {}, 0, 0) == 1


@pytest.mark.parametrize("expected", [0, 2], ids=["behind", "ahead"])
def test_commit_on_another_version_changes_nothing(store, expected):
    commit_bookmark(store, "ingest", "jr_1", {"a": {}}, 0, 0)

    with pytest.raises(BookmarkVersionMismatchError, match=f"version {expected} but found ver"):
        commit_bookmark(store, "ingest", "jr_2", {}, expected, 0)

    assert latest_bookmark(store, "ingest").run_id == "jr_1"


@pytest.mark.rule("State and commit", source="TRB")
def test_of_two_processes_that_commit_the_same_version_exactly_one_wins(database):
    with Store(database) as store:
        commit_bookmark(store, "ingest", "jr_0", {}, 0, 0)
    command = [sys.executable, "-c", COMMIT, str(database)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}

    with (
        subprocess.Popen([*command, "jr_a"], **pipes) as a,
        subprocess.Popen([*command, "jr_b"], **pipes) as b,
    ):
        for process in (a, b):
            assert process.stdout.readline() == "ready\n"
        for process in (a, b):
            process.stdin.write("go\n")
            process.stdin.flush()
        answers = {"jr_a": a.communicate()[0].strip(), "jr_b": b.communicate()[0].strip()}

    (winner,) = [run_id for run_id, answer in answers.items() if answer == "2"]
    (loser,) = set(answers) - {winner}
    assert "Expected version 1 but found version 2" in answers[loser]
    with Store(database) as store:
        assert latest_bookmark(store, "ingest").states == {"ctx": {"by": winner}}


def test_schema_of_a_later_tidemark_is_refused_with_a_remedy_that_deletes_nothing(database):
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 99")

    with pytest.raises(UsageError, match="has schema version 99, this Tidemark knows") as caught:
        Store(database)

    assert "TIDEMARK_HOME" in str(caught.value)
    assert "reset" not in str(caught.value)


@pytest.mark.parametrize("version", [-1, 1, 11])
def test_another_version_is_named_and_changes_nothing(database, version):
    Store(database).close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")

    with pytest.raises(UsageError, match=f"schema version {version}"):
        Store(database)

    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)


def test_text_that_is_not_unicode_such_as_a_name_of_a_file_is_stored_escaped(database):
    with Store(database) as store:
        store.put_job_run(replace(RUN, error_message="no file \udcff\ud800"))

        assert store.job_run("jr_1").error_message == "no file \\udcff\\ud800"


def assert_named_as_damaged(database):
    before = database.read_bytes()
    with pytest.raises(DamagedDatabaseError) as caught:
        Store(database)

    text = str(caught.value)
    assert f"{database} is damaged" in text
    assert "tidemark home restore" in text
    assert "reset" not in text
    assert database.read_bytes() == before


@pytest.mark.rule("Bad input", source="SILENT", choice="the run fails with a remedy")
def test_file_that_is_not_a_database_is_named_as_damaged(database):
    database.write_bytes(b"this is no database" * 100)

    assert_named_as_damaged(database)


@pytest.mark.parametrize("noise", [b"\0", b"x"], ids=["zeros", "text"])
@pytest.mark.parametrize("page", [1, 2, 5, 13])
def test_damage_of_any_page_is_named_before_anything_is_read(database, page, noise):
    with Store(database) as store:
        for number in range(40):
            store.put_job_run(replace(RUN, run_id=f"jr_{number}", error_message="x" * 300))
    with closing(sqlite3.connect(database)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    assert pages > 13
    with database.open("r+b") as file:
        file.seek(page * size)
        file.write(noise * size)

    assert_named_as_damaged(database)


def test_large_database_is_read_whole_only_where_that_is_asked_for(database, monkeypatch):
    with Store(database) as store:
        for number in range(40):
            store.put_job_run(replace(RUN, run_id=f"jr_{number}", error_message="x" * 300))
    with database.open("r+b") as file:
        file.seek(-4096, 2)
        file.write(b"x" * 4096)
    monkeypatch.setattr(sqlite_files, "LARGE_BYTES", 4096)

    Store(database).close()
    with pytest.raises(DamagedDatabaseError):
        check_database(database)


def test_folder_in_place_of_the_database_is_refused_with_the_way_out(database):
    database.mkdir()

    with pytest.raises(UsageError, match=r"cannot use the state database .*TIDEMARK_HOME"):
        Store(database)


FULL = """
import os, subprocess, sys
from dataclasses import replace
from pathlib import Path
from tidemark.errors import DiskFullError
from tidemark.local_state.store.database import TEMPORARY, Store
from tests.tidemark.local_state.store.test_store import RUN

disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=True)
with Store(disk / "glue.sqlite") as store:
    store.put_job_run(RUN)
    try:
        (disk / "filler").write_bytes(b"0" * 2_000_000)
    except OSError:
        pass
    try:
        for number in range(1_000):
            store.put_job_run(replace(RUN, run_id=f"jr_{number}" + "x" * 999))
    except DiskFullError as error:
        print(error)
    os.unlink(disk / "filler")
    assert store.job_run("jr_1") == RUN
"""


@pytest.mark.skipif(not can_mount(), reason="a disk of its own needs root")
def test_full_disk_is_named_with_its_folder_and_keeps_what_was_stored(tmp_path):
    run = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
    )

    assert run.returncode == 0, run.stderr
    assert f"the disk of {tmp_path} is full: " in run.stdout
    assert "bytes of 1 MB are free" in run.stdout or "KB of 1 MB are free" in run.stdout
    assert "reset" not in run.stdout


@pytest.mark.parametrize("is_empty", [True, False], ids=["empty", "missing"])
def test_state_that_is_gone_where_jobs_ran_is_not_begun_anew(tmp_path, is_empty):
    (tmp_path / "runs" / "jr_1").mkdir(parents=True)
    if is_empty:
        (tmp_path / "glue.sqlite").touch()

    with pytest.raises(DamagedDatabaseError, match="tidemark home restore FILE"):
        Store(tmp_path / "glue.sqlite")
    with pytest.raises(DamagedDatabaseError, match="read everything again"):
        Store(tmp_path / "glue.sqlite")


@pytest.mark.parametrize(("is_temporary", "level"), [(False, 2), (True, 0)])
def test_only_a_home_of_tests_does_not_wait_for_the_disk(tmp_path, is_temporary, level) -> None:
    if is_temporary:
        (tmp_path / TEMPORARY).touch()

    with Store(tmp_path / "glue.sqlite") as store:
        ((found,),) = store.query("PRAGMA synchronous")

    assert found == level
