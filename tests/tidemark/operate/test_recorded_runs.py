from __future__ import annotations

from dataclasses import replace

import pytest
from openlineage.client.serde import Serde

from tests.tidemark.report.lineage.event_schema import VALIDATOR
from tidemark.glue_service.entities import Entity, EntityKind, put_entity
from tidemark.glue_service.workflows.flow import Flow, Progress
from tidemark.glue_service.workflows.flow_rows import add_flow
from tidemark.local_state.catalog.definitions import put_databases
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.catalog_databases import CatalogDatabase
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.checkpoints.checkpoint import (
    BookmarkMove,
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)
from tidemark.operate.recorded_runs import facts_of, facts_of_ended, initial_run
from tidemark.report.lineage.events import event_of

RUN = JobRun(
    "jr_1",
    "curate",
    "wr_1",
    "trigger",
    0,
    "SUCCEEDED",
    2_000,
    "/log",
    "job-bookmark-enable",
    completed_at_ms=3_000,
)
CHECKPOINT = Checkpoint(
    "curate",
    "jr_1",
    2_900,
    bookmark=BookmarkMove("job-bookmark-enable", 1, 2),
    watermarks=(WatermarkMove("marks", after={"id": "7"}),),
    read=(DatasetRead("s3://raw/flights/", "ctx", files=2),),
    written=(DatasetWritten("s3://mart/delays/", "append", rows=3),),
    code={"script": "abc"},
)


@pytest.fixture
def recorded(tmp_path):
    """Return a home in which one run of a workflow is recorded, and its store."""
    home = Home.open(tmp_path / "home")
    with Store(home.database) as store:
        command = {"Name": "glueetl", "ScriptLocation": "s3://assets/curate.py"}
        put_entity(store, Entity(EntityKind.JOB, "curate", {"Command": command}, {}, 0, 0))
        add_flow(store, Flow("wr_1", "flights", 1_000), Progress(), {})
        put_databases(store, [CatalogDatabase("mart", {"Name": "mart"})])
        location = {"StorageDescriptor": {"Location": "s3://mart/delays"}}
        put_tables(store, [CatalogTable("mart", "delays", {"Name": "delays", **location})])
        store.put_job_run(RUN)
        yield home, store


def test_the_checkpoint_of_a_run_tells_what_its_event_does(recorded):
    home, store = recorded
    put_checkpoint(store, CHECKPOINT)

    facts = facts_of(home, RUN)

    assert (facts.workflow_name, facts.nominal_start_ms) == ("flights", 1_000)
    assert (facts.script, facts.code) == ("s3://assets/curate.py", {"script": "abc"})
    assert facts.read == CHECKPOINT.read
    assert facts.bookmark == CHECKPOINT.bookmark
    assert facts.watermarks == CHECKPOINT.watermarks


def test_a_folder_that_is_a_table_has_its_name(recorded):
    home, store = recorded
    put_checkpoint(store, CHECKPOINT)

    facts = facts_of(home, RUN)

    assert [written.table for written in facts.written] == ["mart.delays"]
    assert [read.table for read in facts.read] == [""]


def test_a_run_without_a_checkpoint_has_what_it_opened(recorded):
    home, store = recorded
    datasets = '[{"dataset": "s3://raw/flights/", "source": "ctx"}]'
    with store.transaction():
        store.query(
            "INSERT INTO source_read (run_id, job_name, transformation_ctx, opened_at_ms, option, "
            "version, source, datasets) VALUES ('jr_1', 'curate', 'ctx', 1, 'x', 0, '{}', ?)",
            (datasets,),
        )

    facts = facts_of(home, RUN)

    assert [read.dataset for read in facts.read] == ["s3://raw/flights/"]
    assert facts.written == ()


def test_what_is_told_later_is_what_was_told_at_the_time(recorded):
    home, store = recorded
    begun = facts_of(home, replace(RUN, state="RUNNING", completed_at_ms=None))
    put_checkpoint(store, CHECKPOINT)

    (later,) = facts_of_ended(home, ["jr_1"])

    assert later == facts_of(home, RUN)
    assert initial_run(later) == begun


def test_a_job_that_is_not_defined_any_more_has_an_event_too(recorded):
    home, store = recorded
    with store.transaction():
        store.query("DELETE FROM glue_entity")
        store.query("DELETE FROM flow")

    event = Serde.to_dict(event_of(facts_of(home, RUN)))

    VALIDATOR.validate(event)
    assert "parent" not in event["run"]["facets"]
