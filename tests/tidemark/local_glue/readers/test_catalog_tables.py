"""create_dynamic_frame.from_catalog: tables of the local Data Catalog."""

from __future__ import annotations

import pytest

from tidemark.assembly.catalog_connections import connection_of_request
from tidemark.assembly.catalog_tables import table_of_request
from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.local_glue.catalog.connections import put_connections
from tidemark.local_glue.catalog.partitions import (
    Partition,
    register_partitions,
    sync_partitions,
    unregister_partitions,
)
from tidemark.local_glue.catalog.tables import find_table, put_tables
from tidemark.local_glue.store.database import Store

pytestmark = pytest.mark.spark

DRIVER = "org.apache.derby.jdbc.EmbeddedDriver"
ORIGIN = {"Name": "origin", "Type": "varchar(3)"}
COLUMNS = [{"Name": "id", "Type": "bigint"}, ORIGIN]


@pytest.fixture
def define(spark_home, s3):
    """Return a definer of the test's table."""

    def define(columns=COLUMNS, keys=(), serde=None, location=s3.uri, **parameters):
        serde_info = {"Parameters": serde or {}}
        storage = {"Columns": columns, "Location": location, "SerdeInfo": serde_info}
        table = {
            "Name": s3.folder.name,
            "PartitionKeys": [{"Name": name, "Type": kind} for name, kind in keys],
            "StorageDescriptor": storage,
            "Parameters": {"classification": "json", **parameters},
        }
        with Store(spark_home.database) as store:
            put_tables(store, [table_of_request({"DatabaseName": "lake", "TableInput": table})])

    return define


@pytest.fixture
def read(glue_context, s3):
    """Return a reader of the test's table."""

    def read(**arguments):
        names = {"database": "lake", "table_name": s3.folder.name}
        return glue_context.create_dynamic_frame.from_catalog(**{**names, **arguments}).toDF()

    return read


def test_table_has_its_declared_columns_and_types(read, define, s3):
    define()
    s3.put("a.json", '{"id": 1, "origin": "EWR", "other": true}\n{"id": 2}\n')

    flights = read()

    assert flights.dtypes == [("id", "bigint"), ("origin", "string")]
    assert flights.collect() == [(1, "EWR"), (2, None)]


@pytest.mark.rule(
    "Partitions", source="INFER", choice="every folder counts until a partition is registered"
)
def test_partition_keys_are_the_folders_typed_as_declared(read, define, s3):
    define(keys=[("day", "string"), ("hour", "int")])
    s3.put("day=01/hour=02/a.json", '{"id": 1, "origin": "EWR"}\n')
    s3.put("stray.json", '{"id": 9}\n')

    flights = read()

    assert flights.dtypes[2:] == [("day", "string"), ("hour", "int")]
    assert flights.collect() == [(1, "EWR", "01", 2)]


@pytest.mark.rule("Partitions", source="BM")
def test_registered_partitions_are_read_and_no_others(read, define, s3, spark_home):
    define(keys=[("day", "string"), ("hour", "int")])
    for number, folder in enumerate(("day=01/hour=02", "day=01/hour=3", "day=a%2Fb/hour=2")):
        s3.put(f"{folder}/a.json", f'{{"id": {number}}}\n')
    with Store(spark_home.database) as store:
        table = find_table(store, "lake", s3.folder.name)
        sync_partitions(store, table, spark_home.existing_path)
        s3.put("day=01/hour=9/a.json", '{"id": 9}\n')
        unregister_partitions(store, table, [("01", "3")], spark_home.existing_path)

        both = read().select("id", "day", "hour").collect()
        chosen = read(
            push_down_predicate="hour = 2",
            additional_options={"catalogPartitionPredicate": "day >= '1'"},
        )

    assert sorted(both) == [(0, "01", 2), (2, "a/b", 2)]
    assert [row.id for row in chosen.collect()] == [2]


