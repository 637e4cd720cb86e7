"""What Job.commit stores and counts, and what a run that does not commit leaves behind."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from awsglue.job import Job
from tidemark.errors import BookmarkVersionMismatchError, UsageError
from tidemark.glue_job.process.bookmark_session import files_to_read
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.bookmarks.versions import delete_bookmark, reset_bookmark, rewind_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import SCHEMA_VERSION, Store

URI = "s3://landing/weather/"


def paths_read(ctx="weather"):
    return [file.path.removeprefix(URI) for file in files_to_read(S3Source((URI,), ctx)).files]


def initialised(glue, run_id="jr_1", name="ingest"):
    job = Job(None)
    job.init(name, {"job_bookmark_option": "job-bookmark-enable", "JOB_RUN_ID": run_id})
    return job


@pytest.mark.rule("State and commit", source="BM")
def test_commit_stores_the_states_of_all_sources_at_once(glue):
    glue.land("a.json")
    script = glue.start("jr_1")
    script.read("one")
    script.read("two")
    assert glue.bookmark() is None

    script.session.commit()

    assert (glue.bookmark().version, set(glue.bookmark().states)) == (1, {"one", "two"})


@pytest.mark.rule("State and commit", source="BM, FAQ")
def test_run_that_fails_before_its_commit_leaves_its_files_to_the_next_run(glue):
    glue.land("a.json")
    assert glue.run("jr_1", commits=False, state="FAILED") == ["a.json"]
    glue.land("b.json")

    assert glue.run("jr_2") == ["a.json", "b.json"]


@pytest.mark.rule("State and commit", source="BMS")
def test_run_that_succeeds_without_commit_leaves_its_files_to_the_next_run(glue):
    glue.land("a.json")
    assert glue.run("jr_1", commits=False, state="SUCCEEDED") == ["a.json"]

    assert glue.run("jr_2") == ["a.json"]
    assert glue.bookmark().run == 1


@pytest.mark.rule("State and commit", source="INFER")
def test_run_that_fails_after_its_commit_has_moved_the_bookmark(glue):
    glue.land("a.json")
    glue.run("jr_1", state="FAILED")

    assert glue.run("jr_2") == []


@pytest.mark.rule("State and commit", source="BM", choice="only a run that commits is successful")
def test_run_number_grows_by_one_with_every_successful_run(glue):
    numbers = []
    for run_id, commits in (("jr_1", True), ("jr_2", False), ("jr_3", True), ("jr_4", True)):
        glue.run(run_id, commits=commits)
        numbers.append(glue.bookmark().run)

    assert numbers == [1, 1, 2, 3]


@pytest.mark.rule("State and commit", source="BM", choice="it counts the runs that failed before")
def test_attempt_number_is_above_zero_only_for_a_run_after_failed_ones(glue):
    attempts = []
    for run_id, state in (
        ("jr_1", "SUCCEEDED"),
        ("jr_2", "FAILED"),
        ("jr_3", "TIMEOUT"),
        ("jr_4", "SUCCEEDED"),
        ("jr_5", "SUCCEEDED"),
    ):
        glue.run(run_id, commits=state == "SUCCEEDED", state=state)
        attempts.append(glue.bookmark().attempt)

    assert attempts == [0, 0, 0, 2, 0]


@pytest.mark.rule("State and commit", source="BM, BOTO")
def test_version_grows_with_every_change_and_previous_run_id_names_the_previous_run(glue):
    glue.run("jr_1")
    first = glue.bookmark()
    glue.run("jr_2")
    second = glue.bookmark()
    rewound = glue.change(rewind_bookmark, "jr_1")
    reset = glue.change(reset_bookmark)

    assert [b.version for b in (first, second, rewound, reset)] == [1, 2, 3, 4]
    assert [b.run_id for b in (first, second, rewound, reset)] == ["jr_1", "jr_2", "jr_1", ""]
    assert [b.previous_run_id for b in (first, second, rewound, reset)] == [
        None,
        "jr_1",
        "jr_2",
        "jr_1",
    ]


@pytest.mark.rule("State and commit", source="SILENT", choice="a second version of the same run")
def test_second_commit_of_a_run_stores_the_reads_since_the_first(glue):
    glue.land("a.json")
    job = initialised(glue)
    assert paths_read() == ["a.json"]
    job.commit()
    glue.clock.now_ms += 1
    glue.land("b.json")
    assert paths_read() == ["b.json"]
    job.commit()

    assert (glue.bookmark().version, glue.bookmark().run) == (2, 1)
    assert glue.run("jr_2") == []


@pytest.mark.rule("State and commit", source="SILENT", choice="it stores another, equal version")
def test_second_commit_with_nothing_read_in_between_changes_no_state(glue):
    glue.land("a.json")
    job = initialised(glue)
    paths_read()
    job.commit()
    states = glue.bookmark().states

    job.commit()

    assert (glue.bookmark().version, glue.bookmark().states) == (2, states)


@pytest.mark.rule("State and commit", source="SILENT", choice="the last init counts")
def test_second_init_without_a_commit_drops_the_reads_since_the_first(glue):
    glue.land("a.json")
    job = initialised(glue)
    assert paths_read() == ["a.json"]

    job.init("ingest", {"job_bookmark_option": "job-bookmark-enable", "JOB_RUN_ID": "jr_1"})

    assert paths_read() == ["a.json"]


@pytest.mark.rule("State and commit", source="COMM", choice="each round is a version of one run")
def test_loop_of_init_and_commit_reads_new_data_in_each_round(glue):
    rounds = []
    for name in ("a.json", "b.json", "c.json"):
        glue.clock.now_ms += 1
        glue.land(name)
        job = initialised(glue)
        rounds.append(paths_read())
        job.commit()

    assert rounds == [["a.json"], ["b.json"], ["c.json"]]
    assert (glue.bookmark().version, glue.bookmark().run) == (3, 1)


@pytest.mark.rule("State and commit", source="BM, LIB")
def test_loop_over_names_given_to_init_keeps_a_bookmark_per_name(glue):
    glue.land("a.json")
    for name in ("ingest_orders", "ingest_lines"):
        job = initialised(glue, name=name)
        assert paths_read() == ["a.json"]
        job.commit()

    assert [glue.bookmark(name).version for name in ("ingest_orders", "ingest_lines")] == [1, 1]
    assert glue.bookmark("ingest") is None


@pytest.mark.rule("State and commit", source="SILENT", choice="nothing happens")
def test_commit_without_init_stores_nothing(glue):
    Job(None).commit()

    assert glue.bookmark() is None


@pytest.mark.rule(
    "State and commit", source="INFER", choice="it moves, because a source was opened"
)
def test_commit_does_not_ask_whether_an_action_ran(glue):
    glue.land("a.json")
    job = initialised(glue)
    paths_read()  # the frame is never computed
    job.commit()

    assert glue.run("jr_2") == []


@pytest.mark.rule("State and commit", source="TRB")
def test_the_second_commit_of_two_concurrent_runs_fails_and_stores_nothing(glue):
    glue.land("a.json")
    first, second = glue.start("jr_1"), glue.start("jr_2")
    first.session.commit()

    with pytest.raises(BookmarkVersionMismatchError) as raised:
        second.session.commit()

    assert str(raised.value) == (
        "Continuation update failed due to version mismatch. Expected version 0 but found version 1"
    )
    assert (glue.bookmark().version, glue.bookmark().run_id) == (1, "jr_1")


def reset(store):
    reset_bookmark(store, "ingest", 1)


def rewind(store):
    rewind_bookmark(store, "ingest", "jr_1", 1)


def delete(store):
    delete_bookmark(store, "ingest")


@pytest.mark.rule("State and commit", source="INFER", choice="the run fails at its commit")
@pytest.mark.parametrize(("operation", "found"), [(reset, 3), (rewind, 3), (delete, 0)])
def test_reset_rewind_or_deletion_during_a_run_is_not_undone_by_its_commit(glue, operation, found):
    glue.run("jr_1")
    glue.run("jr_2")
    running = glue.start("jr_3")
    with Store(glue.home.database) as store:
        operation(store)
    before = glue.bookmark()

    with pytest.raises(BookmarkVersionMismatchError, match=f"version 2 but found version {found}"):
        running.session.commit()

    assert glue.bookmark() == before


FILL = """
import random, resource
from tidemark.glue_job.process.bookmark_session import start_session

