"""What each mode of a run reads and writes, from the job arguments to the stored bookmark."""

from __future__ import annotations

import pytest

from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from tidemark.errors import UsageError
from tidemark.glue_job.process import bookmark_session
from tidemark.glue_job.process.bookmark_session import current_session, files_to_read, start_session
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.model.assembly.definitions import BOOKMARK_OPTIONS

URI = "s3://landing/weather/"
ENABLE = "--job-bookmark-option job-bookmark-enable"


def run(glue, argv: str) -> list[str]:
    """Run a script with these arguments, from getResolvedOptions to Job.commit."""
    glue.clock.now_ms += 1
    words = ["job.py", "--JOB_NAME", "ingest", "--JOB_RUN_ID", "jr_1", *argv.split()]
    args = getResolvedOptions(words, ["JOB_NAME"])
    job = Job(None)
    job.init(args["JOB_NAME"], args)
    files = files_to_read(S3Source((URI,), "weather", "json")).files
    job.commit()
    return [file.path.removeprefix(URI) for file in files]


@pytest.fixture
def incremented(glue):
    """A job that has read a.json and not yet b.json."""
    glue.land("a.json", minutes_ago=60)
    run(glue, ENABLE)
    glue.land("b.json")
    return glue


@pytest.mark.rule("Modes", source="BM")
def test_enable_reads_new_data_and_stores_the_state_at_commit(incremented):
    assert run(incremented, ENABLE) == ["b.json"]
    assert incremented.bookmark().version == 2
    assert run(incremented, ENABLE) == []


@pytest.mark.rule("Modes", source="BM, ARG")
def test_pause_reads_new_data_and_never_stores_the_state_even_at_commit(incremented):
    pause = "--job-bookmark-option job-bookmark-pause"

    assert run(incremented, pause) == run(incremented, pause) == ["b.json"]
    assert incremented.bookmark().version == 1


@pytest.mark.rule("Modes", source="BM, INFER")
def test_disable_reads_everything_and_the_next_enabled_run_resumes_from_the_last_one(incremented):
    disable = "--job-bookmark-option job-bookmark-disable"

    assert run(incremented, disable) == run(incremented, disable) == ["a.json", "b.json"]
    assert incremented.bookmark().version == 1
    assert run(incremented, ENABLE) == ["b.json"]


@pytest.mark.rule("Modes", source="BM, ARG, LIB")
def test_bookmarks_are_disabled_unless_the_run_says_otherwise(incremented):
    assert run(incremented, "") == ["a.json", "b.json"]
    assert incremented.bookmark().version == 1


@pytest.mark.rule("Modes", source="LIB")
@pytest.mark.parametrize(
    ("value", "names", "version"),
    [
        ("continuation-enabled", ["b.json"], 2),
        ("continuation-readonly", ["b.json"], 1),
        ("continuation-ignore", ["a.json", "b.json"], 1),
    ],
)
def test_legacy_continuation_option_means_enable_pause_and_disable(
    incremented, value, names, version
):
    assert run(incremented, f"--continuation-option {value}") == names
    assert incremented.bookmark().version == version


@pytest.mark.rule("Modes", source="LIB")
def test_bookmark_option_wins_over_the_legacy_one(incremented):
    argv = "--continuation-option continuation-enabled --job-bookmark-option job-bookmark-pause"

    assert run(incremented, argv) == ["b.json"]
    assert incremented.bookmark().version == 1


@pytest.mark.rule("Modes", source="LIB")
def test_arguments_without_the_option_given_to_init_disable_bookmarks(incremented):
    Job(None).init("ingest", {"JOB_RUN_ID": "jr_1"})
    assert current_session().is_reading is False

    Job(None).init("ingest")
    assert current_session().is_reading is False


@pytest.mark.rule("Modes", source="SILENT", choice="an error that names the allowed ones")
def test_unknown_option_given_to_init_is_refused(glue):
    with pytest.raises(UsageError) as refused:
        start_session("ingest", {"job_bookmark_option": "enable"})

    for allowed in BOOKMARK_OPTIONS:
        assert allowed in str(refused.value)


def test_run_id_is_that_of_the_process_when_the_script_does_not_hand_it_on(glue, monkeypatch):
    monkeypatch.setenv("TIDEMARK_JOB_RUN_ID", "jr_of_the_process")
    job = Job(None)
    job.init("ingest", {"job_bookmark_option": "job-bookmark-enable"})
    job.commit()

    assert glue.bookmark().run_id == "jr_of_the_process"


def test_disabled_script_needs_no_local_run(tmp_path, monkeypatch):
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    monkeypatch.setattr(bookmark_session, "_sessions", [])
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    start_session("ingest", {})

    files = files_to_read(S3Source((str(tmp_path),), "weather", "json")).files

    assert [file.size for file in files] == [2]
