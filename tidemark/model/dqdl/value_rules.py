"""Rules that judge each value of a column: SQL that is true of a row, false of the others.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html,
https://github.com/awslabs/deequ (com.amazon.deequ.dqdl, the open part of Glue Data Quality)
"""

import re
from dataclasses import replace
from datetime import datetime

from tidemark.model.dqdl import rule_types as types
from tidemark.model.dqdl.conditions import null_requirement, percentage, ratio_requirement
from tidemark.model.dqdl.plan import NUMERIC, STRING, Check, Data, RulePlan, Scalar
from tidemark.model.dqdl.rule_types import condition_of, rule, test_of, wrong
from tidemark.model.dqdl.rules import (
    EMPTY,
    NULL,
    WHITESPACES,
    Duration,
    Keyword,
    Now,
    Number,
    Operand,
    Rule,
    RuleCondition,
    Text,
    is_of_dates,
)
from tidemark.model.dqdl.sql import compared, literal, number, numeric, only, share

# Types of ColumnDataType, and their names in SQL.
CAST_TYPES = {
    **{word: word for word in ("boolean", "date", "timestamp", "double", "float")},
    "integer": "int",
    "long": "bigint",
}


def _check_values(rule: Rule, condition: RuleCondition) -> None:
    """Refuse mixed kinds of operands, and keywords that cannot equal anything."""
    # NULL goes with numbers, strings and dates, the other keywords with strings.
    kinds = {type(operand) for operand in condition.operands} - {Keyword}
    if len(kinds) > 1 and not is_of_dates(condition):
        raise wrong(rule, f"{condition.text!r} mixes kinds of values")
    if Duration in kinds:
        raise wrong(rule, "a duration goes with now(), as in (now() - 3 days)")
    is_order = condition.operator not in ("=", "in", "matches")
    if is_order and Text in kinds and not is_of_dates(condition):
        days = 'compares numbers, days such as "2022-06-30", now()'
        raise wrong(rule, f"{condition.operator} {days}")
    if condition.has(Keyword) and condition.operator not in ("=", "in"):
        raise wrong(rule, "NULL, EMPTY and WHITESPACES_ONLY go with =, !=, in and not in")


@rule("ColumnValues", types.ANY, threshold=True, by_row=True, check=_check_values, is_analyzer=True)
def column_values(rule: Rule, data: Data) -> RulePlan:
    """Plan the bounds of numbers, or the share of rows that comply."""
    (name,), condition = rule.parameters, condition_of(rule)
    column = data.columns.sql(name)
    test = _values_sql(column, condition, data.now)
    metric = f"Column.{name}.ColumnValues.Compliance"
    compliance = Check(Scalar(share(test, rule.where)), metric, test_of(rule.threshold))
    row = only(test, rule.where)
    if condition.operator == "matches" and (reason := data.columns.other_type([name], STRING)):
        return RulePlan(rule, failure=reason)
    is_simple = condition.has(Number) and not condition.negated and condition.operator != "in"
    if rule.threshold or not is_simple:
        return RulePlan(rule, (compliance,), row)
    if reason := data.columns.other_type([name], NUMERIC):
        return RulePlan(rule, failure=reason)
    if condition.operator == "between":
        test = f"({column} IS NULL OR {test})"
        bounds: tuple[Check, ...] = (replace(compliance, measure=Scalar(share(test, rule.where))),)
    else:
        bounds = _ends(rule, column, "Minimum", "Maximum")
    null = Scalar(share(f"{column} IS NOT NULL", rule.where))
    # Glue says of null that it fails, and has no metric of it.
    return RulePlan(rule, (*bounds, Check(null, "", says=null_requirement)), row)


def _ends(rule: Rule, value: str, least: str, greatest: str) -> tuple[Check, ...]:
    """Return the checks of the least and the greatest value, of which an order needs one."""
    condition = condition_of(rule)
    words = {">": ("min",), ">=": ("min",), "<": ("max",), "<=": ("max",)}
    return tuple(
        Check(
            Scalar(f"CAST({word}({only(value, rule.where)}) AS DOUBLE)"),
            f"Column.{rule.parameters[0]}.{least if word == 'min' else greatest}",
            test_of(condition),
        )
        for word in words.get(condition.operator, ("min", "max"))
    )


