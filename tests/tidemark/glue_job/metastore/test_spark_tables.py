"""Tables of the Data Catalog as Spark describes them, and back."""

from __future__ import annotations

import pytest

from tidemark.errors import UnsupportedError
from tidemark.glue_job.metastore.catalog_settings import (
    asks_for_catalog,
    settings_of_script,
    with_ours,
)
from tidemark.glue_job.metastore.spark_tables import catalog_table, hive_table, spark_table
from tidemark.glue_job.metastore.storage import read_options
from tidemark.model.assembly.catalog_tables import CatalogTable

HIVE_PARQUET = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
OURS = "dev.tidemark.catalog.CatalogExtensions"
# What SparkJson.java makes of `CREATE TABLE db.Sales USING csv OPTIONS (sep ';', header 'true')
# PARTITIONED BY (Day)`, with a place of its own.
SPARK_FORMATS = {
    "database": "db",
    "table": "sales",
    "type": "EXTERNAL",
    "provider": "csv",
    "schema": '{"type":"struct","fields":[]}',
    "columns": [["Id", "int", "the key"], ["At", "timestamp_ntz", None], ["Day", "string", None]],
    "partition_keys": ["Day"],
    "location": "s3://lake/sales",
    "input_format": None,
    "output_format": None,
    "serde": None,
    "options": {"sep": ";", "header": "true"},
    "properties": {"team": "a"},
    "comment": "what was sold",
    "owner": "me",
    "created_ms": 1,
    "view_text": None,
}


def table_of(serde="", parameters=None, of_serde=None, keys=(), **others):
    storage = {
        "Location": "s3://lake/t/",
        "Columns": [{"Name": "id", "Type": "int"}],
        "SerdeInfo": {"SerializationLibrary": serde, "Parameters": of_serde or {}},
    }
    definition = {
        "PartitionKeys": [{"Name": key, "Type": "string"} for key in keys],
        "Parameters": parameters or {},
        "StorageDescriptor": storage,
        **others,
    }
    return CatalogTable("db", "t", definition)


def test_table_of_a_data_source_is_kept_as_spark_keeps_it_in_glue():
    table = catalog_table(SPARK_FORMATS)

    assert (table.full_name, table.location) == ("db.sales", "s3://lake/sales")
    assert table.columns == [("id", "int"), ("at", "timestamp")]
    assert table.partition_keys == [("day", "string")]
    assert table.definition["TableType"] == "EXTERNAL_TABLE"
    assert table.definition["Description"] == "what was sold"
    assert table.parameters == {
        "team": "a",
        "EXTERNAL": "TRUE",
        "classification": "csv",
        "skip.header.line.count": "1",
        "spark.sql.partitionProvider": "catalog",
        "spark.sql.sources.provider": "csv",
        "spark.sql.sources.schema": '{"type":"struct","fields":[]}',
        "spark.sql.sources.schema.numPartCols": "1",
        "spark.sql.sources.schema.partCol.0": "Day",
    }
    assert table.serde_parameters["field.delim"] == ";"


def test_table_of_a_data_source_comes_back_as_it_was_made():
    back = spark_table(catalog_table(SPARK_FORMATS))

    assert (back["provider"], back["partition_keys"]) == ("csv", ["Day"])
    assert back["schema"] == SPARK_FORMATS["schema"]
    assert {"sep": ";", "header": "true"}.items() <= back["options"].items()
    assert "spark.sql.sources.provider" not in back["properties"]
    assert back["properties"]["team"] == "a"


def test_schema_in_parts_is_put_together():
    parts = {"numParts": "2", "part.0": '{"a"', "part.1": ":1}"}
    parameters = {f"spark.sql.sources.schema.{name}": value for name, value in parts.items()}
    table = table_of(parameters={"spark.sql.sources.provider": "orc", **parameters})

    assert spark_table(table)["schema"] == '{"a":1}'


