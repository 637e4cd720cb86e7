"""getSink and from_catalog: files of S3, in the place and the format of a table."""

from __future__ import annotations

import json

import pytest

from tests.sampled import at_night
from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.run_warnings import RunWarning
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import table_of_request

pytestmark = pytest.mark.spark

DELAYS = "SELECT * FROM VALUES (3, 'LGA', 12.5D) AS flights(Id, origin, delay)"


def test_rows_without_any_column_are_named(sink, frame, noted, s3):
    sink(frame().select_fields(["none"]), "json", catalog=False)
    sink(frame("SELECT 1 AS id LIMIT 0").select_fields(["none"]), "json", catalog=False)

    assert noted == [(RunWarning.NO_COLUMNS, "a sink of s3")]
    assert not s3.folder.exists()


@pytest.mark.parametrize(
    ("kind", "compression", "suffix"),
    [
        ("json", "gzip", ".json.gz"),
        ("csv", "bzip2", ".csv.bz2"),
        ("json", "snappy", ".json.snappy"),
        ("glueparquet", "snappy", ".snappy.parquet"),
        ("parquet", "uncompressed", ".parquet"),
        ("orc", "zlib", ".zlib.orc"),
    ],
)
def test_compression_of_the_connection_is_that_of_the_files(
    sink, frame, s3, kind, compression, suffix
):
    sink(frame(), kind, catalog=False, compression=compression)

    (name,) = [name for name in s3.names() if "_SUCCESS" not in name]
    assert name.rpartition("-c000")[2] == suffix


def test_the_errors_of_a_read_are_written_to_json(glue_context, sink, s3, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"id": 1}\n{"id": 2, "am', encoding="utf-8")
    rows = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [f"{tmp_path}/in"]}, "json"
    )

    sink(rows.errorsAsDynamicFrame(), "json", catalog=False)

    lines = [
        json.loads(line)["error"]
        for name in s3.names()
        if "_SUCCESS" not in name
        for line in (s3.folder / name).read_text(encoding="utf-8").splitlines()
    ]
    assert [(line["input"], line["dynamicRecord"]) for line in lines] == [('{"id": 2, "am', {})]


def test_an_option_that_is_wrong_is_refused_by_name(sink, frame):
    with pytest.raises(UnsupportedError, match=r"compression 'lzo' of format 'parquet'"):
        sink(frame(), compression="lzo")
    with pytest.raises(UsageError, match=r"'updateBehavior'\] is 'UPDATE'; allowed are UPDATE_IN"):
        sink(frame(), updateBehavior="UPDATE")
    with pytest.raises(UsageError, match=r"partitionKeys \['day'\] are not columns .* Id, origin"):
        sink(frame(), partitionKeys=["day"])
    with pytest.raises(UsageError, match=r"no table is named; call setCatalogInfo"):
        sink(frame(), catalog=False, enableUpdateCatalog=True)
    with pytest.raises(UnsupportedError, match=r"\['transactionId'\]"):
        sink(frame(), transactionId="1")


def test_csv_with_a_quote_char_of_minus_one_quotes_nothing(sink, frame, s3):
    sink(frame("SELECT 'say \"hi\"' AS a, 'b c' AS b"), "csv", {"quoteChar": -1}, catalog=False)

    (name,) = [name for name in s3.names() if "_SUCCESS" not in name]
    assert (s3.folder / name).read_text() == 'a,b\nsay "hi",b c\n'


def test_csv_doubles_a_quote_as_the_reader_expects_it(glue_context, sink, frame, s3):
    sink(frame("SELECT 'say \"hi\", you' AS a, 1 AS b"), "csv", catalog=False)

    back = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [s3.uri]}, "csv", {"withHeader": True}
    )
    assert back.toDF().collect() == [('say "hi", you', "1")]


