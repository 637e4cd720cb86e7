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
        for one in value:
            if isinstance(one, Mapping) and key != "$or" and (unknown := one.keys() - FILTERS):
                return f"whose {key!r} is matched by {', '.join(map(str, unknown))}, which is none"
            if isinstance(one, str) and shows_secret(key, one):
                return f"whose {key!r} looks like a secret, which everybody would see"
    return None


def _is_pattern(pattern: Mapping[Any, Any]) -> bool:
    return all(
        isinstance(key, str)
        and (
            (isinstance(value, list) and bool(value))
            or (isinstance(value, Mapping) and bool(value) and _is_pattern(value))
        )
        for key, value in pattern.items()
    )
