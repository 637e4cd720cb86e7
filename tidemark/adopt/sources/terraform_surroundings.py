"""Reads the surroundings of jobs in a state of Terraform: rules of EventBridge, policies of roles.

Sources: https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/
cloudwatch_event_rule and cloudwatch_event_target, iam_role, iam_role_policy, iam_policy,
iam_role_policy_attachment next to it.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tidemark.adopt.model import Resource, RolePolicies

TYPES = (
    "aws_glue_connection",
    "aws_glue_catalog_table",
    "aws_scheduler_schedule",
    "aws_cloudwatch_event_rule",
    "aws_cloudwatch_event_target",
    "aws_iam_role",
    "aws_iam_role_policy",
    "aws_iam_policy",
    "aws_iam_role_policy_attachment",
)
Others = Mapping[str, list[Mapping[str, Any]]]


def rules_of(others: Others) -> dict[str, tuple[Resource, ...]]:
    """Return the rules that start workflows, by name of the workflow, as DescribeRule has them."""
    rules = {_key(one, "name"): _rule(one) for one in others.get("aws_cloudwatch_event_rule", [])}
    found: dict[str, list[Resource]] = {}
    for target in others.get("aws_cloudwatch_event_target", []):
        _, is_workflow, workflow = str(target.get("arn") or "").partition(":workflow/")
        rule = rules.get(_key(target, "rule"))
        if is_workflow and rule and rule not in found.setdefault(workflow, []):
            found[workflow].append(rule)
    return {workflow: tuple(its) for workflow, its in found.items()}


def other_rules_of(others: Others) -> tuple[Resource, ...]:
    """Return the rules that have other targets than workflows, with the ARN as `Target`."""
    return tuple(
        {"Name": str(target.get("rule")), "Target": target.get("arn")}
        for target in others.get("aws_cloudwatch_event_target", [])
        if ":workflow/" not in str(target.get("arn") or "")
    )


def schedules_of(others: Others) -> tuple[Resource, ...]:
    """Return the schedules of EventBridge Scheduler, as GetSchedule has them."""
    return tuple(_schedule(one) for one in others.get("aws_scheduler_schedule", []))


def _schedule(values: Mapping[str, Any]) -> Resource:
    target = (values.get("target") or [{}])[0]
    window = (values.get("flexible_time_window") or [{}])[0]
    return {
        "Name": values["name"],
        "GroupName": values.get("group_name"),
        "ScheduleExpression": values.get("schedule_expression"),
        "ScheduleExpressionTimezone": values.get("schedule_expression_timezone"),
        "State": values.get("state") or "ENABLED",
        "StartDate": values.get("start_date"),
        "EndDate": values.get("end_date"),
        "FlexibleTimeWindow": {
            "Mode": window.get("mode") or "OFF",
            "MaximumWindowInMinutes": window.get("maximum_window_in_minutes"),
        },
        "Target": {"Arn": target.get("arn"), "Input": target.get("input")},
    }


def connections_of(others: Others) -> dict[str, Resource]:
    """Return the properties of connections, by name."""
    return {
        str(one.get("name")): one.get("connection_properties") or {}
        for one in others.get("aws_glue_connection", [])
    }


def locations_of(others: Others) -> dict[str, str]:
    """Return where tables have their data, by `database.table`."""
    found = {}
    for one in others.get("aws_glue_catalog_table", []):
        for storage in one.get("storage_descriptor") or []:
            if storage.get("location"):
                found[f"{one.get('database_name')}.{one.get('name')}"] = str(storage["location"])
    return found


def roles_of(others: Others, arns: Iterable[str]) -> dict[str, RolePolicies]:
    """Return what roles may do, by ARN, as far as the state has it."""
    managed = {one["arn"]: one for one in others.get("aws_iam_policy", [])}
    return {arn: _role(others, managed, arn.rpartition("/")[2]) for arn in dict.fromkeys(arns)}


def _role(others: Others, managed: Mapping[str, Mapping[str, Any]], name: str) -> RolePolicies:
    roles = [one for one in others.get("aws_iam_role", []) if one.get("name") == name]
    texts = [policy.get("policy") for role in roles for policy in role.get("inline_policy") or []]
    texts += [
        one.get("policy")
        for one in others.get("aws_iam_role_policy", [])
        if one.get("role") == name
    ]
    attached = [
        str(one.get("policy_arn"))
        for one in others.get("aws_iam_role_policy_attachment", [])
        if one.get("role") == name
    ]
    attached += [str(arn) for role in roles for arn in role.get("managed_policy_arns") or []]
    texts += [managed[arn].get("policy") for arn in dict.fromkeys(attached) if arn in managed]
    unread = [arn for arn in dict.fromkeys(attached) if arn not in managed]
    if not roles:
        unread.append(f"whatever else {name} has, which this state does not make")
    return RolePolicies(tuple(json.loads(text) for text in texts if text), tuple(unread))


def _key(one: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Return a rule as its targets name it: its bus may be an ARN."""
    bus = str(one.get("event_bus_name") or "default").rpartition("/")[2]
    return bus, str(one.get(name))


def _rule(values: Mapping[str, Any]) -> Resource:
    is_on = values.get("is_enabled") is not False and values.get("state") != "DISABLED"
    return {
        "Name": values["name"],
        "EventBusName": _key(values, "name")[0],
        "EventPattern": values.get("event_pattern"),
        "ScheduleExpression": values.get("schedule_expression"),
        "State": "ENABLED" if is_on else "DISABLED",
    }
