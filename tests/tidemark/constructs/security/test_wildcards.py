"""Each reason names the actions of the statement that it excuses; what is wider has none."""

import json

import pytest

from tidemark.constructs.security.wildcard_reasons import WILDCARDS
from tidemark.constructs.security.wildcards import reasons_of

LOGS = "arn:aws:logs:eu-west-1:123456789012:log-group:"
EC2 = "arn:aws:ec2:eu-west-1:123456789012:"
SHARED = "arn:aws:ec2:eu-west-1:*:"  # of the account that shares the VPC
INTERFACES = f"{EC2}network-interface/*"
WRITE_LOGS = "logs:PutLogEvents"
SUBNET = {"ArnEquals": {"ec2:Subnet": [f"{SHARED}subnet/subnet-1"]}}
TAGGED = {
    "ForAllValues:StringEquals": {"aws:TagKeys": ["aws-glue-service-resource"]},
    "Null": {"aws:TagKeys": "false"},
}
GLUE_ONLY = {"StringEquals": {"cloudwatch:namespace": "Glue"}}


def allow(action, resource, condition=None):
    statement = {"Effect": "Allow", "Action": action, "Resource": resource}
    return statement | ({"Condition": condition} if condition else {})


def reasons(*statements):
    return reasons_of({"Version": "2012-10-17", "Statement": list(statements)})


@pytest.mark.parametrize(
    ("action", "resource", "condition"),
    [
        ("s3:GetObject", "arn:aws:s3:::lake/orders/*", None),
        ("s3:PutObject", {"Fn::Join": ["", [{"Fn::GetAtt": ["Raw", "Arn"]}, "/x/*"]]}, None),
        (WRITE_LOGS, f"{LOGS}/aws-glue/jobs/tidemark-dev-orders/*", None),
        (WRITE_LOGS, f"{LOGS}/aws-glue/python-jobs/tidemark-dev-orders-role/*", None),
        (WRITE_LOGS, f"{LOGS}/aws-glue/crawlers-role/*-tidemark-dev-orders:*", None),
        ("cloudwatch:PutMetricData", "*", GLUE_ONLY),
        ("ec2:DescribeSubnets", "*", None),
        ("ec2:DeleteNetworkInterface", INTERFACES, SUBNET),
        ("ec2:DeleteNetworkInterface", INTERFACES, None),
        ("ec2:CreateTags", INTERFACES, TAGGED),
    ],
)
def test_what_the_constructs_allow_has_a_reason_that_names_the_action(action, resource, condition):
    ((_, reason),) = reasons(allow(action, resource, condition)).items()

    assert reason.startswith(f"{action}: ")


@pytest.mark.parametrize(
    ("action", "resource", "condition"),
    [
        ("s3:GetObject", "*", None),
        ("s3:GetObject", "arn:aws:s3:::lake/*", None),  # a whole bucket
        ("s3:GetObject", "arn:aws:s3:::*/orders/*", None),
        ("s3:*", "arn:aws:s3:::lake/orders/*", None),
        ("s3:PutObjectAcl", "arn:aws:s3:::lake/orders/*", None),
        (WRITE_LOGS, f"{LOGS}/aws-glue/*", None),
        (WRITE_LOGS, f"{LOGS}/aws-glue/jobs/*", None),
        (WRITE_LOGS, f"{LOGS}/aws-glue/python-jobs/*", None),
        (WRITE_LOGS, f"{LOGS}/aws-glue/crawlers-role/*", None),
        ("logs:DeleteLogGroup", f"{LOGS}/aws-glue/jobs/tidemark-dev-orders/*", None),
        ("cloudwatch:PutMetricData", "*", None),
        ("cloudwatch:PutMetricData", "*", {"StringEquals": {"cloudwatch:namespace": "AWS/S3"}}),
        ("ec2:CreateNetworkInterface", "*", None),
        ("ec2:DescribeVpcAttribute", "*", None),
        ("ec2:DeleteNetworkInterface", "*", SUBNET),
        ("ec2:CreateTags", INTERFACES, None),
        ("ec2:CreateTags", INTERFACES, {k: v for k, v in TAGGED.items() if k != "Null"}),
        ("ec2:CreateTags", "*", TAGGED),
        ("iam:PassRole", "*", None),
        ("glue:GetTable", "arn:aws:glue:eu-west-1:123456789012:table/*", None),
    ],
)
def test_what_is_wider_has_none(action, resource, condition):
    assert reasons(allow(action, resource, condition)) == {}


def test_one_action_without_a_reason_takes_the_reason_from_its_resource():
    known = allow("ec2:DescribeSubnets", "*")

    assert reasons(known).keys() == {"*"}
    assert reasons(known, allow("s3:GetObject", "*")) == {}
    assert reasons(known, allow(["ec2:DescribeVpcs"], ["*"])) == {}


def test_the_reason_for_all_resources_goes_action_by_action():
    given = [
        allow("cloudwatch:PutMetricData", "*", GLUE_ONLY),
        allow(["ec2:DescribeSubnets", "ec2:DescribeRouteTables"], "*"),
    ]

    parts = reasons(*given)["*"].split("; ")

    assert [part.partition(": ")[0] for part in parts] == [
        "cloudwatch:PutMetricData",
        "ec2:DescribeRouteTables, ec2:DescribeSubnets",
    ]


def test_only_a_statement_that_names_subnets_is_said_to_do_so():
    known = [INTERFACES, f"{SHARED}subnet/subnet-1", f"{SHARED}security-group/sg-1"]
    unknown = [INTERFACES, f"{SHARED}subnet/*", f"{SHARED}security-group/*"]

    bound = reasons(allow("ec2:CreateNetworkInterface", known))
    free = reasons(allow("ec2:CreateNetworkInterface", unknown))

    assert bound.keys() == set(known)  # the account of a part of a VPC is a wildcard
    assert "subnets of the connections" not in bound[known[1]]
    assert "names the subnets" in bound[INTERFACES]
    assert free.keys() == set(unknown)
    assert "names the subnets" not in json.dumps(free)


def test_a_refusal_needs_no_reason_and_gives_none():
    deny = {"Effect": "Deny", "Action": "s3:*", "Resource": "*"}

    assert reasons(deny) == {}


def test_no_reason_is_for_an_action_with_a_wildcard():
    actions = [action for one in WILDCARDS for action in one.actions]

    assert actions
    assert not [action for action in actions if "*" in action]
