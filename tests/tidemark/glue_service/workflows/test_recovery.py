"""What a killed command leaves behind is ended and recorded by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tidemark.glue_job.process.borrow import JvmRecord, write_record
from tidemark.glue_service.runs.jvms.supply import NO_JVMS
from tidemark.glue_service.runs.killed import recover_interrupted_runs
from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.run_notes import NOTES_FILE
from tidemark.local_state.store.checkpoints import put_checkpoint, stored_checkpoints
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetWritten


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home")


@pytest.fixture
def store(home):
    with Store(home.database) as store:
        yield store


def workflow_statuses(store):
    rows = store.query("SELECT status FROM workflow_run ORDER BY started_at_ms")
    return [row["status"] for row in rows]


@pytest.mark.rule(
    "Triggers and workflows", source="SILENT", choice="no service is left to continue"
)
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_runs_of_a_killed_command_are_failed_and_their_processes_ended(home, store):
    run = JobRun(
        run_id="jr_left",
        job_name="one",
        workflow_run_id="wr_left",
        trigger_name="start",
        attempt=0,
        state="RUNNING",
        started_at_ms=1,
        log_path="stderr.log",
        bookmark_option="job-bookmark-enable",
    )
    store.put_job_run(run)
    store.put_job_run(replace(run, run_id="jr_done", state="SUCCEEDED"))
    store.put_workflow_run("wr_left", "flow", "RUNNING", 1)
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    with (
        subprocess.Popen(sleep, env={**os.environ, RUN_ID_VARIABLE: "jr_left"}) as left,
        subprocess.Popen(sleep, env={**os.environ, RUN_ID_VARIABLE: "jr_left_not"}) as other,
    ):
        wait_until(lambda: marked(left.pid, "jr_left") and marked(other.pid, "jr_left_not"))

        recovered = recover_interrupted_runs(store, NO_JVMS)

        assert left.wait(20) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()

    (failed,) = recovered
    assert (failed.run_id, failed.state) == ("jr_left", "FAILED")
    assert failed.error_message == "the command that ran this job was killed"
    assert store.unfinished_job_runs() == []
    assert workflow_statuses(store) == ["STOPPED"]


def marked(pid, run_id):
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return f"{RUN_ID_VARIABLE}={run_id}".encode() in environment


def test_a_killed_run_that_had_committed_gets_what_it_wrote_and_another_no_checkpoint(home, store):
    for run_id in ("jr_committed", "jr_not"):
        folder = home.runs / run_id
        folder.mkdir()
        (folder / NOTES_FILE).write_text(
            '{"written": {"dataset": "dynamodb:t", "mode": "merge"}}\n', encoding="utf-8"
        )
        store.put_job_run(
            JobRun(run_id, "a", None, None, 0, "RUNNING", 1, f"{folder}/stderr.log", "on")
        )
    put_checkpoint(store, Checkpoint("a", "jr_committed", 1))

    recover_interrupted_runs(store, NO_JVMS)
    recover_interrupted_runs(store, NO_JVMS)

    (found,) = stored_checkpoints(store)
    assert found == Checkpoint(
        "a", "jr_committed", 1, written=(DatasetWritten("dynamodb:t", "merge"),)
    )


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere its owner ends it")
@pytest.mark.parametrize("is_lent", [True, False])
def test_jvm_that_a_killed_run_has_not_given_back_is_ended(home, store, is_lent):
    folder = home.runs / "jr_left"
    folder.mkdir()
    store.put_job_run(
        JobRun("jr_left", "a", None, None, 0, "RUNNING", 1, f"{folder}/stderr.log", "on")
    )
    jvm = home.root / "jvms" / "7-ab" / "1"
    write_record(folder, JvmRecord("warm", is_lent=is_lent, folder=str(jvm)))
    sleep = [sys.executable, "-c", "import time; time.sleep(60)", f"{jvm}/spark.conf"]
    with subprocess.Popen(sleep) as process:
        wait_until(lambda: b"spark.conf" in Path(f"/proc/{process.pid}/cmdline").read_bytes())

        recover_interrupted_runs(store, NO_JVMS)

        if is_lent:
            assert process.wait(20) == -signal.SIGKILL
        assert process.poll() is None or is_lent
        process.kill()


def test_nothing_to_recover_changes_nothing(store):
    assert recover_interrupted_runs(store, NO_JVMS) == []
