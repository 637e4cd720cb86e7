"""GetJobBookmark and ResetJobBookmark, held against AWS's own description of their answers."""

from __future__ import annotations

import json

import botocore.session
import pytest
from botocore.validate import ParamValidator

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.api import get_job_bookmark, reset_job_bookmark
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.store.database import JobRun, Store

STATES = {"landing": {"kind": "s3", "high_ms": 5}}


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "glue.sqlite") as store:
        yield store


def put_run(store, run_id, started_at_ms, state="SUCCEEDED", job="ingest"):
    store.put_job_run(
        JobRun(run_id, job, None, None, 0, state, started_at_ms, "log", "job-bookmark-enable")
    )


def is_answer_of(operation, answer):
    model = botocore.session.get_session().get_service_model("glue")
    shape = model.operation_model(operation).output_shape
    return not ParamValidator().validate(answer, shape).has_errors()


@pytest.mark.rule("Reset and rewind", source="BOTO")
def test_bookmark_entry_has_the_fields_and_the_document_of_the_api(store):
    commit_bookmark(store, "ingest", "jr_1", STATES, 0, 100)
    put_run(store, "jr_2", 150, "FAILED")
    commit_bookmark(store, "ingest", "jr_3", STATES, 1, 200)

    answer = get_job_bookmark(store, {"JobName": "ingest"})

    assert is_answer_of("GetJobBookmark", answer)
    entry = answer["JobBookmarkEntry"]
    document = json.loads(entry.pop("JobBookmark"))
    assert entry == {
        "JobName": "ingest",
        "Version": 2,
        "Run": 2,
        "Attempt": 1,
        "PreviousRunId": "jr_1",
        "RunId": "jr_3",
    }
    assert document == {
        "job_name": "ingest",
        "run_id": "jr_3",
        "run_number": 2,
        "attempt_number": 1,
        "states": STATES,
    }


@pytest.mark.rule("Reset and rewind", source="BOTO")
def test_bookmark_of_a_run_is_the_one_at_the_end_of_that_run(store):
    commit_bookmark(store, "ingest", "jr_1", STATES, 0, 100)
    put_run(store, "jr_2", 150, "FAILED")
    commit_bookmark(store, "ingest", "jr_3", {}, 1, 200)

    runs = [
        get_job_bookmark(store, {"JobName": "ingest", "RunId": run_id})["JobBookmarkEntry"]["RunId"]
        for run_id in ("jr_1", "jr_2", "jr_3")
    ]

    assert runs == ["jr_1", "jr_1", "jr_3"]


@pytest.mark.rule("Reset and rewind", source="BOTO")
@pytest.mark.parametrize("call", [get_job_bookmark, lambda s, r: reset_job_bookmark(s, r, 1)])
def test_job_that_never_stored_a_bookmark_is_not_found(store, call):
    with pytest.raises(EntityNotFoundError, match=r"job ingest ha[ds] no bookmark"):
        call(store, {"JobName": "ingest"})


@pytest.mark.rule(
    "Reset and rewind", source="BM", choice="a reset is a version too, so a rewind can undo it"
)
def test_reset_drops_all_state(store):
    commit_bookmark(store, "ingest", "jr_1", STATES, 0, 100)

    answer = reset_job_bookmark(store, {"JobName": "ingest"}, 200)

    assert is_answer_of("ResetJobBookmark", answer)
    entry = answer["JobBookmarkEntry"]
    assert json.loads(entry["JobBookmark"])["states"] == {}
    assert (entry["Version"], entry["Run"], entry["PreviousRunId"]) == (2, 0, "jr_1")
    undone = reset_job_bookmark(store, {"JobName": "ingest", "RunId": "jr_1"}, 300)
    assert json.loads(undone["JobBookmarkEntry"]["JobBookmark"])["states"] == STATES


@pytest.mark.rule("Reset and rewind", source="BLOG")
def test_rewind_to_a_run_restores_the_position_at_the_end_of_that_run(store):
    commit_bookmark(store, "ingest", "jr_1", STATES, 0, 100)
    commit_bookmark(store, "ingest", "jr_2", {"landing": {"kind": "s3", "high_ms": 9}}, 1, 200)

    answer = reset_job_bookmark(store, {"JobName": "ingest", "RunId": "jr_1"}, 300)

    entry = answer["JobBookmarkEntry"]
    assert json.loads(entry["JobBookmark"])["states"] == STATES
    assert (entry["Version"], entry["RunId"], entry["PreviousRunId"]) == (3, "jr_1", "jr_2")


@pytest.mark.parametrize("run_id", ["jr_unknown", "jr_other"])
def test_rewind_to_what_is_no_run_of_the_job_names_where_its_runs_are_listed(store, run_id):
    commit_bookmark(store, "ingest", "jr_1", STATES, 0, 100)
    put_run(store, "jr_other", 150, job="another")

    with pytest.raises(EntityNotFoundError, match=f"job ingest has no run '{run_id}'; `tidemark"):
        reset_job_bookmark(store, {"JobName": "ingest", "RunId": run_id}, 300)

    assert get_job_bookmark(store, {"JobName": "ingest"})["JobBookmarkEntry"]["Version"] == 1


@pytest.mark.parametrize(
    "request_", [{}, {"JobName": ""}, {"JobName": "a", "Version": 1}, {"JobName": "a", "RunId": 1}]
)
def test_wrong_request_is_refused(store, request_):
    with pytest.raises(UsageError, match=r"JobName, a non-empty string|RunId is 1"):
        get_job_bookmark(store, request_)