def define(spark_home, s3, classification, keys=(), **parameters):
    table = {
        "Name": s3.folder.name,
        "PartitionKeys": [{"Name": key, "Type": "string"} for key in keys],
        "StorageDescriptor": {
            "Columns": [{"Name": "id", "Type": "int"}, {"Name": "origin", "Type": "string"}],
            "Location": s3.uri,
            "SerdeInfo": {"Parameters": {"field.delim": "|"}},
        },
        "Parameters": {"classification": classification, **parameters},
    }
    with Store(spark_home.database) as store:
        put_tables(store, [table_of_request({"DatabaseName": "lake", "TableInput": table})])


@pytest.mark.parametrize("kind", ["csv", "parquet", *at_night("json", "orc")])
def test_from_catalog_appends_to_the_place_of_a_table_in_its_format(
    glue_context, frame, spark_home, s3, read, kind
):
    define(spark_home, s3, kind)

    for write in (
        glue_context.write_dynamic_frame.from_catalog,
        glue_context.write_dynamic_frame_from_catalog,
    ):
        write(frame=frame(), name_space="lake", table_name=s3.folder.name, transformation_ctx="out")

    assert read()[1] == [(1, "EWR"), (1, "EWR"), (2, "JFK"), (2, "JFK")]


def test_write_data_frame_from_catalog_appends_a_data_frame(
    glue_context, frame, spark_home, s3, read
):
    define(spark_home, s3, "json")

    glue_context.write_data_frame.from_catalog(frame().toDF(), "lake", s3.folder.name)

    assert read()[1] == [(1, "EWR"), (2, "JFK")]


@pytest.mark.rule(
    "Sinks", source="INFER", choice="a CSV table gets a header where it skips one line"
)
def test_a_csv_table_that_skips_a_line_gets_a_header(glue_context, frame, spark_home, s3, read):
    define(spark_home, s3, "csv", **{"skip.header.line.count": "1"})

    glue_context.write_dynamic_frame.from_catalog(frame(), "lake", s3.folder.name)

    (name,) = [name for name in s3.names() if "_SUCCESS" not in name]
    assert (s3.folder / name).read_text() == "Id|origin\n1|EWR\n2|JFK\n"
    assert read()[1] == [(1, "EWR"), (2, "JFK")]


def test_rows_with_other_columns_than_their_table_of_csv_are_named(
    glue_context, frame, spark_home, s3, noted
):
    define(spark_home, s3, "csv", keys=["day"])
    names = {"database": "lake", "table_name": s3.folder.name}
    names["additional_options"] = {"partitionKeys": ["day"]}
    write = glue_context.write_dynamic_frame.from_catalog

    write(frame("SELECT 1 AS ID, 'x' AS day, 'EWR' AS origin"), **names)
    assert noted == []
    write(frame("SELECT 'EWR' AS origin, 1 AS id, 'x' AS day"), **names)

    about = f"lake.{s3.folder.name} has the columns id, origin, and rows with origin, id"
    assert noted == [(RunWarning.CSV_ORDER, about)]


def test_from_catalog_partitions_by_the_keys_of_the_call_only(
    glue_context, frame, spark_home, s3, read, noted
):
    query = "SELECT 1 AS id, 'EWR' AS origin, '01' AS day"
    define(spark_home, s3, "json", keys=["day"])

    glue_context.write_dynamic_frame.from_catalog(frame(query), "lake", s3.folder.name)
    assert (read()[1], noted) == ([], [(RunWarning.PARTITION_KEYS, f"lake.{s3.folder.name}")])

    update = {"enableUpdateCatalog": True, "updateBehavior": "UPDATE_IN_DATABASE"}
    options = {"partitionKeys": ["day"], **update}
    glue_context.write_dynamic_frame.from_catalog(
        frame(query), "lake", s3.folder.name, additional_options=options
    )
    assert read()[1] == [(1, "EWR", "01")]


def test_a_table_that_is_not_there_and_other_accounts_are_refused(glue_context, frame):
    write = glue_context.write_dynamic_frame.from_catalog
    with pytest.raises(EntityNotFoundError, match="no table 'nothing'"):
        write(frame(), "lake", "nothing")
    with pytest.raises(UsageError, match=r"name_space or database is missing"):
        write(frame(), table_name="nothing")
    with pytest.raises(UnsupportedError, match="'9' is another account"):
        write(frame(), "lake", "nothing", catalog_id="9")


