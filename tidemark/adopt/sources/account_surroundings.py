"""Reads the surroundings of jobs in an account: rules of EventBridge, policies of roles."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from tidemark.adopt.model import Difference, Resource, RolePolicies

if TYPE_CHECKING:
    import boto3


def workflows_by_event(triggers: Iterable[Resource], nodes: Iterable[str]) -> list[str]:
    """Return the workflows that an event starts, and that start one of some jobs or crawlers."""
    wanted = set(nodes)
    return list(
        dict.fromkeys(
            str(trigger["WorkflowName"])
            for trigger in triggers
            if trigger.get("Type") == "EVENT"
            and trigger.get("WorkflowName")
            and any(
                action.get("JobName") in wanted or action.get("CrawlerName") in wanted
                for action in trigger.get("Actions") or []
            )
        )
    )


def read_rules(
    session: "boto3.Session", workflows: Mapping[str, str]
) -> tuple[dict[str, tuple[Resource, ...]], list[Difference]]:
    """Return the rules of the default event bus that start workflows, and the unreadable parts."""
    from botocore.exceptions import ClientError

    rules_of: dict[str, tuple[Resource, ...]] = {}
    unread = []
    for name, arn in workflows.items():
        try:
            events: Any = session.client("events")
            pages = events.get_paginator("list_rule_names_by_target").paginate(TargetArn=arn)
            rules = [
                events.describe_rule(Name=rule) for page in pages for rule in page["RuleNames"]
            ]
        except ClientError as error:
            why, do = f"AWS refuses to show its rules ({error})", "aws events list-rules"
            unread.append(Difference(f"workflow {name}", ("Rules",), None, why, do))
            continue
        rules_of[name] = tuple(rules)
    return rules_of, unread


def read_schedules(session: "boto3.Session") -> tuple[tuple[Resource, ...], list[Difference]]:
    """Return the schedules of EventBridge Scheduler of all groups, and the unreadable parts."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        scheduler: Any = session.client("scheduler")
        pages = scheduler.get_paginator("list_schedules").paginate()
        schedules = [
            scheduler.get_schedule(Name=schedule["Name"], GroupName=schedule["GroupName"])
            for page in pages
            for schedule in page["Schedules"]
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
    from botocore.exceptions import BotoCoreError, ClientError

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
    for page in events.get_paginator("list_rules").paginate():
        for rule in page["Rules"]:
            targets = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
            yield "rule", rule["Name"], {**rule, "Targets": targets}


def _state_machines(session: "boto3.Session") -> Iterator[Around]:
    states: Any = session.client("stepfunctions")
    for page in states.get_paginator("list_state_machines").paginate():
        for machine in page["stateMachines"]:
            definition = states.describe_state_machine(stateMachineArn=machine["stateMachineArn"])
            yield "statemachine", machine["name"], {"definition": definition["definition"]}


def _policies(session: "boto3.Session") -> Iterator[Around]:
    iam: Any = session.client("iam")
    wanted = ["User", "Role", "Group", "LocalManagedPolicy"]
    pages = iam.get_paginator("get_account_authorization_details").paginate(Filter=wanted)
    for page in pages:
        for kind, owners, inline in (
            ("role", "RoleDetailList", "RolePolicyList"),
            ("user", "UserDetailList", "UserPolicyList"),
            ("group", "GroupDetailList", "GroupPolicyList"),
        ):
            for owner in page.get(owners, ()):
                documents = [
                    _document(policy["PolicyDocument"]) for policy in owner.get(inline, ())
                ]
                yield f"policy of {kind}", str(owner[f"{kind.capitalize()}Name"]), {"_": documents}
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
    from botocore.exceptions import ClientError

    documents, unread = [], []
    try:
        inline = _names(iam, "list_role_policies", "PolicyNames", name)
        attached = _names(iam, "list_attached_role_policies", "AttachedPolicies", name)
    except ClientError as error:
        return RolePolicies(unread=(f"all policies of {name} ({error})",))
    for policy in inline:
        try:
            answer = iam.get_role_policy(RoleName=name, PolicyName=policy)
        except ClientError as error:
            unread.append(f"{policy} of {name} ({error})")
        else:
            documents.append(_document(answer["PolicyDocument"]))
    for policy in attached:
        arn = policy["PolicyArn"]
        try:
            version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
            answer = iam.get_policy_version(PolicyArn=arn, VersionId=version)
        except ClientError as error:
            unread.append(f"{arn} ({error})")
        else:
            documents.append(_document(answer["PolicyVersion"]["Document"]))
    return RolePolicies(tuple(documents), tuple(unread))


def _names(iam: Any, operation: str, key: str, role: str) -> Iterator[Any]:
    pages = iam.get_paginator(operation).paginate(RoleName=role)
    return iter([policy for page in pages for policy in page[key]])


def _document(text: object) -> Resource:
    """Return a policy document, which IAM gives as JSON in the form of a URL."""
    document: Resource = json.loads(unquote(text)) if isinstance(text, str) else text  # type: ignore[assignment]
    return document
