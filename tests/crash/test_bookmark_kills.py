"""Kill -9 of a bookmarked job before and after every step: its bookmark is the old or the new one.

`matrix.md` lists the steps; TIDEMARK_WRITE_MATRIX=1 writes its table again.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tidemark.glue_job.process import bookmark_session
from tidemark.glue_service.runs.job_run_process import (
    new_run_id,
    plan_job_run,
    poll_job_run,
    start_job_run,
)
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.bookmarks.versions import Bookmark, latest_bookmark
from tidemark.local_state.deployment.deployed_apps import publish
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.local_state.store.checkpoints import checkpoint_of_run
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.cloud_assembly import FileAsset
from tidemark.model.assembly.definitions import JobDefinition
from tidemark.model.checkpoints.checkpoint import BookmarkMove

pytestmark = pytest.mark.stress

FOLDER = Path(__file__).parent
MATRIX = FOLDER / "matrix.md"
TITLE = "\n## Bookmarks\n"
COMMITS = "\n## Between two objects of a commit\n"  # of test_commit_kills
HEADER = """\
A job with a bookmark was killed with SIGKILL at each step, another file landed, and it ran again.
The bookmark is the old version or the new one, never between; the next run reads what it says.
The run has a checkpoint if the bookmark is the new one, and else none.

| killed | bookmark | the next run reads |
|---|---|---|
"""
READS = {"old": "the same files and the later one", "new": "the later file"}


# Where rows and bookmark part: killed here at every change, at the other steps every night.
AT_EVERY_CHANGE = ("after the write #1", "before COMMIT #1", "after COMMIT #1")


def documented_steps() -> dict[str, str]:
    table = MATRIX.read_text(encoding="utf-8").partition(TITLE)[2].splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in table]
    return {row[1]: row[2] for row in rows if len(row) > 3 and row[2] in READS}


def bookmark(home: Home, job: JobDefinition) -> Bookmark | None:
    with Store(home.database) as store:
        return latest_bookmark(store, job.name)


def run_until(machine: Machine, job: JobDefinition, at: str, log: Path, monkeypatch) -> JobRun:
    """Run the job as a process that dies at a step; return its final record."""
    monkeypatch.setenv("CRASH_AT", at)
    monkeypatch.setenv("CRASH_LOG", str(log))
    run = plan_job_run(machine, job, {}, new_run_id(), 0)
    with Store(machine.home.database) as store:
        store.put_job_run(run)
    process = start_job_run(machine, job, {}, run)
    finished = wait_until(lambda: poll_job_run(process))
    with Store(machine.home.database) as store:
        store.put_job_run(finished)
    return finished


class CopyJob:
    """The faulty job on a home of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, version: str = "5.1") -> None:
        self.home = Home.open(folder / "home")
        self.machine = Machine(self.home, find_java_home(), "http://127.0.0.1:9", "us-east-1")
        self.job = JobDefinition(
            "copy",
            "s3://assets/faulty_bookmark_job.py",
            version,
            {
                "--extra-py-files": "s3://assets/steps.py",
                "--job-bookmark-option": "job-bookmark-enable",
                "--source_path": "s3://landing/",
                "--target_path": "s3://copies/",
            },
        )
        self._log = folder / "steps.log"
        self._monkeypatch = monkeypatch

    def land(self, name: str) -> None:
        path = self.home.lake / "landing" / name
        path.write_text("{}\n", encoding="utf-8")

    def run(self, at: str = "never") -> JobRun:
        self._log.write_text("", encoding="utf-8")
        return run_until(self.machine, self.job, at, self._log, self._monkeypatch)

    def steps(self) -> list[str]:
        return self._log.read_text(encoding="utf-8").splitlines()

    def copied(self, run: JobRun) -> list[str]:
        return sorted(file.name for file in (self.home.lake / "copies" / run.run_id).iterdir())


@pytest.fixture(scope="module")
def committed(tmp_path_factory) -> Path:
    """Return a folder with a home where the job has committed its first run."""
    folder = tmp_path_factory.mktemp("committed")
    with pytest.MonkeyPatch.context() as patch:
        job = CopyJob(folder, patch)
        for bucket in ("assets", "copies", "landing"):
            (job.home.lake / bucket).mkdir()
        for name in ("faulty_bookmark_job.py", "steps.py"):
            shutil.copy(FOLDER / name, job.home.lake / "assets")
        job.land("before.json")
        assert job.run().state == "SUCCEEDED"
    return folder


@pytest.fixture
def version(request) -> str:
    """The version of Glue of the job; 5.1 unless a test names it."""
    return getattr(request, "param", "5.1")


@pytest.fixture
def copy_job(committed, tmp_path, monkeypatch, version) -> CopyJob:
    """Return the job in a home of its own, after its first run."""
    shutil.copytree(committed, tmp_path, dirs_exist_ok=True)
    return CopyJob(tmp_path, monkeypatch, version)


