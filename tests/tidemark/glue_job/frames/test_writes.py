"""What write_dynamic_frame leaves in S3."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark

FLIGHTS = "SELECT * FROM VALUES (1, 'EWR'), (2, 'JFK') AS flights(id, origin)"


@pytest.fixture
def write(spark, glue_context, s3):
    """Return a writer of two flights in one Spark partition to the test's prefix."""
    from awsglue.dynamicframe import DynamicFrame

    flights = DynamicFrame.fromDF(spark.sql(FLIGHTS).coalesce(1), glue_context, "flights")

    def write(kind, format_options=None, **connection_options):
        return glue_context.write_dynamic_frame.from_options(
            frame=flights,
            connection_type="s3",
            connection_options={"path": s3.uri, **connection_options},
            format=kind,
            format_options=format_options,
        )

    return write


def parts(s3):
    return [key for key in s3.names() if not key.endswith("_SUCCESS")]


def text(s3):
    (part,) = parts(s3)
    return (s3.folder / part).read_text(encoding="utf-8")


def test_json_is_written_one_object_per_line(write, s3):
    write("json")

    assert text(s3) == '{"id":1,"origin":"EWR"}\n{"id":2,"origin":"JFK"}\n'


def test_csv_is_written_with_a_header(write, s3):
    write("csv")

    assert text(s3) == "id,origin\n1,EWR\n2,JFK\n"


@pytest.mark.parametrize("value", [False, "false"], ids=["False", "text"])
def test_csv_write_header_false_leaves_it_out(write, s3, value):
    write("csv", {"writeHeader": value})

    assert text(s3) == "1,EWR\n2,JFK\n"


def test_csv_separator_and_quote_char_are_used(write, s3):
    write("csv", {"separator": "W", "quoteChar": "'"})

    assert text(s3) == "idWorigin\n1W'EWR'\n2WJFK\n"


def test_parquet_is_written_with_types(spark, write, s3):
    write("parquet")

    flights = spark.read.parquet(s3.uri)
    assert flights.dtypes == [("id", "int"), ("origin", "string")]
    assert flights.orderBy("id").collect() == [(1, "EWR"), (2, "JFK")]


def test_parquet_compression_is_used(write, s3):
    write("parquet", {"compression": "gzip"})

    assert [key.rpartition("-c000")[2] for key in parts(s3)] == [".gz.parquet"]


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_partition_keys_become_folders(spark, write, s3, kind):
    write(kind, partitionKeys=["origin"])

    assert [key.rpartition("/")[0] for key in parts(s3)] == ["origin=EWR", "origin=JFK"]
    header = {"header": "true"} if kind == "csv" else {}
    flights = spark.read.options(**header).format(kind).load(s3.uri).orderBy("id")
    assert [(int(row.id), row.origin) for row in flights.collect()] == [(1, "EWR"), (2, "JFK")]


def test_second_write_appends(spark, write, s3):
    write("json")
    write("json")

    ids = sorted(row.id for row in spark.read.json(s3.uri).collect())
    assert ids == [1, 1, 2, 2]


def test_writer_returns_the_frame(write):
    assert write("json").name == "flights"


def test_frame_without_columns_writes_nothing(spark, glue_context, s3):
    from pyspark.sql.types import StructType

    from awsglue.dynamicframe import DynamicFrame

    empty = DynamicFrame.fromDF(spark.createDataFrame([], StructType([])), glue_context, "empty")

    glue_context.write_dynamic_frame.from_options(empty, "s3", {"path": s3.uri}, "parquet")

    assert s3.names() == []


@pytest.mark.parametrize("options", [{}, {"path": ""}], ids=["missing", "empty"])
def test_path_must_be_a_uri(spark, glue_context, options):
    from awsglue.dynamicframe import DynamicFrame

    flights = DynamicFrame.fromDF(spark.sql(FLIGHTS), glue_context, "flights")

    with pytest.raises(ValueError, match=r"connection_options\['path'\] is .*must be a URI"):
        glue_context.write_dynamic_frame.from_options(flights, "s3", options, "json")
