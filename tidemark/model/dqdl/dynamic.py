"""Dynamic numbers: of the metrics that earlier evaluations of the same context had.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html#dqdl-dynamic-rules
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from tidemark.errors import UsageError
from tidemark.model.dqdl.conditions import printed
from tidemark.model.dqdl.rules import AnyRule, Number, Operand, Past, Rule, RuleCondition
from tidemark.model.dqdl.tokens import NUMBER, Stream

LAST, INDEX = "last", "index"
FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "avg": statistics.fmean,
    "median": statistics.median,
    "max": max,
    "min": min,
    "sum": sum,
    "std": statistics.pstdev,
    "abs": lambda values: abs(values[0]),
}
ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else float("nan"),
}


def dynamic_number(stream: Stream) -> Number:
    """Return ``last()``, a function of ``last(k)`` or ``index(last(k), i)``, which come next."""
    name = stream.pop().text
    if name == LAST:
        past, text = Past("", _count(stream)), "last()"
        if past.count > 1:
            raise stream.wrong(
                f"last({past.count}) is several numbers; allowed: one of {_names()} of it, or "
                "index(last(k), i)"
            )
    elif name in (*FUNCTIONS, INDEX):
        stream.take("(")
        stream.take(LAST, f" in {name}")
        count = _count(stream)
        past, text = Past(name, count), f"{name}(last({count}))"
        if name == INDEX:
            stream.take(",")
            index = _integer(stream)
            past, text = Past(INDEX, count, index), f"index(last({count}), {index})"
            if index >= count:
                raise stream.wrong(f"{text}: the last index is {count - 1}")
        stream.take(")")
    else:
        raise stream.wrong(f"there is no function {name}; allowed: {LAST}, {_names()}, index")
    return Number(past_value(past, ()), text, past)


def _names() -> str:
    return ", ".join(FUNCTIONS)


def _count(stream: Stream) -> int:
    """Return how many metrics ``(k)`` asks for, of ``()`` one."""
    stream.take("(")
    count = 1 if stream.sees(")") else _integer(stream)
    stream.take(")")
    if count < 1:
        raise stream.wrong(f"last({count}): allowed are integers from 1")
    return count


def _integer(stream: Stream) -> int:
    if not stream.at(NUMBER) or not stream.next.text.isdigit():
        raise stream.wrong(f"expected an integer, found {stream.next.text}")
    return int(stream.pop().text)


def joined(sign: str, first: Number, other: Number) -> Number:
    """Return two numbers with a sign between them as one."""
    text = f"{first.text} {sign} {other.text}"
    is_dynamic = first.made_of is not None or other.made_of is not None
    made_of = (sign, first, other) if is_dynamic else None
    return Number(ARITHMETIC[sign](first.value, other.value), text, made_of)


def past_value(past: Past, history: Sequence[float]) -> float:
    """Return a number by earlier metrics, the newest first; without any it is 0, as on AWS."""
    values = list(history[: past.count]) or [0.0]
    if past.function == INDEX:
        if past.index >= len(values) and history:
            raise UsageError(
                f"index(last({past.count}), {past.index}) in a data quality rule: there are only "
                f"{len(values)} earlier metrics"
            )
        return values[min(past.index, len(values) - 1)]
    return FUNCTIONS[past.function](values) if past.function else values[0]


def value_of(number: Number, history: Sequence[float]) -> float:
    """Return a number by earlier metrics, the newest first."""
    match number.made_of:
        case None:
            return number.value
        case Past() as past:
            return past_value(past, history)
        case (sign, first, other):
            return ARITHMETIC[sign](value_of(first, history), value_of(other, history))


def is_dynamic(rule: Rule) -> bool:
    """Return whether a rule compares with earlier metrics."""
    return any(
        isinstance(operand, Number) and operand.made_of is not None
        for condition in (rule.condition, rule.threshold)
        if condition
        for operand in condition.operands
    )


def bound(rule: Rule, history: Sequence[float]) -> Rule:
    """Return a rule with its earlier metrics replaced by numbers."""
    return replace(
        rule, condition=_bound(rule.condition, history), threshold=_bound(rule.threshold, history)
    )


def _bound(condition: RuleCondition | None, history: Sequence[float]) -> RuleCondition | None:
    if condition is None:
        return None
    return replace(
        condition, operands=tuple(_number(operand, history) for operand in condition.operands)
    )


def _number(operand: Operand, history: Sequence[float]) -> Operand:
    if not isinstance(operand, Number) or operand.made_of is None:
        return operand
    value = value_of(operand, history)
    return Number(value, printed(value))


def render_evaluated(rule: AnyRule, bound_rule: Callable[[Rule], Rule]) -> str:
    """Return a rule as a string, with the numbers that it was evaluated with."""
    if isinstance(rule, Rule):
        return bound_rule(rule).text
    parts = (f"({render_evaluated(inner, bound_rule)})" for inner in rule.rules)
    return f" {rule.operator} ".join(parts)
