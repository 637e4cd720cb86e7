"""Whether a number meets a condition, and how AWS prints one that does not."""

import math
from collections.abc import Callable

from tidemark.model.dqdl.rules import Number, RuleCondition

Holds = Callable[[float], bool]


def holds(condition: RuleCondition) -> Holds:
    """Return the test of a condition of numbers; ``between`` leaves out its ends.

    Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html#dqdl-syntax-rule-expressions
    """
    numbers = [operand.value for operand in condition.operands if isinstance(operand, Number)]
    first, last = numbers[0], numbers[-1]
    tests: dict[str, Holds] = {
        "=": lambda value: value == first,
        ">": lambda value: value > first,
        ">=": lambda value: value >= first,
        "<": lambda value: value < first,
        "<=": lambda value: value <= first,
        "between": lambda value: first < value < last,
        "in": lambda value: value in numbers,
    }
    test = tests[condition.operator]
    return (lambda value: not test(value)) if condition.negated else test


def is_one(value: float) -> bool:
    """Return whether all rows comply."""
    return value == 1.0


def printed(value: float) -> str:
    """Return a number as the JVM prints a double."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    texts = (f"{value:.{places}e}" for places in range(1, 18))
    digits, _, exponent = next(text for text in texts if float(text) == value).partition("e")
    return f"{digits}E{int(exponent)}"


def requirement(value: float) -> str:
    """Return why a value fails, in Glue's words."""
    return f"Value: {printed(value)} does not meet the constraint requirement!"


def count_requirement(value: float) -> str:
    """Return why a count fails: a whole number."""
    return f"Value: {int(value)} does not meet the constraint requirement!"


def ratio_requirement(value: float) -> str:
    """Return why a share of rows fails, of rules that compare data or types."""
    return f"Value: {printed(value)} does not meet the constraint requirement."


def null_requirement(_: float) -> str:
    """Return why a value fails that is null."""
    return "Value: NULL does not meet the constraint requirement!"


def percentage(value: float) -> str:
    """Return why a share of rows fails, in percent."""
    return f"{value * 100:.2f} % of rows passed the threshold"
