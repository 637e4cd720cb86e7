"""A run that would find nothing new is not started; no JVM is, in these tests."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.glue_job.process.bookmark_session import files_to_read, start_session
from tidemark.glue_service.http.serving import serving
from tidemark.glue_service.runs.skip import (
    REASON_FILE,
    SKIPPED_FILE,
    inputs_of,
    outlook_of,
    read_inputs,
    write_inputs,
)
from tidemark.local_state.bookmarks.files import Limits
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.bookmarks.versions import (
    RESET,
    bookmark_of_version,
    latest_bookmark,
)
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import checkpoint_of_run, put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import JobDefinition
from tidemark.model.checkpoints.checkpoint import DatasetRead

ENABLE = "job-bookmark-enable"
RAW, LOOKUP = "s3://raw/flights/", "s3://raw/airports/"
ARGUMENTS = {
    "--job-bookmark-option": ENABLE,
    "--skip_if_nothing_new": f"{RAW},{LOOKUP}",
    "--extra-py-files": "s3://assets/libs.zip",
}
JOB = JobDefinition("curate", "s3://assets/curate.py", "5.1", ARGUMENTS)
SOURCE = S3Source((RAW,), "raw_flights", "parquet", recurse=True)


def record(home: Home, run_id: str, state: str, started_at_ms: int) -> JobRun:
    log = str(home.runs / run_id / "stderr.log")
    run = JobRun(run_id, "curate", None, None, 0, state, started_at_ms, log, ENABLE)
    with Store(home.database) as store:
        store.put_job_run(run)
    return run


def commit(home: Home, run_id: str, started_at_ms: int, source: S3Source | None = SOURCE) -> None:
    """Let a run of the job read what is new and commit, as its process would."""
    run = record(home, run_id, "RUNNING", started_at_ms)
    now = inputs_of(home, JOB.script_location, ARGUMENTS, (RAW, LOOKUP))
    args = {"JOB_NAME": "curate", "JOB_RUN_ID": run_id, "job_bookmark_option": ENABLE}
    session = start_session("curate", args)
    if source:
        files_to_read(source)
    session.commit()
    (home.runs / run_id).mkdir()
    write_inputs(home.runs / run_id, now)
    with Store(home.database) as store:
        store.put_job_run(replace(run, state="SUCCEEDED", completed_at_ms=started_at_ms + 1))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a home in which the job has read all that there is."""
    home = Home.open(tmp_path / "home")
    monkeypatch.setenv("TIDEMARK_HOME", str(home.root))
    for uri, text in {
        f"{RAW}day=1/a.parquet": "a",
        f"{RAW}day=2/b.parquet": "b",
        f"{LOOKUP}c.csv": "c",
        JOB.script_location: "raise SystemExit('it was started')",
        "s3://assets/libs.zip": "z",
    }.items():
        file = home.local_path(uri)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    commit(home, "jr_1", 1)
    return home


def reason(home: Home, arguments=ARGUMENTS, option: str = ENABLE) -> str:
    run = replace(record(home, "jr_now", "RUNNING", 9), bookmark_option=option)
    return outlook_of(home, JOB, arguments, run).reason


def test_a_run_that_would_find_the_same_has_no_reason_to_start(home):
    assert reason(home) == ""


def write(uri, text="x"):
    def change(home):
        file = home.local_path(uri)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    return change


def reset(home):
    with Store(home.database) as store, store.transaction():
        bookmark = latest_bookmark(store, "curate")
        store.query(
            "INSERT INTO bookmark SELECT job_name, version + 1, run, attempt, '', previous_run_id, "
            "committed_at_ms, ?, states FROM bookmark",
            (RESET,),
        )
        assert bookmark_of_version(store, "curate", bookmark.version + 1)


