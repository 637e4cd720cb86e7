"""Tells whether EventBridge takes an event pattern: pure, on its JSON.

Synthesis and the port ask the same function; the port can match every pattern that it takes.

Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
Source: https://github.com/aws/event-ruler (the operands of the operators)
"""

import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tidemark.model.plain_secrets import shows_secret

# Of every event: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html
FIELDS = {"version", "id", "detail-type", "source", "account", "time", "region", "resources"}
FIELDS |= {"detail", "$or"}
OR = "$or"
LOWER, UPPER = (">", ">="), ("<", "<=")  # bounds of numbers
MAX_NUMBER = 5_000_000_000
IGNORE_CASE = "equals-ignore-case"
MATCHES_ALL: tuple[Mapping[str, Any], ...] = (  # any string matches
    {"prefix": ""},
    {"prefix": {IGNORE_CASE: ""}},
    {"suffix": ""},
    {"suffix": {IGNORE_CASE: ""}},
    {"wildcard": "*"},
    {"exists": True},
)
IN_ANYTHING_BUT = ("prefix", "suffix", IGNORE_CASE, "wildcard")
WILDCARD = re.compile(r"(?:\\[*\\]|[^\\])*", re.DOTALL)  # a backslash before * or a backslash
MAX_CHARACTERS = 2_048  # of an event pattern
# Of the events that start one run together.
# Source: https://docs.aws.amazon.com/glue/latest/webapi/API_EventBatchingCondition.html
MAX_EVENTS = 100
MAX_WINDOW_MINUTES = 15


def faults_of_pattern(pattern: object) -> list[str]:
    """Return why EventBridge would refuse a pattern; empty if it takes it."""
    if faults := list(_of_fields(pattern, "")):
        return faults
    length = len(json.dumps(pattern, separators=(",", ":"), ensure_ascii=False))
    if length > MAX_CHARACTERS:
        return [f"the pattern has {length:,} characters; allowed: up to {MAX_CHARACTERS:,}"]
    return []


def find_problems(pattern: object) -> str | None:
    """Return why EventBridge or a template cannot take a pattern; None if they can."""
    if faults := faults_of_pattern(pattern):
        return f"which is not an event pattern: {'; '.join(faults)}"
    if not isinstance(pattern, Mapping) or not pattern.get("source"):
        return "which names no source, so that events of any service match"
    if any(one in MATCHES_ALL for one in pattern["source"]):
        return "whose source is any string, so that events of any service match"
    for key, value in pattern.items():
        if key not in FIELDS:
            return f"whose field {key!r} no event has"
        if key == "account" and any(map(_is_no_account, value)):
            return f"whose account {value!r} no event has: each is a string of 12 digits"
        if key == "detail" and not isinstance(value, Mapping):
            return "whose detail is not a dict, as that of every event is"
    return _lost_in_template(pattern)


def _lost_in_template(pattern: Mapping[str, Any]) -> str | None:
    """Return the part of a pattern that a template would lose, or show to everybody."""
    for key, value in pattern.items():
        inner = [value] if isinstance(value, Mapping) else value if key == OR else []
        for one in inner:
            if problem := _lost_in_template(one):
                return problem
        if inner:
            continue
        if None in value:  # no list of the CDK keeps one: the rule would match less
            return f"whose {key!r} has null, which is lost on its way into the template"
        if any(isinstance(text, str) and shows_secret(key, text) for text in value):
            return f"whose {key!r} looks like a secret, which everybody would see"
    return None


def _of_fields(pattern: object, path: str) -> Iterator[str]:
    if not isinstance(pattern, Mapping) or not pattern:
        yield f"{path or 'the pattern'} is {pattern!r}; allowed: an object with fields"
        return
    for name, wanted in pattern.items():
        at = f"{path}.{name}" if path else str(name)
        if not isinstance(name, str):
            yield f"the field {name!r} is not a string"
        elif name == OR:
            yield from _of_alternatives(wanted, at)
        elif isinstance(wanted, Mapping):
            yield from _of_fields(wanted, at)
        elif not isinstance(wanted, list) or not wanted:
            yield f"{at} is {wanted!r}; allowed: a list of values, or an object"
        else:
            for allowed in wanted:
                yield from _of_value(at, allowed)


