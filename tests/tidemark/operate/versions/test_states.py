"""Bookmarks, watermarks and the catalog of two copies of a home, compared value by value."""

from __future__ import annotations

from datetime import datetime

import pytest

from tidemark.glue_service.commands import region
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.catalog.definitions import put_databases
from tidemark.local_state.catalog.partitions import Partition, register_partitions
from tidemark.local_state.catalog.tables import drop_table, put_tables
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.model.assembly.catalog_databases import CatalogDatabase
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.operate.versions.facts import Interval
from tidemark.operate.versions.states import compared_states, read_states
from watermarks import TargetSchema, Watermarks
from watermarks.windows.held import hold_schema

OLD, NEW = Interval(1_000_000, 2_000_000), Interval(5_000_000, 6_000_000)
EARLIER = ["s3://b/in/a.json", 900_000, 7]


@pytest.fixture
def homes(tmp_path):
    return [Home.open(tmp_path / name) for name in ("old", "new")]


def compared(homes, before=None):
    old, new = (
        read_states(home, runs, before or {}) for home, runs in zip(homes, (OLD, NEW), strict=True)
    )
    return compared_states(before or {}, old, new)


def differences(homes):
    return {(it.kind, it.name): it.differences for it in compared(homes)}


def commit(home, states, run="jr_1", version=0):
    with Store(home.database) as store:
        commit_bookmark(store, "orders", run, states, version, 77)


def s3(high_ms, *files, **more):
    state = {"kind": "s3", "paths": ["s3://b/in/"], "opened_at_ms": high_ms, "high_ms": high_ms}
    seen = {"floor_ms": -1, "files": [[high_ms, "90c2"]]}
    return {**state, "low_ms": high_ms - 900, "recent": [*files], "seen": seen, **more}


def test_bookmarks_are_equal_but_for_times_run_ids_and_names_of_files_of_the_runs(homes):
    for home, run, at in zip(homes, ("jr_1", "jr_2"), (1_500_000, 5_700_000), strict=True):
        own = [f"s3://b/raw/day=1/window={run}/attempt={at}/part-{run}.parquet", at - 100, at]
        commit(
            home,
            {"raw": s3(at, EARLIER, own), "ids": {"kind": "jdbc", "bound": [["int", "7"]]}},
            run,
        )

    (found,) = compared(homes)

    assert (found.kind, found.name) == ("bookmark", "orders")
    assert found.is_equal
    assert found.summary == ("version 1; ids to 7; raw to the time of the run",) * 2


@pytest.mark.parametrize(
    ("change", "what", "values"),
    [
        ({"high_ms": 950_000}, "raw.high", ("the time of the run", "1970-01-01T00:15:50.000Z")),
        ({"recent": []}, "raw.file s3://b/in/a.json", ("7 bytes, 1970-01-01T00:15:00.000Z", None)),
        (
            {"recent": [EARLIER, ["s3://b/raw/part-1", 5_100_000, 3]]},
            "raw.files of the run in s3://b/raw/",
            (None, "read"),
        ),
        ({"paths": ["s3://b/other/"]}, "raw.paths", ('["s3://b/in/"]', '["s3://b/other/"]')),
    ],
)
def test_a_bookmark_that_differs_is_told_with_its_values(homes, change, what, values):
    commit(homes[0], {"raw": s3(1_500_000, EARLIER)})
    commit(homes[1], {"raw": {**s3(5_500_000, EARLIER), **change}})

    assert differences(homes) == {("bookmark", "orders"): {what: values}}


def test_a_bound_and_a_missing_context_differ(homes):
    commit(homes[0], {"ids": {"kind": "jdbc", "bound": [["int", "7"]]}, "a": {"kind": "x", "n": 1}})
    commit(homes[1], {"ids": {"kind": "jdbc", "bound": [["int", "8"]]}})

    assert differences(homes)["bookmark", "orders"] == {
        "ids.bound": ('[["int", "7"]]', '[["int", "8"]]'),
        "a.kind": ("x", None),
        "a.n": ("1", None),
    }


