"""Rules of EventBridge that start a workflow start the pipeline, once its step says so."""

from __future__ import annotations

import json
from dataclasses import replace

import boto3
import pytest
from moto import mock_aws

from tidemark.adopt.adoption import adopt
from tidemark.adopt.model import AdoptedEvent, Existing
from tidemark.adopt.plan.code import stack_of
from tidemark.adopt.plan.migration import steps_of
from tidemark.adopt.sources.account_surroundings import read_roles, read_rules, workflows_by_event

PATTERN = {"source": ["acme.shop"], "detail-type": ["Day Closed"]}
RULE = {"Name": "closed", "EventPattern": json.dumps(PATTERN), "State": "ENABLED"}
ARN = "arn:aws:glue:eu-west-1:123456789012:workflow/nightly"
START = {
    "Name": "start",
    "Type": "EVENT",
    "WorkflowName": "nightly",
    "Actions": [{"JobName": "orders"}],
    "EventBatchingCondition": {"BatchSize": 10, "BatchWindow": 300},
}


def found_with(*rules, start=START):
    jobs = {"orders": {"Name": "orders", "Command": {"Name": "glueetl"}}}
    return Existing("", jobs, {"start": start}, {"Name": "nightly"}, rules={"nightly": rules})


def test_a_rule_becomes_a_start_with_the_batch_of_the_trigger():
    found = found_with(RULE)

    adoption = adopt(found)

    assert adoption.events == (AdoptedEvent("closed", PATTERN, 10, 5),)
    assert not [one for one in adoption.differences if one.of == "trigger start" and
                one.path[0] in ("Type", "EventBatchingCondition")]  # fmt: skip
    stack = stack_of(adoption, "plan.md", {})
    assert (
        'starts=[OnEvent({"source": ["acme.shop"], "detail-type": ["Day Closed"]}, batch_size=10, '
        "batch_window_minutes=5)] if STARTS_BY_ITSELF else []" in stack
    )


def test_the_start_trigger_is_replaced_by_hand_before_events_start_it_and_back():
    found = found_with(RULE)

    step = steps_of(adopt(found), found, "infra/x_stack.py")[-2]

    deletes = [line for line in (*step.commands, *step.rollback) if "delete-trigger" in line]
    assert ["ON_DEMAND" in line for line in deletes] == [True, False]
    order = [line.split(" ")[0:3] for line in step.commands]
    assert order[-3][0] == "sed"
    assert order[-2] == ["aws", "glue", "delete-trigger"]
    assert order[-1] == ["npx", "cdk", "deploy"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (RULE | {"State": "DISABLED"}, "disabled"),
        (RULE | {"EventBusName": "shop"}, "event bus shop"),
        (RULE | {"EventPattern": '{"detail": {}}'}, "not an event pattern"),
        (RULE | {"EventPattern": "["}, "not an event pattern"),
        pytest.param(RULE | {"EventPattern": "[" * 100_000}, "not an event pattern", id="deep"),
        (RULE | {"EventPattern": None, "ScheduleExpression": "rate(0 days)"}, "rate"),
    ],
)
def test_a_rule_that_cannot_be_declared_is_listed(rule, said):
    adoption = adopt(found_with(rule))

    assert adoption.events == ()
    (listed,) = [one for one in adoption.differences if one.of == "rule closed"]
    assert said in listed.why
    assert any(one.path == ("Type",) for one in adoption.differences)


def test_a_rule_that_is_a_schedule_becomes_a_schedule():
    rule = {"Name": "daily", "ScheduleExpression": "cron(0 6 * * ? *)"}
    resources = (("AWS::Events::Rule", "daily"), ("AWS::Events::Rule", "of another"))

    adoption = adopt(replace(found_with(rule), resources=resources))

    assert adoption.schedules == (("cron(0 6 * * ? *)", "UTC"),)
    assert [one.job for one in adoption.others] == ["AWS::Events::Rule of another"]


def test_rules_and_roles_are_read_from_an_account(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        session = boto3.Session(region_name="eu-west-1")
        events, iam = session.client("events"), session.client("iam")
        events.put_rule(Name="closed", EventPattern=json.dumps(PATTERN))
        events.put_targets(Rule="closed", Targets=[{"Id": "1", "Arn": ARN}])
        allowed = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
        document = {"Version": "2012-10-17", "Statement": [allowed]}
        role = iam.create_role(RoleName="etl", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        iam.put_role_policy(RoleName="etl", PolicyName="a", PolicyDocument=json.dumps(document))
        made = iam.create_policy(PolicyName="b", PolicyDocument=json.dumps(document))
        iam.attach_role_policy(RoleName="etl", PolicyArn=made["Policy"]["Arn"])

        names = workflows_by_event([START], ["orders"])
        rules, unread = read_rules(session, dict.fromkeys(names, ARN))
        roles = read_roles(session, [role, f"{role}2"])

    assert ([rule["Name"] for rule in rules["nightly"]], unread) == (["closed"], [])
    assert roles[role].documents == (document, document)
    assert "NoSuchEntity" in roles[f"{role}2"].unread[0]
