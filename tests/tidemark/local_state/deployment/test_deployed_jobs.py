"""A job that leaves its stack takes its bookmark along."""

from __future__ import annotations

import pytest

from tidemark.local_state.bookmarks.versions import commit_bookmark, latest_bookmark
from tidemark.local_state.deployment.deployed_apps import replace_deployed_jobs
from tidemark.local_state.store.database import Store


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "glue.sqlite") as store:
        for name in ("ingest", "curate", "submitted"):
            commit_bookmark(store, name, "jr_1", {}, 0, 0)
        yield store


@pytest.mark.rule(
    "Reset and rewind", source="BM", choice="a job is deleted when its stack no longer defines it"
)
def test_deleting_a_job_deletes_its_bookmark(store):
    replace_deployed_jobs(store, {"ingest": "flights", "curate": "flights"})

    deleted = replace_deployed_jobs(store, {"curate": "flights"})

    assert deleted == ["ingest"]
    assert latest_bookmark(store, "ingest") is None
    assert latest_bookmark(store, "curate") is not None


def test_jobs_of_other_stacks_and_submitted_scripts_stay(store):
    replace_deployed_jobs(store, {"ingest": "flights", "curate": "flights"})

    assert replace_deployed_jobs(store, {"another": "orders"}) == []
    assert latest_bookmark(store, "ingest") is not None
    assert latest_bookmark(store, "submitted") is not None


def test_job_that_moved_to_another_stack_keeps_its_bookmark(store):
    replace_deployed_jobs(store, {"ingest": "flights", "curate": "flights"})

    assert replace_deployed_jobs(store, {"ingest": "new", "curate": "flights"}) == []
    assert latest_bookmark(store, "ingest") is not None