def test_table_of_hive_that_changes_keeps_what_spark_does_not_know():
    old = table_of(HIVE_PARQUET, {"classification": "parquet", "x": "1"}, Retention=3)
    changed = {
        **SPARK_FORMATS,
        "table": "t",
        "provider": "parquet",
        "partition_keys": [],
        "properties": {"classification": "parquet", "x": "2"},
        "location": None,
    }

    table = catalog_table(changed, old)

    assert table.serde_library == HIVE_PARQUET
    assert table.definition["Retention"] == 3
    assert table.parameters == {"classification": "parquet", "x": "2", "EXTERNAL": "TRUE"}
    assert table.columns == [("id", "int"), ("at", "timestamp"), ("day", "string")]
    assert table.location == "s3://lake/t/"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (table_of(HIVE_PARQUET), ("parquet", {})),
        (
            table_of(HIVE_PARQUET, keys=["d"]),
            ("parquet", {"partitionOverwriteMode": "dynamic"}),
        ),
        (
            table_of("org.apache.hadoop.hive.serde2.OpenCSVSerde", of_serde={"separatorChar": "|"}),
            ("csv", {"header": "false", "sep": "|", "quote": '"', "escape": "\\"}),
        ),
    ],
    ids=["parquet", "partitioned", "open csv"],
)
def test_source_that_reads_a_table_of_hive(table, expected):
    assert read_options(table) == expected


@pytest.mark.parametrize(
    ("serde", "parameters", "sep"),
    [({"field.delim": "\t"}, {}, "\t"), ({}, {"delimiter": ";"}, ";"), ({}, {}, "\x01")],
)
def test_text_of_hive_is_split_by_its_serde_then_by_the_crawler_then_by_control_a(
    serde, parameters, sep
):
    name, options = read_options(table_of("x.LazySimpleSerDe", parameters, serde))

    assert (name, options["sep"], options["quote"], options["nullValue"]) == ("csv", sep, "", "\\N")


@pytest.mark.parametrize(
    ("serde", "parameters", "given", "null"),
    [
        ("x.LazySimpleSerDe", {}, {"serialization.null.format": "NULL"}, "NULL"),
        ("x.LazySimpleSerDe", {"serialization.null.format": ""}, {}, ""),
        ("org.apache.hadoop.hive.serde2.OpenCSVSerde", {}, {}, None),
    ],
)
def test_what_a_text_file_of_hive_has_for_null_is_a_parameter(serde, parameters, given, null):
    _, options = read_options(table_of(serde, {"classification": "csv", **parameters}, given))

    assert options.get("nullValue") == null


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (table_of(parameters={"classification": "xml"}), "format xml"),
        (table_of(parameters={"classification": "mysql"}), "format mysql"),
        (table_of(parameters={"table_type": "DELTA"}), "DELTA"),
        (
            table_of(TableType="VIRTUAL_VIEW", ViewOriginalText="/* Presto View */"),
            "another engine",
        ),
        (
            table_of(HIVE_PARQUET, {"projection.enabled": "true"}, keys=["d"]),
            "partition projection",
        ),
    ],
    ids=["xml", "jdbc", "delta", "view of Athena", "projected"],
)
def test_table_that_spark_cannot_read_here_is_refused_by_name(table, told):
    with pytest.raises(UnsupportedError, match=told) as error:
        spark_table(table)

    assert "db.t" in str(error.value)


def test_new_table_of_hive_is_written_by_a_source_of_spark():
    found = hive_table(
        {**SPARK_FORMATS, "provider": "hive", "serde": HIVE_PARQUET, "options": {"a": "b"}}
    )

    assert found["provider"] == "parquet"
    assert found["options"] == {"a": "b", "partitionOverwriteMode": "dynamic"}


@pytest.mark.parametrize(
    ("arguments", "settings", "is_asked"),
    [
        ({}, {}, False),
        ({"--enable-glue-datacatalog": "true"}, {}, True),
        ({"--enable-glue-datacatalog": ""}, {}, True),
        ({"--enable-glue-datacatalog": "false"}, {}, False),
        ({}, {"spark.hadoop.hive.metastore.client.factory.class": "x.Y"}, False),
        (
            {},
            {"hive.metastore.client.factory.class": "a.AWSGlueDataCatalogHiveClientFactory"},
            True,
        ),
    ],
)
def test_job_asks_by_its_argument_or_by_the_factory_of_glue(arguments, settings, is_asked):
    assert asks_for_catalog(arguments, settings) is is_asked


def test_extensions_of_a_script_get_ours_beside_them(tmp_path):
    assert with_ours("") == OURS
    assert settings_of_script(tmp_path, {"spark.sql.extensions": "a.B"}) == {
        "spark.sql.extensions": f"a.B,{OURS}"
    }
    assert settings_of_script(tmp_path, {"spark.a": "1"}) == {}
