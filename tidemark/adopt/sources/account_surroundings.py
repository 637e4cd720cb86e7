"""Reads the surroundings of jobs in an account: rules of EventBridge, policies of roles."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from botocore.exceptions import BotoCoreError, ClientError

from tidemark.adopt.model import Difference, Resource, RolePolicies

if TYPE_CHECKING:
    import boto3


def workflows_by_event(triggers: Iterable[Resource], nodes: Iterable[str]) -> list[str]:
    """Return the workflows that an event starts, and that start one of some jobs or crawlers."""
    wanted, workflows = set(nodes), dict[str, None]()
    for trigger in triggers:
        name, actions = trigger.get("WorkflowName"), trigger.get("Actions") or []
        started = {action.get(key) for action in actions for key in ("JobName", "CrawlerName")}
        if trigger.get("Type") == "EVENT" and name and started & wanted:
            workflows[str(name)] = None
    return list(workflows)


def read_rules(
    session: "boto3.Session", workflows: Mapping[str, str]
) -> tuple[dict[str, tuple[Resource, ...]], list[Difference]]:
    """Return the rules of the default event bus that start workflows, and the unreadable parts."""
    rules_of: dict[str, tuple[Resource, ...]] = {}
    unread = []
    for name, arn in workflows.items():
        try:
            events: Any = session.client("events")
            rules = listed(events, "list_rule_names_by_target", "RuleNames", TargetArn=arn)
            rules_of[name] = tuple(events.describe_rule(Name=rule) for rule in rules)
        except ClientError as error:
            why, do = f"AWS refuses to show its rules ({error})", "aws events list-rules"
            unread.append(Difference(f"workflow {name}", ("Rules",), None, why, do))
    return rules_of, unread


def read_schedules(session: "boto3.Session") -> tuple[tuple[Resource, ...], list[Difference]]:
    """Return the schedules of EventBridge Scheduler of all groups, and the unreadable parts."""
    try:
        scheduler: Any = session.client("scheduler")
        schedules = [
            scheduler.get_schedule(Name=schedule["Name"], GroupName=schedule["GroupName"])
            for schedule in listed(scheduler, "list_schedules", "Schedules")
        ]
    except (BotoCoreError, ClientError) as error:  # a region may not have the service
        why = f"AWS refuses to show schedules of EventBridge Scheduler ({error})"
        do = "see whether one starts an old job: aws scheduler list-schedules"
        return (), [Difference("the account", ("Schedules",), None, why, do)]
    return tuple(schedules), []


Around: TypeAlias = tuple[str, str, Mapping[str, Any]]


def read_around(session: "boto3.Session") -> tuple[tuple[Around, ...], list[Difference]]:
    """Return what may name a job by its name: kind, name and properties; and the unreadable parts.

    They are the alarms of CloudWatch, the rules of the default event bus with their targets, the
    state machines, and the policies of the account in IAM.
    """
    around: list[Around] = []
    unread = []
    for what, read, look in (
        ("alarms of CloudWatch", _alarms, "aws cloudwatch describe-alarms"),
        ("rules of EventBridge", _all_rules, "aws events list-rules"),
        ("state machines", _state_machines, "aws stepfunctions list-state-machines"),
        ("policies of IAM", _policies, "aws iam get-account-authorization-details"),
    ):
        try:
            around += read(session)
        except (BotoCoreError, ClientError) as error:
            why = f"AWS refuses to show the {what} ({error})"
            do = f"see whether one names an old job: {look}"
            unread.append(Difference("the account", (what,), None, why, do))
    return tuple(around), unread


def _alarms(session: "boto3.Session") -> Iterator[Around]:
    for page in session.client("cloudwatch").get_paginator("describe_alarms").paginate():
        for alarm in (*page.get("MetricAlarms", ()), *page.get("CompositeAlarms", ())):
            yield "alarm", str(alarm.get("AlarmName")), alarm


def _all_rules(session: "boto3.Session") -> Iterator[Around]:
    events: Any = session.client("events")
    for rule in listed(events, "list_rules", "Rules"):
        targets = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
        yield "rule", rule["Name"], {**rule, "Targets": targets}


def _state_machines(session: "boto3.Session") -> Iterator[Around]:
    states: Any = session.client("stepfunctions")
    for machine in listed(states, "list_state_machines", "stateMachines"):
        definition = states.describe_state_machine(stateMachineArn=machine["stateMachineArn"])
        yield "statemachine", machine["name"], {"definition": definition["definition"]}


def _policies(session: "boto3.Session") -> Iterator[Around]:
    iam: Any = session.client("iam")
    wanted = ["User", "Role", "Group", "LocalManagedPolicy"]
    pages = iam.get_paginator("get_account_authorization_details").paginate(Filter=wanted)
    for page in pages:
        for kind in ("Role", "User", "Group"):
            for owner in page.get(f"{kind}DetailList", ()):
                inline = owner.get(f"{kind}PolicyList", ())
                documents = [_document(policy["PolicyDocument"]) for policy in inline]
                yield f"policy of {kind.lower()}", str(owner[f"{kind}Name"]), {"_": documents}
        for policy in page.get("Policies", ()):
            documents = [
                _document(version["Document"])
                for version in policy.get("PolicyVersionList", ())
                if version.get("IsDefaultVersion")
            ]
            yield "policy", str(policy["Arn"]).rpartition("/")[2], {"_": documents}


def read_roles(session: "boto3.Session", arns: Iterable[str]) -> dict[str, RolePolicies]:
    """Return what roles may do, by ARN, as far as it may be read."""
    iam: Any = session.client("iam")
    return {arn: _role(iam, arn.rpartition("/")[2]) for arn in dict.fromkeys(arns)}


def _role(iam: Any, name: str) -> RolePolicies:
    documents, unread = [], []
    try:
        inline = [*listed(iam, "list_role_policies", "PolicyNames", RoleName=name)]
        pages = listed(iam, "list_attached_role_policies", "AttachedPolicies", RoleName=name)
        attached = [policy["PolicyArn"] for policy in pages]
    except ClientError as error:
        return RolePolicies(unread=(f"all policies of {name} ({error})",))
    for policy in inline:
        try:
            answer = iam.get_role_policy(RoleName=name, PolicyName=policy)
            documents.append(_document(answer["PolicyDocument"]))
        except ClientError as error:
            unread.append(f"{policy} of {name} ({error})")
    for arn in attached:
        try:
            version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
            answer = iam.get_policy_version(PolicyArn=arn, VersionId=version)
            documents.append(_document(answer["PolicyVersion"]["Document"]))
        except ClientError as error:
            unread.append(f"{arn} ({error})")
    return RolePolicies(tuple(documents), tuple(unread))


def listed(client: Any, operation: str, key: str, **request: str) -> Iterator[Any]:
    """Yield what an operation lists on all its pages."""
    for page in client.get_paginator(operation).paginate(**request):
        yield from page[key]


def _document(text: object) -> Resource:
    """Return a policy document, which IAM gives as JSON in the form of a URL."""
    document: Resource = json.loads(unquote(text)) if isinstance(text, str) else text  # type: ignore[assignment]
    return document