def _values_sql(column: str, condition: RuleCondition, now: datetime) -> str:
    """Return the SQL of ColumnValues; null meets ``!=`` and ``not in`` that name it not."""
    if condition.operator == "matches":
        # As deequ, which takes an empty match for none.
        (pattern,) = (operand.value for operand in condition.operands if isinstance(operand, Text))
        whole = rf"^(?!\b{pattern}\b).*$" if condition.negated else f"^{pattern}$"
        return f"coalesce(regexp_extract({column}, {literal(whole)}, 0) != '', false)"
    subject = f"to_date({column})" if is_of_dates(condition) else column
    values = [
        _value_sql(operand, condition, now)
        for operand in condition.operands
        if not isinstance(operand, Keyword)
    ]
    if condition.operator not in ("=", "in"):
        return compared(subject, condition, values)
    tests = [f"{subject} IN ({', '.join(values)})"] if values else []
    tests += [f"{column} IS NULL"] if condition.names(NULL) else []
    tests += [f"{column} = ''"] if condition.names(EMPTY) else []
    if condition.names(WHITESPACES):
        tests.append(f"(length(trim({column})) = 0 AND length({column}) > 0)")
    text = " OR ".join(tests)
    return f"coalesce(NOT ({text}), true)" if condition.negated else f"coalesce({text}, false)"


def _value_sql(operand: Operand, condition: RuleCondition, now: datetime) -> str:
    if isinstance(operand, Number):
        return number(operand.value)
    if isinstance(operand, Now):
        return f"DATE{literal(operand.date(now))}"
    text = literal(operand.value if isinstance(operand, Text) else operand.text)
    return f"DATE{text}" if is_of_dates(condition) else text


@rule("ColumnLength", types.NUMBERS, by_row=True, is_analyzer=True)
def column_length(rule: Rule, data: Data) -> RulePlan:
    """Plan the shortest and the longest value, or a share."""
    if reason := data.columns.other_type(rule.parameters, STRING):
        return RulePlan(rule, failure=reason)
    (name,), condition = rule.parameters, condition_of(rule)
    length = f"length(coalesce({data.columns.sql(name)}, ''))"  # null has the length 0
    test = numeric(length, condition)
    row = only(test, rule.where)
    if condition.operator == "in" or condition.negated:
        measure = Scalar(share(test, rule.where))
        return RulePlan(rule, (Check(measure, f"Column.{name}.LengthCompliance"),), row)
    return RulePlan(rule, _ends(rule, length, "MinimumLength", "MaximumLength"), row)


def _check_data_type(rule: Rule, condition: RuleCondition) -> None:
    if condition.operator != "=":
        raise wrong(rule, "ColumnDataType takes = and != with one type")


@rule("ColumnDataType", types.STRINGS, threshold=True, by_row=True, check=_check_data_type)
def column_data_type(rule: Rule, data: Data) -> RulePlan:
    """Plan the share of values that Spark can cast."""
    (name,), condition = rule.parameters, condition_of(rule)
    (word,) = (operand.value for operand in condition.operands if isinstance(operand, Text))
    if word.lower() not in CAST_TYPES and not re.fullmatch(r"(?i)decimal\(\d+,\s*\d+\)", word):
        return RulePlan(rule, failure=f"Unrecognized data type: {word}")
    kind, negation = CAST_TYPES.get(word.lower(), word), "" if condition.negated else "NOT "
    test = f"{data.cast}({data.columns.sql(name)} AS {kind}) IS {negation}NULL"
    check = Check(
        Scalar(share(test, rule.where)),
        f"Column.{name}.ColumnDataType.Compliance",
        test_of(rule.threshold),
        ratio_requirement,
        passes_empty=True,
    )
    return RulePlan(rule, (check,), only(test, rule.where))


@rule("DataFreshness", types.DURATIONS, by_row=True)
def data_freshness(rule: Rule, data: Data) -> RulePlan:
    """Plan the share of rows that are fresh, by their age in hours, to two digits."""
    (name,) = rule.parameters
    time = f"unix_timestamp(try_to_timestamp({data.columns.sql(name)}))"
    age = f"round(({int(data.now.timestamp())} - {time}) / 3600, 2)"
    test = numeric(age, condition_of(rule))
    ratio, metric = Scalar(share(test, rule.where)), f"Column.{name}.DataFreshness.Compliance"
    check = Check(ratio, metric, says=percentage, passes_empty=True)
    return RulePlan(rule, (check,), only(test, rule.where))
