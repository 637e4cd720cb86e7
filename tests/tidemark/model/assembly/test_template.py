"""Triggers, schedules, tables and connections of templates turned into definitions."""

from __future__ import annotations

import pytest

from tests.tidemark.model.assembly.templates import JOB, SCRIPT, read, read_resources
from tidemark.errors import UnsupportedError
from tidemark.model.assembly.definitions import Action, ScheduleDefinition, TriggerCondition
from tidemark.model.assembly.template import job_definition


def test_unnamed_resource_is_named_by_stack_and_logical_id_without_its_hash():
    deployment = read_resources(
        StorageRaw1A2B3C4D={"Type": "AWS::S3::Bucket"}, Plain={"Type": "AWS::S3::Bucket"}
    )

    assert deployment.buckets == ("app-storageraw", "app-plain")


def test_unnamed_resources_whose_short_names_collide_get_different_names():
    deployment = read_resources(
        Lake11111111={"Type": "AWS::S3::Bucket"}, Lake22222222={"Type": "AWS::S3::Bucket"}
    )

    assert deployment.buckets == ("app-lake", "app-lake22222222")


def test_stated_name_may_be_an_intrinsic_function():
    name = {"Fn::Join": ["-", ["lake", {"Ref": "AWS::AccountId"}]]}
    deployment = read_resources(
        Lake={"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}},
        Reader={
            "Type": "AWS::Glue::Job",
            "Properties": {
                "Name": {"Fn::Sub": "${AWS::StackName}-reader"},
                "Command": SCRIPT,
                "DefaultArguments": {"--source": {"Fn::Sub": "s3://${Lake}/"}},
            },
        },
    )

    assert deployment.buckets == ("lake-000000000000",)
    assert deployment.jobs["app-reader"].default_arguments == {
        "--source": "s3://lake-000000000000/"
    }


def test_resource_of_another_stack_is_reached_through_its_export():
    storage = {
        "Resources": {"Lake": {"Type": "AWS::S3::Bucket"}},
        "Outputs": {
            "Export": {"Value": {"Ref": "Lake"}, "Export": {"Name": "storage:LakeRef"}},
            "Plain": {"Value": {"Fn::GetAtt": ["Lake", "Arn"]}},
        },
    }
    command = {
        "Name": "glueetl",
        "ScriptLocation": {
            "Fn::Join": ["", ["s3://", {"Fn::ImportValue": "storage:LakeRef"}, "/job.py"]]
        },
    }
    job = {"Type": "AWS::Glue::Job", "Properties": {"Name": "ingest", "Command": command}}

    deployment = read(("storage", storage), ("pipeline", {"Resources": {"Job": job}}))

    assert deployment.jobs["ingest"].script_location == "s3://storage-lake/job.py"
    assert deployment.outputs == {
        "Export": "storage-lake",
        "Plain": "arn:aws:s3:::storage-lake",
    }


def test_conditional_trigger_keeps_its_predicate_and_its_arguments():
    deployment = read_resources(
        Flow={"Type": "AWS::Glue::Workflow", "Properties": {"Name": "flow"}},
        Next={
            "Type": "AWS::Glue::Trigger",
            "Properties": {
                "Name": "next",
                "Type": "CONDITIONAL",
                "WorkflowName": {"Ref": "Flow"},
                "StartOnCreation": True,
                "Actions": [{"JobName": {"Ref": "Job"}, "Arguments": {"--a": "1"}}],
                "Predicate": {
                    "Logical": "ANY",
                    "Conditions": [
                        {"JobName": "one", "LogicalOperator": "EQUALS", "State": "FAILED"},
                        {"JobName": "two", "LogicalOperator": "EQUALS", "State": "TIMEOUT"},
                    ],
                },
            },
        },
    )

    (trigger,) = deployment.triggers_of("flow")
    assert trigger.actions == (Action("ingest", {"--a": "1"}),)
    assert (trigger.logical, trigger.is_active) == ("ANY", True)
    assert trigger.conditions == (
        TriggerCondition("one", "FAILED"),
        TriggerCondition("two", "TIMEOUT"),
    )
    assert deployment.workflows == ("flow",)


@pytest.mark.parametrize(
    ("kind", "start", "is_active"),
    [
        ("CONDITIONAL", {}, False),
        ("CONDITIONAL", {"StartOnCreation": False}, False),
        ("SCHEDULED", {"StartOnCreation": True}, True),
        ("ON_DEMAND", {}, True),
    ],
    ids=["conditional by default", "conditional, off", "scheduled, on", "on demand"],
)
def test_trigger_is_active_only_if_started_on_creation(kind, start, is_active):
    properties = {"Name": "t", "Type": kind, "Actions": [{"JobName": "ingest"}], **start}

    deployment = read_resources(T={"Type": "AWS::Glue::Trigger", "Properties": properties})

    assert deployment.triggers[0].is_active is is_active


def schedule(**changes):
    target = {
        "Arn": {"Fn::Sub": "arn:${AWS::Partition}:scheduler:::aws-sdk:glue:startWorkflowRun"},
        "Input": {"Fn::Join": ["", ['{"Name": "', {"Ref": "Flow"}, '"}']]},
        "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
        "DeadLetterConfig": {"Arn": {"Fn::GetAtt": ["Queue", "Arn"]}},
    }
    properties = {"ScheduleExpression": "cron(0 6 * * ? *)", "Target": target, **changes}
    return {"Type": "AWS::Scheduler::Schedule", "Properties": properties}


def test_schedule_of_a_workflow_is_read_and_any_other_is_not_for_this_machine():
    deployment = read_resources(
        Flow={"Type": "AWS::Glue::Workflow", "Properties": {"Name": "flow"}},
        Queue={"Type": "AWS::SQS::Queue"},
        Daily=schedule(ScheduleExpressionTimezone="Europe/Berlin"),
        Utc=schedule(),
        Off=schedule(State="DISABLED"),
        ByEvent=schedule(
            Target={
                "Arn": {"Fn::Sub": "arn:aws:events:${AWS::Region}:1:event-bus/default"},
                "EventBridgeParameters": {"Source": "tidemark", "DetailType": "any"},
                "Input": '{"pipeline": "flow"}',
            }
        ),
        ToABus=schedule(
            Target={
                "Arn": "arn:aws:events:eu-west-1:1:event-bus/default",
                "EventBridgeParameters": {"Source": "acme", "DetailType": "any"},
                "Input": '{"pipeline": "flow"}',
            }
        ),
        OfAQueue=schedule(Target={"Arn": {"Fn::GetAtt": ["Queue", "Arn"]}, "Input": "{}"}),
        OfAnotherApi=schedule(Target={"Arn": "arn:aws:scheduler:::aws-sdk:glue:startJobRun"}),
        Broken=schedule(
            Target={"Arn": "arn:aws:scheduler:::aws-sdk:glue:startWorkflowRun", "Input": "flow"}
        ),
    )

    assert deployment.schedules == (
        ScheduleDefinition("flow", "cron(0 6 * * ? *)", "Europe/Berlin"),
        ScheduleDefinition("flow", "cron(0 6 * * ? *)"),
        ScheduleDefinition("flow", "cron(0 6 * * ? *)"),
    )


def test_table_becomes_the_request_that_creates_it():
    deployment = read_resources(
        Marks={
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "TableName": "glue-watermarks",
                "AttributeDefinitions": [{"AttributeName": "jobName", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "jobName", "KeyType": "HASH"}],
                "BillingMode": "PAY_PER_REQUEST",
                "TimeToLiveSpecification": {"AttributeName": "expiresAt", "Enabled": True},
                "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
                "DeletionProtectionEnabled": True,
            },
        }
    )

    (table,) = deployment.tables
    assert table.name == "glue-watermarks"
    assert table.ttl_attribute == "expiresAt"
    assert table.create_request == {
        "TableName": "glue-watermarks",
        "AttributeDefinitions": [{"AttributeName": "jobName", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "jobName", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }


def test_resources_that_do_not_run_here_are_not_resolved():
    alarm = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"Period": {"Fn::If": ["c", 1, 2]}}}

    assert list(read_resources(Alarm=alarm).jobs) == ["ingest"]


