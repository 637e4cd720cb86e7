"""Evaluates identity policies as IAM does, as far as our roles use its language.

What they do not use is refused, lest it be taken for a permission: Deny, NotAction, NotResource,
policy variables, other operators of conditions.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

Statement: TypeAlias = Mapping[str, Any]
Grant: TypeAlias = tuple[int, str, str]
"""Number of a statement, one of its actions and one of its resources."""
MEMBERS = {"Sid", "Effect", "Action", "Resource", "Condition"}


def is_allowed(
    statements: Sequence[Statement],
    action: str,
    resource: str,
    context: Mapping[str, Sequence[str]],
) -> bool:
    """Return whether a request is allowed.

    Raises:
        AssertionError: a statement says something that is not simulated.
    """
    # All of them, so that none that is not simulated goes unseen.
    answers = [_allows(statement, action, resource, context) for statement in statements]
    return any(answers)


def grants(statements: Sequence[Statement]) -> Iterator[Grant]:
    """Yield every action on every resource that a policy allows."""
    for number, statement in enumerate(statements):
        for action in _list(statement["Action"]):
            for resource in _list(statement["Resource"]):
                yield number, action, resource


def without(statements: Sequence[Statement], grant: Grant) -> list[Statement]:
    """Return a policy that allows one action on one resource less."""
    number, action, resource = grant
    statement = statements[number]
    actions, resources = _list(statement["Action"]), _list(statement["Resource"])
    rest = [
        {**statement, "Action": [it for it in actions if it != action]},
        {**statement, "Action": action, "Resource": [it for it in resources if it != resource]},
    ]
    return [*statements[:number], *rest, *statements[number + 1 :]]


def policies_of(role: Statement, resources: Mapping[str, Any]) -> list[Any]:
    """Return the inline and the managed policies of a role."""
    managed = role["Properties"].get("ManagedPolicyArns", [])
    return [
        *role["Properties"]["Policies"],
        *(resources[arn["Ref"]]["Properties"] for arn in managed),
    ]


def by_folder(statement: Statement) -> list[Statement]:
    """Return statements that together allow what one does, each listing one folder only.

    So that each folder is taken out of the role alone.
    """
    condition = statement.get("Condition", {}).get("StringLikeIfExists", {})
    if "s3:prefix" not in condition:
        return [statement]
    folders = dict.fromkeys(prefix.removesuffix("/*") for prefix in condition["s3:prefix"])
    return [
        {**statement, "Condition": {"StringLikeIfExists": {"s3:prefix": [folder, f"{folder}/*"]}}}
        for folder in folders
    ]


def _allows(
    statement: Statement, action: str, resource: str, context: Mapping[str, Sequence[str]]
) -> bool:
    assert statement.keys() <= MEMBERS, f"not simulated: {statement.keys() - MEMBERS}"
    assert statement["Effect"] == "Allow", f"not simulated: {statement['Effect']}"
    conditions = [
        _holds(operator, key, _list(values), context.get(key))
        for operator, keys in statement.get("Condition", {}).items()
        for key, values in keys.items()
    ]
    return (
        any(_matches(pattern, action) for pattern in _list(statement["Action"]))
        and any(_matches(pattern, resource) for pattern in _list(statement["Resource"]))
        and all(conditions)
    )


def _holds(operator: str, key: str, values: list[str], given: Sequence[str] | None) -> bool:
    match operator:
        case "StringLikeIfExists":
            return given is None or any(_matches(v, g) for v in values for g in given)
        case "ForAllValues:StringEquals":
            return all(value in values for value in given or ())
        case "Null":
            return (given is None) == (values == ["true"])
        case "StringEquals":
            return given is not None and any(value in values for value in given)
        case "ArnEquals":  # as ArnLike
            return given is not None and any(_matches(v, g) for v in values for g in given)
    raise AssertionError(f"a condition the simulation does not know: {operator} {key}")


def _matches(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern in which * and ? are wildcards."""
    assert "${" not in pattern, f"not simulated: {pattern}"
    return _regex(pattern).fullmatch(text) is not None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    wild = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(wild, re.DOTALL)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]
