"""Which run somebody means."""

from __future__ import annotations

import pytest

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.run_ids import pick_run, resolve_run

LISTED = ["jr_bb2", "jr_aa1"]
KNOWN = ["jr_aa1", "jr_aa1_attempt_1", "jr_ab3", "jr_bb2", "jr_1f4", "jr_123456789a"]


def pick(text):
    return pick_run(text, LISTED, KNOWN, "job ingest", "look there")


@pytest.mark.parametrize(
    ("text", "run_id"),
    [
        ("jr_ab3", "jr_ab3"),
        ("jr_aa1", "jr_aa1"),
        ("jr_ab", "jr_ab3"),
        ("ab", "jr_ab3"),
        ("1", "jr_bb2"),
        ("2", "jr_aa1"),
        ("jr_1f", "jr_1f4"),
        ("1f", "jr_1f4"),
        ("12345678", "jr_123456789a"),
        ("aa1_", "jr_aa1_attempt_1"),
    ],
)
def test_run_is_meant_by_its_id_its_beginning_or_its_number(text, run_id):
    assert pick(text) == run_id


@pytest.mark.parametrize("text", ["jr_a", "a"])
def test_beginning_that_several_runs_share_lists_them(text):
    with pytest.raises(UsageError) as caught:
        pick(text)

    assert "jr_aa1, jr_aa1_attempt_1, jr_ab3" in str(caught.value)


@pytest.mark.parametrize("text", ["jr_zz", "3", "0", "", "x", "jr_", "12", "1234567"])
def test_run_that_is_not_there_is_named_with_the_list(text):
    with pytest.raises(EntityNotFoundError, match=r"job ingest has no run .*; look there"):
        pick(text)


def test_runs_of_a_job_are_those_that_committed_by_number_and_all_by_id(tmp_path):
    with Store(tmp_path / "glue.sqlite") as store:
        for number, state in enumerate(("SUCCEEDED", "FAILED", "SUCCEEDED"), start=1):
            run_id = f"jr_{number}abc"
            store.put_job_run(JobRun(run_id, "ingest", None, None, 0, state, number, "log", "on"))
            if state == "SUCCEEDED":
                commit_bookmark(store, "ingest", run_id, {}, number // 2, number)
        store.put_job_run(JobRun("jr_2other", "other", None, None, 0, "FAILED", 9, "log", "on"))

        assert resolve_run(store, "ingest", "1") == "jr_3abc"
        assert resolve_run(store, "ingest", "jr_2") == "jr_2abc"
        with pytest.raises(EntityNotFoundError, match="tidemark bookmark show ingest"):
            resolve_run(store, "ingest", "jr_2other")
