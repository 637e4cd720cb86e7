"""Why a statement of a role names a resource with a wildcard: pure, on resolved policy documents.

A reason consists of the actions that the statement allows, and the reasons for these actions on
such a resource. Anything that is not listed here has no reason, so that a checker finds it.
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
    """A statement of a policy as plain strings.

    Attributes:
        actions: actions that it allows.
        resources: their resources, with functions of CloudFormation in angle brackets.
        condition: its condition.
    """

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    condition: Mapping[str, Any]

    @property
    def is_bound(self) -> bool:
        """Whether it names subnets, as resources or in its condition."""
        there = strings_of(self.condition.get("ArnEquals", {}).get("ec2:Subnet", []))
        return any(_SUBNET.fullmatch(resource) for resource in (*self.resources, *there))


def reasons_of(document: Document) -> dict[str, str]:
    """Return why a policy names each of its resources with a wildcard, by resource.

    A resource is left out if some action that the policy allows on it has no reason.

    Args:
        document: the policy document, resolved as in a template.

    Example:
        `{"arn:aws:s3:::lake/orders/*": "s3:GetObject: the objects below a folder ..."}`
    """
    statements = list(statements_of(document))
    resources = {
        resource for statement in statements for resource in statement.resources if "*" in resource
    }
    reasons_by_resource = {
        resource: _reason(resource, statements) for resource in sorted(resources)
    }
    return {resource: reason for resource, reason in reasons_by_resource.items() if reason}


def statements_of(document: Document) -> Iterator[Statement]:
    """Yield the statements of a policy that allow something, as plain strings."""
    statements = document["Statement"]
    for statement in statements if isinstance(statements, Sequence) else [statements]:
        if statement.get("Effect") == "Allow":
            yield Statement(
                strings_of(statement.get("Action", [])),
                strings_of(statement.get("Resource", [])),
                _plain(statement.get("Condition", {})),
            )


def strings_of(value: object) -> tuple[str, ...]:
    """Return one value, or a list of them, as strings, with functions in angle brackets."""
    return tuple(
        string_of(part) for part in (value if isinstance(value, list | tuple) else [value])
    )


def string_of(value: object) -> str:
    """Return a value as a string, with functions of CloudFormation as cdk-nag writes them."""
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(string_of, parts))
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [id_, attribute]}:
            return f"<{id_}.{attribute}>"
        case {"Fn::ImportValue": export}:
            return str(export)
    return str(value)


def _reason(resource: str, statements: Iterable[Statement]) -> str | None:
    """Return why a resource has a wildcard, action by action; None if some action has no reason."""
    by_why: dict[str, list[str]] = {}
    for statement in statements:
        if resource in statement.resources:
            for action in statement.actions:
                reasons = (
                    wildcard.why
                    for wildcard in WILDCARDS
                    if _explains(wildcard, action, resource, statement)
                )
                why = next(reasons, None)
                if why is None:
                    return None
                by_why.setdefault(why, []).append(action)
    parts = [(sorted(set(actions)), why) for why, actions in by_why.items()]
    return "; ".join(f"{', '.join(actions)}: {why}" for actions, why in sorted(parts))


def _explains(wildcard: Wildcard, action: str, resource: str, statement: Statement) -> bool:
    return (
        action in wildcard.actions
        and re.fullmatch(wildcard.resource, resource) is not None
        and wildcard.condition in (None, statement.condition)
        and wildcard.is_bound in (None, statement.is_bound)
    )


def _plain(condition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a condition with functions as strings."""
    return {
        operator: {
            key: list(strings_of(value)) if isinstance(value, list) else string_of(value)
            for key, value in keys.items()
        }
        for operator, keys in condition.items()
    }
