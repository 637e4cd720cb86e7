"""Frames that are appended to tables of databases."""

from __future__ import annotations

import pytest

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.writers.jdbc import with_database
from tidemark.local_state.catalog.definitions import put_connections
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_connections import connection_of_request
from tidemark.model.assembly.catalog_tables import table_of_request

DRIVER = "org.apache.derby.jdbc.EmbeddedDriver"
FLIGHTS = "SELECT * FROM VALUES (1, 'EWR'), (2, 'JFK') AS flights(id, origin)"


@pytest.fixture
def url(tmp_path):
    return f"jdbc:derby:{tmp_path / 'flights'};create=true"


@pytest.fixture
def frame(spark, glue_context):
    from awsglue.dynamicframe import DynamicFrame

    return DynamicFrame.fromDF(spark.sql(FLIGHTS), glue_context, "flights")


@pytest.fixture
def rows(spark, url):
    def rows(url=url, table="flights"):
        options = {"url": url, "dbtable": table, "driver": DRIVER}
        return sorted(map(tuple, spark.read.format("jdbc").options(**options).load().collect()))

    return rows


@pytest.fixture
def connection(spark_home, url, s3):
    """Define a connection of the test's own and return its name."""
    properties = {"JDBC_CONNECTION_URL": url, "JDBC_DRIVER_CLASS_NAME": DRIVER}
    properties |= {"USERNAME": "ana", "PASSWORD": "x"}
    name = s3.folder.name
    request = {"ConnectionInput": {"Name": name, "ConnectionProperties": properties}}
    with Store(spark_home.database) as store:
        put_connections(store, [connection_of_request(request)])
    return name


@pytest.mark.spark
def test_from_options_makes_a_table_and_appends_to_it(glue_context, frame, rows, url):
    options = {"url": url, "dbTable": "flights", "className": DRIVER, "batchsize": "1"}

    for _ in range(2):
        glue_context.write_dynamic_frame.from_options(frame, "jdbc", options)

    assert rows() == [(1, "EWR"), (1, "EWR"), (2, "JFK"), (2, "JFK")]


@pytest.mark.spark
def test_from_jdbc_conf_takes_the_connection_and_another_database(
    glue_context, frame, rows, connection, url, tmp_path
):
    write = glue_context.write_dynamic_frame.from_jdbc_conf
    other = f"{tmp_path / 'other'}"

    write(frame=frame, catalog_connection=connection, connection_options={"dbtable": "ana.flights"})
    write(
        frame=frame,
        catalog_connection=connection,
        connection_options={"dbtable": "ana.flights", "database": other},
        redshift_tmp_dir="s3://temp/",
        transformation_ctx="sink",
    )

    assert rows(table="ana.flights") == [(1, "EWR"), (2, "JFK")]
    assert rows(f"jdbc:derby:{other}", "ana.flights") == [(1, "EWR"), (2, "JFK")]


@pytest.mark.spark
def test_connection_properties_stand_for_url_user_and_password(
    glue_context, frame, rows, connection
):
    options = {"useConnectionProperties": "true", "connectionName": connection}

    glue_context.write_dynamic_frame.from_options(
        frame, "jdbc", {**options, "dbtable": "ana.flights"}
    )

    assert rows(table="ana.flights") == [(1, "EWR"), (2, "JFK")]


@pytest.mark.spark
def test_from_catalog_appends_to_the_table_of_a_database(
    glue_context, frame, rows, connection, spark_home
):
    table = {
        "Name": connection,
        "StorageDescriptor": {"Columns": [], "Location": "flights.ana.flights"},
        "Parameters": {"classification": "derby", "connectionName": connection},
    }
    with Store(spark_home.database) as store:
        put_tables(store, [table_of_request({"DatabaseName": "db", "TableInput": table})])

    glue_context.write_dynamic_frame.from_catalog(frame, "db", connection)

    assert rows(table="ana.flights") == [(1, "EWR"), (2, "JFK")]