def test_a_bookmark_that_no_run_moved_is_not_told_and_one_of_a_single_side_is(homes):
    for home in homes:
        commit(home, {"raw": s3(800_000)})
    before = read_states(homes[0])

    assert compared(homes, before) == []

    commit(homes[0], {"raw": s3(1_500_000)}, "jr_2", 1)
    (found,) = compared(homes, before)
    assert found.differences["version"] == ("2", "1")
    assert found.differences["raw.high"] == ("the time of the run", "1970-01-01T00:13:20.000Z")


class Tables:
    """Watermarks of both homes, moved as a job does."""

    def __init__(self, home):
        self.home = home

    def __enter__(self):
        self.endpoint = dynamodb_endpoint(self.home)
        self.client = dynamodb_client(self.endpoint.__enter__(), region())
        dynamodb = self.client.__enter__()
        create_tables(dynamodb, [watermark_table("marks")])
        return Watermarks("marks", dynamodb)

    def __exit__(self, *error):
        self.client.__exit__(*error)
        self.endpoint.__exit__(*error)


def move(home, high, *, run, leaves_open=None):
    with Tables(home) as table:
        for window in table.windows("orders", run_id=run, cursor="id", high=high):
            assert window.high == high
        if leaves_open is not None:
            table.open_window("orders", run_id=f"{run}b", cursor="id", high=leaves_open)


def test_watermarks_are_equal_but_for_ids_attempts_and_times(homes):
    move(homes[0], 7, run="jr_1", leaves_open=9)
    move(homes[1], 7, run="jr_2", leaves_open=9)

    (found,) = compared(homes)

    assert (found.kind, found.name) == ("watermark", "marks: orders")
    assert found.is_equal
    assert found.summary == ("id = 7; open id (7, 9]",) * 2


def test_a_watermark_a_commit_or_an_open_window_that_differs_is_told(homes):
    move(homes[0], 7, run="jr_1", leaves_open=9)
    move(homes[1], 8, run="jr_1")
    move(homes[1], 9, run="jr_2")

    assert differences(homes)["watermark", "marks: orders"] == {
        "version": ("1", "2"),
        "id": ("7", "9"),
        "commit 1": ("id = 7; window id (beginning, 7]", "id = 8; window id (beginning, 8]"),
        "commit 2": (None, "id = 9; window id (8, 9]"),
        "open id": ("(7, 9]", None),
    }


def test_columns_that_a_contract_keeps_and_that_differ_are_told(homes):
    for home, kind in zip(homes, ("int", "bigint"), strict=True):
        with Tables(home) as table, table.window("o", run_id="r", cursor="id", high=1) as window:
            hold_schema(window, "s3://lake/out/", TargetSchema({"id": "int", "amt": kind}))

    assert differences(homes)["watermark", "marks: o"] == {
        "columns of s3://lake/out/": ("id int, amt int", "id int, amt bigint")
    }


def test_only_commits_after_the_snapshot_are_read_and_types_and_sources_count(homes):
    for home in homes:
        move(home, 7, run="jr_0")
    before = read_states(homes[0])
    for home, value in zip(homes, (5, "5"), strict=True):
        with Tables(home) as table:
            table.advance(job_id="orders", run_id="jr_1", to={"n": value}, base=None, source="a")

    (found,) = compared(homes, before)

    assert found.name == "marks: orders, source a"
    assert found.differences == {
        "n": ("5", "'5'"),
        "commit 1": ("n = 5", "n = '5'"),
    }


def test_rows_of_a_table_without_a_head_are_compared_as_they_are(homes):
    for home, high in zip(homes, ("8", "9"), strict=True):
        with Tables(home) as table:
            for run, value in (("jr_1", "7"), (f"jr_{high}", high)):
                row = {"jobName": {"S": "v1"}, "runId": {"S": run}, "id": {"N": value}}
                table._client._client.put_item(TableName="marks", Item=row)

    (found,) = compared(homes)

    assert found.summary == ("2 rows", "2 rows")
    assert found.differences == {
        '{"id": {"N": "8"}}': ("1", None),
        '{"id": {"N": "9"}}': (None, "1"),
    }