def test_a_collection_is_written_to_folders_of_its_names(glue_context, frame, spark, s3):
    from awsglue.dynamicframe import DynamicFrameCollection

    frames = {"one": frame(), "two": frame("SELECT 3 AS Id")}
    both = DynamicFrameCollection(frames, glue_context)

    glue_context.write_from_options(both, "s3", {"path": s3.uri}, "json")

    assert spark.read.json(f"{s3.uri}/two").collect() == [(3,)]
    assert {name.partition("/")[0] for name in s3.names()} == {"one", "two"}
    with pytest.raises(TypeError, match="Got <class 'int'>"):
        glue_context.write_from_options(1, "s3", {"path": s3.uri}, "json")


def test_a_sink_takes_no_part_in_bookmarks(glue_context, start_job, s3, spark):
    s3.put("in/a.json", '{"id": 1}\n')
    source = {"paths": [f"{s3.uri}/in/"]}
    counts = []
    for _ in range(2):
        run = start_job()
        new = glue_context.create_dynamic_frame.from_options(
            "s3", source, "json", transformation_ctx="node"
        )
        counts.append(new.count())
        sink = glue_context.getSink("s3", transformation_ctx="node", path=f"{s3.uri}/out")
        sink.setFormat("json")
        sink.writeFrame(new)
        run.commit()

    assert counts == [1, 0]
    assert spark.read.json(f"{s3.uri}/out").collect() == [(1,)]


@pytest.mark.parametrize("compression", ["gzip", "snappy", *at_night("bzip2", "lz4", "deflate")])
def test_text_is_read_back_through_every_codec(glue_context, frame, s3, compression):
    options = {"path": s3.uri, "compression": compression}
    glue_context.write_dynamic_frame.from_options(frame(), "s3", options, "csv")

    read = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [s3.uri]}, "csv", {"withHeader": True}
    ).toDF()

    assert (read.columns, read.orderBy("Id").collect()) == (
        ["Id", "origin"],
        [("1", "EWR"), ("2", "JFK")],
    )


def test_nested_values_are_no_csv(glue_context, frame, s3):
    nested = frame("SELECT 1 AS a, array(1) AS l, struct(1 AS x) AS s")

    with pytest.raises(UnsupportedError, match=r"\{'l': 'array<int>', 's': 'struct<x:int>'\}"):
        glue_context.write_dynamic_frame.from_options(nested, "s3", {"path": s3.uri}, "csv")


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("csv", "SELECT 1 AS a, NULL AS nothing"),
        ("orc", "SELECT 1 AS a, array(NULL) AS nothing"),
        ("parquet", "SELECT 1 AS a, struct(1 AS x, NULL AS y) AS nothing"),
        ("glueparquet", "SELECT map('k', NULL) AS nothing"),
    ],
)
def test_columns_without_a_type_are_named(glue_context, frame, s3, kind, query):
    with pytest.raises(UsageError, match=r"\['nothing'\] hold only nulls.*DropNullFields"):
        glue_context.write_dynamic_frame.from_options(frame(query), "s3", {"path": s3.uri}, kind)


def test_json_leaves_out_columns_without_a_type(glue_context, frame, s3, spark):
    nothing = frame("SELECT 1 AS a, NULL AS nothing")
    glue_context.write_dynamic_frame.from_options(nothing, "s3", {"path": s3.uri}, "json")
    assert spark.read.json(s3.uri).collect() == [(1,)]


def test_columns_of_one_name_are_refused_with_the_name(spark, glue_context, s3):
    from awsglue.dynamicframe import DynamicFrame

    left = spark.createDataFrame([(1, "a")], "id int, name string")
    both = left.crossJoin(left.withColumnRenamed("name", "other"))
    frame = DynamicFrame.fromDF(both, glue_context, "both")

    for kind in ("parquet", "json", "csv"):
        with pytest.raises(UsageError, match=r"have 'id' more than once.*id, name, other"):
            glue_context.write_dynamic_frame.from_options(frame, "s3", {"path": s3.uri}, kind)
