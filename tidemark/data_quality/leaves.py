"""What each rule about one table needs.

Names of metrics and the treatment of null follow AWS's pages and deequ, on which Glue is built.
Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html,
https://github.com/awslabs/deequ (com.amazon.deequ.dqdl.translation.rules)
"""

import re
from collections.abc import Callable
from datetime import datetime

from tidemark.data_quality.plan import Check, Known, Leaf, OfGroups, Scalar
from tidemark.data_quality.table import NUMERIC, Table, only, row_of, share
from tidemark.data_quality.value_leaves import (
    data_type_leaf,
    freshness_leaf,
    length_leaf,
    values_leaf,
)
from tidemark.errors import UsageError
from tidemark.model.dqdl.conditions import (
    Holds,
    count_requirement,
    holds,
    is_one,
    requirement,
)
from tidemark.model.dqdl.rules import Rule

Maker = Callable[[Rule, Table, datetime], Leaf]
_AGGREGATES = {"Mean": "avg", "Sum": "sum", "StandardDeviation": "stddev_pop"}
_GROUPED = {
    "Uniqueness": "uniqueness",
    "IsUnique": "uniqueness",
    "UniqueValueRatio": "unique_value_ratio",
    "Entropy": "entropy",
    "DistinctValuesCount": "distinct",
}
_ROW_MEASURES = ("Uniqueness", "IsUnique", "UniqueValueRatio")
_NO_COLUMNS = ("RowCount", "ColumnCount", "ColumnExists", "ColumnNamesMatchPattern")


def leaf_of(rule: Rule, table: Table, now: datetime) -> Leaf:
    """Return the needs of a rule about one table."""
    if rule.kind not in _NO_COLUMNS and (reason := table.missing(rule.parameters)):
        return Leaf(rule, failure=reason)
    return _MAKERS[rule.kind](rule, table, now)


def test_of(rule: Rule) -> Holds:
    """Return the test of a rule's condition, which is of numbers."""
    return holds(rule.condition) if rule.condition else is_one


def _row_count(rule: Rule, _: Table, __: datetime) -> Leaf:
    measure = Scalar(f"CAST(count({only('1', rule.where)}) AS DOUBLE)")
    return Leaf(rule, (Check(measure, "Dataset.*.RowCount", test_of(rule), count_requirement),))


def _column_count(rule: Rule, table: Table, _: datetime) -> Leaf:
    measure = Known(float(len(table.columns)))
    return Leaf(rule, (Check(measure, "Dataset.*.ColumnCount", test_of(rule), count_requirement),))


def _column_exists(rule: Rule, table: Table, _: datetime) -> Leaf:
    is_there = table.find(rule.parameters[0]) is not None
    return Leaf(rule, (Check(Known(float(is_there)), ""),))


def _names_match(rule: Rule, table: Table, _: datetime) -> Leaf:
    try:
        pattern = re.compile(rule.parameters[0])
    except re.error as error:
        raise UsageError(f"the data quality rule {rule.text!r} has a wrong pattern: {error}") from (
            error
        )
    names = [column.name for column in table.columns]
    others = [name for name in names if not pattern.search(name)]
    ratio = Known((len(names) - len(others)) / len(names) if names else float("nan"))
    reason = f"Columns that do not match the pattern: {', '.join(others)}"
    metric = "Dataset.*.ColumnNamesPatternMatchRatio"
    return Leaf(rule, (Check(ratio, metric, lambda _: not others, lambda _: reason),))


def _completeness(rule: Rule, table: Table, _: datetime) -> Leaf:
    return Leaf(
        rule,
        (_complete(rule, table, rule.parameters[0], test_of(rule)),),
        row=row_of(rule, f"{table.sql(rule.parameters[0])} IS NOT NULL"),
    )


def _complete(rule: Rule, table: Table, name: str, test: Holds = is_one) -> Check:
    found = share(f"{table.sql(name)} IS NOT NULL", rule.where)
    return Check(Scalar(found), f"Column.{name}.Completeness", test)


def _aggregate(rule: Rule, table: Table, _: datetime) -> Leaf:
    if reason := table.other_type(rule.parameters, NUMERIC):
        return Leaf(rule, failure=reason)
    (name,) = rule.parameters
    value = only(table.sql(name), rule.where)
    measure = Scalar(f"CAST({_AGGREGATES[rule.kind]}({value}) AS DOUBLE)")
    return Leaf(rule, (Check(measure, f"Column.{name}.{rule.kind}", test_of(rule)),))


def _correlation(rule: Rule, table: Table, _: datetime) -> Leaf:
    if reason := table.other_type(rule.parameters, NUMERIC):
        return Leaf(rule, failure=reason)
    first, second = (only(table.sql(name), rule.where) for name in rule.parameters)
    metric = f"Multicolumn.{','.join(rule.parameters)}.ColumnCorrelation"
    return Leaf(rule, (Check(Scalar(f"corr({first}, {second})"), metric, test_of(rule)),))


def _groups(rule: Rule, table: Table, _: datetime) -> Leaf:
    names = rule.parameters
    columns = tuple(table.sql(name) for name in names)
    measure = OfGroups(columns, rule.where, _GROUPED[rule.kind])
    word = "Uniqueness" if rule.kind == "IsUnique" else rule.kind
    says = count_requirement if rule.kind == "DistinctValuesCount" else requirement
    check = Check(measure, _metric(names, word), test_of(rule), says)
    is_of_rows = rule.kind in _ROW_MEASURES
    return Leaf(rule, (check,), row=row_of(rule, _alone(columns, rule)) if is_of_rows else None)


def _primary_key(rule: Rule, table: Table, _: datetime) -> Leaf:
    names = rule.parameters
    columns = tuple(table.sql(name) for name in names)
    unique = Check(OfGroups(columns, rule.where, "uniqueness"), _metric(names, "Uniqueness"))
    complete = [_complete(rule, table, name) for name in names]
    test = " AND ".join([_alone(columns, rule), *(f"{one} IS NOT NULL" for one in columns)])
    return Leaf(rule, (unique, *complete), row=row_of(rule, test))


def _alone(columns: tuple[str, ...], rule: Rule) -> str:
    """Return SQL that is true of a row whose values no other row has."""
    count = f"count({only('1', rule.where)})"
    return f"({count} OVER (PARTITION BY {', '.join(columns)}) = 1)"


def _metric(names: tuple[str, ...], word: str) -> str:
    owner = "Column" if len(names) == 1 else "Multicolumn"
    return f"{owner}.{','.join(names)}.{word}"


_MAKERS: dict[str, Maker] = {
    "RowCount": _row_count,
    "ColumnCount": _column_count,
    "ColumnExists": _column_exists,
    "ColumnNamesMatchPattern": _names_match,
    "IsComplete": _completeness,
    "Completeness": _completeness,
    **dict.fromkeys(_AGGREGATES, _aggregate),
    "ColumnCorrelation": _correlation,
    **dict.fromkeys(_GROUPED, _groups),
    "IsPrimaryKey": _primary_key,
    "ColumnValues": values_leaf,
    "ColumnLength": length_leaf,
    "ColumnDataType": data_type_leaf,
    "DataFreshness": freshness_leaf,
}