def other_bytes_of_the_same_time(home):
    file = home.local_path(f"{RAW}day=1/a.parquet")
    before = file.stat()
    file.write_text("b", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def scanned(home, *datasets):
    """Let the last run have read these by Spark alone, as its end records it."""
    commit(home, "jr_2", 2, None)
    with Store(home.database) as store:
        found = checkpoint_of_run(store, "jr_2")
        reads = tuple(DatasetRead(dataset, rows=1) for dataset in datasets)
        put_checkpoint(store, replace(found, read=reads))


def new_file_unlisted(home):
    (home.lake / "other").mkdir()
    commit(home, "jr_2", 2, replace(SOURCE, paths=("s3://other/",), transformation_ctx="o"))


CHANGES = {
    "new file": (write(f"{RAW}day=3/new.parquet"), f"{RAW} has changed"),
    "other file": (write(f"{RAW}day=1/a.parquet", "another"), f"{RAW} has changed"),
    "other lookup": (write(f"{LOOKUP}c.csv", "another"), f"{LOOKUP} has changed"),
    "hidden file": (write(f"{RAW}_delta_log/0.json"), f"{RAW} has changed"),
    "deleted": (
        lambda home: home.local_path(f"{RAW}day=1/a.parquet").unlink(),
        f"{RAW} has changed",
    ),
    "script": (write(JOB.script_location, "pass"), "its code has changed"),
    "libs": (write("s3://assets/libs.zip", "y"), "its code has changed"),
    "reset": (reset, "its bookmark is not the one"),
    "same size and time": (other_bytes_of_the_same_time, f"{RAW} has changed"),
    "failed": (lambda home: record(home, "jr_2", "FAILED", 2), "its last run is FAILED"),
    "failed, and the clock set back": (
        lambda home: record(home, "jr_2", "FAILED", 0),
        "its last run is FAILED",
    ),
    "query of a database": (
        lambda home: scanned(home, RAW, "jdbc:#query"),
        "it reads jdbc:#query, which is not one of its declared inputs",
    ),
    "nothing that is known": (scanned, "the reads of its last run are unknown"),
    "no commit": (
        lambda home: record(home, "jr_2", "SUCCEEDED", 2),
        "its bookmark is not the one",
    ),
    "no inputs": (
        lambda home: (home.runs / "jr_1" / "tidemark-inputs.json").write_text("{"),
        "the inputs of its last run are unknown",
    ),
    "link": (
        lambda home: home.local_path(f"{RAW}link").symlink_to("day=1"),
        f"UsageError: {RAW} has the symbolic link",
    ),
    "undeclared": (
        new_file_unlisted,
        "it reads s3://other/, which is not one of its declared inputs",
    ),
    "bounded": (
        lambda home: commit(
            home,
            "jr_2",
            2,
            replace(SOURCE, transformation_ctx="o", limits=Limits(bounded_files=1)),
        ),
        "o has 1 file not read yet",
    ),
    "catalog": (
        lambda home: commit(home, "jr_2", 2, replace(SOURCE, table="raw.flights")),
        "raw_flights reads a table of the Data Catalog",
    ),
}


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_whatever_has_changed_starts_the_run(home, change, expected):
    change(home)

    assert reason(home).startswith(expected)


def test_a_job_that_reads_its_declared_data_by_spark_alone_has_no_reason_either(home):
    scanned(home, RAW, f"{LOOKUP}c.csv")

    assert reason(home) == ""


def test_other_arguments_start_it_and_the_id_of_a_workflow_run_does_not(home):
    assert reason(home, {**ARGUMENTS, "--x": "1"}) == "its arguments have changed"
    assert reason(home, {**ARGUMENTS, "--WORKFLOW_RUN_ID": "wr_2"}) == ""


def test_a_run_that_pauses_the_bookmark_is_started(home):
    assert "bookmark option" in reason(home, option="job-bookmark-pause")


def test_runs_that_were_skipped_do_not_count(home):
    record(home, "jr_2", "SUCCEEDED", 2)
    (home.runs / "jr_2").mkdir()
    (home.runs / "jr_2" / SKIPPED_FILE).touch()

    assert reason(home) == ""


def test_inputs_that_a_newer_version_wrote_are_not_known(tmp_path):
    (tmp_path / "tidemark-inputs.json").write_text(json.dumps({"format": 2}), encoding="utf-8")

    assert read_inputs(tmp_path) is None


def test_the_engine_ends_such_a_run_at_once_and_what_follows_it_starts(home):
    with serving(home) as (url, engine):
        port = Port(home, url, engine)
        command = {"Name": "glueetl", "ScriptLocation": JOB.script_location}
        port.glue.create_job(
            Name="curate", Role="r", Command=command, DefaultArguments=ARGUMENTS, GlueVersion="5.1"
        )
        after = port.job("after", "print('after')")
        port.glue.create_trigger(Name="first", Type="ON_DEMAND", Actions=[{"JobName": "curate"}])
        port.glue.create_trigger(
            Name="then",
            Type="CONDITIONAL",
            StartOnCreation=True,
            Actions=[{"JobName": after}],
            Predicate={
                "Conditions": [
                    {"LogicalOperator": "EQUALS", "JobName": "curate", "State": "SUCCEEDED"}
                ]
            },
        )

        port.glue.start_trigger(Name="first")
        wait_until(lambda: port.states(after) == ["SUCCEEDED"])
        (skipped, _) = port.glue.get_job_runs(JobName="curate")["JobRuns"]
        off = {"--skip_if_nothing_new": "off"}
        forced = port.ended("curate", port.start("curate", Arguments=off))

    assert (skipped["JobRunState"], skipped["StateDetail"]) == ("SUCCEEDED", "nothing new")
    log = (home.runs / skipped["Id"] / "stdout.log").read_text(encoding="utf-8")
    assert log.startswith(f"nothing new: {RAW}, {LOOKUP} unchanged since the last commit")
    assert (forced["JobRunState"], "StateDetail" in forced) == ("FAILED", False)
    assert "it was started" in forced["ErrorMessage"]
    assert not (home.runs / skipped["Id"] / REASON_FILE).exists()
    with Store(home.database) as store:
        checkpoint = checkpoint_of_run(store, skipped["Id"])
        assert latest_bookmark(store, "curate").version == 1
    assert checkpoint.has_read_nothing
    assert [read.dataset for read in checkpoint.read] == [RAW, LOOKUP]
    assert (checkpoint.bookmark.before, checkpoint.bookmark.after) == (1, 1)
    assert not (Path(home.runs) / skipped["Id"] / "curate.py").exists()
