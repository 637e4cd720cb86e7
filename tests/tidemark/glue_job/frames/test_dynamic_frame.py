"""DynamicFrame, and what this machine refuses by name."""

from __future__ import annotations

import copy

import pytest

pytestmark = pytest.mark.spark

FLIGHTS = "SELECT * FROM VALUES (1, 'EWR'), (2, 'JFK') AS flights(id, origin)"


@pytest.fixture
def flights(spark, glue_context):
    from awsglue.dynamicframe import DynamicFrame

    return DynamicFrame.fromDF(spark.sql(FLIGHTS), glue_context, "flights")


def test_glue_context_holds_the_session_of_the_process(spark, glue_context):
    assert glue_context.spark_session.sparkContext is spark.sparkContext
    assert glue_context.spark_session.sql("SELECT 1").collect() == [(1,)]


def test_glue_context_is_a_sql_context_as_on_aws(glue_context):
    assert glue_context.sql("SELECT 1").collect() == [(1,)]


def test_dynamic_frame_keeps_the_rows_of_a_data_frame(flights):
    assert flights.toDF().orderBy("id").collect() == [(1, "EWR"), (2, "JFK")]


def test_dynamic_frame_has_its_name(flights):
    assert flights.name == "flights"


def test_source_frame_is_named_after_its_context(glue_context, s3):
    s3.put("a.json", '{"id": 1}\n')

    frame = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [s3.uri]}, "json", transformation_ctx="landing"
    )

    assert frame.name == "landing"


def test_count_is_the_number_of_rows(flights):
    assert flights.count() == 2


def test_schema_has_the_types_of_glue(flights):
    from awsglue.gluetypes import Field, IntegerType, StringType, StructType

    schema = flights.schema()

    assert schema == StructType([Field("id", IntegerType()), Field("origin", StringType())])


def test_print_schema_prints_a_tree(flights, capsys):
    flights.printSchema()

    assert capsys.readouterr().out == "root\n|-- id: int\n|-- origin: string\n\n"


@pytest.mark.rule("Frames", source="LIB76", choice="a field without a value is shown as null")
def test_show_prints_the_first_records_as_json(glue_context, capsys):
    from awsglue.dynamicframe import DynamicFrame

    rows = (
        "SELECT * FROM VALUES (1, date '2024-05-01', 1.5, null), (2, null, 2.0, 'b') AS t(a,b,c,d)"
    )
    DynamicFrame.fromDF(glue_context.sql(rows), glue_context).show(1)

    assert capsys.readouterr().out == '{"a": 1, "b": "2024-05-01", "c": 1.5, "d": null}\n'


def test_repartition_and_coalesce_set_the_number_of_partitions(flights):
    three = flights.repartition(3)

    assert three.getNumPartitions() == 3
    assert three.coalesce(2).getNumPartitions() == 2
    assert three.coalesce(2).name == "flights"
    assert sorted(three.toDF().collect()) == [(1, "EWR"), (2, "JFK")]


def test_transforms_can_be_imported_with_a_star():
    names = {}

    exec("from awsglue.transforms import *", names)  # noqa: S102 (only a module can import a star)

    assert names.keys() >= {"GlueTransform", "Relationalize", "SelectFromCollection"}


def test_dynamic_frame_answers_pythons_own_protocols(flights):
    assert not hasattr(flights, "__len__")
    assert copy.copy(flights).name == "flights"


@pytest.mark.parametrize("kind", ["delta", "grokLog", None])
def test_read_format_is_refused_by_name(glue_context, kind):
    with pytest.raises(NotImplementedError, match=f"format {kind!r} .*csv, json, avro, xml"):
        glue_context.create_dynamic_frame.from_options("s3", {"paths": ["s3://tests/a/"]}, kind)


@pytest.mark.parametrize("kind", ["xml", "ion", None])
def test_write_format_is_refused_by_name(glue_context, flights, kind):
    with pytest.raises(NotImplementedError, match=f"format {kind!r} .*csv, json, parquet"):
        glue_context.write_dynamic_frame.from_options(flights, "s3", {"path": "s3://tests/a"}, kind)


def test_read_connection_is_refused_by_name(glue_context):
    with pytest.raises(NotImplementedError, match="connection_type 'kinesis'"):
        glue_context.create_dynamic_frame.from_options("kinesis", {"streamARN": "flights"})


def test_write_connection_is_refused_by_name(glue_context, flights):
    with pytest.raises(NotImplementedError, match="connection_type 'kinesis'"):
        glue_context.write_dynamic_frame.from_options(flights, "kinesis", {})


def test_read_connection_option_is_refused_by_name(glue_context):
    options = {"paths": ["s3://tests/a/"], "catalogPartitionPredicate": "day='1'"}

    with pytest.raises(NotImplementedError, match=r"\['catalogPartitionPredicate'\]"):
        glue_context.create_dynamic_frame.from_options("s3", options, "json")


def test_write_connection_option_is_refused_by_name(glue_context, flights):
    options = {"path": "s3://tests/a/", "transactionId": "1"}

    with pytest.raises(NotImplementedError, match=r"connection_options \['transactionId'\]"):
        glue_context.write_dynamic_frame.from_options(flights, "s3", options, "json")


def test_what_glue_does_not_know_of_a_writer_is_ignored_with_a_warning(
    glue_context, flights, s3, warned
):
    glue_context.write_dynamic_frame.from_options(
        flights, "s3", {"path": s3.uri, "groupSize": "1"}, "parquet", {"maxRows": 1}
    )

    assert any(name.endswith(".parquet") for name in s3.names())
    assert warned() == [
        ("OPTION_IGNORED", "connection_options['groupSize'] of a sink of files"),
        ("OPTION_IGNORED", "format_options['maxRows'] of writing parquet"),
    ]


@pytest.mark.rule(
    "Formats",
    source="LIB",
    choice="options that Glue ignores silently cause a warning",
)
def test_unknown_options_of_a_reader_are_ignored_with_a_warning(glue_context, s3, warned):
    s3.put("a.csv", "id\n1\n")

    frame = glue_context.create_dynamic_frame.from_options(
        "s3",
        {"paths": [s3.uri]},
        "csv",
        {"withHeader": True, "inferSchema": True},
        tranformation_ctx="x",
        minPartitions=2,
    )

    assert frame.toDF().dtypes == [("id", "string")]
    assert frame.toDF().collect() == [("1",)]
    assert warned() == [
        ("OPTION_IGNORED", "the argument tranformation_ctx of a reader"),
        ("OPTION_IGNORED", "format_options['inferSchema'] of the format csv"),
    ]


def test_a_context_takes_the_numbers_of_partitions_that_tune_it_on_aws(glue_context, s3):
    from awsglue.context import GlueContext

    s3.put("a.csv", "1\n")
    context = GlueContext(minPartitions=1, targetPartitions=2)

    source = context.getSource("s3", paths=[s3.uri])
    source.setFormat("csv")

    assert source.getFrame(minPartitions=1, targetPartitions=2).toDF().collect() == [("1",)]


def test_option_of_glue_context_is_refused_by_name(spark):
    from awsglue.context import GlueContext

    with pytest.raises(NotImplementedError, match=r"GlueContext options \['minPartition'\]"):
        GlueContext(spark.sparkContext, minPartition=2)
