"""Compares values as a Choice does.

Source: https://states-language.net/spec.html#choice-state
"""

import operator
import re
from collections.abc import Callable
from typing import Any

from tidemark.glue_service.state_machines.values import time_of

CASES: dict[str, Callable[[Any, Any], bool]] = {
    "Equals": operator.eq,
    "LessThan": operator.lt,
    "GreaterThan": operator.gt,
    "LessThanEquals": operator.le,
    "GreaterThanEquals": operator.ge,
}
NAME = re.compile(r"^(String|Numeric|Timestamp|Boolean)(\w+?)(?:Path)?$")
STAR = re.compile(r"\\(.)|(\*)", re.DOTALL)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


READ: dict[str, Callable[[Any], Any]] = {  # a value of a kind; None for one of another kind
    "String": lambda value: value if isinstance(value, str) else None,
    "Numeric": lambda value: value if _is_number(value) else None,
    "Timestamp": time_of,
    "Boolean": lambda value: value if isinstance(value, bool) else None,
}


def compare(name: str, value: Any, other: Any) -> bool:
    r"""Return whether a value meets a comparison; values of different kinds never do.

    Args:
        name: of the operator, such as `StringEquals`; one with `Path` has the value there.
        value: that of the variable.
        other: what it is compared with; of an operator such as `IsNull`, true or false.

    >>> compare("TimestampEquals", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00.000+01:00")
    True
    >>> compare("StringMatches", "a*c", r"a\*?")
    False
    """
    if name == "IsNull":
        return (value is None) is other
    if name.startswith("Is"):
        return (READ[name.removeprefix("Is")](value) is not None) is other
    if name == "StringMatches":
        return isinstance(value, str) and _pattern(other).fullmatch(value) is not None
    kind, case = NAME.findall(name)[0]
    left, right = READ[kind](value), READ[kind](other)
    return left is not None and right is not None and CASES[case](left, right)


def _pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of a text in which `*` is any text, unless it is escaped."""
    parts, end = [], 0
    for match in STAR.finditer(text):
        parts += [re.escape(text[end : match.start()]), ".*" if match[2] else re.escape(match[1])]
        end = match.end()
    return re.compile("".join(parts) + re.escape(text[end:]), re.DOTALL)