def test_glue_connections_become_connections_of_the_data_catalog():
    properties = {"JDBC_CONNECTION_URL": {"Fn::Sub": "jdbc:postgresql://db.${AWS::Region}/orders"}}
    named = {"Name": "orders-db", "ConnectionProperties": properties}
    deployment = read_resources(
        Orders={"Type": "AWS::Glue::Connection", "Properties": {"ConnectionInput": named}},
        Other={"Type": "AWS::Glue::Connection", "Properties": {"ConnectionInput": {}}},
    )

    connections = deployment.catalog_connections
    assert [connection.name for connection in connections] == ["orders-db", "app-other"]
    assert connections[0].jdbc_options()["url"].startswith("jdbc:postgresql://db.")


def test_glue_tables_become_tables_of_the_data_catalog():
    storage = {"Location": {"Fn::Sub": "s3://${Bucket}/flights/"}}
    deployment = read_resources(
        Bucket={"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "lake"}},
        Lake={"Type": "AWS::Glue::Database", "Properties": {"DatabaseInput": {"Name": "lake"}}},
        Other={"Type": "AWS::Glue::Database", "Properties": {"DatabaseInput": {}}},
        Flights={
            "Type": "AWS::Glue::Table",
            "Properties": {
                "CatalogId": {"Ref": "AWS::AccountId"},
                "DatabaseName": {"Ref": "Lake"},
                "TableInput": {"Name": "flights", "StorageDescriptor": storage},
            },
        },
        Twin={
            "Type": "AWS::Glue::Table",
            "Properties": {"DatabaseName": {"Ref": "Other"}, "TableInput": {"Name": "flights"}},
        },
        Unnamed={
            "Type": "AWS::Glue::Table",
            "Properties": {"DatabaseName": "lake", "TableInput": {}},
        },
    )

    names = [table.full_name for table in deployment.catalog_tables]
    assert names == ["lake.flights", "app-other.flights", "lake.app-unnamed"]
    assert deployment.catalog_tables[0].location == "s3://lake/flights/"


def test_a_parameter_of_ssm_is_not_taken_for_its_value():
    bucket = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/acme/bucket"}
    path = {"Fn::Join": ["", ["s3://", {"Ref": "Bucket"}, "/in/"]]}
    job = {**JOB, "Properties": {**JOB["Properties"], "DefaultArguments": {"--source": path}}}

    with pytest.raises(UnsupportedError, match="refers to 'Bucket', not known here"):
        read(("app", {"Parameters": {"Bucket": bucket}, "Resources": {"Job": job}}))


def test_a_watermark_table_that_is_named_by_its_arn_has_its_name_on_this_machine():
    arn = "arn:aws:dynamodb:eu-west-1:999999999999:table/theirs"
    properties = {
        "Command": {"ScriptLocation": "s3://scripts/job.py"},
        "DefaultArguments": {"--watermark_table": arn, "--other": arn},
    }

    job = job_definition("one", properties)

    assert job.default_arguments == {"--watermark_table": "theirs", "--other": arn}