def test_a_watermark_that_is_the_time_of_the_run_is_equal(homes):
    for home, runs in zip(homes, (OLD, NEW), strict=True):
        at = datetime.fromtimestamp(runs.began_ms / 1000 + 5).astimezone()
        with Tables(home) as table:
            table.advance(job_id="orders", run_id="jr_1", to={"at": at}, base=None)

    (found,) = compared(homes)

    assert found.is_equal
    assert found.summary[0] == "at = the time of the run"


TABLE = {
    "Name": "t",
    "PartitionKeys": [{"Name": "day", "Type": "string"}],
    "Parameters": {"classification": "parquet", "transient_lastDdlTime": "1", "numRows": "3"},
    "StorageDescriptor": {
        "Location": "s3://b/t/",
        "Columns": [{"Name": "n", "Type": "int"}, {"Name": "s", "Type": "string"}],
        "SerdeInfo": {"SerializationLibrary": "parquet"},
    },
}


def put(home, definition, *days):
    table = CatalogTable("db", "t", definition)
    partitions = [Partition((day,), f"s3://b/t/day={day}", {"numFiles": f"{home}"}) for day in days]
    with Store(home.database) as store:
        put_tables(store, [table])
        register_partitions(store, table, partitions, home.local_path)


def changed(**storage):
    return {**TABLE, "StorageDescriptor": {**TABLE["StorageDescriptor"], **storage}}


def test_tables_are_equal_but_for_times_and_numbers_of_files(homes):
    put(homes[0], TABLE, "1", "2")
    times = {"transient_lastDdlTime": "2", "totalSize": "9", "spark.sql.create.version": "4.1.1"}
    put(homes[1], {**TABLE, "Parameters": {**TABLE["Parameters"], **times}}, "2", "1")

    (table,) = compared(homes)

    assert (table.kind, table.name, table.is_equal) == ("table", "db.t", True)
    assert table.summary == ("2 columns, 2 partitions",) * 2


def test_other_columns_parameters_and_partitions_are_told(homes):
    put(homes[0], TABLE, "1")
    columns = [{"Name": "s", "Type": "string"}, {"Name": "n", "Type": "bigint"}]
    more = {"Parameters": {"classification": "orc", "numRows": "3"}}
    put(homes[1], {**changed(Columns=columns, Location="s3://b/u/"), **more}, "1", "2")

    assert differences(homes)["table", "db.t"] == {
        "column n": ("int", "bigint"),
        "columns": ("n, s", "s, n"),
        "Location": ("s3://b/t/", "s3://b/u/"),
        "Parameters.classification": ("parquet", "orc"),
        "partition day=2": (None, "s3://b/t/day=2"),
    }


def test_a_table_that_one_version_dropped_is_told(homes):
    for home in homes:
        put(home, TABLE, "1")
    before = read_states(homes[0])
    with Store(homes[1].database) as store:
        drop_table(store, "db", "t")

    (table,) = compared(homes, before)

    assert table.summary == ("2 columns, 1 partition", None)
    assert not table.is_equal
    assert table.differences["column n"] == ("int", None)


def test_a_database_that_differs_is_told(homes):
    for home, place in zip(homes, ("s3://b/one/", "s3://b/two/"), strict=True):
        with Store(home.database) as store:
            put_databases(store, [CatalogDatabase("mart", {"Name": "mart", "LocationUri": place})])

    assert differences(homes) == {
        ("database", "mart"): {"LocationUri": ("s3://b/one/", "s3://b/two/")}
    }


def test_the_types_of_spark_are_compared_where_both_versions_keep_them(homes):
    schema = '{"fields":[{"name":"a","type":"%s"}]}'
    for home, kinds in zip(homes, ((None, "long"), ("long", "integer")), strict=True):
        for name, kind in zip("xy", kinds, strict=True):
            parameters = {"spark.sql.sources.schema": schema % kind} if kind else {}
            with Store(home.database) as store:
                put_tables(store, [CatalogTable("db", name, {**TABLE, "Parameters": parameters})])

    found = differences(homes)

    assert found["table", "db.x"] == {}
    assert found["table", "db.y"] == {
        "Parameters.spark.sql.sources.schema": (schema % "long", schema % "integer")
    }
