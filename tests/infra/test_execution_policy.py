"""docs/execution-policy.json, with which CloudFormation may make the stacks and little else."""

import json
from fnmatch import fnmatch

import pytest

from tests.fixtures.synthesis import ROOT, as_list

POLICY = json.loads((ROOT / "docs" / "execution-policy.json").read_text())
ALLOWED = [action for s in POLICY["Statement"] for action in as_list(s["Action"])]
# What a service calls its resources, where the action that makes one is not `Create<Resource>`.
MAKING = {
    "AWS::Budgets::Budget": "budgets:ModifyBudget",
    "AWS::CloudWatch::Alarm": "cloudwatch:PutMetricAlarm",
    "AWS::CloudWatch::Dashboard": "cloudwatch:PutDashboard",
    "AWS::Events::Rule": "events:PutRule",
    "AWS::IAM::ManagedPolicy": "iam:CreatePolicy",
    "AWS::S3::BucketPolicy": "s3:PutBucketPolicy",
    "AWS::SNS::Subscription": "sns:Subscribe",
    "AWS::SNS::TopicPolicy": "sns:SetTopicAttributes",
    "AWS::SQS::QueuePolicy": "sqs:SetQueueAttributes",
}
# Those that other settings, or a wide job, add to the sample.
MORE = {"AWS::Budgets::Budget", "AWS::SNS::Subscription", "AWS::IAM::ManagedPolicy"}
MORE |= {"AWS::Glue::Crawler", "AWS::Glue::DataQualityRuleset", "AWS::Glue::TableOptimizer"}


@pytest.mark.nightly
@pytest.mark.synth
def test_it_can_make_and_describe_every_type_of_the_templates(assembly):
    types = MORE | {resource["Type"] for resource in assembly.resources().values()}

    for type_ in types:
        _, service, resource = type_.lower().split("::")
        making = MAKING.get(type_, f"{service}:create{resource}").lower()
        assert any(fnmatch(making, action.lower()) for action in ALLOWED), type_


def test_it_reads_no_data_and_makes_no_administrator():
    refused = ("s3:GetObject", "s3:PutObject", "kms:Decrypt", "dynamodb:GetItem", "dynamodb:Scan")
    refused += ("secretsmanager:GetSecretValue", "glue:StartJobRun", "iam:CreateUser")

    for action in refused:
        assert not any(fnmatch(action, allowed) for allowed in ALLOWED), action
    for statement in POLICY["Statement"]:
        if any(action.startswith("iam:") for action in as_list(statement["Action"])):
            assert all("/tidemark-*" in arn for arn in as_list(statement["Resource"]))
    (attach,) = (s for s in POLICY["Statement"] if "iam:AttachRolePolicy" in s["Action"])
    assert "policy/tidemark-*" in json.dumps(attach["Condition"])
    (passing,) = (s for s in POLICY["Statement"] if s["Action"] == "iam:PassRole")
    (services,) = passing["Condition"]["StringEquals"].values()
    assert services == ["events.amazonaws.com", "glue.amazonaws.com", "scheduler.amazonaws.com"]


def test_it_fits_into_a_managed_policy():
    assert len(json.dumps(POLICY, separators=(",", ":"))) <= 6_144


def test_bootstrap_passes_on_what_bounds_the_deployment():
    makefile = (ROOT / "Makefile").read_text()
    recipe = makefile.partition("\nbootstrap: ")[2].partition("\n\n")[0]

    for option, variable in (
        ("--cloudformation-execution-policies", "EXECUTION_POLICIES"),
        ("--custom-permissions-boundary", "DEPLOYMENT_BOUNDARY"),
    ):
        assert f"$(if $({variable}),{option} '$({variable})')" in recipe
