"""The needs of rules that judge each value of a column.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html,
https://github.com/awslabs/deequ (com.amazon.deequ.dqdl.translation.rules)
"""

import re
from dataclasses import replace
from datetime import datetime

from tidemark.data_quality.plan import Check, Leaf, Measure, Scalar
from tidemark.data_quality.sql import (
    CAST_TYPES,
    column_data_type,
    column_length,
    column_values,
    data_freshness,
)
from tidemark.data_quality.table import NUMERIC, STRING, Table, only, row_of, share
from tidemark.model.dqdl.conditions import (
    holds,
    is_one,
    null_requirement,
    percentage,
    ratio_requirement,
)
from tidemark.model.dqdl.rules import Number, Rule, RuleCondition, Text


def values_leaf(rule: Rule, table: Table, now: datetime) -> Leaf:
    """Return what ColumnValues needs: bounds of numbers, or the share of rows that comply."""
    (name,), condition = rule.parameters, condition_of(rule)
    test = column_values(table.sql(name), condition, now)
    compliance = Check(
        Scalar(share(test, rule.where)),
        f"Column.{name}.ColumnValues.Compliance",
        holds(rule.threshold) if rule.threshold else is_one,
    )
    row = row_of(rule, test)
    if condition.operator == "matches" and (reason := table.other_type([name], STRING)):
        return Leaf(rule, failure=reason)
    is_simple = condition.has(Number) and not condition.negated and condition.operator != "in"
    if rule.threshold or not is_simple:
        return Leaf(rule, (compliance,), row)
    if reason := table.other_type([name], NUMERIC):
        return Leaf(rule, failure=reason)
    if condition.operator == "between":
        test = f"({table.sql(name)} IS NULL OR {test})"
        bounds = [replace(compliance, measure=Scalar(share(test, rule.where)))]
    else:
        bounds = _bounds(rule, table)
    null = Scalar(share(f"{table.sql(name)} IS NOT NULL", rule.where))
    return Leaf(rule, (*bounds, Check(null, "", is_one, null_requirement)), row)


def _bounds(rule: Rule, table: Table) -> list[Check]:
    """Return the checks of the least and the greatest value."""
    (name,), condition = rule.parameters, condition_of(rule)
    column = table.sql(name)
    words = {"=": ("min", "max"), ">": ("min",), ">=": ("min",)}
    return [
        Check(
            Scalar(f"CAST({word}({only(column, rule.where)}) AS DOUBLE)"),
            f"Column.{name}.{'Minimum' if word == 'min' else 'Maximum'}",
            holds(condition),
        )
        for word in words.get(condition.operator, ("max",))
    ]


def length_leaf(rule: Rule, table: Table, _: datetime) -> Leaf:
    """Return what ColumnLength needs: the shortest and the longest value, or a share."""
    if reason := table.other_type(rule.parameters, STRING):
        return Leaf(rule, failure=reason)
    (name,), condition = rule.parameters, condition_of(rule)
    test = column_length(table.sql(name), condition)
    row = row_of(rule, test)
    if condition.operator == "in" or condition.negated:
        measure = Scalar(share(test, rule.where))
        return Leaf(rule, (Check(measure, f"Column.{name}.LengthCompliance"),), row)
    value = only(f"length(coalesce({table.sql(name)}, ''))", rule.where)
    ends = {
        word: Scalar(f"CAST({word}({value}) AS DOUBLE)")
        for word in {">": ("min",), ">=": ("min",), "<": ("max",), "<=": ("max",)}.get(
            condition.operator, ("min", "max")
        )
    }
    names = {"min": "MinimumLength", "max": "MaximumLength"}
    return Leaf(
        rule,
        tuple(Check(ends[w], f"Column.{name}.{names[w]}", holds(condition)) for w in ends),
        row,
    )


def data_type_leaf(rule: Rule, table: Table, _: datetime) -> Leaf:
    """Return what ColumnDataType needs: the share of values that Spark can cast."""
    (name,), condition = rule.parameters, condition_of(rule)
    (word,) = (one.value for one in condition.operands if isinstance(one, Text))
    if word.lower() not in CAST_TYPES and not re.fullmatch(r"(?i)decimal\(\d+,\s*\d+\)", word):
        return Leaf(rule, failure=f"Unrecognized data type: {word}")
    test = column_data_type(table.sql(name), condition)
    return Leaf(
        rule,
        (
            Check(
                Scalar(share(test, rule.where)),
                f"Column.{name}.ColumnDataType.Compliance",
                holds(rule.threshold) if rule.threshold else is_one,
                ratio_requirement,
                passes_empty=True,
            ),
        ),
        row_of(rule, test),
    )


def freshness_leaf(rule: Rule, table: Table, now: datetime) -> Leaf:
    """Return what DataFreshness needs: the share of rows that are fresh."""
    (name,) = rule.parameters
    test = data_freshness(table.sql(name), condition_of(rule), now)
    metric = f"Column.{name}.DataFreshness.Compliance"
    measure: Measure = Scalar(share(test, rule.where))
    check = Check(measure, metric, is_one, percentage, passes_empty=True)
    return Leaf(rule, (check,), row_of(rule, test))


def condition_of(rule: Rule) -> RuleCondition:
    """Return the condition of a rule of a type that has one."""
    assert rule.condition is not None, rule.text  # noqa: S101 (rules are checked)
    return rule.condition
