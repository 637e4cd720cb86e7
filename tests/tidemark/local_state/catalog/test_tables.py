"""The local Data Catalog as plain data and in the store."""

from __future__ import annotations

import json

import pytest

from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.local_state.catalog.tables import catalog_tables, find_table, put_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable, read_request, table_of_request

FLIGHTS = {
    "DatabaseName": "Lake",
    "TableInput": {
        "Name": "Flights",
        "PartitionKeys": [{"Name": "year", "Type": "int"}],
        "StorageDescriptor": {
            "Location": "s3://lake/flights/",
            "Columns": [{"Name": "id", "Type": "bigint"}, {"Name": "origin"}],
            "SerdeInfo": {
                "SerializationLibrary": "org.openx.data.jsonserde.JsonSerDe",
                "Parameters": {"paths": "id"},
            },
        },
        "Parameters": {"boundedFiles": "10"},
    },
}


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "glue.sqlite") as store:
        yield store


def test_table_is_what_create_table_defines():
    table = table_of_request(FLIGHTS)

    assert table.full_name == "lake.flights"  # Glue keeps names in lower case
    assert table.location == "s3://lake/flights/"
    assert table.columns == [("id", "bigint"), ("origin", "string")]
    assert table.partition_keys == [("year", "int")]
    assert table.parameters == {"boundedFiles": "10"}
    assert table.serde_parameters == {"paths": "id"}
    assert (table.classification, table.is_jdbc) == ("json", False)


@pytest.mark.parametrize(
    ("parameters", "library", "classification"),
    [
        ({"classification": "CSV"}, "", "csv"),
        ({}, "org.apache.hadoop.hive.serde2.OpenCSVSerde", "csv"),
        ({}, "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", "csv"),
        ({}, "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", "parquet"),
        ({}, "org.apache.hadoop.hive.ql.io.orc.OrcSerde", "orc"),
        ({}, "org.apache.hadoop.hive.serde2.avro.AvroSerDe", "avro"),
        ({}, "org.apache.hive.hcatalog.data.JsonSerDe", "json"),
    ],
)
def test_format_is_the_classification_or_else_what_the_serde_reads(
    parameters, library, classification
):
    storage = {"SerdeInfo": {"SerializationLibrary": library}}
    table = CatalogTable("d", "t", {"Parameters": parameters, "StorageDescriptor": storage})

    assert table.classification == classification


def test_table_of_a_database_is_told_from_files():
    by_kind = CatalogTable("d", "t", {"Parameters": {"classification": "postgresql"}})
    by_connection = CatalogTable("d", "t", {"Parameters": {"connectionName": "main"}})

    assert by_kind.is_jdbc
    assert by_connection.is_jdbc


def test_definition_that_lacks_what_is_needed_is_refused_by_name():
    table = CatalogTable("d", "t", {})

    with pytest.raises(UsageError, match=r"d\.t has no StorageDescriptor\.Location"):
        _ = table.location
    with pytest.raises(UsageError, match=r"d\.t has no Parameters\.classification"):
        _ = table.classification


@pytest.mark.parametrize(
    ("request_", "error", "text"),
    [
        ({}, UsageError, "no TableInput.Name"),
        ({"TableInput": {"Name": "t"}}, UsageError, "no DatabaseName"),
        (
            {"DatabaseName": "d", "TableInput": {"Name": "t", "TargetTable": {"Name": "u"}}},
            UnsupportedError,
            "table t has a TargetTable",
        ),
    ],
)
def test_request_that_defines_no_table_is_refused(request_, error, text):
    with pytest.raises(error, match=text):
        table_of_request(request_)


def test_request_is_read_from_a_file(tmp_path):
    file = tmp_path / "flights.json"
    file.write_text(json.dumps(FLIGHTS), encoding="utf-8")

    assert read_request(file) == FLIGHTS


@pytest.mark.parametrize("text", [None, "{", "[]"], ids=["missing", "no JSON", "list"])
def test_file_that_holds_no_request_is_named(tmp_path, text):
    file = tmp_path / "flights.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=r"flights\.json"):
        read_request(file)


def test_table_that_is_put_is_found_by_any_case_and_put_again_replaced(store):
    put_tables(store, [table_of_request(FLIGHTS)])
    moved = {**FLIGHTS["TableInput"], "StorageDescriptor": {"Location": "s3://lake/moved/"}}
    put_tables(store, [table_of_request({**FLIGHTS, "TableInput": moved})])

    assert find_table(store, "LAKE", "FLIGHTS").location == "s3://lake/moved/"
    assert [table.full_name for table in catalog_tables(store)] == ["lake.flights"]


def test_missing_table_is_named_with_those_that_are_there(store):
    put_tables(store, [table_of_request(FLIGHTS)])

    with pytest.raises(EntityNotFoundError, match=r"'weather'.*'lake'.* has lake\.flights; add it"):
        find_table(store, "lake", "weather")
