"""Tables of the Data Catalog whose rows are in a database."""

from __future__ import annotations

import pytest

from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.local_state.catalog.definitions import put_connections
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_connections import connection_of_request

pytestmark = pytest.mark.spark
DRIVER = "org.apache.derby.jdbc.EmbeddedDriver"


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


def test_the_properties_of_a_table_for_several_connections_are_named(
    read, define, derby, s3, warned
):
    table = s3.folder.name.replace("-", "_").upper()
    derby(f"CREATE TABLE {table} (N INT)")
    derby(f"INSERT INTO {table} VALUES 1, 5")  # noqa: S608
    place = {"location": f"orders.APP.{table}", "connectionName": "orders-db"}
    define(**place, classification="jdbc", hashfield="n", hashpartitions="5")

    assert sorted(read().collect()) == [(1,), (5,)]
    assert warned() == [("JDBC_ONE_CONNECTION", "hashfield 'n' and hashpartitions '5'")]
    define(**place, classification="jdbc", hashfield="gone")
    with pytest.raises(UsageError, match="'hashfield': 'gone'"):
        read()


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


@pytest.mark.parametrize("kind", ["kafka", "kinesis"])
def test_table_of_a_stream_is_refused_as_one(read, define, glue_context, kind):
    define(classification="json", connectionName="events", typeOfData=kind)

    with pytest.raises(UnsupportedError, match="streaming jobs do not run here"):
        read()
    for reader in (glue_context.create_dynamic_frame, glue_context.create_data_frame):
        with pytest.raises(UnsupportedError, match=f"'{kind}' is a stream: streaming jobs do not"):
            reader.from_options(kind, {"streamARN": "arn:aws:kinesis:x", "topicName": "t"})
