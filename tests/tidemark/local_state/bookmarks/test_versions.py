"""The versions of a bookmark: what reset, rewind and deletion make of them."""

from __future__ import annotations

from functools import partial

import pytest

from tidemark.errors import EntityNotFoundError
from tidemark.local_state.bookmarks.versions import (
    bookmark_of_run,
    bookmark_of_version,
    bookmark_versions,
    delete_bookmark,
    latest_bookmark,
    reset_bookmark,
    rewind_bookmark,
    successful_runs,
)
from tidemark.local_state.store.database import Store


@pytest.fixture
def three_runs(glue):
    """Runs jr_1, jr_2 and jr_3 that read 1.json, 2.json and 3.json."""
    for n in (1, 2, 3):
        glue.land(f"{n}.json")
        assert glue.run(f"jr_{n}") == [f"{n}.json"]
    return glue


def ask(glue, question, *values):
    with Store(glue.home.database) as store:
        return question(store, "ingest", *values)


@pytest.mark.rule("Reset and rewind", source="BM, RUNS")
def test_reset_makes_the_next_run_read_everything_again(three_runs):
    three_runs.change(reset_bookmark)

    assert three_runs.run("jr_4") == ["1.json", "2.json", "3.json"]
    assert three_runs.run("jr_5") == []


@pytest.mark.rule("Reset and rewind", source="BMS")
def test_reset_forgets_every_transformation_ctx_of_the_job(three_runs):
    three_runs.run("jr_4", ctxs=["weather", "other"])

    three_runs.change(reset_bookmark)

    assert three_runs.bookmark().states == {}


@pytest.mark.rule("Reset and rewind", source="BM, BLOG", choice="the run's own input stays read")
def test_rewind_to_a_run_makes_the_next_run_read_later_data(three_runs):
    three_runs.change(rewind_bookmark, "jr_1")

    assert three_runs.run("jr_4") == ["2.json", "3.json"]


@pytest.mark.rule("Reset and rewind", source="INFER")
def test_rewind_to_the_newest_run_changes_nothing_but_the_version(three_runs):
    states = three_runs.bookmark().states

    rewound = three_runs.change(rewind_bookmark, "jr_3")

    assert (rewound.version, rewound.states) == (4, states)
    assert three_runs.run("jr_4") == []


@pytest.mark.rule("Reset and rewind", source="SILENT", choice="the last successful run before it")
def test_rewind_to_a_failed_run_restores_the_position_at_its_start(three_runs):
    three_runs.land("4.json")
    three_runs.run("jr_failed", commits=False, state="FAILED")
    three_runs.run("jr_4")

    rewound = three_runs.change(rewind_bookmark, "jr_failed")

    assert rewound.run_id == "jr_3"
    assert three_runs.run("jr_5") == ["4.json"]


@pytest.mark.rule("Reset and rewind", source="SILENT", choice="everything is read again")
def test_rewind_to_a_failed_run_before_any_success_drops_all_state(glue):
    glue.land("1.json")
    glue.run("jr_failed", commits=False, state="FAILED")
    glue.run("jr_1")

    rewound = glue.change(rewind_bookmark, "jr_failed")

    assert (rewound.run, rewound.run_id, rewound.states) == (0, "", {})
    assert glue.run("jr_2") == ["1.json"]


@pytest.mark.rule("Reset and rewind", source="SILENT", choice="back to the position of its commit")
def test_rewind_to_a_run_that_failed_after_its_commit_keeps_its_input_read(glue):
    glue.land("1.json")
    glue.run("jr_1", state="FAILED")
    glue.land("2.json")
    glue.run("jr_2")

    glue.change(rewind_bookmark, "jr_1")

    assert glue.run("jr_3") == ["2.json"]


@pytest.mark.rule("Reset and rewind", source="SILENT", choice="each starts from the whole history")
def test_rewind_after_a_rewind_may_go_forward_again(three_runs):
    three_runs.change(rewind_bookmark, "jr_1")

    forward = three_runs.change(rewind_bookmark, "jr_2")

    assert forward.version == 5
    assert three_runs.run("jr_4") == ["3.json"]


@pytest.mark.rule(
    "Reset and rewind", source="SILENT", choice="possible, because versions are never lost"
)
def test_rewind_after_a_reset_undoes_it(three_runs):
    three_runs.change(reset_bookmark)

    three_runs.change(rewind_bookmark, "jr_3")

    assert three_runs.run("jr_4") == []


@pytest.mark.rule("Reset and rewind", source="SILENT", choice="its last commit")
def test_rewind_to_a_run_that_committed_twice_goes_to_its_end(glue):
    script = glue.start("jr_1")
    script.session.commit()
    glue.land("1.json")
    script.read()
    script.session.commit()
    script.end("SUCCEEDED")
    glue.land("2.json")
    glue.run("jr_2")

    glue.change(rewind_bookmark, "jr_1")

    assert glue.run("jr_3") == ["2.json"]


