"""Jobs and crawlers of templates turned into definitions."""

from __future__ import annotations

import pytest

from tests.tidemark.model.assembly.templates import JOB, SCRIPT, read, read_resources
from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.assembly.cloud_assembly import Assembly, Stack
from tidemark.model.assembly.definitions import Action, JobDefinition
from tidemark.model.assembly.template import read_deployment


def test_job_has_what_its_properties_say():
    deployment = read_resources(
        Lake={"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "lake"}},
        Full={
            "Type": "AWS::Glue::Job",
            "Properties": {
                "Name": "full",
                "Command": {
                    "Name": "glueetl",
                    "ScriptLocation": {"Fn::Sub": "s3://${Lake}/full.py"},
                },
                "GlueVersion": "5.0",
                "DefaultArguments": {"--target": {"Fn::Join": ["", ["s3://", {"Ref": "Lake"}]]}},
                "NonOverridableArguments": {"--fixed": "1"},
                "Timeout": 30,
                "MaxRetries": 2,
                "ExecutionProperty": {"MaxConcurrentRuns": 3},
            },
        },
    )

    assert deployment.jobs["full"] == JobDefinition(
        name="full",
        script_location="s3://lake/full.py",
        glue_version="5.0",
        default_arguments={"--target": "s3://lake"},
        non_overridable_arguments={"--fixed": "1"},
        timeout_minutes=30,
        max_retries=2,
        max_concurrent_runs=3,
    )


def test_job_that_says_little_has_the_defaults_of_glue():
    assert read_resources().jobs["ingest"] == JobDefinition(
        name="ingest",
        script_location="s3://b/job.py",
        glue_version="6.0",
        timeout_minutes=480,
        max_retries=0,
        max_concurrent_runs=1,
    )


def test_two_jobs_of_one_name_are_refused():
    with pytest.raises(UsageError, match=r"two AWS::Glue::Job named 'ingest', .* stack b"):
        read(("a", {"Resources": {"Job": JOB}}), ("b", {"Resources": {"Job": JOB}}))


def test_assembly_without_a_glue_job_is_refused_with_its_stacks():
    bucket = {"Resources": {"Lake": {"Type": "AWS::S3::Bucket"}}}

    with pytest.raises(UsageError, match=r"no AWS::Glue::Job \(stacks: storage, empty\)"):
        read(("storage", bucket), ("empty", {}))
    with pytest.raises(UsageError, match=r"no AWS::Glue::Job \(stacks: none\)"):
        read()


@pytest.mark.parametrize(
    "properties",
    [
        {"Actions": [{"CrawlerName": "landing"}]},
        {
            "Actions": [{"JobName": "ingest"}],
            "Predicate": {"Conditions": [{"CrawlerName": "landing", "CrawlState": "SUCCEEDED"}]},
        },
    ],
    ids=["started", "watched"],
)
def test_a_crawler_is_a_node_of_its_own_name(properties):
    trigger = {
        "Type": "AWS::Glue::Trigger",
        "Properties": {"Name": "t", "Type": "CONDITIONAL", **properties},
    }

    (read_trigger,) = read_resources(Trigger=trigger).triggers
    named = [*read_trigger.actions, *read_trigger.conditions]
    assert "crawler landing" in [node.job_name for node in named]


def job_of(command, **properties):
    described = {"Name": command, "ScriptLocation": "s3://b/x.py", **properties.pop("Command", {})}
    return {"Type": "AWS::Glue::Job", "Properties": {"Command": described, **properties}}


def test_a_job_of_another_command_is_refused_by_it():
    with pytest.raises(UnsupportedError, match="job other has the command 'glueray'; only"):
        read_resources(Other=job_of("glueray", Name="other"))


def test_a_python_shell_job_is_read_whatever_its_version_of_glue():
    shell = job_of("pythonshell", Name="fetch", GlueVersion="3.0", Command={"PythonVersion": "3.9"})

    assert read_resources(Fetch=shell).jobs["fetch"].command == "pythonshell"


def test_a_python_shell_job_of_another_python_is_refused():
    with pytest.raises(UnsupportedError, match=r"job fetch has PythonVersion '3'; .* of 3\.9 run"):
        read_resources(Fetch=job_of("pythonshell", Name="fetch", Command={"PythonVersion": "3"}))


def test_a_streaming_job_is_named_and_no_job_that_runs_here():
    deployment = read_resources(Clicks=job_of("gluestreaming", Name="clicks", GlueVersion="6.0"))

    assert (list(deployment.jobs), deployment.streaming_jobs) == (["ingest"], ("clicks",))


def test_job_of_a_glue_version_with_another_spark_is_refused():
    other = {"Name": "other", "Command": SCRIPT, "GlueVersion": "4.0"}

    with pytest.raises(UnsupportedError, match=r"job other has GlueVersion 4\.0.*5\.0.*6\.0"):
        read_resources(Other={"Type": "AWS::Glue::Job", "Properties": other})


def test_a_trigger_of_several_jobs_keeps_what_it_sets_for_each():
    actions = [
        {"JobName": "ingest", "Timeout": "5", "NotificationProperty": {"NotifyDelayAfter": 2}},
        {"JobName": "other", "Arguments": {"--day": "7"}},
    ]
    trigger = {"Name": "t", "Type": "ON_DEMAND", "Actions": actions}

    (read,) = read_resources(Trigger={"Type": "AWS::Glue::Trigger", "Properties": trigger}).triggers

    assert read.actions == (Action("ingest", {}, 5), Action("other", {"--day": "7"}))


def test_what_a_trigger_sets_for_a_job_and_cannot_be_honoured_is_refused():
    actions = [{"JobName": "ingest", "SecurityConfiguration": "s"}]
    trigger = {"Name": "t", "Type": "ON_DEMAND", "Actions": actions}

    with pytest.raises(
        UnsupportedError, match="trigger t sets SecurityConfiguration for the job ingest"
    ):
        read_resources(Trigger={"Type": "AWS::Glue::Trigger", "Properties": trigger})


def test_the_same_job_in_two_stages_names_the_assembly_to_choose():
    stacks = tuple(Stack(f"{name}-app", {"Resources": {"Job": JOB}}) for name in ("dev", "prod"))
    assembly = Assembly(stacks, (), ("assembly-dev", "assembly-prod"))

    with pytest.raises(UsageError, match=r"two AWS::Glue::Job .*--app cdk.out/assembly-dev or cdk"):
        read_deployment(assembly, "eu-west-2")


def test_a_job_that_aws_upgrades_runs_on_the_newest_version():
    upgraded = {"Name": "other", "Command": SCRIPT, "GlueVersion": "auto", "MaxRetries": 1}

    jobs = read_resources(Other={"Type": "AWS::Glue::Job", "Properties": upgraded}).jobs

    assert jobs["other"].glue_version == "6.0"
