"""What Glue's API refuses is refused of a template, by the limits that the port has."""

from __future__ import annotations

import botocore.session
import pytest

from tidemark.assembly.glue_limits import LIMITS, LONGEST_VALUE, refused_by_glue

REQUESTS = {  # shape of botocore's model whose members a resource has
    "AWS::Glue::Job": "CreateJobRequest",
    "AWS::Glue::Crawler": "CreateCrawlerRequest",
    "AWS::Glue::Trigger": "CreateTriggerRequest",
    "AWS::Glue::Workflow": "CreateWorkflowRequest",
    "AWS::Glue::Connection": "CreateConnectionRequest",
    "AWS::Glue::Database": "CreateDatabaseRequest",
    "AWS::Glue::Table": "CreateTableRequest",
}
SPARK = {"Name": "glueetl"}


@pytest.fixture(scope="module")
def model():
    return botocore.session.get_session().get_service_model("glue")


@pytest.mark.parametrize("kind", LIMITS)
def test_the_limits_are_those_of_the_model_that_the_port_asks(model, kind):
    for path, most in LIMITS[kind].items():
        shape = model.shape_for(REQUESTS[kind])
        for step in path.split("."):
            shape = shape.members[step.removesuffix("[]")]
            shape = shape.member if step.endswith("[]") else shape
        assert (path, shape.metadata["max"]) == (path, most)


def test_the_limit_of_a_parameter_is_that_of_the_model(model):
    assert (
        model.shape_for("TableInput").members["Parameters"].value.metadata["max"] == LONGEST_VALUE
    )


@pytest.mark.parametrize(
    ("kind", "properties", "named"),
    [
        (
            "AWS::Glue::Table",
            {"TableInput": {"Parameters": {"projection.x.values": "x" * 512_001}}},
            "TableInput.Parameters.projection.x.values has 512,001 characters; allowed: up to",
        ),
        (
            "AWS::Glue::Table",
            {"TableInput": {"StorageDescriptor": {"Columns": [{}, {"Type": "s" * 131_073}]}}},
            "TableInput.StorageDescriptor.Columns[1].Type has 131,073 characters",
        ),
        (
            "AWS::Glue::Table",
            {"TableInput": {"PartitionKeys": [{"Comment": "c" * 256}]}},
            "TableInput.PartitionKeys[0].Comment has 256 characters",
        ),
        (
            "AWS::Glue::Table",
            {"TableInput": {"Parameters": {"n" * 256: "x"}}},
            "a name of TableInput.Parameters has 256",
        ),
        (
            "AWS::Glue::Table",
            {"TableInput": {"PartitionKeys": [{"Name": "k", "Type": "array<int>"}]}},
            "the partition key 'k' has type 'array<int>'",
        ),
        ("AWS::Glue::Workflow", {"Name": "n" * 256}, "Name has 256 characters"),
        (
            "AWS::Glue::Job",
            {"Command": SPARK, "Description": "d" * 2_049},
            "Description has 2,049 characters",
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
