"""Rulesets that Glue would refuse are found before a deployment, and no others."""

import doctest

import pytest

from tidemark.model.dqdl import check
from tidemark.model.dqdl.check import find_problem

COLUMNS = ["id", "day", "Price"]


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ('IsFull "id"', "there is no data quality rule type 'IsFull'"),
        ('IsComplet "id"', "did you mean IsComplete?"),
        ("RowCount >", "expected"),
        ("RowCount", "needs a condition"),
        ("IsComplete", "it has 0 parameters"),
        ("IsComplete 'id'", "strings are in double quotes"),
        ('IsComplete "id" > 0.9', "takes no condition"),
        ('Completeness "id" > "much"', "compares with something else than numbers"),
        ('ColumnValues "day" > 3 with threshold', "a condition such as"),
        ('IsComplete "nosuch"', "the table has no column nosuch"),
        ('IsPrimaryKey "id" "nosuch"', "the table has no column nosuch"),
        ('(IsUnique "id") or (IsComplete "nosuch")', "the table has no column nosuch"),
        ('ColumnCorrelation "id" "nosuch" > 0.5', "the table has no column nosuch"),
        ('ReferentialIntegrity "id,nosuch" "other.{a,b}" = 1', "the table has no column nosuch"),
        ('FileFreshness "x" > 1, IsComplete "nosuch"', "the table has no column nosuch"),
    ],
)
def test_a_rule_that_glue_would_refuse_is_found(rules, problem):
    assert problem in find_problem(f"Rules = [ {rules} ]", COLUMNS)


@pytest.mark.parametrize(
    "text",
    [
        "Rules = [RowCount > 0] foo",
        "Rules = [RowCount > 0",
        "Rules = []",
        "RowCount > 0",
        "",
        "Rules = [RowCount > 0)]",
    ],
)
def test_a_document_that_is_not_one_is_found(text):
    assert find_problem(text)


@pytest.mark.parametrize(
    "rules",
    [
        'IsComplete "id", Mean "price" > 0',
        'ColumnExists "DAY"',
        'CustomSql "select count(*) from primary where nosuch > 1" > 0',
        'SchemaMatch "other" = 1.0',
        'ColumnNamesMatchPattern "[a-z]*"',
        'DatasetMatch "other" "a->b" > 0.9',
        'DetectAnomalies "RowCount"',
        "RowCount > avg(last(3)) # what it was\n",
        'IsComplete "id" where "nosuch > 1"',
    ],
)
def test_rules_that_glue_takes_are_right(rules):
    assert find_problem(f"Rules = [ {rules} ]", COLUMNS) == ""


def test_without_the_table_columns_are_not_judged():
    assert find_problem('Rules = [IsComplete "nosuch"]') == ""


def test_the_examples_in_its_docstrings_hold():
    assert doctest.testmod(check).failed == 0
