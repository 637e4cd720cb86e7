"""The simulation of IAM decides as IAM does, and refuses what it cannot decide."""

import pytest

from tests.e2e.simulation import grants, is_allowed, without

BUCKET = "arn:aws:s3:::lake"
LIST = {
    "Effect": "Allow",
    "Action": "s3:ListBucket",
    "Resource": BUCKET,
    "Condition": {"StringLikeIfExists": {"s3:prefix": ["flights", "flights/*"]}},
}
READ = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": [f"{BUCKET}/flights/*"]}
ROWS = {
    "Effect": "Allow",
    "Action": ["dynamodb:GetItem", "dynamodb:PutItem"],
    "Resource": "arn:table",
    "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["mine"]}},
}
METRICS = {
    "Effect": "Allow",
    "Action": "cloudwatch:PutMetricData",
    "Resource": "*",
    "Condition": {"StringEquals": {"cloudwatch:namespace": "Glue"}},
}
SECRET = {
    "Effect": "Allow",
    "Action": "secretsmanager:GetSecretValue",
    "Resource": "arn:secret:air-??????",
}
POLICY = [LIST, READ, ROWS, METRICS, SECRET]


@pytest.mark.parametrize(
    ("action", "resource", "context", "expected"),
    [
        ("s3:GetObject", f"{BUCKET}/flights/a/b.json", {}, True),
        ("s3:GetObject", f"{BUCKET}/flights", {}, False),
        ("s3:GetObject", f"{BUCKET}/flightsX/a", {}, False),
        ("s3:PutObject", f"{BUCKET}/flights/a", {}, False),
        ("s3:ListBucket", BUCKET, {"s3:prefix": ["flights/2013/"]}, True),
        ("s3:ListBucket", BUCKET, {"s3:prefix": ["weather/"]}, False),
        ("s3:ListBucket", BUCKET, {}, True),  # a HEAD request has no prefix
        ("dynamodb:GetItem", "arn:table", {"dynamodb:LeadingKeys": ["mine"]}, True),
        ("dynamodb:GetItem", "arn:table", {"dynamodb:LeadingKeys": ["mine", "theirs"]}, False),
        ("dynamodb:DeleteItem", "arn:table", {"dynamodb:LeadingKeys": ["mine"]}, False),
        ("cloudwatch:PutMetricData", "*", {"cloudwatch:namespace": ["Glue"]}, True),
        ("cloudwatch:PutMetricData", "*", {"cloudwatch:namespace": ["Mine"]}, False),
        ("cloudwatch:PutMetricData", "*", {}, False),
        ("secretsmanager:GetSecretValue", "arn:secret:air-a1b2c3", {}, True),
        ("secretsmanager:GetSecretValue", "arn:secret:air-more-a1b2c3", {}, False),
    ],
)
def test_a_request_is_allowed_by_action_resource_and_every_condition(
    action, resource, context, expected
):
    assert is_allowed(POLICY, action, resource, context) is expected


def test_one_grant_less_denies_that_grant_and_no_other():
    granted = list(grants(POLICY))
    assert granted[2:4] == [
        (2, "dynamodb:GetItem", "arn:table"),
        (2, "dynamodb:PutItem", "arn:table"),
    ]

    less = without(POLICY, granted[2])

    context = {"dynamodb:LeadingKeys": ["mine"]}
    assert not is_allowed(less, "dynamodb:GetItem", "arn:table", context)
    assert is_allowed(less, "dynamodb:PutItem", "arn:table", context)
    assert {grant[1:] for grant in grants(less)} == {grant[1:] for grant in granted} - {
        ("dynamodb:GetItem", "arn:table")
    }


@pytest.mark.parametrize(
    "statement",
    [
        {**READ, "Effect": "Deny"},
        {"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"},
        {"Effect": "Allow", "Action": "s3:GetObject", "NotResource": BUCKET},
        {**READ, "Condition": {"StringNotEquals": {"s3:prefix": "x"}}},
        {**READ, "Resource": f"{BUCKET}/${{aws:username}}/*"},
    ],
    ids=["deny", "not-action", "not-resource", "operator", "variable"],
)
def test_what_is_not_simulated_is_refused(statement):
    with pytest.raises(AssertionError, match=r"not simulated|does not know"):
        is_allowed([READ, statement], "s3:GetObject", f"{BUCKET}/flights/a", {"s3:prefix": ["x"]})
