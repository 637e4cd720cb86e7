"""The parts of definitions that rules are about: faults, times, paths, expressions, templates."""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

SCHEMA, TARGET = "SCHEMA_VALIDATION_FAILED", "MISSING_TRANSITION_TARGET"
DUPLICATE = "DUPLICATE_STATE_NAME"
ON_AWS_ONLY = "NOT_ON_THIS_MACHINE"  # which AWS takes
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True)
class Fault:
    """What is wrong with a definition, and where, as a JSON pointer."""

    code: str
    text: str
    place: str = "/"

    def __str__(self) -> str:
        return f"{self.code}: {self.text} at {self.place}"


def time_of(text: object) -> datetime | None:
    """Return the instant of a time as Step Functions reads it; None if it is none.

    >>> time_of("2026-03-01T12:00:00.5+01:00").isoformat()
    '2026-03-01T12:00:00.500000+01:00'
    >>> time_of("2026-03-01")
    """
    if not isinstance(text, str) or not TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def is_path(value: Any, *, is_reference: bool = False) -> bool:
    """Return whether a value is a path in JSON; a reference path names one place."""
    if not isinstance(value, str) or not value.startswith("$"):
        return False
    if is_reference and re.search(r"[*?@]|\.\.|:", re.sub(r"\['[^']*'\]", "", value)):
        return False
    try:
        from jsonpath_ng.ext.parser import parse
    except ImportError:
        return True
    try:
        # The context object begins with $$, and a variable with $ and its name.
        parse(re.sub(r"^\$\$|^\$\w+", "$", value))
    except Exception:  # noqa: BLE001 (its parser raises several, of no common kind)
        return False
    return True


def is_expression(value: Any) -> bool:
    """Return whether a value is an expression of JSONata."""
    return isinstance(value, str) and value.startswith("{%") and value.endswith("%}")


def faults_of_expression(text: str, place: str) -> Iterator[Fault]:
    """Yield what is wrong with an expression of JSONata, if its package is installed."""
    if re.search(r"\$eval\b", text):
        yield Fault(SCHEMA, "The function $eval is not supported", place)
    limit = sys.getrecursionlimit()
    try:
        from jsonata import Jsonata
    except ImportError:
        return
    finally:
        sys.setrecursionlimit(limit)  # the import raises it for the whole process
    try:
        Jsonata(text[2:-2])
    except Exception as error:  # noqa: BLE001 (whatever it is, it is of the expression)
        yield Fault(SCHEMA, f"The JSONata expression '{text}' is not valid: {error}", place)


def faults_of_values(value: Any, place: str) -> Iterator[Fault]:
    """Yield the faults of expressions in a value."""
    if is_expression(value):
        yield from faults_of_expression(value, place)
    elif isinstance(value, (Mapping, list)):
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in items:
            yield from faults_of_values(item, f"{place}/{key}")


def faults_of_template(value: Any, place: str) -> Iterator[Fault]:
    """Yield the faults of a payload template: fields that end in `.$` are paths or functions."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from faults_of_template(item, f"{place}/{index}")
    if not isinstance(value, Mapping):
        return
    for key, item in value.items():
        here = f"{place}/{key}"
        if not key.endswith(".$"):
            yield from faults_of_template(item, here)
        elif not isinstance(item, str) or not (item.startswith("States.") or is_path(item)):
            text = f"The value of the field '{key}' must be a JSONPath, or an intrinsic function"
            yield Fault(SCHEMA, text, here)
        elif key[:-2] in value:
            yield Fault(SCHEMA, f"The field '{key[:-2]}' is there twice", here)


def duplicate_key(text: str) -> str | None:
    """Return a key that an object of a JSON text has twice; None without any."""
    twice: list[str] = []

    def take(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(name for name, _ in pairs)
        twice.extend(name for name, count in counts.items() if count > 1)
        return dict(pairs)

    json.loads(text, object_pairs_hook=take)
    return twice[0] if twice else None
