"""Parts of Spark SQL: names, literals, comparisons that are never null, and shares of rows."""

import math
from collections.abc import Sequence

from tidemark.model.dqdl.rules import Duration, Number, RuleCondition


def quoted(name: str) -> str:
    """Return the name of a column as SQL."""
    return "`" + name.strip("`").replace("`", "``") + "`"


def literal(text: str) -> str:
    """Return a string as SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def number(value: float) -> str:
    """Return a number as SQL, a double."""
    if math.isfinite(value):
        return f"{value!r}D" if value >= 0 else f"({value!r}D)"
    return f"double('{value}')"


def share(test: str, where: str | None = None) -> str:
    """Return the SQL of the share of rows that meet a test; null without rows."""
    return f"avg({only(f'CASE WHEN {test} THEN 1D ELSE 0D END', where)})"


def only(value: str, where: str | None) -> str:
    """Return the SQL of a value that is null in rows that a where clause leaves out."""
    return f"CASE WHEN {where} THEN {value} END" if where else value


def numeric(subject: str, condition: RuleCondition) -> str:
    """Return the SQL of a condition on a number; durations are hours."""
    values = [
        number(operand.hours if isinstance(operand, Duration) else operand.value)
        for operand in condition.operands
        if isinstance(operand, Duration | Number)
    ]
    if condition.operator in ("=", "in"):
        word = "NOT IN" if condition.negated else "IN"
        return f"coalesce({subject} {word} ({', '.join(values)}), false)"
    return compared(subject, condition, values)


def compared(subject: str, condition: RuleCondition, values: Sequence[str]) -> str:
    """Return the SQL of an order; null is false."""
    if condition.operator == "between":
        # As in DQDL: between leaves out its ends, not between has them.
        low, join, high = ("<=", "OR", ">=") if condition.negated else (">", "AND", "<")
        text = f"{subject} {low} {values[0]} {join} {subject} {high} {values[1]}"
    else:
        text = f"{subject} {condition.operator} {values[0]}"
    return f"coalesce({text}, false)"
