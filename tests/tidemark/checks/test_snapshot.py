"""The files of a snapshot: a new job adds its own and changes no other."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.checks.snapshot import read, snapshots, stack_files, write
from tidemark.model.assembly.cloud_assembly import Assembly, Stack

NAMES = st.lists(
    st.from_regex(r"[a-z]{2,6}(-[a-z]{2,6}){0,2}", fullmatch=True), unique=True, min_size=2
)


def id_of(job: str) -> str:
    return "Flow" + "".join(word.capitalize() for word in job.split("-"))


def stack(jobs: list[str]) -> dict:
    """Return a stack as the constructs write it, with what lists all of its jobs."""
    resources: dict[str, dict] = {
        "FlowStart01234567": {
            "Type": "AWS::Glue::Trigger",
            "Properties": {
                "Type": "ON_DEMAND",
                "Actions": [{"JobName": {"Ref": f"{id_of(job)}ABCDEF01"}} for job in jobs],
            },
            "DependsOn": [f"{id_of(job)}TriggerABCDEF03" for job in jobs],
        },
        "FlowRule01234567": {
            "Type": "AWS::Events::Rule",
            "Properties": {"EventPattern": {"detail": {"jobName": list(jobs)}}},
        },
        "FlowDashboard01234567": {
            "Type": "AWS::CloudWatch::Dashboard",
            "Properties": {"DashboardBody": json.dumps(jobs), "DashboardName": "flow"},
        },
    }
    for job in jobs:
        resources[f"{id_of(job)}ABCDEF01"] = {
            "Type": "AWS::Glue::Job",
            "Properties": {
                "Name": job,
                "Role": {"Fn::GetAtt": [f"{id_of(job)}RoleABCDEF02", "Arn"]},
            },
        }
        resources[f"{id_of(job)}RoleABCDEF02"] = {"Type": "AWS::IAM::Role", "Properties": {}}
        resources[f"{id_of(job)}TriggerABCDEF03"] = {"Type": "AWS::Glue::Trigger", "Properties": {}}
    return {"Resources": resources}


def has_prefix(names: list[str]) -> bool:
    ids = [id_of(name) for name in names]
    return any(a != b and a.startswith(b) for a in ids for b in ids)


@given(NAMES.filter(lambda names: not has_prefix(names)))
def test_a_new_job_adds_its_own_file_and_changes_no_other(names):
    before = stack_files(stack(names[:-1]), {})

    after = stack_files(stack(names), {})

    assert after.keys() - before.keys() == {f"{names[-1]}.txt"}
    assert {name: after[name] for name in before} == before
    assert after[f"{names[-1]}.txt"].splitlines()[-3:] == [
        "named in:",
        "  - FlowRule01234567.Properties.EventPattern.detail.jobName",
        "  - FlowStart01234567.Properties.Actions",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"Ref": "Key01234567"}, "${Key01234567}"),
        ({"Fn::GetAtt": ["Key01234567", "Arn"]}, "${Key01234567.Arn}"),
        ({"Fn::Join": ["/", ["s3:/", {"Ref": "Raw"}, "x"]]}, "s3://${Raw}/x"),
        ({"Fn::ImportValue": {"Fn::Sub": "storage:Key"}}, "${import storage:Key}"),
        (f"s3://assets/{'0' * 64}.zip", "s3://assets/<asset Libs>.zip"),
        (f"s3://assets/{'1' * 64}.zip", "s3://assets/<asset unknown>.zip"),
        (True, "true"),
        ([], "[]"),
    ],
)
def test_a_value_is_one_line(value, text):
    resource = {"Type": "AWS::S3::Bucket", "Properties": {"Name": value}}

    files = stack_files({"Resources": {"Raw01234567": resource}}, {"0" * 64: "Libs"})

    assert files == {
        "_stack.txt": f"AWS::S3::Bucket Raw01234567:\n  Properties:\n    Name: {text}\n"
    }


def test_a_job_named_stack_has_a_file_of_its_own():
    files = stack_files(stack(["stack", "other"]), {})

    assert files.keys() == {"_stack.txt", "stack.txt", "other.txt"}
    assert "Name: stack" in files["stack.txt"]


def test_the_order_of_a_list_counts_but_for_the_resources_of_a_statement():
    def shown(key, items):
        resource = {"Type": "AWS::S3::Bucket", "Properties": {key: items}}
        return stack_files({"Resources": {"Raw01234567": resource}}, {})

    assert shown("Steps", ["b", "a"]) != shown("Steps", ["a", "b"])
    assert shown("Resource", ["b", "a"]) == shown("Resource", ["a", "b"])


def test_tags_are_one_line():
    tags = [{"Key": "team", "Value": "x"}, {"Key": "stage", "Value": "dev"}]
    resource = {"Type": "AWS::S3::Bucket", "Properties": {"Tags": tags}}

    files = stack_files({"Resources": {"Raw01234567": resource}}, {})

    assert "    Tags: team=x, stage=dev\n" in files["_stack.txt"]


def test_the_stacks_of_a_nested_assembly_are_in_it():
    nested = Stack("dev-flow", stack(["one", "two"]))

    files = snapshots(Assembly((nested,), ()))

    assert files.keys() == {"dev-flow/_stack.txt", "dev-flow/one.txt", "dev-flow/two.txt"}


def of_stage(stage, *jobs):
    """Return the files of a stack of a stage."""
    files = {f"{stage}-flow/{job}.txt": f"{job}\n" for job in jobs}
    return {f"{stage}-flow/_stack.txt": f"Tags: a=b, tidemark:stage={stage}, c=d\n", **files}


def test_files_are_written_and_removed_with_their_jobs(tmp_path):
    write(tmp_path, of_stage("dev", "one", "two"))
    after = {**of_stage("dev", "one", "three"), "dev-flow/one.txt": "1\n"}

    done = write(tmp_path, after)

    assert done == {
        "dev-flow/one.txt": "updated",
        "dev-flow/three.txt": "updated",
        "dev-flow/two.txt": "removed",
    }
    assert read(tmp_path, after) == after
    assert write(tmp_path, after) == {}


def test_what_is_of_others_is_left_alone(tmp_path):
    """Files of a team's own beside the snapshots, and the snapshots of another stage."""
    own = {"mine.txt": "mine\n", "test_api/expected.txt": "1\n", "dev-flow/deep/a.txt": "1\n"}
    for name, text in own.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    write(tmp_path, of_stage("prod", "one"))

    assert set(write(tmp_path, of_stage("dev", "one")).values()) == {"updated"}
    assert write(tmp_path, of_stage("dev", "one")) == {}

    kept = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.txt")}
    assert kept == {*own, *of_stage("prod", "one"), *of_stage("dev", "one")}


def test_a_stack_that_the_stage_has_no_more_is_removed(tmp_path):
    gone = {"dev-gone/_stack.txt": "tidemark:stage=dev\n", "dev-gone/job.txt": "x\n"}
    write(tmp_path, {**gone, **of_stage("dev", "one")})

    assert write(tmp_path, of_stage("dev", "one")) == dict.fromkeys(gone, "removed")
