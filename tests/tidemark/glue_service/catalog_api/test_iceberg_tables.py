"""Tables of Iceberg that CreateTable makes, by boto3; and by Spark, which reads and writes them."""

from __future__ import annotations

import json

import pytest

from tidemark.local_state.sparks.installed import own_spark
from tidemark.model.assembly.iceberg import iceberg_settings

CREATE = {"IcebergInput": {"MetadataOperation": "CREATE", "Version": "2"}}
COLUMNS = [
    {"Name": "id", "Type": "bigint", "Comment": "the order"},
    {"Name": "price", "Type": "decimal(10,2)"},
    {"Name": "tags", "Type": "array<struct<name:string,at:timestamp>>"},
    {"Name": "counts", "Type": "map<string,array<int>>"},
]


def table(name="orders", columns=COLUMNS, **members):
    storage = {"Location": f"s3://made/{name}/", "Columns": columns}
    return {"Name": name, "TableType": "EXTERNAL_TABLE", "StorageDescriptor": storage, **members}


@pytest.fixture
def create(port):
    """Return a function that asks for a table in a database of its own."""
    port.home.create_bucket("made")
    if "made" not in [one["Name"] for one in port.glue.get_databases()["DatabaseList"]]:
        port.glue.create_database(DatabaseInput={"Name": "made"})
    return lambda given, **input_: port.glue.create_table(
        DatabaseName="made",
        TableInput=given,
        OpenTableFormatInput={"IcebergInput": {**CREATE["IcebergInput"], **input_}},
    )


def test_its_first_metadata_lie_at_its_place(port, create):
    create(table(Parameters={"mine": "kept"}, Description="all"))

    found = port.glue.get_table(DatabaseName="made", Name="orders")["Table"]
    place = found["Parameters"].pop("metadata_location")
    assert found["Parameters"] == {"table_type": "ICEBERG", "mine": "kept"}
    assert (found["TableType"], found["Description"]) == ("EXTERNAL_TABLE", "all")
    storage = found["StorageDescriptor"]
    assert storage["Location"] == "s3://made/orders"
    assert [(it["Name"], it["Type"]) for it in storage["Columns"]] == [
        (it["Name"], it["Type"]) for it in COLUMNS
    ]
    assert place.startswith("s3://made/orders/metadata/00000-")
    metadata = json.loads(port.home.local_path(place).read_text())
    assert (metadata["format-version"], metadata["current-snapshot-id"]) == (2, -1)
    fields = metadata["schemas"][0]["fields"]
    assert [(it["id"], it["name"], it.get("doc")) for it in fields] == [
        (1, "id", "the order"),
        (2, "price", None),
        (3, "tags", None),
        (4, "counts", None),
    ]
    inside = [it["id"] for it in fields[2]["type"]["element"]["fields"]]
    assert (fields[2]["type"]["element-id"], inside, metadata["last-column-id"]) == (5, [6, 7], 10)


@pytest.mark.parametrize(
    ("given", "input_", "message"),
    [
        (table(TableType="ICEBERG"), {}, "Iceberg table type has to be EXTERNAL_TABLE"),
        ({"Name": "t", "TableType": "EXTERNAL_TABLE"}, {}, "Location information cannot be null"),
        (table(Parameters={"table_type": "ICEBERG"}), {}, "Cannot use reserved parameters"),
        (table(), {"Version": "3"}, "IcebergInput.Version is '3'; allowed: 2"),
        (table(PartitionKeys=[{"Name": "d", "Type": "date"}]), {}, "ADD PARTITION FIELD"),
        (table(columns=[]), {}, "needs StorageDescriptor.Columns"),
        (table("small", [{"Name": "a", "Type": "tinyint"}]), {}, "'tinyint', which Iceberg lacks"),
        (table("map", [{"Name": "a", "Type": "map<int>"}]), {}, "'map<int>', which Iceberg lacks"),
        (
            table(),
            {"CreateIcebergTableInput": {"Location": "s3://made/x", "Schema": {"Fields": []}}},
            "Table metadata information present at multiple parts",
        ),
        (
            {"Name": "t", "TableType": "EXTERNAL_TABLE"},
            {"CreateIcebergTableInput": {"Location": "s3://made/x", "Schema": {"Fields": []}}},
            "CreateIcebergTableInput does not work on this machine",
        ),
    ],
)
def test_what_aws_refuses_is_refused(port, create, given, input_, message):
    with pytest.raises(port.glue.exceptions.InvalidInputException, match=message):
        create(given, **input_)


def test_a_table_that_exists_is_not_created_again(port, create):
    create(table("twice"))
    files = list((port.home.lake / "made" / "twice" / "metadata").iterdir())

    with pytest.raises(port.glue.exceptions.AlreadyExistsException):
        create(table("twice"))

    assert list((port.home.lake / "made" / "twice" / "metadata").iterdir()) == files


def test_a_place_without_a_bucket_is_refused(port, create):
    storage = {"Location": "s3://none/t", "Columns": COLUMNS}

    with pytest.raises(port.glue.exceptions.EntityNotFoundException, match="s3://none has no"):
        create({"Name": "t", "TableType": "EXTERNAL_TABLE", "StorageDescriptor": storage})


WRITE = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
name = "glue_catalog.made.written"
assert spark.table(name).count() == 0
spark.sql(
    f"INSERT INTO {name} VALUES (1, 2.50, array(named_struct('name', 'a', 'at', NULL)), "
    "map('x', array(1)))"
)
spark.sql(f"MERGE INTO {name} t USING (SELECT 1L AS id) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET price = 9.99")
assert [(row.id, str(row.price)) for row in spark.table(name).collect()] == [(1, "9.99")]
"""


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.skipif(own_spark().major >= 4, reason="the jar of Iceberg is for Spark 3.5")
def test_spark_writes_to_a_table_that_create_table_made(port, create):
    create(table("written"))
    settings = iceberg_settings("glue_catalog", "s3://made/")
    port.glue.create_job(
        Name="write-made",
        Role="anyone",
        Command={"Name": "glueetl", "ScriptLocation": port.script("write_made", WRITE)},
        GlueVersion="5.1",
        DefaultArguments={
            "--datalake-formats": "iceberg",
            "--conf": " --conf ".join(f"{key}={value}" for key, value in settings.items()),
        },
    )

    ended = port.ended("write-made", port.start("write-made"))

    assert ended["JobRunState"] == "SUCCEEDED", ended.get("ErrorMessage")
    parameters = port.glue.get_table(DatabaseName="made", Name="written")["Table"]["Parameters"]
    assert "previous_metadata_location" in parameters
