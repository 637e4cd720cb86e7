"""Spark SQL that is true of the rows that meet a condition, false of the others, never null.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types-ColumnValues.html,
https://github.com/awslabs/deequ (com.amazon.deequ.dqdl, the open part of Glue Data Quality)
"""

import math
from datetime import datetime

from tidemark.local_state.sparks.installed import own_spark
from tidemark.model.dqdl.rules import (
    EMPTY,
    NULL,
    WHITESPACES,
    Duration,
    Keyword,
    Now,
    Number,
    Operand,
    RuleCondition,
    Text,
    is_of_dates,
)

# Types of ColumnDataType, and their names in SQL.
CAST_TYPES = {
    **{word: word for word in ("boolean", "date", "timestamp", "double", "float")},
    "integer": "int",
    "long": "bigint",
}


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


def column_values(column: str, condition: RuleCondition, now: datetime) -> str:
    """Return the SQL of a rule ColumnValues; null meets ``!=`` and ``not in`` that name it not."""
    if condition.operator == "matches":
        return _pattern(column, condition)
    subject = f"to_date({column})" if is_of_dates(condition) else column
    values = [
        _value(one, condition, now) for one in condition.operands if not isinstance(one, Keyword)
    ]
    if condition.operator not in ("=", "in"):
        return _compared(subject, condition, values)
    tests = [f"{subject} IN ({', '.join(values)})"] if values else []
    tests += [f"{column} IS NULL"] if condition.names(NULL) else []
    tests += [f"{column} = ''"] if condition.names(EMPTY) else []
    if condition.names(WHITESPACES):
        tests.append(f"(length(trim({column})) = 0 AND length({column}) > 0)")
    text = " OR ".join(tests)
    return f"coalesce(NOT ({text}), true)" if condition.negated else f"coalesce({text}, false)"


def column_length(column: str, condition: RuleCondition) -> str:
    """Return the SQL of a rule ColumnLength: null has the length 0."""
    return _numeric(f"length(coalesce({column}, ''))", condition)


def data_freshness(column: str, condition: RuleCondition, now: datetime) -> str:
    """Return the SQL of a rule DataFreshness: the age in hours, to two digits."""
    age = f"({int(now.timestamp())} - unix_timestamp(try_to_timestamp({column}))) / 3600"
    return _numeric(f"round({age}, 2)", condition)


def column_data_type(column: str, condition: RuleCondition) -> str:
    """Return the SQL of a rule ColumnDataType: whether Spark can cast a value to a type."""
    (word,) = (one.value for one in condition.operands if isinstance(one, Text))
    kind = CAST_TYPES.get(word.lower(), word)
    cast = "TRY_CAST" if own_spark().major >= 4 else "CAST"  # that of Spark 4 fails
    return f"{cast}({column} AS {kind}) IS {'' if condition.negated else 'NOT '}NULL"


def _numeric(subject: str, condition: RuleCondition) -> str:
    values = [
        number(one.hours if isinstance(one, Duration) else one.value)
        for one in condition.operands
        if isinstance(one, Duration | Number)
    ]
    if condition.operator in ("=", "in"):
        word = "NOT IN" if condition.negated else "IN"
        return f"coalesce({subject} {word} ({', '.join(values)}), false)"
    return _compared(subject, condition, values)


def _compared(subject: str, condition: RuleCondition, values: list[str]) -> str:
    """Return the SQL of an order; between leaves out its ends, not between has them."""
    if condition.operator == "between":
        signs = ("<=", "OR", ">=") if condition.negated else (">", "AND", "<")
        low, join, high = signs
        text = f"{subject} {low} {values[0]} {join} {subject} {high} {values[1]}"
    else:
        text = f"{subject} {condition.operator} {values[0]}"
    return f"coalesce({text}, false)"


def _pattern(column: str, condition: RuleCondition) -> str:
    """Return the SQL of matches: as deequ, which takes an empty match for none."""
    (pattern,) = (one.value for one in condition.operands if isinstance(one, Text))
    whole = rf"^(?!\b{pattern}\b).*$" if condition.negated else f"^{pattern}$"
    return f"coalesce(regexp_extract({column}, {literal(whole)}, 0) != '', false)"


def _value(operand: Operand, condition: RuleCondition, now: datetime) -> str:
    if isinstance(operand, Number):
        return number(operand.value)
    if isinstance(operand, Now):
        return f"DATE{literal(operand.date(now))}"
    text = literal(operand.value if isinstance(operand, Text) else operand.text)
    return f"DATE{text}" if is_of_dates(condition) else text
