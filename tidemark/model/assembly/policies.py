"""Finds the permissions that a role lacks: needed statements less those its policies allow; pure.

An uncertain permission counts as missing: an Allow with another condition than the needed one,
or with NotResource, and any action that a Deny may refuse.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tidemark.model.assembly.grants import policy

Statement: TypeAlias = Mapping[str, Any]


def policy_of(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return policies as one policy document."""
    return policy(
        tuple(statement for document in documents for statement in statements_of(document))
    )


def statements_of(document: Mapping[str, Any]) -> list[Statement]:
    """Return the statements of a policy document, which may be a single one without a list."""
    statements = document.get("Statement", [])
    return [statements] if isinstance(statements, Mapping) else list(statements)


def missing(needed: Iterable[Statement], given: Iterable[Statement]) -> list[Statement]:
    """Return the needed statements, less the parts that the given ones allow."""
    given = list(given)
    statements: list[Statement] = []
    for statement in needed:
        lacking: dict[tuple[str, ...], list[str]] = {}
        for action in _strings(statement.get("Action")):
            resources = tuple(
                resource
                for resource in _strings(statement.get("Resource"))
                if not _is_allowed(action, resource, statement.get("Condition"), given)
            )
            if resources:
                lacking.setdefault(resources, []).append(action)
        for resources, actions in lacking.items():
            one = {**statement, "Action": _one_or_all(actions), "Resource": _one_or_all(resources)}
            if one not in statements:
                statements.append(one)
    return statements


def _is_allowed(action: str, resource: str, condition: object, given: Sequence[Statement]) -> bool:
    if any(
        _refuses(statement, action, resource)
        for statement in given
        if statement.get("Effect") == "Deny"
    ):
        return False
    return any(
        _has_action(statement, action)
        and any(covers(pattern, resource) for pattern in _strings(statement.get("Resource")))
        and statement.get("Condition") in (None, {}, condition)
        for statement in given
        if statement.get("Effect") == "Allow"
    )


def _refuses(statement: Statement, action: str, resource: str) -> bool:
    """Return whether a Deny refuses an action somewhere in a resource, whatever its condition."""
    resources = _strings(statement.get("Resource"))
    is_place = any(covers(pattern, resource) or covers(resource, pattern) for pattern in resources)
    if "NotResource" in statement:
        others = _strings(statement["NotResource"])
        is_place = not any(covers(pattern, resource) for pattern in others)
    return is_place and _has_action(statement, action)


def _has_action(statement: Statement, action: str) -> bool:
    if "NotAction" in statement:
        others = _strings(statement["NotAction"])
        return not any(covers(pattern.lower(), action.lower()) for pattern in others)
    own = _strings(statement.get("Action"))
    return any(covers(pattern.lower(), action.lower()) for pattern in own)


def covers(pattern: str, text: str) -> bool:
    """Return whether a pattern of IAM matches everything that another one, or a string, matches."""
    parts = re.split(r"([*?])", pattern)
    rules = {"*": ".*", "?": "[^*]"}  # a * of the other stands for more than one character
    return bool(
        re.fullmatch("".join(rules.get(part) or re.escape(part) for part in parts), text, re.DOTALL)
    )


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(part) for part in value] if isinstance(value, list | tuple) else []


def _one_or_all(strings: Sequence[str]) -> str | list[str]:
    return strings[0] if len(strings) == 1 else list(strings)
