"""A role that is there already gets, as deployed, what its job does and nothing else."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.deploy.cloud import Cloud
from tests.deploy.story import PROJECT

ROLE, FIXED, BUCKET, STACK = "acme-etl", "acme-fixed", "acme-lake", "given"
FOLDERS = ("in", "more", "secret")
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "glue.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}
# Two jobs with one role that the app changes, and one with a role that it must not change.
APP = """
import os, sys
from pathlib import Path
from tidemark.app import find_node
os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
import aws_cdk as cdk
from aws_cdk import aws_iam as iam, aws_kms as kms, aws_s3 as s3
from tidemark.constructs import BookmarkOption, Dataset, JobRuntime, Pipeline, StageConfig

out, project, account, region = sys.argv[1:]
app = cdk.App(analytics_reporting=False, outdir=out)
stack = cdk.Stack(
    app, "given", env=cdk.Environment(account=account, region=region),
    synthesizer=cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
)
arn = f"arn:aws:iam::{account}:role/"
role = iam.Role.from_role_arn(stack, "Role", arn + "acme-etl")
fixed = iam.Role.from_role_arn(stack, "Fixed", arn + "acme-fixed", mutable=False)
lake = s3.Bucket.from_bucket_name(stack, "Lake", "acme-lake")
key = kms.Key(stack, "Key")
pipeline = Pipeline(
    stack, "Orders", name="given-orders", root=Path(project), watermarks=None, key=key,
    stage=StageConfig("dev", account, region, None, JobRuntime()),
)
script = "glue_jobs/ingest_weather.py"
add = lambda name, role, folder: pipeline.add_job(
    name, script=script, bookmark=BookmarkOption.ENABLE, role=role,
    reads=[Dataset(lake, f"{folder}/", delivered=True)],
)
add("given-one", role, "in")
add("given-two", role, "more")
add("given-fixed", fixed, "in")
app.synth()
"""
Clients = Callable[[str], Any]


@pytest.fixture(scope="module")
def assembly(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the assembly of the app, which is deployed into an account that has the roles."""
    out = tmp_path_factory.mktemp("given")
    python = PROJECT / ".venv" / "bin" / "python"
    subprocess.run(
        [python, "-c", APP, out, PROJECT, cloud.account, cloud.region], cwd=PROJECT, check=True
    )
    iam, s3 = cloud.client("iam"), cloud.client("s3")
    for name in (ROLE, FIXED):
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(TRUST))
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": cloud.region})
    for folder in FOLDERS:
        s3.put_object(Bucket=BUCKET, Key=f"{folder}/1.csv", Body=b"1")
    cloudformation = cloud.client("cloudformation")
    template = (out / f"{STACK}.template.json").read_text(encoding="utf-8")
    cloudformation.create_stack(
        StackName=STACK, TemplateBody=template, Capabilities=["CAPABILITY_IAM"]
    )
    wait = {"Delay": 0.2, "MaxAttempts": 100}
    cloudformation.get_waiter("stack_create_complete").wait(StackName=STACK, WaiterConfig=wait)
    yield out
    cloudformation.delete_stack(StackName=STACK)
    cloudformation.get_waiter("stack_delete_complete").wait(StackName=STACK, WaiterConfig=wait)
    assert not iam.list_role_policies(RoleName=ROLE)["PolicyNames"]
    for folder in FOLDERS:
        s3.delete_object(Bucket=BUCKET, Key=f"{folder}/1.csv")
    s3.delete_bucket(Bucket=BUCKET)
    for name in (ROLE, FIXED):
        for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]:
            iam.delete_role_policy(RoleName=name, PolicyName=policy)
        iam.delete_role(RoleName=name)


@pytest.fixture
def run_as(assembly: Path, cloud: Cloud) -> Callable[[str], Clients]:
    """Return a function that returns the clients of a role."""

    def clients_of(role: str) -> Clients:
        run = cloud.client("sts").assume_role(
            RoleArn=f"arn:aws:iam::{cloud.account}:role/{role}", RoleSessionName="run"
        )
        return cloud.as_somebody(run["Credentials"])

    return clients_of


def readable(clients: Clients) -> list[str]:
    """Return the folders of the bucket whose file a role may read."""
    found = []
    for folder in FOLDERS:
        try:
            clients("s3").get_object(Bucket=BUCKET, Key=f"{folder}/1.csv")
        except ClientError as error:
            if error.response["Error"]["Code"] != "AccessDenied":
                raise
        else:
            found.append(folder)
    return found


def test_a_shared_role_may_do_what_both_of_its_jobs_declare_and_no_more(
    run_as: Callable[[str], Clients],
) -> None:
    assert readable(run_as(ROLE)) == ["in", "more"]


def test_each_job_runs_with_the_role_that_it_was_given(assembly: Path, cloud: Cloud) -> None:
    glue = cloud.client("glue")
    roles = {
        name: glue.get_job(JobName=name)["Job"]["Role"].rpartition("/")[2]
        for name in ("given-one", "given-two", "given-fixed")
    }

    assert roles == {"given-one": ROLE, "given-two": ROLE, "given-fixed": FIXED}


def test_a_role_that_the_app_must_not_change_is_enough_with_the_printed_policy(
    assembly: Path, run_as: Callable[[str], Clients], cloud: Cloud
) -> None:
    assert readable(run_as(FIXED)) == []

    tidemark = PROJECT / ".venv" / "bin" / "tidemark"
    command = [tidemark, "grants", "given-fixed", "--app", assembly]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cloud.client("iam").put_role_policy(
        RoleName=FIXED, PolicyName="printed", PolicyDocument=printed
    )

    assert readable(run_as(FIXED)) == ["in"]
