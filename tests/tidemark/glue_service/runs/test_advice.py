"""Warnings of a run: what its script did to the bookmark without meaning to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tidemark.glue_job.process.bookmark_session import BookmarkSession
from tidemark.glue_job.process.script_warnings import commits_in_finally, note_at_end, warnings_of
from tidemark.local_state.run_warnings import (
    RUN_FOLDER_VARIABLE,
    RunWarning,
    note,
    read_warnings,
)
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import JobDefinition

ENABLE = "job-bookmark-enable"


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    path = tmp_path / "ingest.py"
    path.write_text("job = Job(glue_context)\njob.commit()\n", encoding="utf-8")
    return path


def session(**values):
    return BookmarkSession("ingest", "jr_1", ENABLE, **values)


@pytest.mark.rule("Warnings", source="BMS")
def test_a_missing_init_causes_a_warning(script):
    note_at_end(script, ENABLE, None)

    assert read_warnings(script.parent) == [RunWarning.INIT_MISSING.message.format("ingest.py")]


@pytest.mark.rule("Warnings", source="TRB")
def test_a_missing_commit_causes_a_warning(script):
    note_at_end(script, ENABLE, session(has_bookmarked_source=True))

    assert read_warnings(script.parent) == [RunWarning.COMMIT_MISSING.message.format("ingest.py")]


@pytest.mark.parametrize(
    ("option", "state"),
    [
        (ENABLE, session(has_bookmarked_source=True, has_committed=True)),
        (ENABLE, session()),
        ("job-bookmark-disable", None),
        ("job-bookmark-pause", session(has_bookmarked_source=True)),
    ],
    ids=["committed", "nothing to commit", "disabled", "paused"],
)
def test_script_that_does_it_right_is_not_warned(script, option, state):
    note_at_end(script, option, state)

    assert read_warnings(script.parent) == []


def test_a_script_that_cannot_be_looked_at_again_has_not_failed(script):
    script.unlink()

    note_at_end(script, ENABLE, session())

    (warning,) = read_warnings(script.parent)
    assert "could not be checked (FileNotFoundError" in warning


@pytest.mark.rule("Warnings", source="COMM")
def test_commit_in_a_finally_block_causes_a_warning():
    script = "job = glue.Job(c)\ntry:\n    work()\nfinally:\n    if x:\n        job.commit()\n"

    assert commits_in_finally(script) == [6]


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("job = Job(c)\ndef end():\n    job.commit()\ntry:\n    work()\nfinally:\n    end()\n", 3),
        ("self.job = Job(c)\ntry:\n    work()\nfinally:\n    self.job.commit()\n", 5),
    ],
    ids=["by a function", "of an attribute"],
)
def test_commit_in_a_finally_block_is_found_in_other_forms(script, line):
    assert commits_in_finally(script) == [line]


@pytest.mark.parametrize(
    "script",
    [
        "job = Job(c)\ntry:\n    job.commit()\nfinally:\n    c.stop()\n",
        "database = connect()\ntry:\n    work()\nfinally:\n    database.commit()\n",
        "this is no Python",
    ],
    ids=["in try", "not of a job", "not Python"],
)
def test_other_commits_are_not_warned_of(script):
    assert commits_in_finally(script) == []


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "glue.sqlite") as store:
        yield store


def finished(tmp_path, **values):
    run = JobRun(
        "jr_1", "ingest", None, None, 0, "SUCCEEDED", 0, str(tmp_path / "stderr.log"), ENABLE
    )
    return replace(run, **{"rows_read": 5, **values})


JOB = JobDefinition("ingest", "s3://assets/ingest.py", "5.1")


@pytest.mark.rule("Warnings", source="TRB")
def test_rows_read_past_the_bookmark_cause_a_warning(store, tmp_path):
    (warning,) = warnings_of(store, finished(tmp_path), JOB)

    assert "spark.read knows no bookmark" in warning
    assert "5 rows" in warning


@pytest.mark.rule("Warnings", source="BM", choice="by name, where the source is opened")
def test_a_source_that_bookmarks_do_not_cover_is_named_and_not_taken_for_a_dataframe(
    store, tmp_path, monkeypatch
):
    monkeypatch.setenv("TIDEMARK_RUN_FOLDER", str(tmp_path))
    note(RunWarning.NO_BOOKMARK, "songs (dynamodb)")

    (warning,) = warnings_of(store, finished(tmp_path), JOB)

    assert "sources of S3 and JDBC only: every run reads all of songs (dynamodb)" in warning
    assert "spark.read" not in warning


@pytest.mark.rule("Warnings", source="TRB")
def test_more_than_one_run_at_once_causes_a_warning(store, tmp_path):
    job = replace(JOB, max_concurrent_runs=3)

    (warning,) = warnings_of(store, finished(tmp_path, rows_read=0), job)

    assert warning.startswith("MaxConcurrentRuns is 3 and job bookmarks are enabled")


def test_job_without_bookmarks_is_not_warned_of_what_only_they_suffer_from(store, tmp_path):
    run = finished(tmp_path, bookmark_option="job-bookmark-disable")

    assert warnings_of(store, run, replace(JOB, max_concurrent_runs=3)) == []


def test_warning_that_is_noted_twice_is_shown_once(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    note(RunWarning.CTX_MISSING, "s3://landing/")
    note(RunWarning.CTX_MISSING, "s3://landing/")
    note(RunWarning.CTX_MISSING, "s3://other/")

    assert len(read_warnings(tmp_path)) == 2


def test_outside_of_a_job_run_nothing_is_noted(tmp_path, monkeypatch):
    monkeypatch.delenv(RUN_FOLDER_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)

    note(RunWarning.CTX_MISSING, "s3://landing/")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.rule("Warnings", source="SPARK", choice="a warning, because lines may be lost")
@pytest.mark.parametrize(
    "line",
    [
        'spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")',
        "spark.conf.set('spark.sql.files.ignoreMissingFiles', True)",
        'conf = {"spark.sql.files.ignoreCorruptFiles": "TRUE"}',
        'spark.sql("SET spark.sql.files.ignoreCorruptFiles = true")',
        'frame = spark.read.option("ignoreCorruptFiles", "true").parquet(path)',
        "frame = spark.read.options(ignoreMissingFiles=True).parquet(path)",
    ],
)
def test_settings_with_which_spark_loses_lines_cause_a_warning(script, line):
    script.write_text(f"{line}\n", encoding="utf-8")

    note_at_end(script, "job-bookmark-disable", None)

    (warning,) = read_warnings(script.parent)
    name = "ignoreCorruptFiles" if "Corrupt" in line else "ignoreMissingFiles"
    assert warning.startswith(f"spark.sql.files.{name} let Spark skip")


@pytest.mark.parametrize(
    "line",
    [
        'spark.conf.set("spark.sql.files.ignoreCorruptFiles", "false")',
        '# spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")',
        'print("ignoreCorruptFiles")',
    ],
)
def test_settings_that_are_off_are_not_warned_of(script, line):
    script.write_text(f"{line}\n", encoding="utf-8")

    note_at_end(script, "job-bookmark-disable", None)

    assert read_warnings(script.parent) == []
