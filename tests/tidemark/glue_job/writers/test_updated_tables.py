"""getSink with enableUpdateCatalog: what the Data Catalog knows of the files afterwards."""

from __future__ import annotations

import pytest

from tests.sampled import at_night
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.catalog.partitions import registered_partitions, sync_partitions
from tidemark.local_state.run_warnings import RunWarning
from tidemark.local_state.store.database import Store

pytestmark = pytest.mark.spark
DELAYS = "SELECT * FROM VALUES (3, 'LGA', 12.5D) AS flights(Id, origin, delay)"
CATALOG = {"enableUpdateCatalog": True, "updateBehavior": "UPDATE_IN_DATABASE"}


@pytest.mark.rule("Sinks", source="UFJ")
@pytest.mark.parametrize("kind", ["glueparquet", "csv", *at_night("parquet", "json", "orc")])
def test_a_sink_that_updates_the_catalog_creates_a_table_for_from_catalog(
    sink, frame, read, table, kind
):
    sink(frame(), kind, partitionKeys=["origin"], **CATALOG)

    assert read() == ([("id", "int"), ("origin", "string")], [(1, "EWR"), (2, "JFK")])
    assert table().columns == [("id", "int")]
    assert table().partition_keys == [("origin", "string")]
    assert table().classification == {"glueparquet": "parquet"}.get(kind, kind)


def test_a_table_without_partition_keys_is_made_too(sink, frame, read):
    sink(frame(), "csv", {"separator": "|"}, partitionKeys=[], **CATALOG)

    assert read()[1] == [(1, "EWR"), (2, "JFK")]


def test_partitions_of_a_later_run_are_in_the_table_and_chosen_by_a_predicate(sink, frame, read):
    sink(frame(), partitionKeys=["origin"], **CATALOG)
    sink(frame("SELECT 3 AS Id, 'LGA' AS origin"), partitionKeys=["origin"], **CATALOG)

    assert read()[1] == [(1, "EWR"), (2, "JFK"), (3, "LGA")]
    assert read(push_down_predicate="origin = 'LGA'")[1] == [(3, "LGA")]


@pytest.mark.rule("Sinks", source="INFER", choice="names compare as Spark compares them")
def test_partition_keys_name_columns_in_any_case(sink, frame, read, table, s3):
    sink(frame(), partitionKeys=["ORIGIN"], **CATALOG)

    assert read()[1] == [(1, "EWR"), (2, "JFK")]
    assert table().partition_keys == [("origin", "string")]
    assert {path.name for path in s3.folder.iterdir() if path.is_dir()} == {
        "origin=EWR",
        "origin=JFK",
    }
    with pytest.raises(UsageError, match=r"partitionKeys \['day'\] are not columns"):
        sink(frame(), partitionKeys=["day"], **CATALOG)


@pytest.mark.rule(
    "Sinks", source="BOTO", choice="created, with a warning, if no template declares it"
)
def test_a_missing_database_is_an_error_for_a_declared_job_only(
    glue_context, frame, noted, s3, monkeypatch
):
    sink = glue_context.getSink(path=s3.uri, connection_type="s3", enableUpdateCatalog=True)
    sink.setFormat("json")
    sink.setCatalogInfo("made_by_a_sink", s3.folder.name)
    monkeypatch.setenv("TIDEMARK_DECLARED_JOB", "1")
    with pytest.raises(EntityNotFoundError, match="Database made_by_a_sink not found"):
        sink.writeFrame(frame())
    assert s3.names() == []
    monkeypatch.setenv("TIDEMARK_DECLARED_JOB", "")

    sink.writeFrame(frame())

    assert noted == [(RunWarning.DATABASE_MADE, "made_by_a_sink")]
    assert (
        glue_context.create_dynamic_frame.from_catalog("made_by_a_sink", s3.folder.name).count()
        == 2
    )


