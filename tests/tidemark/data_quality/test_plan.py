"""Outcomes by the values of measures, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from tidemark.model.dqdl.check import checked
from tidemark.model.dqdl.conditions import holds, printed
from tidemark.model.dqdl.parser import parse
from tidemark.model.dqdl.plan import Columns, Outcome, combined, outcome_of, row_sql
from tidemark.model.dqdl.rule_types import plan_of
from tidemark.model.dqdl.rules import leaves

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
COLUMNS = Columns([("id", "int"), ("name", "string"), ("day", "date")])
DATA = SimpleNamespace(columns=COLUMNS, now=NOW, cast="CAST")


def rule_of(text):
    (rule,) = checked(parse(f"Rules = [ {text} ]"))
    return rule


def outcome(text, *values):
    """Return the outcome of a rule whose measures have these values, in order."""
    plan = plan_of(rule_of(text), DATA)
    measures = [check.measure for check in plan.checks]
    return outcome_of(plan, dict(zip(measures, values, strict=True)) if values else {})


@pytest.mark.parametrize(
    ("condition", "true", "false"),
    [
        ("= 2", [2], [1, 3]),
        ("!= 2", [1, 3], [2]),
        (">= 2", [2, 3], [1]),
        ("between 1 and 3", [2], [1, 3]),  # without its ends
        ("not between 1 and 3", [1, 3, 4], [2]),
        ("in [1, 3]", [1, 3], [2]),
        ("not in [1, 3]", [2], [1, 3]),
    ],
)
def test_conditions_of_numbers(condition, true, false):
    test = holds(rule_of(f"RowCount {condition}").condition)

    assert [test(value) for value in true] == [True] * len(true)
    assert [test(value) for value in false] == [False] * len(false)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4.0, "4.0"),
        (0.6666666666666666, "0.6666666666666666"),
        (1e7, "1.0E7"),
        (123456789.0, "1.23456789E8"),
        (0.0001, "1.0E-4"),
        (float("nan"), "NaN"),
    ],
)
def test_a_number_is_printed_as_the_jvm_prints_it(value, text):
    assert printed(value) == text


@pytest.mark.parametrize(
    ("text", "values", "found"),
    [
        ("RowCount > 3", [4.0], Outcome(True, None, {"Dataset.*.RowCount": 4.0})),
        (
            "RowCount > 4",
            [4.0],
            Outcome(
                False,
                "Value: 4 does not meet the constraint requirement!",
                {"Dataset.*.RowCount": 4.0},
            ),
        ),
        (
            'ColumnValues "id" > 5',
            [3.0, 0.5],
            Outcome(
                False,
                "Value: 3.0 does not meet the constraint requirement!\n"
                "Value: NULL does not meet the constraint requirement!",
                {"Column.id.Minimum": 3.0},
            ),
        ),
        (
            'IsPrimaryKey "id" "name"',
            [1.0, 1.0, 0.9],
            Outcome(
                False,
                "Value: 0.9 does not meet the constraint requirement!",
                {
                    "Multicolumn.id,name.Uniqueness": 1.0,
                    "Column.id.Completeness": 1.0,
                    "Column.name.Completeness": 0.9,
                },
            ),
        ),
        (
            'ColumnValues "name" in ["a"] with threshold > 0.8',
            [0.9],
            Outcome(True, None, {"Column.name.ColumnValues.Compliance": 0.9}),
        ),
        (
            'DataFreshness "day" < 3 days',
            [0.8],
            Outcome(
                False,
                "80.00 % of rows passed the threshold",
                {"Column.day.DataFreshness.Compliance": 0.8},
            ),
        ),
        ('ColumnExists "ID"', [], Outcome(True)),
        (
            'IsComplete "nope"',
            [],
            Outcome(False, "Input data does not include column nope!"),
        ),
        (
            'Mean "name" > 1',
            [],
            Outcome(
                False,
                "Expected type of column name to be one of (ByteType,ShortType,IntegerType,"
                "LongType,FloatType,DoubleType,DecimalType), but found StringType instead!",
            ),
        ),
    ],
)
def test_the_outcome_of_a_rule(text, values, found):
    assert outcome(text, *values) == found


def test_columns_count_and_match_a_pattern_without_a_look_at_the_rows():
    assert outcome("ColumnCount = 3").passed
    found = outcome('ColumnNamesMatchPattern "a"')  # found anywhere in a name
    assert (found.passed, found.reason) == (
        False,
        "Columns that do not match the pattern: id",
    )


def test_a_composite_rule_has_the_metrics_and_reasons_of_all_parts():
    rule = rule_of('(RowCount > 9) or ((ColumnCount = 3) and (IsComplete "nope"))')
    parts = {part: plan_of(part, DATA) for part in leaves((rule,))}
    values = {check.measure: 4.0 for plan in parts.values() for check in plan.checks}

    found = combined(rule, lambda part: outcome_of(parts[part], values))

    assert found == Outcome(
        False,
        "Value: 4 does not meet the constraint requirement!\n"
        "Input data does not include column nope!",
        {"Dataset.*.RowCount": 4.0, "Dataset.*.ColumnCount": 3.0},
    )
    assert row_sql(rule, parts, skips=False) is None


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ('ColumnValues "id" != 5', "coalesce(NOT (`id` IN (5.0D)), true)"),
        ('ColumnValues "id" = NULL', "coalesce(`id` IS NULL, false)"),
        (
            'ColumnValues "day" > (now() - 3 days)',
            "coalesce(to_date(`day`) > DATE'2026-02-26', false)",
        ),
        (
            'ColumnValues "day" not between "2026-01-01" and "2026-02-01"',
            "coalesce(to_date(`day`) <= DATE'2026-01-01' OR to_date(`day`) >= DATE'2026-02-01', "
            "false)",
        ),
        (
            r'ColumnValues "name" matches "it\'s \d+"',
            r"coalesce(regexp_extract(`name`, '^it\\\'s \\d+$', 0) != '', false)",
        ),
        ('ColumnLength "name" in [0, 2]', "length(coalesce(`name`, '')) IN (0.0D, 2.0D)"),
        ('ColumnDataType "name" != "Long"', "CAST(`name` AS bigint) IS NULL"),
        ('IsComplete "id" where "name = 1"', "CASE WHEN name = 1 THEN `id` IS NOT NULL END"),
        ('IsUnique "id"', "(count(1) OVER (PARTITION BY `id`) = 1)"),
    ],
)
def test_the_rows_of_a_rule_are_sql(text, sql):
    row = plan_of(rule_of(text), DATA).row

    assert sql in row