@pytest.mark.rule("Partitions", source="BM")
@pytest.mark.parametrize("kind", ["json", "csv"])
def test_partitions_in_folders_of_any_name_have_their_registered_values(
    read, define, s3, spark_home, start_job, kind
):
    define(keys=[("day", "string"), ("hour", "int")], classification=kind)
    form = {"json": '{{"id": {}}}\n', "csv": "{},A\n"}[kind]
    for number, folder in enumerate(("2024/01", "2024/02", "day=3/hour=3"), 1):
        s3.put(f"{folder}/a.{kind}", form.format(number), minutes_ago=20)
    with Store(spark_home.database) as store:
        table = find_table(store, "lake", s3.folder.name)
        located = [
            Partition(("x", "1"), f"{s3.uri}2024/01/"),
            Partition(("__HIVE_DEFAULT_PARTITION__", "2"), f"{s3.uri}2024/02"),
        ]
        register_partitions(store, table, located, spark_home.existing_path)

    found = sorted(read().select("id", "day", "hour").collect())
    chosen = read(push_down_predicate="day = 'x'").select("id", "day", "hour").collect()
    job = start_job()
    first = read(transformation_ctx="t").count()
    job.commit()
    s3.put(f"2024/02/b.{kind}", form.format(1))
    start_job()
    second = read(transformation_ctx="t").select("id", "day", "hour").collect()

    assert found == [(1, "x", 1), (2, None, 2), (3, "3", 3)]
    assert chosen == [(1, "x", 1)]
    assert first == 3
    assert second == [(1, None, 2)]


@pytest.mark.rule("Partitions", source="BM")
def test_a_predicate_on_partition_keys_chooses_the_folders_of_a_table(read, define, s3):
    define(keys=[("day", "string")])
    s3.put("day=01/a.json", '{"id": 1}\n')
    s3.put("day=1/a.json", '{"id": 2}\n')

    assert [row.id for row in read(push_down_predicate="day = '01'").collect()] == [1]
    with pytest.raises(UsageError, match="names hour; the partition columns are day"):
        read(push_down_predicate="hour = 1")


@pytest.mark.rule("Files of S3", source="BM")
def test_a_table_is_read_through_the_bookmark(read, define, start_job, s3):
    define()
    s3.put("a.json", '{"id": 1}\n')
    first = start_job()
    assert read(transformation_ctx="flights").count() == 1
    first.commit()
    s3.put("b.json", '{"id": 2}\n')

    start_job()

    assert [row.id for row in read(transformation_ctx="flights").collect()] == [2]


@pytest.mark.rule("Formats", source="INFER", choice="the declared columns, without rows")
def test_a_table_with_nothing_new_keeps_its_columns(read, define, start_job, s3):
    define(keys=[("day", "date")])
    s3.put("day=2013-01-01/a.json", '{"id": 1}\n')
    first = start_job()
    read(transformation_ctx="flights")
    first.commit()

    start_job()

    nothing = read(transformation_ctx="flights")
    assert nothing.dtypes == [("id", "bigint"), ("origin", "string"), ("day", "date")]
    assert nothing.count() == 0


@pytest.mark.rule("Files of S3", source="BND")
def test_bounds_may_be_properties_of_a_table_and_those_of_the_call_win(read, define, start_job, s3):
    define(boundedFiles="1")
    for number in range(4):
        s3.put(f"{number}.json", f'{{"id": {number}}}\n', minutes_ago=60 - number)
    start_job()

    assert [row.id for row in read(transformation_ctx="by property").collect()] == [0]
    by_call = read(transformation_ctx="by call", additional_options={"boundedSize": "12"})
    assert sorted(row.id for row in by_call.collect()) == [0, 1]


@pytest.mark.parametrize(
    ("serde", "parameters", "text"),
    [
        ({"field.delim": "|"}, {}, "1|EWR\n"),
        (
            {"separatorChar": ";", "quoteChar": "'"},
            {"skip.header.line.count": "1"},
            "a;b\n1;'EWR'\n",
        ),
        ({}, {"delimiter": ",", "skip.header.line.count": "1"}, "number,place\n1,EWR\n"),
        ({"escapeChar": "\\"}, {}, '1,"EWR"\n'),
    ],
)
def test_csv_table_is_read_by_position_as_its_serde_says(read, define, s3, serde, parameters, text):
    define(serde=serde, classification="csv", **parameters)
    s3.put("a.csv", text)

    assert read().collect() == [(1, "EWR")]


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_columnar_table_has_its_declared_columns(spark, read, define, s3, kind):
    define(keys=[("day", "int")], classification=kind)
    spark.sql("SELECT 1L AS id, true AS other").write.format(kind).save(f"{s3.uri}day=1/")

    assert read().collect() == [(1, None, 1)]


