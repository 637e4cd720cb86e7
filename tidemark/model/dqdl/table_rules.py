"""Rules about a table, or about all values of a column.

Names of metrics and the treatment of null follow AWS's pages and deequ, on which Glue is built.
Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html,
https://github.com/awslabs/deequ (com.amazon.deequ.dqdl.translation.rules)
"""

import re

from tidemark.errors import UsageError
from tidemark.model.dqdl.conditions import Holds, count_requirement, is_one, requirement
from tidemark.model.dqdl.plan import NUMERIC, Check, Data, Known, OfGroups, RulePlan, Scalar
from tidemark.model.dqdl.rule_types import NUMBERS, Plan, rule, test_of
from tidemark.model.dqdl.rules import Rule
from tidemark.model.dqdl.sql import only, share


@rule("RowCount", NUMBERS, least=0, most=0, reads_columns=False, is_analyzer=True)
def row_count(rule: Rule, _: Data) -> RulePlan:
    """Plan the number of rows."""
    count = Scalar(f"CAST(count({only('1', rule.where)}) AS DOUBLE)")
    test = test_of(rule.condition)
    return RulePlan(rule, (Check(count, "Dataset.*.RowCount", test, count_requirement),))


@rule("ColumnCount", NUMBERS, least=0, most=0, where=False, reads_columns=False, is_analyzer=True)
def column_count(rule: Rule, data: Data) -> RulePlan:
    """Plan the number of columns."""
    count, test = Known(float(len(data.columns.pairs))), test_of(rule.condition)
    return RulePlan(rule, (Check(count, "Dataset.*.ColumnCount", test, count_requirement),))


@rule("ColumnExists", where=False, reads_columns=False, named=lambda rule: rule.parameters)
def column_exists(rule: Rule, data: Data) -> RulePlan:
    """Plan whether a column is there."""
    is_there = data.columns.find(rule.parameters[0]) is not None
    return RulePlan(rule, (Check(Known(float(is_there)), ""),))


@rule("ColumnNamesMatchPattern", where=False, reads_columns=False)
def names_match(rule: Rule, data: Data) -> RulePlan:
    """Plan the share of columns whose names match."""
    try:
        pattern = re.compile(rule.parameters[0])
    except re.error as error:
        text = f"the data quality rule {rule.text!r} has a wrong pattern: {error}"
        raise UsageError(text) from error
    names = data.columns.names
    others = [name for name in names if not pattern.search(name)]
    ratio = Known((len(names) - len(others)) / len(names) if names else float("nan"))
    reason = f"Columns that do not match the pattern: {', '.join(others)}"
    metric = "Dataset.*.ColumnNamesPatternMatchRatio"
    return RulePlan(rule, (Check(ratio, metric, lambda _: not others, lambda _: reason),))


@rule("IsComplete", by_row=True)
@rule("Completeness", NUMBERS, is_analyzer=True)
def completeness(rule: Rule, data: Data) -> RulePlan:
    """Plan the share of rows with a value."""
    (name,) = rule.parameters
    check = _complete(rule, data, name, test_of(rule.condition))
    return RulePlan(rule, (check,), only(f"{data.columns.sql(name)} IS NOT NULL", rule.where))


def _complete(rule: Rule, data: Data, name: str, test: Holds = is_one) -> Check:
    ratio = Scalar(share(f"{data.columns.sql(name)} IS NOT NULL", rule.where))
    return Check(ratio, f"Column.{name}.Completeness", test)


def _aggregate(function: str) -> Plan:
    def plan(rule: Rule, data: Data) -> RulePlan:
        if reason := data.columns.other_type(rule.parameters, NUMERIC):
            return RulePlan(rule, failure=reason)
        (name,) = rule.parameters
        value = Scalar(f"CAST({function}({only(data.columns.sql(name), rule.where)}) AS DOUBLE)")
        check = Check(value, f"Column.{name}.{rule.kind}", test_of(rule.condition))
        return RulePlan(rule, (check,))

    return plan


rule("Mean", NUMBERS, is_analyzer=True)(_aggregate("avg"))
rule("Sum", NUMBERS, is_analyzer=True)(_aggregate("sum"))
rule("StandardDeviation", NUMBERS, is_analyzer=True)(_aggregate("stddev_pop"))


@rule("ColumnCorrelation", NUMBERS, least=2, most=2, is_analyzer=True)
def column_correlation(rule: Rule, data: Data) -> RulePlan:
    """Plan the correlation of two columns."""
    if reason := data.columns.other_type(rule.parameters, NUMERIC):
        return RulePlan(rule, failure=reason)
    first, second = (only(data.columns.sql(name), rule.where) for name in rule.parameters)
    metric = f"Multicolumn.{','.join(rule.parameters)}.ColumnCorrelation"
    value = Scalar(f"corr({first}, {second})")
    return RulePlan(rule, (Check(value, metric, test_of(rule.condition)),))


@rule("IsPrimaryKey", most=None, by_row=True)
def is_primary_key(rule: Rule, data: Data) -> RulePlan:
    """Plan whether columns have no values twice, and no null."""
    columns = tuple(map(data.columns.sql, rule.parameters))
    metric = _metric(rule.parameters, "Uniqueness")
    unique = Check(OfGroups(columns, rule.where, "uniqueness"), metric)
    complete = [_complete(rule, data, name) for name in rule.parameters]
    test = " AND ".join([_alone(columns, rule), *(f"{sql} IS NOT NULL" for sql in columns)])
    return RulePlan(rule, (unique, *complete), only(test, rule.where))


def _groups(field: str, metric: str, *, is_of_rows: bool) -> Plan:
    def plan(rule: Rule, data: Data) -> RulePlan:
        columns = tuple(map(data.columns.sql, rule.parameters))
        measure = OfGroups(columns, rule.where, field)
        says = count_requirement if field == "distinct" else requirement
        check = Check(measure, _metric(rule.parameters, metric), test_of(rule.condition), says)
        row = only(_alone(columns, rule), rule.where) if is_of_rows else None
        return RulePlan(rule, (check,), row)

    return plan


_uniqueness = _groups("uniqueness", "Uniqueness", is_of_rows=True)
_ratio = _groups("unique_value_ratio", "UniqueValueRatio", is_of_rows=True)
rule("IsUnique", by_row=True)(_uniqueness)
rule("Uniqueness", NUMBERS, most=None, is_analyzer=True)(_uniqueness)
rule("UniqueValueRatio", NUMBERS, by_row=True, is_analyzer=True)(_ratio)
rule("Entropy", NUMBERS, is_analyzer=True)(_groups("entropy", "Entropy", is_of_rows=False))
rule("DistinctValuesCount", NUMBERS, is_analyzer=True)(
    _groups("distinct", "DistinctValuesCount", is_of_rows=False)
)


def _alone(columns: tuple[str, ...], rule: Rule) -> str:
    """Return SQL that is true of a row whose values no other row has."""
    count = f"count({only('1', rule.where)})"
    return f"({count} OVER (PARTITION BY {', '.join(columns)}) = 1)"


def _metric(names: tuple[str, ...], word: str) -> str:
    owner = "Column" if len(names) == 1 else "Multicolumn"
    return f"{owner}.{','.join(names)}.{word}"
