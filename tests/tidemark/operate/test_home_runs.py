"""The runs of a home, as commands show them."""

from tidemark.glue_service.runs.run_requests import RunRequest
from tidemark.local_state.store.database import JobRun
from tidemark.operate.home_runs import run_of_record


def test_a_run_that_filled_a_range_is_told_from_others() -> None:
    record = JobRun("jr_1", "load", None, None, 0, "SUCCEEDED", 7, "", "job-bookmark-disable", 9)
    filling = {"--backfill_from": "2013-01-01", "--backfill_to": "2013-01-02"}

    details = [run_of_record(record, RunRequest("jr_1", it)).detail for it in ({}, filling)]

    assert details == ["", "backfill"]
