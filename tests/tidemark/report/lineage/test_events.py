from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.exceptions import ValidationError
from openlineage.client.serde import Serde

from tests.tidemark.report.lineage.event_schema import OWN_SCHEMA, VALIDATOR
from tests.tries import tries
from tidemark.model.checkpoints.checkpoint import (
    BookmarkMove,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)
from tidemark.model.checkpoints.schemas import Column, Schema
from tidemark.operate.recorded_runs import initial_run
from tidemark.operate.run_facts import RunFacts
from tidemark.report.lineage import events
from tidemark.report.lineage.events import event_of
from tidemark.report.lineage.openlineage_names import run_uuid

READ = DatasetRead(
    "s3://raw/flights/",
    "raw_flights",
    files=2,
    bytes=300,
    rows=40,
    before={"kind": "files", "until_ms": 1},
    after={"kind": "files", "until_ms": 2},
)
RUN = RunFacts(
    "curate-flights",
    "jr_1",
    "SUCCEEDED",
    1_763_931_600_000,
    "eu-west-1",
    "123456789012",
    ended_at_ms=1_763_931_601_500,
    script="s3://assets/curate.py",
    code={"script": "ab" * 32},
    workflow_name="flights",
    workflow_run_id="wr_1",
    nominal_start_ms=1_763_931_500_000,
    read=(READ,),
    written=(DatasetWritten("s3://mart/delays/", "window", "mart.delays", rows=7, files=1),),
    bookmark=BookmarkMove("job-bookmark-enable", 3, 4),
    watermarks=(WatermarkMove("marks", before=None, after={"updated_at": "2013-01-01"}),),
)


def document(facts):
    """Return the event of a run as it is sent, after checking it against the schemas."""
    found = json.loads(Serde.to_json(event_of(facts)))
    VALIDATOR.validate(found)
    return found


def test_columns_that_were_observed_are_those_of_their_datasets():
    columns = (Column("id", "bigint"), Column("address", "struct"), Column("address.zip", "string"))
    schemas = (
        Schema("read", "s3://raw/flights/", "raw_flights", "json", columns),
        Schema("written", "table:mart.delays", columns=columns[:1]),
        Schema("written", "s3://elsewhere/", columns=columns),
    )

    event = document(replace(RUN, schemas=schemas))

    (read,), (written,) = event["inputs"], event["outputs"]
    whole, address = read["facets"]["schema"]["fields"]
    assert (whole["name"], whole["type"]) == ("id", "bigint")
    assert (address["name"], address["type"]) == ("address", "struct")
    assert [(field["name"], field["type"]) for field in address["fields"]] == [("zip", "string")]
    assert [field["name"] for field in written["facets"]["schema"]["fields"]] == ["id"]
    assert "schema" not in document(RUN)["inputs"][0]["facets"]


def test_a_run_that_succeeded_is_complete_with_what_it_read_and_wrote():
    event = document(RUN)

    assert event["eventType"] == "COMPLETE"
    assert event["eventTime"] == "2025-11-23T21:00:01.500Z"
    assert event["job"]["namespace"] == "arn:aws:glue:eu-west-1:123456789012"
    assert event["job"]["name"] == "curate-flights"
    assert event["job"]["facets"]["sourceCodeLocation"]["version"] == "ab" * 32
    assert event["job"]["facets"]["jobType"]["processingType"] == "BATCH"
    (read,), (written,) = event["inputs"], event["outputs"]
    assert (read["namespace"], read["name"]) == ("s3://raw", "flights")
    assert read["inputFacets"]["inputStatistics"]["rowCount"] == 40
    assert (written["namespace"], written["name"]) == ("s3://mart", "delays")
    assert written["outputFacets"]["outputStatistics"]["fileCount"] == 1
    assert written["facets"]["symlinks"]["identifiers"] == [
        {
            "namespace": "arn:aws:glue:eu-west-1:123456789012",
            "name": "table/mart/delays",
            "type": "TABLE",
        }
    ]


def test_the_workflow_run_is_the_parent_and_tells_the_nominal_time():
    facets = document(RUN)["run"]["facets"]

    assert facets["parent"]["run"] == {"runId": run_uuid("wr_1"), "facets": {}}
    assert facets["parent"]["job"]["name"] == facets["parent"]["root"]["job"]["name"] == "flights"
    assert facets["nominalTime"]["nominalStartTime"] == "2025-11-23T20:58:20.000Z"
    assert "parent" not in document(replace(RUN, workflow_run_id=None))["run"]["facets"]