def _of_alternatives(wanted: object, at: str) -> Iterator[str]:
    if not isinstance(wanted, list) or len(wanted) < 2:
        yield f"{at} is {wanted!r}; allowed: a list of two patterns or more"
        return
    for one in wanted:
        yield from _of_fields(one, at)


def _of_value(at: str, one: object) -> Iterator[str]:
    if not isinstance(one, Mapping):
        if not (one is None or isinstance(one, (str, bool)) or _is_number(one, None)):
            yield f"{at} has {one!r}; allowed: a string, number, true, false, null, or an operator"
        return
    operator, operand = next(iter(one.items()), ("", None))
    if len(one) != 1 or operator not in OPERANDS:
        yield f"{at} has {dict(one)!r}; allowed: one of {', '.join(OPERANDS)}"
    elif not OPERANDS[operator][0](operand):
        allowed = OPERANDS[operator][1]
        why = f"{operand!r} is not an operand of {operator}; allowed: {allowed}"
        yield f"{at} has {dict(one)!r}: {why}"


def _is_number(value: object, most: float | None = MAX_NUMBER) -> bool:
    if type(value) not in (int, float):
        return False
    number: Any = value
    return bool(-most <= number <= most) if most else abs(number) < float("inf")


def _is_no_account(value: object) -> bool:
    is_digits = isinstance(value, str) and value.isdigit()
    return type(value) is int or (is_digits and len(str(value)) != 12)


def _is_string(operand: object) -> bool:
    return isinstance(operand, str)


def _is_end(operand: object) -> bool:
    """Return whether it is the start or end of a string, in its case or any."""
    if isinstance(operand, Mapping):
        return list(operand) == [IGNORE_CASE] and isinstance(operand[IGNORE_CASE], str)
    return isinstance(operand, str)


def _is_wildcard(operand: object) -> bool:
    if not isinstance(operand, str) or not WILDCARD.fullmatch(operand):
        return False
    return "**" not in re.sub(r"\\.", "x", operand)


def _is_numeric(operand: object) -> bool:
    """Return whether it is one comparison, or a lower bound and a greater upper one."""
    if not isinstance(operand, list) or len(operand) not in (2, 4):
        return False
    signs, numbers = operand[::2], operand[1::2]
    if not all(map(_is_number, numbers)):
        return False
    if len(signs) == 1:
        return signs[0] in ("=", *LOWER, *UPPER)
    return signs[0] in LOWER and signs[1] in UPPER and bool(numbers[0] < numbers[1])


def _is_cidr(operand: object) -> bool:
    if not isinstance(operand, str) or not re.fullmatch(r"[^/]+/[0-9]+", operand, re.ASCII):
        return False
    try:
        ipaddress.ip_network(operand, strict=False)
    except ValueError:
        return False
    return True


def _is_excluded(operand: object) -> bool:
    if isinstance(operand, Mapping):
        operator, inner = next(iter(operand.items()), ("", None))
        if len(operand) != 1 or operator not in IN_ANYTHING_BUT:
            return False
        texts = inner if isinstance(inner, list) else [inner]
        is_one = _is_wildcard if operator == "wildcard" else _is_string
        return bool(texts) and all(bool(text) and is_one(text) for text in texts)
    values = operand if isinstance(operand, list) else [operand]
    return bool(values) and (all(map(_is_string, values)) or all(map(_is_number, values)))


# By operator: a check of its operand, and the allowed ones in words.
OPERANDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "prefix": (_is_end, f'a string, or {{"{IGNORE_CASE}": a string}}'),
    "suffix": (_is_end, f'a string, or {{"{IGNORE_CASE}": a string}}'),
    IGNORE_CASE: (_is_string, "a string"),
    "wildcard": (_is_wildcard, "a string without **; a backslash only before * or a backslash"),
    "anything-but": (
        _is_excluded,
        f"strings only, numbers only, or one of {', '.join(IN_ANYTHING_BUT)} with strings",
    ),
    "numeric": (
        _is_numeric,
        'a list like [">", 0] or [">", 0, "<=", 5], of numbers up to five billion',
    ),
    "cidr": (_is_cidr, 'a block of addresses like "10.0.0.0/24"'),
    "exists": (lambda operand: isinstance(operand, bool), "true or false"),
}
