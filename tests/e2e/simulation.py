"""Evaluates identity policies as IAM does, as far as our roles use its language.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

Statement = Mapping[str, Any]


def allowing(
    statements: Sequence[Statement],
    action: str,
    resource: str,
    context: Mapping[str, Sequence[str]],
) -> list[int]:
    """Return which statements allow a request; none means that it is denied."""
    return [
        number
        for number, statement in enumerate(statements)
        if any(_matches(pattern, action) for pattern in _list(statement["Action"]))
        and any(_matches(pattern, resource) for pattern in _list(statement["Resource"]))
        and all(
            _holds(operator, key, _list(values), context.get(key))
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
    ]


def _holds(operator: str, key: str, values: list[str], given: Sequence[str] | None) -> bool:
    match operator:
        case "StringLikeIfExists":
            return given is None or any(_matches(v, g) for v in values for g in given)
        case "ForAllValues:StringEquals":
            return all(value in values for value in given or ())
        case "StringEquals":
            return given is not None and any(value in values for value in given)
    raise AssertionError(f"a condition the simulation does not know: {operator} {key}")


def _matches(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern in which * and ? are wildcards."""
    wild = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(wild, text, re.DOTALL) is not None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]
