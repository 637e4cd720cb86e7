"""The Data Catalog, by boto3."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tidemark.glue_service.catalog_api.expressions import rows_that_match
from tidemark.glue_service.protocol.json_protocol import read_request
from tidemark.glue_service.protocol.models import find_operation, service_model
from tidemark.glue_service.protocol.service_errors import InvalidInputError, ServiceError
from tidemark.local_state.catalog.tables import find_table, put_tables

PARQUET = {
    "Columns": [{"Name": "id", "Type": "bigint", "Comment": "the key"}],
    "Location": "s3://lake/orders/",
    "InputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "OutputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
    "SerdeInfo": {
        "SerializationLibrary": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
    },
}


def table(name, **members):
    return {
        "Name": name,
        "StorageDescriptor": PARQUET,
        "PartitionKeys": [{"Name": "year", "Type": "int"}, {"Name": "city", "Type": "string"}],
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {"classification": "parquet"},
        **members,
    }


@pytest.fixture
def database(port, request):
    name = f"d{abs(hash(request.node.name))}"
    port.glue.create_database(DatabaseInput={"Name": name, "Description": "mine"})
    (port.home.lake / "lake").mkdir(exist_ok=True)
    return name


def test_databases_are_defined_changed_and_deleted_with_their_tables(port, database):
    glue = port.glue
    glue.create_table(DatabaseName=database, TableInput=table("Orders"))
    glue.update_database(Name=database, DatabaseInput={"Name": database, "Description": "new"})

    found = glue.get_database(Name=database)["Database"]
    names = [one["Name"] for one in glue.get_databases()["DatabaseList"]]

    assert (found["Description"], found["CatalogId"]) == ("new", "000000000000")
    assert database in names
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_database(DatabaseInput={"Name": database.upper()})
    glue.delete_database(Name=database)
    for call in (
        lambda: glue.get_database(Name=database),
        lambda: glue.get_table(DatabaseName=database, Name="orders"),
        lambda: glue.get_tables(DatabaseName=database),
        lambda: glue.create_table(DatabaseName=database, TableInput=table("x")),
    ):
        with pytest.raises(glue.exceptions.EntityNotFoundException):
            call()


def test_a_table_is_returned_as_defined_and_its_version_counts_the_changes(port, database):
    glue = port.glue
    glue.create_table(DatabaseName=database, TableInput=table("Orders", Description="one"))
    common = {"DatabaseName": database}

    first = glue.get_table(**common, Name="orders")["Table"]
    glue.update_table(**common, TableInput=table("orders", Description="two"), VersionId="0")
    second = glue.get_table(**common, Name="ORDERS")["Table"]

    assert (first["Name"], first["StorageDescriptor"]) == ("orders", PARQUET)
    assert (first["VersionId"], second["VersionId"]) == ("0", "1")
    assert (first["Description"], second["Description"]) == ("one", "two")
    assert first["CreateTime"] == second["CreateTime"] <= second["UpdateTime"]
    with pytest.raises(glue.exceptions.ConcurrentModificationException, match="version 1"):
        glue.update_table(**common, TableInput=table("orders"), VersionId="0")
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_table(**common, TableInput=table("orders"))
    found = port.engine.ask(lambda local: find_table(local.store, database, "orders"))
    port.engine.ask(lambda local: put_tables(local.store, [found]))  # as Spark SQL does
    assert glue.get_table(**common, Name="orders")["Table"]["VersionId"] == "2"


def test_tables_are_listed_searched_and_deleted(port, database):
    glue = port.glue
    for name in ("a1", "a2", "b1"):
        parameters = {"classification": "parquet", "owner-of": f"{database}-{name}"}
        glue.create_table(DatabaseName=database, TableInput=table(name, Parameters=parameters))

    def names(answer):
        return [one["Name"] for one in answer["TableList"]]

    pages = glue.get_paginator("get_tables").paginate(
        DatabaseName=database, PaginationConfig={"PageSize": 2}
    )
    assert [names(page) for page in pages] == [["a1", "a2"], ["b1"]]
    assert names(glue.get_tables(DatabaseName=database, Expression="a*")) == ["a1", "a2"]
    assert names(glue.get_tables(DatabaseName=database, Expression=".*1")) == ["a1", "b1"]
    assert names(glue.search_tables(SearchText=f"{database}-A2")) == ["a2"]
    of_database = [{"Key": "DatabaseName", "Value": database}]
    assert names(
        glue.search_tables(
            Filters=of_database, SortCriteria=[{"FieldName": "Name", "Sort": "DESC"}]
        )
    ) == ["b1", "a2", "a1"]
    errors = glue.batch_delete_table(DatabaseName=database, TablesToDelete=["a1", "x"])["Errors"]
    assert [error["TableName"] for error in errors] == ["x"]
    assert errors[0]["ErrorDetail"]["ErrorCode"] == "EntityNotFoundException"
    glue.delete_table(DatabaseName=database, Name="a2")
    assert names(glue.get_tables(DatabaseName=database)) == ["b1"]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("a*a", ["aaa"]),
        ("a*|b*", ["aaa", "b_c"]),
        ("a.*", ["aaa"]),
        ("b.c", ["b_c"]),
        ("A+", ["aaa"]),
        ("[ab].*", ["aaa", "b_c"]),
        ("(aaa|b_c)", ["aaa", "b_c"]),
        ("*a" * 30, []),
    ],
)
def test_tables_are_found_by_patterns(port, expression, found):
    if not [one for one in port.glue.get_databases()["DatabaseList"] if one["Name"] == "patterns"]:
        port.glue.create_database(DatabaseInput={"Name": "patterns"})
        for name in ("aaa", "b_c", "x" * 250):
            port.glue.create_table(DatabaseName="patterns", TableInput={"Name": name})

    tables = port.glue.get_tables(DatabaseName="patterns", Expression=expression)["TableList"]

    assert [one["Name"] for one in tables] == found


@pytest.mark.parametrize("expression", ["(x+)+$", "x?" * 40 + "x" * 40, "(x|xx)*y", "x+x+x+x+y"])
def test_a_pattern_that_would_take_for_long_is_refused(port, database, expression):
    port.glue.create_table(DatabaseName=database, TableInput={"Name": "x" * 250})

    with pytest.raises(port.glue.exceptions.InvalidInputException, match="repeats too much"):
        port.glue.get_tables(DatabaseName=database, Expression=expression)


def test_partitions_are_registered_found_by_expressions_changed_and_deleted(port, database):
    glue = port.glue
    glue.create_table(DatabaseName=database, TableInput=table("p"))
    of_table = {"DatabaseName": database, "TableName": "p"}
    own = {**PARQUET, "Location": "s3://lake/elsewhere/", "Columns": []}
    values = [["2023", "Paris"], ["2024", "Rome"], ["2024", "Ülm's"]]

    glue.create_partition(
        **of_table, PartitionInput={"Values": values[0], "StorageDescriptor": own}
    )
    inputs = [{"Values": one} for one in (*values, ["2025"])]
    errors = glue.batch_create_partition(**of_table, PartitionInputList=inputs)["Errors"]

    def found(**members):
        answer = glue.get_partitions(**of_table, **members)
        return [one["Values"] for one in answer["Partitions"]]

    codes = {tuple(e["PartitionValues"]): e["ErrorDetail"]["ErrorCode"] for e in errors}
    assert codes == {
        ("2023", "Paris"): "AlreadyExistsException",
        ("2025",): "InvalidInputException",
    }
    assert found() == values
    assert found(Expression="year > 2023 AND city LIKE 'R%'") == [values[1]]
    assert found(Expression="city IN ('Paris', 'Ülm''s')") == [values[0], values[2]]
    assert found(Segment={"SegmentNumber": 1, "TotalSegments": 2}) == [values[1]]
    first = glue.get_partition(**of_table, PartitionValues=values[0])["Partition"]
    second = glue.get_partition(**of_table, PartitionValues=values[1])["Partition"]
    assert first["StorageDescriptor"] == own
    assert second["StorageDescriptor"]["Location"] == "s3://lake/orders/year=2024/city=Rome"
    assert second["StorageDescriptor"]["Columns"] == PARQUET["Columns"]
    changed = {"Values": ["2026", "Rome"], "Parameters": {"a": "1"}}
    glue.update_partition(**of_table, PartitionValueList=values[1], PartitionInput=changed)
    batch = [{"Values": one} for one in (["2026", "Rome"], ["x", "y"])]
    got = glue.batch_get_partition(**of_table, PartitionsToGet=batch)["Partitions"]
    assert [(one["Values"], one["Parameters"]) for one in got] == [(["2026", "Rome"], {"a": "1"})]
    errors = glue.batch_delete_partition(**of_table, PartitionsToDelete=batch)["Errors"]
    assert [error["PartitionValues"] for error in errors] == [["x", "y"]]
    glue.delete_partition(**of_table, PartitionValues=values[2])
    assert found() == [values[0]]
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.delete_partition(**of_table, PartitionValues=values[2])


def test_folders_that_no_one_registered_are_partitions(port, database):
    definition = table("f", StorageDescriptor={**PARQUET, "Location": "s3://lake/folders/"})
    port.glue.create_table(DatabaseName=database, TableInput=definition)
    (port.home.lake / "lake/folders/year=2024/city=A").mkdir(parents=True)

    (found,) = port.glue.get_partitions(DatabaseName=database, TableName="f")["Partitions"]

    assert found["Values"] == ["2024", "A"]
    assert found["StorageDescriptor"]["Location"] == "s3://lake/folders/year=2024/city=A"


NOWHERE = "s3://no-bucket-yet/t/"


@pytest.mark.parametrize("location", [NOWHERE, "s3://lake/link/", "hdfs://namenode/t"])
@pytest.mark.rule("The API on a port", source="CATALOG")
def test_the_catalog_needs_no_bucket_and_no_place_in_s3(port, database, location, tmp_path):
    glue = port.glue
    (port.home.lake / "lake/link").unlink(missing_ok=True)
    (tmp_path / "year=1" / "city=outside").mkdir(parents=True)
    (port.home.lake / "lake/link").symlink_to(tmp_path)
    definition = table("nowhere", StorageDescriptor={**PARQUET, "Location": location})
    of_table = {"DatabaseName": database, "TableName": "nowhere"}
    glue.create_table(DatabaseName=database, TableInput=definition)

    before = glue.get_partitions(**of_table)["Partitions"]
    glue.create_partition(**of_table, PartitionInput={"Values": ["2024", "a"]})
    inputs = [{"Values": ["2024", "b"], "StorageDescriptor": PARQUET}, {"Values": ["2024", "c"]}]
    created = glue.batch_create_partition(**of_table, PartitionInputList=inputs)
    changed = {"Values": ["2025", "a"], "StorageDescriptor": {**PARQUET, "Location": NOWHERE}}
    glue.update_partition(**of_table, PartitionValueList=["2024", "a"], PartitionInput=changed)
    entries = [{"PartitionValueList": ["2024", "b"], "PartitionInput": {"Values": ["2025", "b"]}}]
    updated = glue.batch_update_partition(**of_table, Entries=entries)
    glue.delete_partition(**of_table, PartitionValues=["2024", "c"])
    glue.update_table(DatabaseName=database, TableInput=definition)

    found = glue.get_partitions(**of_table)["Partitions"]
    assert (before, created.get("Errors", []), updated.get("Errors", [])) == ([], [], [])
    assert [one["Values"] for one in found] == [["2025", "a"], ["2025", "b"]]
    assert found[0]["StorageDescriptor"]["Location"] == NOWHERE
    glue.delete_table(DatabaseName=database, Name="nowhere")


def times_of(shape):
    """Return the members of a shape with the time of its definition and of its last change."""
    names = [name for name, member in shape.members.items() if member.type_name == "timestamp"]
    return {name for name in names if name.startswith(("Create", "Creation", "LastMod", "LastUp"))}


@pytest.mark.rule("The API on a port", source="CATALOG")
def test_everything_defined_has_the_times_that_aws_returns(port, database):
    glue, of_table = port.glue, {"DatabaseName": database, "TableName": "t"}
    begin = datetime.now(UTC) - timedelta(seconds=1)  # answers have milliseconds
    port.job("timed")
    glue.create_database(DatabaseInput={"Name": "timed"})
    glue.create_table(DatabaseName=database, TableInput=table("t"))
    (port.home.lake / "lake/orders/year=2023/city=A").mkdir(parents=True, exist_ok=True)
    glue.create_partition(**of_table, PartitionInput={"Values": ["2024", "Rome"]})
    properties = {"JDBC_CONNECTION_URL": "jdbc:derby:x"}
    connection = {"Name": "timed", "ConnectionType": "JDBC", "ConnectionProperties": properties}
    glue.create_connection(ConnectionInput=connection)
    glue.create_workflow(Name="timed")
    glue.create_security_configuration(Name="timed", EncryptionConfiguration={})
    found = {
        "Database": glue.get_databases()["DatabaseList"],
        "Table": [glue.get_table(DatabaseName=database, Name="t")["Table"]],
        "Partition": glue.get_partitions(**of_table)["Partitions"],
        "Connection": [glue.get_connection(Name="timed")["Connection"]],
        "Job": [glue.get_job(JobName="timed")["Job"]],
        "Workflow": [glue.get_workflow(Name="timed")["Workflow"]],
        "SecurityConfiguration": glue.get_security_configurations()["SecurityConfigurations"],
    }
    model = glue.meta.service_model

    for shape, members in found.items():
        for member in members:
            assert times_of(model.shape_for(shape)) <= member.keys(), member
    made = glue.get_database(Name="timed")["Database"]["CreateTime"]
    assert begin <= made <= datetime.now(UTC)
    assert "default" in [one["Name"] for one in found["Database"]]
    (first,) = found["Connection"]
    glue.update_database(Name="timed", DatabaseInput={"Name": "timed", "Description": "new"})
    glue.update_connection(Name="timed", ConnectionInput=connection)
    second = glue.get_connection(Name="timed")["Connection"]
    assert glue.get_database(Name="timed")["Database"]["CreateTime"] == made
    assert second["CreationTime"] == first["CreationTime"] <= second["LastUpdatedTime"]
    glue.delete_connection(ConnectionName="timed")


def test_times_that_a_client_sets_are_returned_as_they_are(port, database):
    glue, of_table = port.glue, {"DatabaseName": database, "TableName": "timed"}
    times = {
        "LastAccessTime": datetime(2024, 5, 1, 12, 30, tzinfo=UTC),
        "LastAnalyzedTime": datetime(1969, 7, 20, tzinfo=UTC),
    }
    glue.create_table(DatabaseName=database, TableInput=table("timed", **times))
    glue.create_partition(**of_table, PartitionInput={"Values": ["2024", "a"], **times})

    returned = [
        glue.get_table(DatabaseName=database, Name="timed")["Table"],
        glue.get_table_versions(**of_table)["TableVersions"][0]["Table"],
        glue.get_partition(**of_table, PartitionValues=["2024", "a"])["Partition"],
    ]
    for found in returned:
        assert {name: found.get(name) for name in times} == times, found


@pytest.mark.parametrize("time", [1e18, 10**400, -1e308, 253_402_300_800, "2024-01-01", True, []])
def test_a_time_that_no_clock_shows_is_refused(time):
    operations = service_model("glue").operation_names
    tried = 0
    for operation in filter(None, (find_operation("glue", name) for name in operations)):
        for path in times_in(operation.input_shape):
            with pytest.raises(ServiceError, match="seconds since 1970") as caught:
                read_request(operation, json.dumps(nested(path, time)).encode())
            assert caught.value.code == "InvalidInputException"
            tried += 1

    assert tried > 10


def times_in(shape, path=()):
    """Yield the paths of the times in a shape; those in lists with a zero."""
    if shape is None or len(path) > 8:
        return
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            yield from times_in(member, (*path, name))
    elif shape.type_name == "list":
        yield from times_in(shape.member, (*path, 0))
    elif shape.type_name == "timestamp":
        yield path


def nested(path, value):
    for step in reversed(path):
        value = [value] if step == 0 else {step: value}
    return value


@pytest.mark.parametrize(
    "expression",
    [
        "nope = 1",
        "year = 1; DROP TABLE partitions",
        "(SELECT load_extension('x'))",
        "writefile('x', 'y')",
        "year IN (SELECT value FROM pragma_database_list)",
        "year =",
        "'",
        "year = 1 -- ",
    ],
)
def test_an_expression_that_is_none_is_refused_or_is_only_a_comparison(expression):
    keys = [("year", "int")]
    try:
        assert rows_that_match(expression, keys, [("1",), ("2",)]) == [0]
    except InvalidInputError as error:
        assert expression in str(error)  # noqa: PT017 (either is right)


def test_an_expression_that_takes_for_ever_ends(monkeypatch):
    monkeypatch.setattr("tidemark.glue_service.catalog_api.expressions.MAX_SECONDS", 0.2)
    rows = [(str(number),) for number in range(300)]
    endless = "1 = (SELECT count(*) FROM partitions a, partitions b, partitions c, partitions d)"

    with pytest.raises(InvalidInputError, match="interrupted"):
        rows_that_match(endless, [("year", "string")], rows)


def test_connections_are_defined_shown_without_password_and_deleted(port):
    glue = port.glue
    properties = {"JDBC_CONNECTION_URL": "jdbc:derby:x", "USERNAME": "u", "PASSWORD": "p"}
    definition = {
        "Name": "db",
        "ConnectionType": "JDBC",
        "ConnectionProperties": properties,
    }
    glue.create_connection(ConnectionInput=definition)

    shown = glue.get_connection(Name="db")["Connection"]
    hidden = glue.get_connection(Name="db", HidePassword=True)["Connection"]
    listed = glue.get_connections(Filter={"ConnectionType": "JDBC"})["ConnectionList"]

    assert shown["ConnectionProperties"] == properties
    assert set(hidden["ConnectionProperties"]) == {"JDBC_CONNECTION_URL", "USERNAME"}
    assert [one["Name"] for one in listed] == ["db"]
    assert glue.get_connections(Filter={"ConnectionType": "KAFKA"})["ConnectionList"] == []
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_connection(ConnectionInput=definition)
    answer = glue.batch_delete_connection(ConnectionNameList=["db", "x"])
    assert (answer["Succeeded"], list(answer["Errors"])) == (["db"], ["x"])
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.delete_connection(ConnectionName="db")


@pytest.mark.parametrize(
    ("members", "named"),
    [({"CatalogId": "1"}, "Catalog 1"), ({"TransactionId": "1"}, "TransactionId")],
)
def test_what_is_not_here_is_refused_by_name(port, database, members, named):
    with pytest.raises(port.glue.exceptions.ClientError, match=named):
        port.glue.create_table(DatabaseName=database, TableInput=table("no"), **members)