@pytest.mark.spark
def test_a_collection_goes_to_tables_of_its_names(glue_context, frame, rows, connection):
    from awsglue.dynamicframe import DynamicFrameCollection

    both = DynamicFrameCollection({"one": frame, "two": frame}, glue_context)

    glue_context.write_from_jdbc_conf(both, connection, {"dbtable": "ignored"})

    assert rows(table="ana.one") == rows(table="ana.two") == [(1, "EWR"), (2, "JFK")]


@pytest.mark.spark
def test_extract_jdbc_conf_gives_the_parts_of_a_connection(glue_context, connection, url):
    conf = glue_context.extract_jdbc_conf(connection)

    assert {name: conf[name] for name in ("user", "password", "vendor", "fullUrl", "url")} == {
        "user": "ana",
        "password": "x",
        "vendor": "derby",
        "fullUrl": url,
        "url": "jdbc:derby",
    }


@pytest.mark.spark
def test_what_stands_in_for_redshift_runs_actions_before_and_after(glue_context, frame, connection):
    write = glue_context.write_dynamic_frame
    named = {"useConnectionProperties": "true", "connectionName": connection}
    options = {**named, "dbtable": "staged", "redshiftTmpDir": "s3://temp/"}
    write.from_options(frame, "redshift", options)
    actions = {"preactions": "DELETE FROM staged; DELETE FROM staged;", "dbtable": "staged"}

    write.from_jdbc_conf(
        frame=frame,
        catalog_connection=connection,
        connection_options={**actions, "postactions": "CREATE TABLE done (n INT)"},
        redshift_tmp_dir="s3://temp/",
    )

    read = glue_context.create_dynamic_frame.from_options
    assert read("jdbc", {**named, "dbtable": "staged"}).count() == frame.count()
    assert read("redshift", {**named, "dbtable": "done"}).count() == 0


@pytest.mark.spark
def test_what_is_missing_or_not_known_is_named(glue_context, frame, url):
    write = glue_context.write_dynamic_frame.from_options
    with pytest.raises(UsageError, match="has no url; a mysql sink"):
        write(frame, "mysql", {"dbtable": "a"})
    with pytest.raises(UsageError, match="has no dbtable; a jdbc sink"):
        write(frame, "jdbc", {"url": url})
    with pytest.raises(UnsupportedError, match=r"preactions, which .* redshift only, .* of jdbc"):
        write(frame, "jdbc", {"url": url, "dbtable": "a", "preactions": "delete"})
    with pytest.raises(UsageError, match=r"driver oracle.jdbc.OracleDriver is not on the class"):
        write(frame, "oracle", {"url": "jdbc:oracle:thin:@//h:1/d", "dbtable": "a"})


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["struct<a:int>", "array<string>", "void"])
def test_a_column_without_a_type_in_the_database_is_named(glue_context, spark, url, kind):
    from awsglue.dynamicframe import DynamicFrame

    frame = spark.createDataFrame([(1, None)], f"id int, odd {kind}")
    options = {"url": url, "dbTable": "flights", "className": DRIVER}

    with pytest.raises(UsageError, match=rf"no type for {kind}, as of the columns \['odd'\]"):
        glue_context.write_dynamic_frame.from_options(
            DynamicFrame.fromDF(frame, glue_context, "odd"), "jdbc", options
        )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("jdbc:postgresql://h:5432/old?ssl=true", "jdbc:postgresql://h:5432/new?ssl=true"),
        ("jdbc:mysql://h:3306", "jdbc:mysql://h:3306/new"),
        ("jdbc:sqlserver://h:1433;databaseName=old", "jdbc:sqlserver://h:1433;databaseName=new"),
        ("jdbc:oracle:thin:@//h:1521/old", "jdbc:oracle:thin:@//h:1521/new"),
        ("jdbc:oracle:thin:@h:1521:old", "jdbc:oracle:thin:@h:1521/new"),
        ("jdbc:derby:old;create=true", "jdbc:derby:new;create=true"),
    ],
)
def test_database_of_a_url_is_replaced(url, expected):
    assert with_database(url, "new") == expected


def test_a_url_of_another_form_is_refused():
    with pytest.raises(UsageError, match="is not a JDBC URL of a known form"):
        with_database("postgresql://h/old", "new")
