"""Why a statement of a role names a resource with a wildcard: pure, on resolved policy documents.

A reason is made of the actions that the statement allows, and of what holds for these actions on
such a resource. What is not listed here has no reason, so that a checker finds it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tidemark.constructs.security.wildcard_reasons import WILDCARDS, Wildcard

Document: TypeAlias = Mapping[str, Any]
_SUBNET = re.compile(r".*:subnet/[^*]+")


@dataclass(frozen=True)
class Statement:
    """A statement of a policy as plain texts.

    Attributes:
        actions: what it allows.
        resources: on what, functions of CloudFormation in angle brackets.
        condition: under which condition.
    """

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    condition: Mapping[str, Any]

    @property
    def is_bound(self) -> bool:
        """Whether it names subnets, as resources or in its condition."""
        there = texts_of(self.condition.get("ArnEquals", {}).get("ec2:Subnet", []))
        return any(_SUBNET.fullmatch(one) for one in (*self.resources, *there))


def reasons_of(document: Document) -> dict[str, str]:
    """Return why a policy names each of its resources with a wildcard, by resource.

    A resource is left out if one of the actions that the policy allows on it has no reason.

    Args:
        document: of the policy, resolved as it is in a template.

    Example:
        `{"arn:aws:s3:::lake/orders/*": "s3:GetObject: the objects below a folder ..."}`
    """
    statements = list(statements_of(document))
    resources = {one for it in statements for one in it.resources if "*" in one}
    found = {resource: _reason(resource, statements) for resource in sorted(resources)}
    return {resource: reason for resource, reason in found.items() if reason}


def statements_of(document: Document) -> Iterator[Statement]:
    """Yield the statements that a policy allows something by, as plain texts."""
    statements = document["Statement"]
    for one in statements if isinstance(statements, Sequence) else [statements]:
        if one.get("Effect") == "Allow":
            yield Statement(
                texts_of(one.get("Action", [])),
                texts_of(one.get("Resource", [])),
                _plain(one.get("Condition", {})),
            )


def texts_of(value: object) -> tuple[str, ...]:
    """Return one value, or a list of them, as texts; functions stand in angle brackets."""
    return tuple(text(one) for one in (value if isinstance(value, list | tuple) else [value]))


def text(value: object) -> str:
    """Return a value as text, with the functions of CloudFormation as cdk-nag writes them."""
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(text, parts))
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [id_, attribute]}:
            return f"<{id_}.{attribute}>"
        case {"Fn::ImportValue": export}:
            return str(export)
    return str(value)


def _reason(resource: str, statements: Iterable[Statement]) -> str | None:
    """Return action by action why a resource has a wildcard, or None if one action has no why."""
    by_why: dict[str, list[str]] = {}
    for statement in statements:
        if resource in statement.resources:
            for action in statement.actions:
                why = _why(action, resource, statement)
                if why is None:
                    return None
                by_why.setdefault(why, []).append(action)
    parts = [(sorted(set(actions)), why) for why, actions in by_why.items()]
    return "; ".join(f"{', '.join(actions)}: {why}" for actions, why in sorted(parts))


def _why(action: str, resource: str, statement: Statement) -> str | None:
    return next((it.why for it in WILDCARDS if _explains(it, action, resource, statement)), None)


def _explains(wildcard: Wildcard, action: str, resource: str, statement: Statement) -> bool:
    return (
        action in wildcard.actions
        and re.fullmatch(wildcard.resource, resource) is not None
        and wildcard.condition in (None, statement.condition)
        and wildcard.is_bound in (None, statement.is_bound)
    )


def _plain(condition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a condition with functions as texts."""
    return {
        operator: {
            key: list(texts_of(value)) if isinstance(value, list) else text(value)
            for key, value in keys.items()
        }
        for operator, keys in condition.items()
    }
