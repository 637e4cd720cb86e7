"""Tables declared with the constructs, as the local Data Catalog serves them."""

from __future__ import annotations

import json

import fastavro
import pytest

from tests.sampled import at_night
from tidemark.errors import UsageError
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import table_of_request

pytestmark = pytest.mark.spark

# A row: the name of each column, its Hive type and its value in Spark SQL.
FLIGHT = [
    ("is_on_time", "boolean", "true"),
    ("flight", "int", "1545"),
    ("id", "bigint", "9000000000"),
    ("hours", "double", "2.25D"),
    ("carrier", "string", "'United, Inc.'"),
]
TYPED = [
    ("fare", "decimal(10,2)", "CAST('199.90' AS DECIMAL(10,2))"),
    ("origin", "char(3)", "'EWR'"),
    ("dest", "varchar(10)", "'IAH'"),
    ("flown_on", "date", "DATE'2013-01-01'"),
    ("left_at", "timestamp", "TIMESTAMP'2013-01-01 10:17:00'"),
]
SMALL = [
    ("gate", "tinyint", "7Y"),
    ("seats", "smallint", "180S"),
    ("ratio", "float", "0.5F"),
]
NESTED = [
    ("stops", "array<string>", "array('ORD', 'DEN')"),
    ("bags", "map<string,int>", "map('UA', 2)"),
    ("plane", "struct<tail:string,seats:int>", "named_struct('tail', 'N1', 'seats', 180)"),
]
AVRO = json.dumps(
    {
        "type": "record",
        "name": "flight",
        "fields": [
            {"name": "is_on_time", "type": ["boolean", "null"]},
            {"name": "flight", "type": ["int", "null"]},
            {"name": "id", "type": ["long", "null"]},
            {"name": "hours", "type": ["double", "null"]},
            {"name": "carrier", "type": ["string", "null"]},
        ],
    }
)


@pytest.fixture
def declare(cdk, spark_home, s3):
    """Return a function that declares a table over the test's folder, and deploys it."""
    from aws_cdk import aws_glue as glue
    from aws_cdk.assertions import Template

    from tidemark.constructs.catalog.published_tables import table_input
    from tidemark.constructs.catalog.table import Column, Table

    def declare(columns, keys=(), **declared):
        declaration = Table(
            "lake",
            s3.folder.name.replace("-", "_"),
            [Column(name, kind) for name, kind, *_ in columns],
            [Column(name, kind) for name, kind in keys],
            **declared,
        )
        stack = cdk.Stack(cdk.App(analytics_reporting=False), "stack")
        glue.CfnTable(
            stack,
            "Table",
            catalog_id="123456789012",
            database_name="lake",
            table_input=table_input(declaration, s3.uri),
        )
        (deployed,) = Template.from_stack(stack).find_resources("AWS::Glue::Table").values()
        with Store(spark_home.database) as store:
            put_tables(store, [table_of_request(deployed["Properties"])])
        return declaration.name

    return declare


@pytest.fixture
def read(glue_context):
    """Return a function that reads a table as a job does."""
    return lambda table: glue_context.create_dynamic_frame.from_catalog(
        database="lake", table_name=table
    ).toDF()


def formats():
    from tidemark.constructs.catalog.table_format import TableFormat

    every = FLIGHT + TYPED + SMALL + NESTED
    return {
        "parquet": (TableFormat.parquet(), every, {}),
        "orc": (TableFormat.orc(), every, {}),
        "json": (TableFormat.json(), every, {}),
        "avro": (TableFormat.avro(AVRO), FLIGHT, {}),
        "csv": (TableFormat.csv(delimiter="|"), FLIGHT + TYPED, {"sep": "|"}),
        "csv with a header": (
            TableFormat.csv(delimiter=";", header=True),
            FLIGHT,
            {"sep": ";", "header": "true"},
        ),
        "quoted csv": (TableFormat.csv(quote='"'), FLIGHT, {"quoteAll": "true"}),
    }


@pytest.mark.parametrize(
    "name",
    ["parquet", "orc", "json", "avro", "csv", *at_night("csv with a header", "quoted csv")],
)
def test_a_table_of_every_format_is_read_with_its_types(spark, declare, read, s3, name):
    table_format, columns, options = formats()[name]
    table = declare(columns, format=table_format)
    values = ", ".join(f"{value} AS {column}" for column, _, value in columns)
    written = spark.sql(f"SELECT {values}")
    if name == "avro":  # which Spark as it is here cannot write
        with s3.put("flights.avro", "").open("wb") as file:
            fastavro.writer(file, json.loads(AVRO), [written.first().asDict()])
    else:
        written.write.format(table_format.name).options(**options).mode("append").save(s3.uri)

    found = read(table)

    plain = {"char(3)": "string", "varchar(10)": "string"}
    assert found.dtypes == [(column, plain.get(kind, kind)) for column, kind, _ in columns]
    assert found.collect() == written.collect()


def test_the_partitions_of_a_declared_table_are_its_folders(spark, declare, read, s3):
    table = declare([("id", "bigint")], [("day", "date"), ("hour", "int")])
    spark.sql("SELECT 1L AS id, DATE'2013-01-01' AS day, 7 AS hour").write.partitionBy(
        "day", "hour"
    ).mode("append").parquet(s3.uri)

    found = read(table)

    assert found.dtypes == [("id", "bigint"), ("day", "date"), ("hour", "int")]
    assert found.selectExpr("id", "string(day)", "hour").collect() == [(1, "2013-01-01", 7)]


@pytest.mark.parametrize("kind", ["date", "integer", "enum", "injected"])
def test_partitions_that_athena_works_out_are_none_to_a_job(spark, declare, read, s3, kind):
    from tidemark.constructs.catalog import projection

    keys, projected = {
        "date": ("date", projection.DateProjection("2013-01-01")),
        "integer": ("int", projection.IntegerProjection(1, 9)),
        "enum": ("string", projection.EnumProjection(["a"])),
        "injected": ("string", projection.InjectedProjection()),
    }[kind]
    table = declare(
        [("id", "bigint")], [("key", keys)], projection=projection.Projection({"key": projected})
    )

    with pytest.raises(UsageError, match=r"partition projection, which only Athena .*from_options"):
        read(table)