def test_the_execution_of_a_machine_is_the_parent_and_its_own_parent_the_root():
    executions = (("load", "arn:load:1"), ("nightly", "arn:nightly:1"))
    alone = replace(RUN, workflow_run_id=None, executions=executions)
    of_run = document(alone)["run"]["facets"]["parent"]
    of_workflow = document(replace(RUN, executions=executions))["run"]["facets"]["parent"]

    assert (of_run["job"]["name"], of_workflow["job"]["name"]) == ("load", "flights")
    assert of_run["run"]["runId"] == run_uuid("arn:load:1")
    for parent in (of_run, of_workflow):
        assert parent["root"]["job"]["name"] == "nightly"
        assert parent["root"]["run"]["runId"] == run_uuid("arn:nightly:1")


def test_the_bookmark_range_tells_from_where_to_where_each_source_was_read():
    facet = document(RUN)["run"]["facets"]["tidemark_bookmarkRange"]

    assert facet["bookmark"] == {"option": "job-bookmark-enable", "before": 3, "after": 4}
    assert facet["sources"] == [
        {
            "namespace": "s3://raw",
            "name": "flights",
            "source": "raw_flights",
            "before": {"kind": "files", "until_ms": 1},
            "after": {"kind": "files", "until_ms": 2},
        }
    ]
    assert facet["watermarks"][0]["after"] == {"updated_at": "2013-01-01"}
    assert facet["_schemaURL"].partition("#")[0] == OWN_SCHEMA["$id"]


def test_every_part_of_an_event_names_this_version_as_its_producer():
    text = json.dumps(document(RUN))

    assert (
        text.count(f'roducer": "urn:tidemark-glue:{events.own_version()}"')
        == text.count('roducer": ')
        == 10
    )


@pytest.mark.parametrize(
    ("state", "kind"),
    [("FAILED", "FAIL"), ("TIMEOUT", "FAIL"), ("ERROR", "FAIL"), ("STOPPED", "ABORT")],
)
def test_a_run_that_did_not_succeed_says_why(state, kind):
    event = document(replace(RUN, state=state, error_message="ValueError: no\nmore", written=()))

    assert event["eventType"] == kind
    assert event["run"]["facets"]["errorMessage"]["message"] == "ValueError: no\nmore"
    assert len(event["inputs"]) == 1


def test_a_start_tells_nothing_that_only_the_end_can():
    event = document(initial_run(RUN))

    assert (event["eventType"], event["eventTime"]) == ("START", "2025-11-23T21:00:00.000Z")
    assert event["inputs"] == event["outputs"] == []
    assert "tidemark_bookmarkRange" not in event["run"]["facets"]


def test_a_dataset_that_two_sources_read_is_one_input_and_two_ranges():
    other = replace(READ, source="again", rows=None)

    event = document(replace(RUN, read=(READ, other)))

    (read,) = event["inputs"]
    assert read["inputFacets"]["inputStatistics"]["fileCount"] == 4
    assert "rowCount" not in read["inputFacets"]["inputStatistics"]  # not known of both
    assert len(event["run"]["facets"]["tidemark_bookmarkRange"]["sources"]) == 2


def test_the_place_of_a_script_is_a_uri_whatever_its_name():
    event = document(replace(RUN, script="s3://assets/a b/jöb.py"))

    assert event["job"]["facets"]["sourceCodeLocation"]["url"] == "s3://assets/a%20b/j%C3%B6b.py"


def test_a_namespace_of_the_users_own_is_that_of_jobs_and_parents(monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "prod")

    event = document(RUN)

    assert event["job"]["namespace"] == "prod"
    assert event["run"]["facets"]["parent"]["job"]["namespace"] == "prod"


def test_the_schema_refuses_what_is_none():
    event = document(RUN)
    del event["run"]["facets"]["tidemark_bookmarkRange"]["sources"][0]["name"]

    with pytest.raises(ValidationError, match="'name' is a required property"):
        VALIDATOR.validate(event)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
COUNTS = st.none() | st.integers(0, 2**40)
POSITIONS = st.none() | st.fixed_dictionaries({"kind": st.just("keys")}, optional={"values": NAMES})


@settings(max_examples=tries(30))
@given(
    st.lists(
        st.builds(DatasetRead, NAMES, NAMES, NAMES, COUNTS, COUNTS, COUNTS, POSITIONS, POSITIONS),
        max_size=3,
    ),
    st.lists(
        st.builds(DatasetWritten, NAMES, st.just("append"), NAMES, COUNTS, COUNTS), max_size=2
    ),
    st.sampled_from(["RUNNING", "SUCCEEDED", "FAILED", "STOPPED"]),
    st.none() | NAMES,
)
def test_an_event_of_any_run_is_one_that_the_schemas_allow(reads, written, state, message):
    run = replace(
        RUN, state=state, read=tuple(reads), written=tuple(written), error_message=message
    )

    document(run if state != "RUNNING" else initial_run(run))
