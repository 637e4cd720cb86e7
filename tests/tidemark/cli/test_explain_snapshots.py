"""`tidemark explain` of a job that reads a table of Iceberg from snapshot to snapshot."""

from __future__ import annotations

import json

import pytest

from tests.fixtures.commands import TABLE
from tests.tidemark.cli.test_cli import tidemark
from tests.tidemark.operate.test_snapshot_reads import metadata
from tidemark.glue_service.commands import region
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.runs.run_requests import RunRequest, put_run_request
from tidemark.local_state.catalog.definitions import put_databases
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.catalog_databases import CatalogDatabase
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.operate.snapshot_reads import cursors_of_job
from watermarks import WatermarkAdmin, Watermarks, run_notes
from watermarks.windows.snapshot_cursors import Snapshot

JOB, PLACE = "clean-orders", "s3://landing/log/metadata/v1.metadata.json"
SALES = CatalogDatabase("sales", {"Name": "sales"})
LOG = CatalogTable(
    "sales",
    "log",
    {"Name": "log", "Parameters": {"table_type": "ICEBERG", "metadata_location": PLACE}},
)
UUID = "deee9cd3-a039-465f-a5e4-7645bfba693a"
SINCE = metadata("append", "append", "overwrite", "replace", uuid=UUID)


def at(number: int, uuid: str = UUID) -> str:
    return str(Snapshot(number, number, uuid))


def have_read(dynamodb, number: int, uuid: str = UUID) -> None:
    """Let a run have read the table up to a snapshot."""
    create_tables(dynamodb, [TABLE])
    high = at(number, uuid)
    windows = Watermarks(TABLE.name, dynamodb)
    with windows.window(JOB, run_id="jr_1", source="log", cursor="snapshot", high=high) as one:
        run_notes.note_read(one, run_notes.table("glue_catalog.sales.log"))


@pytest.fixture
def explained(home):
    """Return what is told of the job here, by the metadata of the table."""
    place = Home.open(home)
    with Store(place.database) as store:
        put_databases(store, [SALES])
        put_tables(store, [LOG])
        store.put_job_run(
            JobRun("jr_1", JOB, None, None, 0, "SUCCEEDED", 7, "stderr.log", "job-bookmark-disable")
        )
        put_run_request(store, RunRequest("jr_1", is_submitted=True))

    def explained(table, *options, uuid=UUID):
        file = place.lake / "landing" / "log" / "metadata" / "v1.metadata.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(table), encoding="utf-8")
        with dynamodb_endpoint(place) as endpoint, dynamodb_client(endpoint, region()) as dynamodb:
            have_read(dynamodb, 1, uuid)
        return tidemark("explain", JOB, *options)

    return explained


def test_snapshots_that_came_since_are_listed_with_their_rows(explained):
    result = explained(SINCE)

    assert result.exit_code == 0, result.output
    assert (
        "clean-orders, the next run, source log, cursor snapshot: would read 3 snapshots "
        "(10 rows added, 4 deleted) of sales.log" in result.stdout
    )
    assert "after snapshot 1" in result.stdout
    assert 'with read="appends": SnapshotRewrittenError: the snapshot 3' in result.stdout


def test_json_has_every_snapshot(explained):
    answer = json.loads(explained(SINCE, "--format", "json").stdout)

    (read,) = answer["snapshots"]
    assert answer["sources"] == []
    assert [read[name] for name in ("source", "table", "rows_added")] == ["log", "sales.log", 10]
    assert read["read_to"] == {"snapshot": "1", "sequence": 1}
    assert read["refused"] is None
    assert read["refused_for_appends"]["error"] == "SnapshotRewrittenError"
    assert read["snapshots"][1] == {
        "snapshot": "3",
        "at": "1970-01-01 00:00:03.000Z",
        "operation": "overwrite",
        "rows_added": 5,
        "rows_deleted": 2,
    }


def test_what_would_be_refused_is_told_as_the_library_does(explained):
    result = explained(metadata("append", uuid=UUID), uuid="00000000-0000-4000-8000-000000000000")

    assert "would be refused, sales.log" in result.stdout
    assert "TableReplacedError: the table sales.log was dropped and created again" in result.stdout


@pytest.fixture
def dynamodb(home):
    """A DynamoDB of the home, with the table."""
    with (
        dynamodb_endpoint(Home.open(home)) as endpoint,
        dynamodb_client(endpoint, region()) as client,
    ):
        create_tables(client, [TABLE])
        yield client


def cursors_of(dynamodb, job):
    admin = WatermarkAdmin(TABLE.name, dynamodb)
    return [
        (it.read_to and it.read_to.id, it.until and it.until.id)
        for it in cursors_of_job(admin, job)
    ]


def test_only_cursors_of_snapshots_count_and_windows_that_are_taken_over(dynamodb):
    windows, one, two, three = Watermarks(TABLE.name, dynamodb), *map(at, (1, 2, 3))
    for cursor, high in (("day", "01/02/2013"), ("snapshot", one)):
        with windows.window(JOB, run_id="jr_1", cursor=cursor, high=high) as window:
            assert window.high == high
    assert cursors_of(dynamodb, JOB) == [(1, None)]
    windows.open_window(JOB, run_id="jr_2", cursor="snapshot", high=two)
    assert cursors_of(dynamodb, JOB) == [(1, 2)]
    windows.advance(job_id=JOB, run_id="jr_3", to={"snapshot": three}, base=windows.latest(JOB))

    assert cursors_of(dynamodb, JOB) == [(3, None)]


@pytest.mark.stress
def test_a_stage_tells_the_same(stage):
    stage.deploy({JOB: ""})
    arguments = {"--watermark_table": TABLE.name, "--job-bookmark-option": "job-bookmark-enable"}
    stage.edit(lambda it: it["Properties"].setdefault("DefaultArguments", {}).update(arguments))
    stage.port.engine.ask(lambda glue: deploy_on_port(glue, stage.app))
    stage.port.engine.ask(lambda glue: put_databases(glue.store, [SALES]))
    stage.port.engine.ask(lambda glue: put_tables(glue.store, [LOG]))
    file = stage.port.home.lake / "landing" / "log" / "metadata" / "v1.metadata.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(SINCE), encoding="utf-8")
    with dynamodb_client(stage.port.url, "us-east-1") as dynamodb:
        have_read(dynamodb, 2)

    text = stage.ask("explain", JOB)
    found = json.loads(stage.ask("explain", JOB, "--format", "json").stdout)

    assert "would read 2 snapshots (5 rows added, 2 deleted) of sales.log" in text.stdout, text
    assert "bookmark" not in text.stdout
    assert [one["snapshot"] for one in found["snapshots"][0]["snapshots"]] == ["3", "4"]
