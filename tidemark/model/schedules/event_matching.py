"""Decides whether an event matches a pattern of EventBridge, as plain data.

Only for patterns without faults by `model.schedules.event_patterns`.

Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
"""

import fnmatch
import glob
import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any

OR = "$or"
ABSENT = object()
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "=": lambda value, other: value == other,
    "<": lambda value, other: value < other,
    "<=": lambda value, other: value <= other,
    ">": lambda value, other: value > other,
    ">=": lambda value, other: value >= other,
}


def matches(pattern: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    """Return whether an event has, for every field of a pattern, one of the values it allows."""
    return all(_field_matches(name, wanted, event) for name, wanted in pattern.items())


def _field_matches(name: str, wanted: Any, event: Mapping[str, Any]) -> bool:
    if name == OR:
        return any(matches(allowed, event) for allowed in wanted)
    value = event.get(name, ABSENT)
    if isinstance(wanted, Mapping):
        inner = value if isinstance(value, list) else [value]
        return any(
            matches(wanted, inside if isinstance(inside, Mapping) else {}) for inside in inner
        )
    is_leaf = value is not ABSENT and not isinstance(value, Mapping)
    values = value if isinstance(value, list) else [value] if is_leaf else []
    return any(_allowed(allowed, values) for allowed in wanted)


def _allowed(wanted: Any, values: list[Any]) -> bool:
    if isinstance(wanted, Mapping) and "exists" in wanted:
        return bool(values) is wanted["exists"]
    return any(_is_one(wanted, value) for value in values)


def _is_one(wanted: Any, value: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return _same(wanted, value)
    ((operator, operand),) = wanted.items()
    return OPERATORS[operator](operand, value)


def _same(wanted: Any, value: Any) -> bool:
    """Return whether two scalars of JSON have the same type and value."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    return bool(wanted == value)


def _prefix(operand: Any, value: Any) -> bool:
    wanted, text = _folded(operand, value)
    return text is not None and text.startswith(wanted)


def _suffix(operand: Any, value: Any) -> bool:
    wanted, text = _folded(operand, value)
    return text is not None and text.endswith(wanted)


def _folded(operand: Any, value: Any) -> tuple[str, str | None]:
    """Return the wanted string and the string to search, in one case if the operand says so."""
    text = value if isinstance(value, str) else None
    if isinstance(operand, Mapping):
        return operand["equals-ignore-case"].casefold(), text.casefold() if text else text
    return operand, text


def _equals_ignore_case(operand: Any, value: Any) -> bool:
    return isinstance(value, str) and value.casefold() == operand.casefold()


def _wildcard(operand: Any, value: Any) -> bool:
    """Return whether a string matches a wildcard: ``*`` is any string, a backslash escapes it."""
    parts = re.findall(r"\\[*\\]|\*|[^*\\]+|\\", operand)
    steps = [
        part if part == "*" else glob.escape(re.sub(r"^\\([*\\])", r"\1", part)) for part in parts
    ]
    # fnmatch never goes back to an earlier star: the time grows with the length only.
    return isinstance(value, str) and fnmatch.fnmatchcase(value, "".join(steps))


def _anything_but(operand: Any, value: Any) -> bool:
    if isinstance(operand, Mapping):
        ((operator, inner),) = operand.items()
        excluded = inner if isinstance(inner, list) else [inner]
        return not any(OPERATORS[operator](refused, value) for refused in excluded)
    excluded = operand if isinstance(operand, list) else [operand]
    return not any(_same(refused, value) for refused in excluded)


def _numeric(operand: Any, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    pairs = zip(operand[::2], operand[1::2], strict=True)
    return all(COMPARISONS[sign](value, number) for sign, number in pairs)


def _cidr(operand: Any, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return ipaddress.ip_address(value) in ipaddress.ip_network(operand, strict=False)
    except ValueError:
        return False


OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "prefix": _prefix,
    "suffix": _suffix,
    "equals-ignore-case": _equals_ignore_case,
    "wildcard": _wildcard,
    "anything-but": _anything_but,
    "numeric": _numeric,
    "cidr": _cidr,
}
