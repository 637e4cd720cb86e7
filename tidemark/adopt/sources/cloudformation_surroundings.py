"""Reads the surroundings of jobs in a template: rules, schedules, connections, roles: pure.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/
aws-resource-events-rule.html and aws-resource-scheduler-schedule.html, aws-resource-iam-role.html.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.adopt.model import Resource, RolePolicies

SECRETS = "AWS::SecretsManager::Secret"  # its Ref is an ARN, whose end only AWS knows


@dataclass(frozen=True)
class Declared:
    """A resource of a template: logical id, type, name or logical id, resolved properties."""

    id: str
    kind: str
    name: str
    properties: Mapping[str, Any]


def rules_of(resources: Sequence[Declared]) -> dict[str, tuple[Resource, ...]]:
    """Return the rules that start workflows, by name of the workflow, as DescribeRule has them."""
    rules: dict[str, tuple[Resource, ...]] = {}
    for rule, _, workflow in _targets(resources):
        if workflow:
            rules[workflow] = (*rules.get(workflow, ()), _rule(rule))
    return rules


def other_rules_of(resources: Sequence[Declared]) -> tuple[Resource, ...]:
    """Return the rules that have other targets than workflows, with the ARN as `Target`."""
    others = [(rule, arn) for rule, arn, workflow in _targets(resources) if not workflow]
    return tuple({"Name": _rule(rule)["Name"], "Target": arn} for rule, arn in others)


def _targets(resources: Sequence[Declared]) -> Iterator[tuple[Declared, Any, str]]:
    """Yield the rules with the ARN of each target, and the name of the workflow that it is."""
    for rule in _of(resources, "AWS::Events::Rule"):
        targets = rule.properties.get("Targets")
        for target in targets if isinstance(targets, list) else ():
            if isinstance(target, Mapping):
                arn = target.get("Arn")
                yield rule, arn, str(arn or "").partition(":workflow/")[2]


def _rule(rule: Declared) -> Resource:
    pattern = rule.properties.get("EventPattern")
    return {
        "Name": rule.properties.get("Name") or rule.id,
        "EventBusName": str(rule.properties.get("EventBusName") or "default").rpartition("/")[2],
        "EventPattern": json.dumps(pattern) if isinstance(pattern, Mapping) else pattern,
        "ScheduleExpression": rule.properties.get("ScheduleExpression"),
        "State": rule.properties.get("State") or "ENABLED",
    }


def clock_of(resources: Sequence[Declared]) -> tuple[Resource, ...]:
    """Return the schedules of EventBridge Scheduler, as GetSchedule has them."""
    return tuple(
        {
            "State": "ENABLED",
            **schedule.properties,
            "Name": schedule.properties.get("Name") or schedule.id,
            "FlexibleTimeWindow": _mapping(schedule.properties, "FlexibleTimeWindow"),
            "Target": _mapping(schedule.properties, "Target"),
        }
        for schedule in _of(resources, "AWS::Scheduler::Schedule")
    )


def connections_of(resources: Sequence[Declared]) -> dict[str, Resource]:
    """Return the properties of connections, by name; a secret of the template by its name."""
    named = [secret for secret in _of(resources, SECRETS) if secret.name != secret.id]
    secrets = {f"{{{secret.id}}}": secret.name for secret in named}
    properties: dict[str, Resource] = {}
    for connection in _of(resources, "AWS::Glue::Connection"):
        stated = _mapping(connection.properties.get("ConnectionInput"))
        given = _mapping(stated, "ConnectionProperties").items()
        properties[connection.name] = {key: secrets.get(str(text), text) for key, text in given}
    return properties


def locations_of(resources: Sequence[Declared]) -> dict[str, str]:
    """Return where tables have their data, by `database.table`."""
    locations = {}
    for resource in _of(resources, "AWS::Glue::Table"):
        table = _mapping(resource.properties.get("TableInput"))
        name = f"{resource.properties.get('DatabaseName')}.{table.get('Name')}"
        if location := _mapping(table, "StorageDescriptor").get("Location"):
            locations[name] = str(location)
    return locations


def policies_of(resources: Sequence[Declared], arns: Iterable[str]) -> dict[str, RolePolicies]:
    """Return what roles may do, by ARN, as far as the templates have it."""
    return {arn: _role(resources, arn.rpartition("/")[2]) for arn in dict.fromkeys(arns)}


def _role(resources: Sequence[Declared], name: str) -> RolePolicies:
    roles = [role for role in _of(resources, "AWS::IAM::Role") if role.name == name]
    inline = [policy for role in roles for policy in role.properties.get("Policies") or []]
    documents = [policy.get("PolicyDocument") for policy in inline]
    ids = {name, *(role.id for role in roles), *(f"{{{role.id}}}" for role in roles)}
    for kind in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy"):
        for policy in _of(resources, kind):
            owners = policy.properties.get("Roles") or [policy.properties.get("RoleName")]
            if ids.intersection(map(str, owners)):
                documents.append(policy.properties.get("PolicyDocument"))
    lists = [role.properties.get("ManagedPolicyArns") or [] for role in roles]
    attached = [str(arn) for arns in lists for arn in arns]
    if not roles:
        attached.append(f"whatever else {name} has, which this template does not make")
    known_documents = tuple(document for document in documents if isinstance(document, Mapping))
    return RolePolicies(known_documents, tuple(attached))


def _of(resources: Sequence[Declared], kind: str) -> Iterator[Declared]:
    return (resource for resource in resources if resource.kind == kind)


def _mapping(value: Any, key: str | None = None) -> Mapping[str, Any]:
    inner = value.get(key) if key is not None else value
    return inner if isinstance(inner, Mapping) else {}