session = start_session("ingest", {"job_bookmark_option": "job-bookmark-enable"})
session.states["weather"] = {"noise": random.Random(1).randbytes(500_000).hex()}
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
session.commit()
"""


@pytest.mark.rule("Bad input", source="SILENT", choice="commit fails with a remedy")
def test_full_disk_during_commit_keeps_the_bookmark_and_is_reported(glue):
    glue.land("a.json")
    glue.run("jr_1")
    before = glue.bookmark()

    child = subprocess.run([sys.executable, "-c", FILL], capture_output=True, text=True)

    assert child.returncode == 1
    (error,) = [line for line in child.stderr.splitlines() if "TidemarkError: " in line]
    assert f"cannot write the state database {glue.home.database}" in error
    assert "the bookmark is unchanged: make room" in error
    assert glue.bookmark() == before
    assert glue.run("jr_2") == []


@contextmanager
def without_write_permission(folder: Path) -> Iterator[None]:
    """Take the permission to write away, also from root, who would not be asked for it."""
    entries = [folder, *folder.rglob("*")]
    for entry in entries:
        entry.chmod(entry.stat().st_mode & ~0o222)
    user = os.geteuid()
    os.seteuid(user or 65_534)
    try:
        yield
    finally:
        os.seteuid(user)
        for entry in entries:
            entry.chmod(entry.stat().st_mode | 0o200)


@pytest.mark.rule("Bad input", source="SILENT", choice="the run fails with a remedy")
def test_read_only_home_fails_the_run_before_it_reads(glue, monkeypatch):
    with tempfile.TemporaryDirectory() as folder:  # below the tmp_path of root no one else can look
        Path(folder).chmod(0o755)
        home = Home.open(Path(folder) / "home")
        home.root.chmod(0o755)  # another user, who may only look, stands for the owner
        monkeypatch.setenv("TIDEMARK_HOME", str(home.root))
        initialised(glue).commit()

        with (
            without_write_permission(home.root),
            pytest.raises(UsageError, match=r"cannot use the state database .*: attempt to "),
        ):
            initialised(glue, "jr_2")


@pytest.mark.rule("Bad input", source="SILENT", choice="the run fails and names the versions")
def test_state_of_a_newer_tidemark_fails_the_run_and_is_not_changed(glue):
    glue.run("jr_1")
    before = glue.bookmark()
    set_schema_version(glue.home.database, 99)

    with pytest.raises(UsageError, match="has schema version 99, this Tidemark knows"):
        glue.start("jr_2")

    set_schema_version(glue.home.database, SCHEMA_VERSION)
    assert glue.bookmark() == before


def set_schema_version(database, version):
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