@pytest.mark.rule(
    "Reset and rewind",
    source="SILENT",
    choice="the position at that run's start, even after a rewind",
)
def test_run_that_failed_after_a_rewind_stands_for_the_rewound_position(three_runs):
    three_runs.change(rewind_bookmark, "jr_1")
    three_runs.run("jr_failed", commits=False, state="FAILED")
    three_runs.run("jr_4")

    three_runs.change(rewind_bookmark, "jr_failed")

    assert three_runs.run("jr_5") == ["2.json", "3.json"]


@pytest.mark.rule("Reset and rewind", source="INFER")
def test_file_rewritten_since_is_read_again_after_a_rewind_and_a_deleted_one_is_not(three_runs):
    three_runs.land("1.json")
    (three_runs.home.lake / "landing" / "weather" / "3.json").unlink()

    three_runs.change(rewind_bookmark, "jr_1")

    assert three_runs.run("jr_4") == ["2.json", "1.json"]


@pytest.mark.rule("Reset and rewind", source="BM")
def test_reset_and_rewind_change_no_data(three_runs):
    three_runs.change(rewind_bookmark, "jr_1")
    three_runs.change(reset_bookmark)

    landed = three_runs.home.lake / "landing" / "weather"
    assert sorted(file.name for file in landed.iterdir()) == ["1.json", "2.json", "3.json"]


@pytest.mark.rule("Reset and rewind", source="SILENT", choice="the run number continues to grow")
def test_run_after_a_rewind_or_a_reset_gets_a_new_run_number(three_runs):
    rewound = three_runs.change(rewind_bookmark, "jr_1")
    three_runs.run("jr_4")
    after_rewind = three_runs.bookmark()
    reset = three_runs.change(reset_bookmark)
    three_runs.run("jr_5")
    after_reset = three_runs.bookmark()

    assert [b.run for b in (rewound, after_rewind, reset, after_reset)] == [1, 4, 0, 5]
    assert after_rewind.previous_run_id == "jr_1"
    assert after_reset.previous_run_id is None


@pytest.mark.rule("Reset and rewind", source="BM")
def test_deleting_a_job_deletes_only_its_own_bookmark(three_runs):
    three_runs.run("jr_other", job="other")

    assert ask(three_runs, delete_bookmark) == 3

    assert three_runs.bookmark() is None
    assert three_runs.bookmark("other").version == 1
    assert three_runs.run("jr_4") == ["1.json", "2.json", "3.json"]
    assert (three_runs.bookmark().version, three_runs.bookmark().run) == (1, 1)


@pytest.mark.rule("Reset and rewind", source="BOTO, COMM")
@pytest.mark.parametrize(
    "operation",
    [reset_bookmark, lambda store, job, at_ms: rewind_bookmark(store, job, "jr_1", at_ms)],
    ids=["reset", "rewind"],
)
def test_job_that_never_stored_a_bookmark_has_none_to_reset_or_rewind(glue, operation):
    glue.run("jr_1", commits=False)

    with pytest.raises(EntityNotFoundError, match="job ingest has no bookmark"):
        glue.change(operation)


@pytest.mark.rule("Reset and rewind", source="BOTO")
def test_rewind_to_an_unknown_run_or_one_of_another_job_is_refused(three_runs):
    three_runs.run("jr_other", job="other")

    for run_id in ("jr_9", "jr_other"):
        with pytest.raises(EntityNotFoundError, match=f"job ingest has no run '{run_id}'"):
            three_runs.change(rewind_bookmark, run_id)
    assert three_runs.bookmark().version == 3


def test_every_version_is_kept_newest_first(three_runs):
    three_runs.change(rewind_bookmark, "jr_1")
    three_runs.change(reset_bookmark)

    versions = ask(three_runs, bookmark_versions)

    assert [(b.version, b.kind, b.run_id) for b in versions] == [
        (5, "reset", ""),
        (4, "rewind", "jr_1"),
        (3, "commit", "jr_3"),
        (2, "commit", "jr_2"),
        (1, "commit", "jr_1"),
    ]


def test_version_can_be_looked_up_by_its_number(three_runs):
    assert ask(three_runs, bookmark_of_version, 2).run_id == "jr_2"
    assert ask(three_runs, bookmark_of_version, 0) is None
    assert ask(three_runs, latest_bookmark).run_id == "jr_3"


def test_bookmark_of_a_run_is_what_it_committed_last(three_runs):
    at = partial(ask, three_runs, bookmark_of_run)

    assert [at(f"jr_{n}").version for n in (1, 2, 3)] == [1, 2, 3]


def test_runs_to_choose_from_are_those_that_committed_newest_first_with_their_records(three_runs):
    three_runs.run("jr_failed", commits=False, state="FAILED")
    three_runs.change(reset_bookmark)

    chosen = ask(three_runs, successful_runs)

    assert [(bookmark.run_id, record.state) for bookmark, record in chosen] == [
        ("jr_3", "SUCCEEDED"),
        ("jr_2", "SUCCEEDED"),
        ("jr_1", "SUCCEEDED"),
    ]
