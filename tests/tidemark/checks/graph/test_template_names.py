"""Names and lists that only a deployment knows: equal where they will be, and never a crash."""

import pytest

from tidemark.checks.graph.rules import problems
from tidemark.checks.graph.template import read_graph

TRIGGER, JOB, WORKFLOW = "AWS::Glue::Trigger", "AWS::Glue::Job", "AWS::Glue::Workflow"
IMPORTED = {"Fn::ImportValue": "theirs-Data"}
NO_VALUE = {"Ref": "AWS::NoValue"}


def joined(*parts):
    return {"Fn::Join": ["", ["s3://", *parts, "/x/"]]}


def stack(name, *uris, bucket=None):
    """Return a template with a workflow that starts one job per address, which the job writes."""
    jobs = {
        f"Job{number}": {
            "Type": JOB,
            "Properties": {"Name": f"{name}-{number}"},
            "Metadata": {"Tidemark": {"writes": [{"uri": uri, "published": True}]}},
        }
        for number, uri in enumerate(uris)
    }
    start = {
        "Type": TRIGGER,
        "Properties": {
            "Name": f"{name}-start",
            "Type": "ON_DEMAND",
            "WorkflowName": name,
            "Actions": [{"JobName": job["Properties"]["Name"]} for job in jobs.values()],
        },
    }
    flow = {"Type": WORKFLOW, "Properties": {"Name": name}}
    named = {"Lake": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": bucket}}}
    return {"Resources": jobs | {"Start": start, "Flow": flow} | (named if bucket else {})}


def rules_of(**templates):
    return [problem.rule for problem in problems(read_graph(templates))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (IMPORTED, IMPORTED),
        ({"Fn::Join": ["", ["data-", {"Ref": "AWS::AccountId"}]]},) * 2,
        ({"Fn::Sub": "data-${AWS::AccountId}"},) * 2,
        (
            {"Fn::Sub": "data-${AWS::AccountId}-${AWS::Region}"},
            {
                "Fn::Join": [
                    "-",
                    ["data", {"Ref": "AWS::AccountId"}, {"Ref": "AWS::Region"}],
                ]
            },
        ),
    ],
    ids=["an export of others", "joined account", "substituted account", "both forms"],
)
def test_a_bucket_that_two_stacks_name_alike_is_one(one, other):
    found = rules_of(a=stack("a", joined(one)), b=stack("b", joined(other)))

    assert found == ["two-writers"]


def test_a_parameter_of_another_stack_is_another_bucket():
    ref = joined({"Ref": "Bucket"})

    assert rules_of(a=stack("a", ref), b=stack("b", ref)) == []
    assert rules_of(a=stack("a", ref, ref)) == ["two-writers"]


def test_a_bucket_is_one_by_its_own_name_and_by_its_reference():
    template = stack("a", joined({"Ref": "Lake"}), "s3://lake/x/", bucket="lake")

    assert rules_of(a=template) == ["two-writers"]


CHOSEN = {"Fn::If": ["InUse", {"JobName": "a-1"}, NO_VALUE]}
DONE = {"JobName": "a-0", "State": "SUCCEEDED", "LogicalOperator": "EQUALS"}


@pytest.mark.parametrize(
    "changes",
    [
        {"Actions": [CHOSEN]},
        {"Actions": {"Fn::If": ["InUse", [{"JobName": "a-1"}], NO_VALUE]}},
        {"Actions": [{"JobName": "a-1"}, NO_VALUE]},
        {"Predicate": {"Fn::If": ["InUse", {"Conditions": [DONE]}, NO_VALUE]}},
        {"Predicate": {"Conditions": {"Fn::If": ["InUse", NO_VALUE, [DONE]]}}},
        {"Predicate": {"Conditions": [{"Fn::If": ["InUse", DONE, NO_VALUE]}]}},
        {"Predicate": {"Fn::FindInMap": ["A", "B", "C"]}},
        {"Predicate": {"Conditions": {"Fn::FindInMap": ["A", "B", "C"]}}},
        {"Actions": [{"Fn::FindInMap": ["A", "B", "C"]}]},
        {"Predicate": {"Conditions": [{**DONE, "State": {"Ref": "State"}}]}},
    ],
)
def test_a_trigger_that_a_condition_of_the_template_shapes_is_right(changes):
    template = stack("a", "s3://lake/x/", "s3://lake/y/")
    resources = template["Resources"]
    resources["Start"]["Properties"]["Actions"] = [{"JobName": "a-0"}]
    resources["After"] = {
        "Type": TRIGGER,
        "Properties": {
            "Name": "after",
            "Type": "CONDITIONAL",
            "StartOnCreation": True,
            "WorkflowName": "a",
            "Predicate": {"Conditions": [DONE]},
            "Actions": [{"JobName": "a-1"}],
            **changes,
        },
    }

    assert rules_of(a=template) == []


IN_USE = {"Fn::If": ["InUse", {"Path": "s3://lake/x/"}, NO_VALUE]}


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        ("AWS::Glue::Crawler", {"Targets": {"S3Targets": [IN_USE]}}),
        ("AWS::Glue::Crawler", {"Targets": {"S3Targets": {"Fn::If": ["InUse", [], NO_VALUE]}}}),
        ("AWS::Glue::Crawler", {"Targets": {"CatalogTargets": {"Ref": "Targets"}}}),
        ("AWS::Glue::TableOptimizer", {"Type": {"Ref": "Kind"}}),
        ("AWS::Glue::Job", {"MaxRetries": {"Ref": "Retries"}}),
        ("AWS::Glue::Job", {"ExecutionProperty": {"MaxConcurrentRuns": "many"}}),
    ],
)
def test_a_resource_by_hand_whose_values_only_a_deployment_knows_is_left_to_it(kind, properties):
    template = stack("a", "s3://lake/x/")
    template["Resources"]["ByHand"] = {"Type": kind, "Properties": properties}

    assert rules_of(a=template) == []


def test_a_schedule_made_by_hand_may_be_of_one_time():
    template = stack("a", "s3://lake/x/")
    template["Resources"]["Timer"] = {
        "Type": "AWS::Scheduler::Schedule",
        "Properties": {
            "ScheduleExpression": "at(2099-01-01T06:00:00)",
            "Target": {
                "Arn": "arn:aws:scheduler:::aws-sdk:glue:startWorkflowRun",
                "Input": '{"Name": "a"}',
            },
        },
    }

    assert rules_of(a=template) == []


def test_arguments_that_no_start_can_change_count_too():
    template = stack("one", "s3://lake/x/")
    job = template["Resources"]["Job0"]["Properties"]
    job["DefaultArguments"] = {"--job-bookmark-option": "job-bookmark-disable"}
    job["NonOverridableArguments"] = {
        "--job-bookmark-option": "job-bookmark-enable",
        "--spark-event-logs-path": "s3://lake/x/logs/",
    }
    job["ExecutionProperty"] = {"MaxConcurrentRuns": 2}

    assert {"bookmark-concurrent", "temp-overlaps"} <= set(rules_of(stack=template))
