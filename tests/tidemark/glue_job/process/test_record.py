"""What a run notes about its JVM."""

from __future__ import annotations

import subprocess

import pytest

from tidemark.glue_job.process.borrow import FILE, Borrower, JvmRecord, read_record, write_record
from tidemark.glue_service.runs.job_run_process import JobProcess, stop_job_run
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.local_state.store.database import JobRun


def test_record_is_read_as_it_was_written(tmp_path):
    write_record(tmp_path, JvmRecord("cold", "spark.jars is set", is_lent=False))

    assert read_record(tmp_path) == JvmRecord("cold", "spark.jars is set", is_lent=False)
    assert str(read_record(tmp_path)) == "cold: spark.jars is set"


def test_nothing_is_noted_as_returned_that_was_not_lent(tmp_path):
    Borrower(tmp_path / "spark.conf", {}, tmp_path).give_back(None)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"kind": "warm", "x": 1}', b"\xff"])
def test_damaged_record_is_none(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)

    assert read_record(tmp_path) is None


def test_record_that_cannot_be_written_stops_nothing(tmp_path):
    write_record(tmp_path / "gone", JvmRecord("warm"))

    assert read_record(tmp_path / "gone") is None


@pytest.mark.parametrize(
    ("record", "is_asked"),
    [(None, True), (JvmRecord("warm"), True), (JvmRecord("warm", is_lent=False), False)],
)
def test_engine_asks_the_pool_unless_the_run_noted_that_it_gave_its_jvm_back(
    tmp_path, record, is_asked
):
    asked = []

    class Pool:
        def end_jvm_of(self, log):
            asked.append(log)

    if record is not None:  # none: the disk was full
        write_record(tmp_path, record)
    log = tmp_path / "stderr.log"
    run = JobRun("jr_1", "job", None, None, 0, "RUNNING", 1, str(log), "job-bookmark-disable")
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        stop_job_run(JobProcess(run, process, 0, Jvms(pool=Pool())))

    assert asked == [log] * is_asked
