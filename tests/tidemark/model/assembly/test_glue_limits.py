"""What Glue's API refuses is refused of a template, by the limits that the port has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

from tidemark.model.assembly.glue_shapes import REQUESTS, shape_of
from tidemark.model.assembly.shape_limits import refused_by_glue

SPARK = {"Name": "glueetl"}
LIMITED = ("max", "min", "enum", "pattern")


def limited(shape: Shape, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Shape]]:
    """Yield the members with a limit of a shape: the path to each, [] for an item, and it."""
    if any(key in shape.metadata for key in LIMITED):
        yield path, shape
    if len(path) > 5:  # shapes that hold themselves
        return
    if isinstance(shape, StructureShape):
        for name, member in shape.members.items():
            yield from limited(member, (*path, name))
    elif isinstance(shape, ListShape):
        yield from limited(shape.member, (*path, "[]"))
    elif isinstance(shape, MapShape):
        yield from limited(shape.value, (*path, "key"))


def beyond(shape: Shape) -> Any:
    """Return a value that is beyond the first limit of a shape; None if that is hard to make."""
    most, is_text = shape.metadata.get("max"), isinstance(shape, StringShape)
    if shape.metadata.get("enum"):
        return "none of them"
    if most is not None and most < 1_000_000:
        if isinstance(shape, MapShape):
            return {f"k{number}": "v" for number in range(most + 1)}
        return "x" * (most + 1) if is_text else most + 1
    if shape.metadata.get("min", 0) > 0 and not isinstance(shape, MapShape):
        return "" if is_text else shape.metadata["min"] - 1
    return None


def nested(path: tuple[str, ...], value: Any) -> Any:
    for step in reversed(path):
        value = [value] if step == "[]" else {step: value}
    return value


CASES = [
    (kind, path, shape)
    for kind, name in REQUESTS.items()
    for path, shape in limited(shape_of(name))
    # CloudFormation has these in another form, or does not have them.
    if path[0] not in ("TransactionId", "CodeGenConfigurationNodes", "EncryptionConfiguration")
    and not isinstance(shape, ListShape)
    and beyond(shape) is not None
]


def test_every_limit_of_the_model_that_the_port_asks_is_asked_of_templates():
    back = {"RegistryName": "Name", "SchemaName": "Name"}
    silent = [
        (kind, path)
        for kind, path, shape in CASES
        if not refused_by_glue(kind, nested((back.get(path[0], path[0]), *path[1:]), beyond(shape)))
    ]

    assert silent == []
    assert len(CASES) > 150


def test_a_late_value_of_any_member_is_not_judged():
    for kind, path, _ in CASES:
        if kind != "AWS::Glue::Job":  # a job that has nothing else may be refused for that
            assert refused_by_glue(kind, nested(path, {"Ref": "Later"})) == [], (kind, path)


@pytest.mark.parametrize("type_", ["SNOWFLAKE", "REDSHIFT", "BIGQUERY", "OPENSEARCH", "JDBC"])
def test_a_connection_may_have_a_type_that_the_model_of_glue_does_not_list(type_):
    connection = {"ConnectionInput": {"Name": "a", "ConnectionType": type_}}

    assert refused_by_glue("AWS::Glue::Connection", connection) == []


@pytest.mark.parametrize(
    ("key", "is_right"),
    [("SparkProperties", True), ("CONNECTION_TYPE", True), ("SparkPropertys", False)],
)
def test_a_connection_says_its_settings_of_spark_as_one_property(key, is_right):
    connection = {"ConnectionType": "BIGQUERY", "ConnectionProperties": {key: '{"secretId": "x"}'}}

    faults = refused_by_glue("AWS::Glue::Connection", {"ConnectionInput": connection})

    assert (faults == []) is is_right


@pytest.mark.parametrize(
    ("kind", "properties", "named"),
    [
        (
            "AWS::Glue::Trigger",
            {"Name": ""},
            "Name is a string of 0 characters; allowed: at least 1",
        ),
        ("AWS::Glue::Trigger", {"Type": "HOURLY"}, "Type is"),
        (
            "AWS::Glue::Trigger",
            {"Predicate": {"Conditions": [{"JobName": "a", "State": "DONE"}]}},
            "Predicate.Conditions[0].State is",
        ),
        ("AWS::Glue::Trigger", {"Predicate": {"Logical": "OR"}}, "Predicate.Logical is"),
        ("AWS::Glue::Trigger", {"Description": "d" * 2_049}, "Description is a string of 2049"),
        (
            "AWS::Glue::Workflow",
            {"Tags": {f"k{n}": "v" for n in range(51)}},
            "Tags is a map of 51 entries; allowed: at most 50",
        ),
        ("AWS::Glue::Crawler", {"TablePrefix": "p" * 129}, "TablePrefix is a string of 129"),
        (
            "AWS::Glue::Connection",
            {"ConnectionInput": {"Name": "a", "ConnectionType": "ODBC"}},
            "ConnectionInput.ConnectionType is",
        ),
        ("AWS::Glue::Database", {"DatabaseInput": {"Name": "n" * 256}}, "DatabaseInput.Name is"),
        ("AWS::Glue::SecurityConfiguration", {"Name": "n" * 256}, "Name is a string of 256"),
    ],
)
def test_what_the_model_refuses_is_named(kind, properties, named):
    (fault,) = refused_by_glue(kind, properties)

    assert named in fault


@pytest.mark.parametrize(
    ("kind", "properties", "named"),
    [
        (
            "AWS::Glue::Table",
            {"TableInput": {"Parameters": {"projection.x.values": "x" * 512_001}}},
            "TableInput.Parameters.projection.x.values is a string of 512001 characters; allowed:",
        ),
        (
            "AWS::Glue::Table",
            {"TableInput": {"StorageDescriptor": {"Columns": [{}, {"Type": "s" * 131_073}]}}},
            "TableInput.StorageDescriptor.Columns[1].Type is a string of 131073 characters",
        ),
        (
            "AWS::Glue::Table",
            {"TableInput": {"PartitionKeys": [{"Comment": "c" * 256}]}},
            "TableInput.PartitionKeys[0].Comment is a string of 256 characters",
        ),
        (
            "AWS::Glue::Table",
            {"TableInput": {"Parameters": {"n" * 256: "x"}}},
            "of TableInput.Parameters is a string of 256 characters",
        ),
        (
            "AWS::Glue::Table",
            {"TableInput": {"PartitionKeys": [{"Name": "k", "Type": "array<int>"}]}},
            "the partition key 'k' has type 'array<int>'",
        ),
        ("AWS::Glue::Workflow", {"Name": "n" * 256}, "Name is a string of 256 characters"),
        (
            "AWS::Glue::Job",
            {"Command": SPARK, "Description": "d" * 2_049},
            "Description is a string of 2049 characters",
        ),
        (
            "AWS::Glue::Job",
            {"Command": SPARK, "ExecutionClass": "FLEX", "GlueVersion": "2.0"},
            "FLEX needs GlueVersion 3.0",
        ),
        (
            "AWS::Glue::Job",
            {
                "Command": {"Name": "pythonshell", "ScriptLocation": {"Fn::Sub": "s3://x"}},
                "Role": {"Fn::GetAtt": ["R", "Arn"]},
                "WorkerType": "G.1X",
                "NumberOfWorkers": 2,
            },
            "Worker Type is not supported for Job Command pythonshell",
        ),
    ],
)
def test_what_glue_refuses_is_named(kind, properties, named):
    (fault,) = refused_by_glue(kind, properties)

    assert named in fault


def test_what_only_a_deployment_knows_is_not_judged():
    late = {"Ref": "Given"}
    job = {"Command": {"Name": late}, "MaxRetries": late, "GlueVersion": late, "Timeout": late}
    job |= {"ExecutionProperty": {"MaxConcurrentRuns": {"Fn::Sub": "${Most}"}}}

    assert refused_by_glue("AWS::Glue::Job", {**job, "Description": late, "Role": late}) == []
    assert refused_by_glue("AWS::Glue::Table", {"TableInput": {"Parameters": late}}) == []


def test_numbers_may_be_written_as_texts():
    job = {"Command": SPARK, "Timeout": "10081", "MaxRetries": "1", "MaxCapacity": "2.5"}

    (timeout, capacity) = refused_by_glue("AWS::Glue::Job", job)
    assert "10081 minutes" in timeout
    assert "2.5" in capacity