def test_avro_table_has_its_declared_columns(read, define, s3):
    import fastavro

    define(classification="avro")
    schema = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}]}
    with s3.put("a.avro", "").open("wb") as file:
        fastavro.writer(file, schema, [{"id": 1}])

    flights = read()

    assert flights.dtypes == [("id", "bigint"), ("origin", "string")]
    assert flights.collect() == [(1, None)]


def test_xml_table_reads_the_row_tag_of_its_properties(read, define, s3):
    define(classification="xml", rowTag="flight")
    s3.put("a.xml", "<r><flight><id>1</id><origin>EWR</origin></flight></r>")

    assert read().collect() == [(1, "EWR")]


MIXED = [{"Name": "n", "Type": "bigint"}, {"Name": "s", "Type": "struct<a:int>"}]


@pytest.mark.rule(
    "Bad input",
    source="TYPES",
    choice="an error that names column, value and file; Glue makes a choice type of the column",
)
@pytest.mark.parametrize(
    ("kind", "text", "column"),
    [
        ("xml", "<r><row><n>one</n></row></r>", "n"),
        ("orc", "SELECT 'one' AS N", "n"),
        ("parquet", "SELECT 'one' AS N", "n"),
    ],
)
def test_a_value_that_is_not_of_the_declared_type_is_named_with_its_column(
    spark, read, define, s3, kind, text, column
):
    define(MIXED, classification=kind, rowTag="row")
    if kind in ("orc", "parquet"):
        spark.sql(text).write.format(kind).mode("append").save(s3.uri)
    else:
        s3.put(f"bad.{kind}", text)

    with pytest.raises(Exception, match=rf"the column '{column}' is declared \w+ and") as failure:
        read().collect()

    text = str(failure.value)
    assert f"holds 'one' in {s3.uri}" in text
    assert "choice<" in text
    assert "repair or delete" not in text


PROVIDERS = [{"Name": "provider id", "Type": "bigint"}, {"Name": "city", "Type": "string"}]
CSV = {"classification": "csv", "skip.header.line.count": "1"}


@pytest.mark.rule(
    "Formats", source="RCS, DYF", choice="of CSV and JSON; of another format the action fails"
)
def test_a_column_of_csv_with_texts_that_are_not_of_its_type_is_a_choice(
    glue_context, define, s3, capsys
):
    define([*PROVIDERS, {"Name": "n", "Type": "int"}], keys=[("day", "date")], **CSV)
    s3.put("day=2024-05-01/a.csv", "id,city,n\n10001,DOTHAN,1\n")
    s3.put("day=2024-05-02/b.csv", 'id,city,n\nn/a,"BO,AZ",\n10006,,3\n')

    frame = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name)
    frame.printSchema()

    assert capsys.readouterr().out == (
        "root\n"
        "|-- provider id: choice\n"
        "|    |-- long\n"
        "|    |-- string\n"
        "|-- city: string\n"
        "|-- n: int\n"
        "|-- day: date\n\n"
    )
    rows = frame.drop_fields("day").toDF().orderBy("city").collect()
    assert rows == [
        ((10006, None), None, 3),
        ((None, "n/a"), "BO,AZ", None),
        ((10001, None), "DOTHAN", 1),
    ]
    cast = frame.resolveChoice(specs=[("provider id", "cast:long")])
    assert sorted(row[0] or 0 for row in cast.toDF().collect()) == [0, 10001, 10006]


def test_a_data_frame_of_such_a_column_fails_by_column_and_value(glue_context, define, s3):
    define(PROVIDERS, **CSV)
    s3.put("a.csv", "id,city\none,EWR\n")

    frame = glue_context.create_data_frame.from_catalog("lake", s3.folder.name)

    with pytest.raises(
        Exception, match="the column 'provider id' is declared bigint and holds 'one'"
    ):
        frame.collect()


def test_a_line_of_another_length_fails_also_where_choices_are_made(read, define, s3):
    define(PROVIDERS, **CSV)
    s3.put("a.csv", "id,city\n1,EWR\n2,JFK,3\n")

    with pytest.raises(Exception, match="'2,JFK,3' does not parse"):
        read().collect()


