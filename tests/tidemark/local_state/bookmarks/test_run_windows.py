"""job-bookmark-from and job-bookmark-to: what a paused run reads between two runs."""

from __future__ import annotations

import pytest

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_job.process.bookmark_session import start_session
from tidemark.local_state.bookmarks.versions import reset_bookmark, rewind_bookmark

PAUSE = "job-bookmark-pause"


def window(glue, first, last, ctx="weather"):
    return glue.run("jr_window", option=PAUSE, window=(first, last), ctxs=[ctx])


@pytest.fixture
def three_runs(glue):
    """Runs jr_1, jr_2 and jr_3 that read 1.json, 2.json and 3.json, and 4.json that is new."""
    for n in (1, 2, 3):
        glue.land(f"{n}.json")
        assert glue.run(f"jr_{n}") == [f"{n}.json"]
    glue.land("4.json")
    return glue


@pytest.mark.rule("Windows of runs", source="BM, ARG")
def test_window_has_the_data_that_run_to_had_read_and_run_from_had_not(three_runs):
    assert window(three_runs, "jr_1", "jr_3") == ["2.json", "3.json"]
    assert window(three_runs, "jr_2", "jr_3") == ["3.json"]


@pytest.mark.rule("Windows of runs", source="BM, ARG")
def test_window_never_moves_the_bookmark(three_runs):
    window(three_runs, "jr_1", "jr_3")

    assert three_runs.bookmark().version == 3
    assert three_runs.run("jr_4") == ["4.json"]


@pytest.mark.rule("Windows of runs", source="BM")
def test_failed_run_stands_for_the_last_successful_run_before_it(glue):
    glue.land("1.json")
    glue.run("jr_1")
    glue.land("2.json")
    glue.run("jr_failed", commits=False, state="FAILED")
    glue.run("jr_2")
    glue.land("3.json")
    glue.run("jr_3")

    assert window(glue, "jr_failed", "jr_3") == ["2.json", "3.json"]
    assert window(glue, "jr_1", "jr_failed") == []


@pytest.mark.rule(
    "Windows of runs", source="SILENT", choice="like a failed run: its position at its start"
)
@pytest.mark.parametrize("option", [PAUSE, "job-bookmark-disable"])
def test_run_that_stores_no_bookmark_stands_for_the_last_one_before_it(three_runs, option):
    three_runs.run("jr_other", option=option)
    three_runs.run("jr_4")

    assert window(three_runs, "jr_other", "jr_4") == ["4.json"]


@pytest.mark.rule("Windows of runs", source="SILENT", choice="nothing was read by then")
def test_window_to_a_failed_run_before_any_success_is_empty(glue):
    glue.land("1.json")
    glue.run("jr_failed", commits=False, state="FAILED")
    glue.run("jr_1")

    assert window(glue, "jr_failed", "jr_failed") == []
    assert window(glue, "jr_failed", "jr_1") == ["1.json"]


@pytest.mark.rule("Windows of runs", source="SILENT", choice="it counts as successful")
def test_run_that_failed_after_its_commit_stands_for_itself(glue):
    glue.land("1.json")
    glue.run("jr_1", state="FAILED")
    glue.land("2.json")
    glue.run("jr_2")

    assert window(glue, "jr_1", "jr_2") == ["2.json"]


@pytest.mark.rule("Windows of runs", source="SILENT", choice="an error that names the id")
@pytest.mark.parametrize("ends", [("jr_1", "jr_9"), ("jr_9", "jr_1")], ids=["to", "from"])
def test_unknown_run_id_is_refused(three_runs, ends):
    with pytest.raises(EntityNotFoundError, match="job ingest has no run 'jr_9'"):
        window(three_runs, *ends)


@pytest.mark.rule("Windows of runs", source="SILENT", choice="an error, as for an unknown id")
def test_run_of_another_job_is_refused(three_runs):
    three_runs.run("jr_other", job="another")

    with pytest.raises(EntityNotFoundError, match="job ingest has no run 'jr_other'"):
        window(three_runs, "jr_1", "jr_other")


@pytest.mark.rule("Windows of runs", source="SILENT", choice="an error that names both")
def test_window_whose_from_is_later_than_its_to_is_refused(three_runs):
    with pytest.raises(UsageError, match="--job-bookmark-from jr_3 is later than --job-bookmark-"):
        window(three_runs, "jr_3", "jr_1")


@pytest.mark.rule("Windows of runs", source="INFER", choice="it reads nothing")
def test_window_from_a_run_to_itself_is_empty(three_runs):
    assert window(three_runs, "jr_2", "jr_2") == []


@pytest.mark.rule("Windows of runs", source="SILENT", choice="it reads nothing")
def test_source_that_run_to_did_not_know_is_outside_the_window(three_runs):
    three_runs.run("jr_4", ctxs=["weather", "added"])

    assert window(three_runs, "jr_1", "jr_3", ctx="added") == []


@pytest.mark.rule("Windows of runs", source="INFER", choice="everything that run to had read")
def test_source_that_run_from_did_not_know_is_read_up_to_run_to(three_runs):
    three_runs.run("jr_4", ctxs=["weather", "added"])
    three_runs.land("5.json")

    assert window(three_runs, "jr_1", "jr_4", ctx="added") == [f"{n}.json" for n in (1, 2, 3, 4)]


@pytest.mark.rule("Windows of runs", source="BM", choice="the version that was read is not kept")
def test_file_that_was_rewritten_since_is_not_in_the_window(three_runs):
    three_runs.land("2.json")

    assert window(three_runs, "jr_1", "jr_3") == ["3.json"]
    assert three_runs.run("jr_4") == ["2.json", "4.json"]


@pytest.mark.rule(
    "Windows of runs", source="SILENT", choice="data that to had read and from had not"
)
def test_window_across_a_rewind_or_a_reset_compares_the_positions(three_runs):
    three_runs.change(rewind_bookmark, "jr_1")
    assert three_runs.run("jr_4") == ["2.json", "3.json", "4.json"]
    assert window(three_runs, "jr_3", "jr_4") == ["4.json"]

    three_runs.change(reset_bookmark)
    three_runs.land("5.json")
    three_runs.run("jr_5")
    assert window(three_runs, "jr_4", "jr_5") == ["5.json"]


@pytest.mark.rule(
    "Windows of runs", source="LIB", choice="even if the script builds its args itself"
)
@pytest.mark.parametrize("end", ["from", "to"])
def test_window_needs_both_ends(three_runs, end):
    args = {"job_bookmark_option": PAUSE, f"job_bookmark_{end}": "jr_1"}

    missing = {"from": "to", "to": "from"}[end]
    with pytest.raises(UsageError, match=f"--job-bookmark-{missing} is missing"):
        start_session("ingest", args)
