"""Tells whether EventBridge takes an event pattern: pure, on its JSON.

Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
"""

import json
from collections.abc import Mapping
from typing import Any

from tidemark.checks.plain_secrets import shows_secret

# Of every event: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html
FIELDS = {"version", "id", "detail-type", "source", "account", "time", "region", "resources"}
FIELDS |= {"detail", "$or"}
# Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
FILTERS = {"prefix", "suffix", "anything-but", "numeric", "exists", "cidr", "wildcard"}
FILTERS |= {"equals-ignore-case"}
OPERATORS = ("=", "<", "<=", ">", ">=")  # of numbers
MOST_CHARACTERS = 2_048  # of an event pattern
# Of the events that start one run together.
# Source: https://docs.aws.amazon.com/glue/latest/webapi/API_EventBatchingCondition.html
MOST_EVENTS = 100
MOST_WINDOW_MINUTES = 15


def wrong_with(pattern: object) -> str | None:
    """Return what keeps EventBridge from taking a pattern, or us; None if nothing."""
    if not isinstance(pattern, Mapping) or not _is_pattern(pattern):
        return "which is no event pattern"
    if not pattern.get("source"):
        return "which names no source, so that events of any service match"
    for key, value in pattern.items():
        if key not in FIELDS:
            return f"whose field {key!r} no event has"
        if key == "detail" and not isinstance(value, Mapping):
            return "whose detail is no dict, as that of every event is"
    if problem := _wrong_in(pattern):
        return problem
    try:
        length = len(json.dumps(pattern, separators=(",", ":"), allow_nan=False))
    except (TypeError, ValueError):
        return "which is no JSON"
    return f"which has {length:,} characters" if length > MOST_CHARACTERS else None


def _wrong_in(pattern: Mapping[str, Any]) -> str | None:
    """Return what EventBridge would refuse deeper in a pattern, or everybody would see."""
    for key, value in pattern.items():
        if isinstance(value, Mapping):
            if problem := _wrong_in(value):
                return problem
            continue
        if None in value:  # no list of the CDK keeps one: the rule would match less
            return f"whose {key!r} has null, which is lost on its way into the template"
        for one in value:
            if isinstance(one, Mapping) and key != "$or" and (problem := _wrong_filter(key, one)):
                return problem
            if isinstance(one, str) and shows_secret(key, one):
                return f"whose {key!r} looks like a secret, which everybody would see"
    return None


def _wrong_filter(key: str, rule: Mapping[str, Any]) -> str | None:
    """Return what EventBridge would refuse in one filter of a field."""
    if unknown := rule.keys() - FILTERS:
        return f"whose {key!r} is matched by {', '.join(map(str, unknown))}, which is none"
    if len(rule) != 1:
        return f"whose {key!r} has {len(rule)} filters in one; each stands in a dict of its own"
    ((name, value),) = rule.items()
    if name == "exists" and not isinstance(value, bool):
        return f"whose {key!r} has exists {value!r}, which is true or false"
    if name == "numeric" and not _is_numeric(value):
        return f"whose {key!r} has numeric {value!r}, which is one or two pairs like ['>', 0]"
    return None


def _is_numeric(value: object) -> bool:
    if not isinstance(value, list) or len(value) not in (2, 4):
        return False
    return all(
        (one in OPERATORS) if number % 2 == 0 else type(one) in (int, float)
        for number, one in enumerate(value)
    )


def _is_pattern(pattern: Mapping[Any, Any]) -> bool:
    return all(
        isinstance(key, str)
        and (
            (isinstance(value, list) and bool(value))
            or (isinstance(value, Mapping) and bool(value) and _is_pattern(value))
        )
        for key, value in pattern.items()
    )