@pytest.mark.rule("Sinks", source="UFJ")
def test_a_sink_registers_its_partitions_if_the_table_has_registered_ones(
    sink, frame, read, spark_home, table, s3
):
    sink(frame(), partitionKeys=["origin"], **CATALOG)
    with Store(spark_home.database) as store:
        sync_partitions(store, table(), spark_home.existing_path)
    (s3.folder / "origin=OLD").mkdir()
    sink(frame("SELECT 3 AS Id, 'LGA' AS origin"), partitionKeys=["origin"], **CATALOG)

    with Store(spark_home.database) as store:
        partitions = registered_partitions(store, table())

    assert [partition.values for partition in partitions] == [("EWR",), ("JFK",), ("LGA",)]
    assert read()[1] == [(1, "EWR"), (2, "JFK"), (3, "LGA")]


@pytest.mark.rule("Sinks", source="UFJ")
def test_update_in_database_gives_the_table_the_schema_of_the_frame(sink, frame, read):
    sink(frame(), partitionKeys=["origin"], **CATALOG)
    sink(frame(DELAYS), partitionKeys=["origin"], enableUpdateCatalog=True)

    assert read() == (
        [("id", "int"), ("delay", "double"), ("origin", "string")],
        [(1, None, "EWR"), (2, None, "JFK"), (3, 12.5, "LGA")],
    )


@pytest.mark.rule("Sinks", source="UFJ")
def test_log_keeps_the_schema_and_warns(sink, frame, read, noted, s3):
    sink(frame(), partitionKeys=["origin"], **CATALOG)
    sink(frame(DELAYS), partitionKeys=["origin"], enableUpdateCatalog="true", updateBehavior="LOG")

    assert read()[1] == [(1, "EWR"), (2, "JFK"), (3, "LGA")]
    assert noted == [(RunWarning.LOGGED_COLUMNS, f"delay of lake.{s3.folder.name}")]


@pytest.mark.rule("Sinks", source="UFJ")
def test_a_table_without_partition_keys_keeps_its_schema(sink, frame, table):
    sink(frame(), **CATALOG)
    sink(frame(DELAYS), **CATALOG)

    assert table().columns == [("id", "int"), ("origin", "string")]


@pytest.mark.rule("Sinks", source="UFJ")
def test_partition_keys_other_than_those_of_the_table_are_refused_before_a_file_is_written(
    sink, frame, s3
):
    sink(frame(), partitionKeys=["origin"], **CATALOG)
    before = s3.names()

    with pytest.raises(UsageError, match=r"partitionKeys are \[\] and the table .* \['origin'\]"):
        sink(frame(), **CATALOG)

    assert s3.names() == before


@pytest.mark.rule("Sinks", source="INFER", choice="a missing table is created with LOG too")
def test_log_creates_a_missing_table(sink, frame, read):
    sink(frame(), enableUpdateCatalog=True, updateBehavior="LOG")

    assert read()[1] == [(1, "EWR"), (2, "JFK")]


def test_without_enable_update_catalog_no_table_is_made(sink, frame, table, s3):
    sink(frame())

    assert s3.names() != []
    with pytest.raises(EntityNotFoundError):
        table()


def test_types_of_a_table_are_those_of_the_frame(sink, frame, read, table):
    query = (
        "SELECT 1L AS a, CAST(1.5 AS decimal(10,2)) AS b, array(1) AS c, "
        "named_struct('x', 1, 'y', array('z')) AS d, DATE '2013-01-01' AS e, NULL AS f"
    )
    sink(frame(query), "json", **CATALOG)

    assert table().columns == [
        ("a", "bigint"),
        ("b", "decimal(10,2)"),
        ("c", "array<int>"),
        ("d", "struct<x:int,y:array<string>>"),
        ("e", "date"),
        ("f", "string"),
    ]
    ((a, b, c, d, e, f),) = read()[1]
    assert (a, str(b), c, d, str(e), f) == (1, "1.50", [1], (1, ["z"]), "2013-01-01", None)