@pytest.mark.parametrize(
    "version", ["5.1", pytest.param("6.0", marks=pytest.mark.nightly)], indirect=True
)
def test_the_steps_of_the_document_are_those_of_the_bookmarked_job(copy_job):
    run = copy_job.run()

    assert run.state == "SUCCEEDED", run.error_message
    steps = copy_job.steps()
    stored = steps.index("after COMMIT #1")
    expected = {step: "new" if n >= stored else "old" for n, step in enumerate(steps)}
    if os.environ.get("TIDEMARK_WRITE_MATRIX"):
        before, _, after = MATRIX.read_text(encoding="utf-8").partition(TITLE)
        _, title, commits = after.partition(COMMITS)
        rows = [f"| {step} | {state} | {READS[state]} |\n" for step, state in expected.items()]
        table = f"{before}{TITLE}{HEADER}{''.join(rows)}{title}{commits}"
        MATRIX.write_text(table, encoding="utf-8")
    assert documented_steps() == expected
    assert set(AT_EVERY_CHANGE) <= expected.keys()


@pytest.mark.parametrize(
    ("version", "step"),
    [
        pytest.param(
            version,
            step,
            marks=() if version == "5.1" and step in AT_EVERY_CHANGE else pytest.mark.nightly,
        )
        for version in ("5.1", "6.0")
        for step in documented_steps()
    ],
    indirect=["version"],
)
def test_bookmark_is_the_old_or_the_new_version_after_a_kill(step, copy_job):
    old = bookmark(copy_job.home, copy_job.job)
    copy_job.land("first.json")
    killed = copy_job.run(at=step)
    assert killed.error_message.startswith("the job process was killed by SIGKILL")
    assert step == copy_job.steps()[-1]

    stored = bookmark(copy_job.home, copy_job.job)
    with Store(copy_job.home.database) as store:
        checkpoint = checkpoint_of_run(store, killed.run_id)
    copy_job.land("second.json")
    run = copy_job.run()

    if documented_steps()[step] == "old":
        assert stored == old
        assert checkpoint is None
        assert copy_job.copied(run) == ["first.json", "second.json"]
    else:
        assert (stored.version, stored.run, stored.run_id) == (2, 2, killed.run_id)
        assert checkpoint.bookmark == BookmarkMove("job-bookmark-enable", 1, stored.version)
        assert [read.files for read in checkpoint.read] == [1]
        assert copy_job.copied(run) == ["second.json"]
    assert bookmark(copy_job.home, copy_job.job).version == stored.version + 1


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize("version", ["5.1", "6.0"], indirect=True)
def test_spark_job_that_was_killed_after_its_write_copies_the_same_again(
    spark, spark_home, s3, tmp_path, monkeypatch, jvms, version
):
    machine = Machine(spark_home, find_java_home(), "http://127.0.0.1:9", "us-east-1", jvms)
    publish(FileAsset(FOLDER.parents[1] / "libs", True, "", "libs.zip"), "assets", spark_home)
    for name in ("faulty_job.py", "steps.py"):
        publish(FileAsset(FOLDER / name, False, "", name), "assets", spark_home)
    arguments = {
        "--job-bookmark-option": "job-bookmark-enable",
        "--source_path": f"{s3.uri}landing/",
        "--target_path": f"{s3.uri}copies/",
    }
    job = JobDefinition(f"copy-{s3.folder.name}", "s3://assets/faulty_job.py", version, arguments)
    libraries = {"--extra-py-files": "s3://assets/libs.zip,s3://assets/steps.py"}
    faulty = replace(job, default_arguments={**arguments, **libraries})
    monkeypatch.setenv("CRASH_SCRIPT", str(FOLDER / "copy_landing.py"))
    s3.put("landing/a.json", '{"id": 1}\n')
    killed = run_until(machine, faulty, "before Job.commit #1", tmp_path / "steps.log", monkeypatch)
    assert killed.error_message.startswith("the job process was killed by SIGKILL")
    assert "after the Spark write #1" in (tmp_path / "steps.log").read_text(encoding="utf-8")
    assert bookmark(spark_home, job) is None

    if version == own_glue_version():
        run_here(job, arguments, monkeypatch)
    else:
        again = run_until(machine, faulty, "never", tmp_path / "steps.log", monkeypatch)
        assert again.state == "SUCCEEDED", again.error_message

    assert [row["id"] for row in spark.read.json(f"{s3.uri}copies/").collect()] == [1, 1]
    assert bookmark(spark_home, job).version == 1


def run_here(job: JobDefinition, arguments: dict[str, str], monkeypatch) -> None:
    """Run the unchanged script in this process, on the session's Spark."""
    words = [word for pair in arguments.items() for word in pair]
    names = ["--JOB_NAME", job.name, "--JOB_RUN_ID", new_run_id()]
    monkeypatch.setattr(sys, "argv", ["copy_landing.py", *names, *words])
    monkeypatch.setattr(bookmark_session, "_sessions", [])
    runpy.run_path(str(FOLDER / "copy_landing.py"), run_name="__main__")
