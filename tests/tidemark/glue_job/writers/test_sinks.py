"""getSink and from_catalog: files of S3, and what the Data Catalog knows of them afterwards."""

from __future__ import annotations

import pytest

from tests.sampled import at_night
from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.glue_job.writers import sinks, table_updates
from tidemark.local_state.catalog.partitions import registered_partitions, sync_partitions
from tidemark.local_state.catalog.tables import find_table, put_tables
from tidemark.local_state.run_warnings import RunWarning
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import table_of_request

pytestmark = pytest.mark.spark

FLIGHTS = "SELECT * FROM VALUES (1, 'EWR'), (2, 'JFK') AS flights(Id, origin)"
DELAYS = "SELECT * FROM VALUES (3, 'LGA', 12.5D) AS flights(Id, origin, delay)"


@pytest.fixture
def frame(spark, glue_context):
    """Return a maker of frames in one Spark partition."""
    from awsglue.dynamicframe import DynamicFrame

    def make(query=FLIGHTS):
        return DynamicFrame.fromDF(spark.sql(query).coalesce(1), glue_context, "flights")

    return make


@pytest.fixture
def sink(glue_context, s3):
    """Return a writer as Glue Studio generates it."""

    def write(frame, kind="glueparquet", format_options=None, catalog=True, **options):
        sink = glue_context.getSink(path=s3.uri, connection_type="s3", **options)
        if catalog:
            sink.setCatalogInfo(catalogDatabase="Lake", catalogTableName=s3.folder.name.upper())
        sink.setFormat(kind, **(format_options or {}))
        return sink.writeFrame(frame)

    return write


@pytest.fixture
def read(glue_context, s3):
    def read(**options):
        names = {"database": "lake", "table_name": s3.folder.name}
        frame = glue_context.create_dynamic_frame.from_catalog(**names, **options).toDF()
        return frame.dtypes, sorted(map(tuple, frame.collect()), key=str)

    return read


@pytest.fixture
def table(spark_home, s3):
    """Return a reader of the definition that the catalog holds."""

    def table():
        with Store(spark_home.database) as store:
            return find_table(store, "lake", s3.folder.name)

    return table


@pytest.fixture
def noted(monkeypatch):
    """Return the warnings that sinks note."""
    found = []
    for module in (sinks, table_updates):
        monkeypatch.setattr(module, "note", lambda warning, about: found.append((warning, about)))
    return found


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
    assert {one.name for one in s3.folder.iterdir() if one.is_dir()} == {"origin=EWR", "origin=JFK"}
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
        found = registered_partitions(store, table())

    assert [one.values for one in found] == [("EWR",), ("JFK",), ("LGA",)]
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


def test_rows_without_any_column_are_named(sink, frame, noted, s3):
    sink(frame().select_fields(["none"]), "json", catalog=False)
    sink(frame("SELECT 1 AS id LIMIT 0").select_fields(["none"]), "json", catalog=False)

    assert noted == [(RunWarning.NO_COLUMNS, "a sink of s3")]
    assert not s3.folder.exists()


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
    glue_context, spark, spark_home, s3, read
):
    define(spark_home, s3, "json")

    glue_context.write_data_frame.from_catalog(spark.sql(FLIGHTS), "lake", s3.folder.name)

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

    options = {"partitionKeys": ["day"], **CATALOG}
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
