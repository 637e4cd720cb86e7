"""`tidemark lineage` on a served home, and what it makes of a stage's answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.report.lineage.event_schema import VALIDATOR
from tidemark.cli.main import main
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.access_key import access_key
from tidemark.local_state.catalog.definitions import put_databases
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_databases import CatalogDatabase
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.assembly.cloud_assembly import Assembly
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetWritten
from tidemark.operate.account import Account
from tidemark.operate.clients import of_port
from tidemark.operate.job_runs import Run
from tidemark.report.lineage.events import event_of
from tidemark.report.lineage.openlineage_names import run_uuid

pytestmark = pytest.mark.stress  # starts many processes

WRITTEN = DatasetWritten("s3://mart/delays/", "append", rows=3)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a served home in which one job has succeeded and one has failed."""
    home = Home.open(tmp_path_factory.mktemp("lineage") / "home")
    with serving(home) as (url, engine):
        port = Port(home, url, engine)
        good, bad = port.job("good", ""), port.job("bad", "raise ValueError('odd')")
        run_id = port.start(good)
        port.ended(good, run_id)
        port.ended(bad, port.start(bad))
        with Store(home.database) as store:
            put_checkpoint(store, Checkpoint(good, run_id, 1, written=(WRITTEN,)))
            put_databases(store, [CatalogDatabase("mart", {"Name": "mart"})])
            location = {"StorageDescriptor": {"Location": "s3://mart/delays"}}
            put_tables(store, [CatalogTable("mart", "delays", {"Name": "delays", **location})])
        yield port, run_id


@pytest.fixture
def served(recorded, tmp_path, monkeypatch):
    """Make the served home that of the commands of a test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_HOME", str(recorded[0].home.root))
    return recorded


def call(*words: str):
    return CliRunner().invoke(main, ["lineage", *words])


def test_events_of_runs_that_have_ended_are_sent_with_what_is_recorded(served, tmp_path):
    _, run_id = served

    result = call("events.jsonl")

    assert result.output == "sent events of 2 runs to events.jsonl\n", result.output
    lines = (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    for event in events:
        VALIDATOR.validate(event)
    assert [(event["job"]["name"], event["eventType"]) for event in events] == [
        ("good", "START"),
        ("good", "COMPLETE"),
        ("bad", "START"),
        ("bad", "FAIL"),
    ]
    assert events[1]["run"]["runId"] == run_uuid(run_id)
    (output,) = events[1]["outputs"]
    assert output["name"] == "delays"
    assert output["facets"]["symlinks"]["identifiers"][0]["name"] == "table/mart/delays"
    assert "odd" in events[3]["run"]["facets"]["errorMessage"]["message"]


def test_jobs_and_times_are_chosen(served):
    assert call("e", "--job", "bad").output == "sent events of 1 run to e\n"
    assert call("e", "--since", "2200-01-01").output == "sent events of 0 runs to e\n"


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("e", "--job", "bda"), 2, "bad"),
        (("ftp://h",), 2, "allowed: a file, or a URL"),
        (("http://127.0.0.1:9",), 1, "http://127.0.0.1:9 did not take the event of the run jr_"),
        ((), 2, "FILE|URL"),
    ],
)
def test_what_cannot_be_is_one_message(served, words, code, text):
    result = call(*words)

    assert (result.exit_code, text in result.output) == (code, True), result.output
    assert "Traceback" not in result.output


def test_the_account_and_the_workflow_run_of_a_stage_are_told(served):
    port, _ = served
    at = datetime(2026, 1, 31, tzinfo=UTC)
    run = Run(
        "jr_1",
        "good",
        "TIMEOUT",
        at,
        at + timedelta(minutes=1),
        "too long",
        workflow_name="flights",
        workflow_run_id="wr_1",
    )
    with of_port(port.url, "here", "eu-west-1", access_key(port.home).arguments) as glue:
        object.__setattr__(glue, "arn", "arn:aws:glue:eu-west-1:123456789012")
        (facts,) = Account(glue, Assembly((), ())).run_facts([run])

    event = event_of(facts)

    assert event.job.namespace == "arn:aws:glue:eu-west-1:123456789012"
    assert event.eventType.value == "FAIL"
    assert event.run.facets["parent"].run.runId == run_uuid("wr_1")