def test_a_wider_or_a_narrower_number_is_read_if_it_fits(spark, read, define, s3):
    columns = [{"Name": "a", "Type": "bigint"}, {"Name": "b", "Type": "int"}]
    define(columns, classification="parquet")
    spark.sql("SELECT 1 AS a, 2L AS b").write.mode("append").parquet(s3.uri)
    assert read().collect() == [(1, 2)]
    spark.sql("SELECT 1 AS a, 3000000000L AS b").write.mode("append").parquet(s3.uri)

    with pytest.raises(Exception, match="the column 'b' is declared int and holds '3000000000'"):
        read().collect()


def test_files_of_a_table_may_disagree_on_a_type_that_the_declared_one_holds(
    spark, read, define, s3
):
    define([{"Name": "n", "Type": "string"}], classification="parquet")
    spark.sql("SELECT 1 AS N").write.mode("append").parquet(s3.uri)
    spark.sql("SELECT 'one' AS n").write.mode("append").parquet(s3.uri)

    assert sorted(read().collect()) == [("1",), ("one",)]


def test_name_space_is_another_name_of_the_database(read, define, s3):
    define()
    s3.put("a.json", '{"id": 1}\n')

    assert read(database=None, name_space="lake").count() == 1
    assert read(tableName="ignored, as by Glue").count() == 1


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"table_name": "gone"}, EntityNotFoundError, "no table 'gone' in the database 'lake'"),
        ({"name_space": "lake"}, UsageError, "name_space and database are both specified"),
        ({"database": None}, UsageError, "name_space or database is missing"),
        ({"table_name": None}, UsageError, "table_name is missing"),
        ({"catalog_id": "1"}, UnsupportedError, "catalog_id '1' is another account"),
    ],
)
def test_argument_that_cannot_be_honoured_is_refused_by_name(read, define, arguments, error, text):
    define()

    with pytest.raises(error, match=text):
        read(**arguments)


def test_create_data_frame_reads_the_same_table(glue_context, define, s3):
    define()
    s3.put("a.json", '{"id": 1}\n')

    frame = glue_context.create_data_frame.from_catalog("lake", s3.folder.name)

    assert frame.collect() == [(1, None)]


@pytest.fixture
def derby(spark, spark_home):
    """Define a connection to an embedded database; return a runner of its statements."""
    url = "jdbc:derby:memory:catalog;create=true"
    properties = {"JDBC_CONNECTION_URL": url, "JDBC_DRIVER_CLASS_NAME": DRIVER}
    definition = {"Name": "orders-db", "ConnectionProperties": properties}
    with Store(spark_home.database) as store:
        put_connections(store, [connection_of_request({"ConnectionInput": definition})])
    connection = spark._jvm.java.sql.DriverManager.getConnection(url)
    yield lambda statement: connection.createStatement().execute(statement)
    connection.close()


@pytest.mark.rule("JDBC sources", source="BMS, JDBC")
def test_keys_of_a_table_of_the_catalog_are_additional_options(read, define, derby, s3, start_job):
    table = s3.folder.name.replace("-", "_").upper()
    derby(f"CREATE TABLE {table} (N INT)")
    derby(f"INSERT INTO {table} VALUES 1, 5")  # noqa: S608
    define(location=f"orders.APP.{table}", classification="jdbc", connectionName="orders-db")
    keys = {"jobBookmarkKeys": ["N"], "jobBookmarkKeysSortOrder": "asc"}
    first = start_job()
    assert sorted(read(transformation_ctx="t", additional_options=keys).collect()) == [(1,), (5,)]
    first.commit()
    derby(f"INSERT INTO {table} VALUES 9")  # noqa: S608

    start_job()

    assert read(transformation_ctx="t", additional_options=keys).collect() == [(9,)]


@pytest.mark.parametrize(
    ("parameters", "arguments", "error", "text"),
    [
        ({}, {}, UsageError, "has no Parameters.connectionName"),
        ({"connectionName": "gone"}, {}, EntityNotFoundError, "no connection 'gone'"),
        (
            {"connectionName": "orders-db"},
            {"push_down_predicate": "n = 1"},
            UnsupportedError,
            "filter the rows after the read",
        ),
    ],
)
def test_table_of_a_database_that_cannot_be_read_says_why(
    read, define, derby, parameters, arguments, error, text
):
    define(classification="jdbc", **parameters)

    with pytest.raises(error, match=text):
        read(**arguments)
