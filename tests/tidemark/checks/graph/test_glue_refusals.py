"""Resources of a template that AWS refuses, or that lose watermarks: on plain templates."""

import pytest

from tidemark.checks.graph.glue_refusals import problems_of_resources

KEYS = [
    {"AttributeName": "jobName", "KeyType": "HASH"},
    {"AttributeName": "runId", "KeyType": "RANGE"},
]


def rules(resource):
    """Return the rules that one resource breaks."""
    return [
        problem.rule for problem in problems_of_resources({"s": {"Resources": {"R": resource}}})
    ]


@pytest.mark.parametrize(
    ("tags", "is_wrong"),
    [
        ({"aws:team": "x"}, True),
        ([{"Key": "AWS:team", "Value": "x"}], True),
        ({"team": "aws:x"}, False),
        ([{"Key": "awsome", "Value": "x"}], False),
        ({"Fn::If": ["A", [], []]}, False),
    ],
)
def test_a_tag_of_aws_is_refused_wherever_it_stands(tags, is_wrong):
    made = {"Type": "AWS::SQS::Queue", "Properties": {"Tags": tags}}

    assert rules(made) == (["reserved-tag"] if is_wrong else [])


@pytest.mark.parametrize("kind", ["Table", "GlobalTable"])
@pytest.mark.parametrize(
    ("changes", "policy", "is_wrong"),
    [
        ({}, "Delete", True),
        ({}, None, True),
        ({}, "Retain", False),
        ({}, "RetainExceptOnCreate", False),
        ({"DeletionProtectionEnabled": True}, "Delete", False),
        ({"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}, "Delete", False),
    ],
)
def test_a_table_of_watermarks_that_goes_with_its_stack_is_told(kind, changes, policy, is_wrong):
    made = {"Type": f"AWS::DynamoDB::{kind}", "Properties": {"KeySchema": KEYS, **changes}}
    made |= {"DeletionPolicy": policy} if policy else {}

    assert rules(made) == (["watermark-table-unprotected"] if is_wrong else [])
