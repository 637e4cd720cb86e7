"""DQDL is read, printed as AWS prints it, and what is wrong or not here is named."""

from __future__ import annotations

import pytest

from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.dqdl.check import checked
from tidemark.model.dqdl.parser import parse
from tidemark.model.dqdl.rules import Composite, Keyword, RuleCondition, Text

# As the parser of AWS prints rules: its tests have these forms.
PRINTED = """
IsPrimaryKey "colA" "colB"
IsPrimaryKey colA "col B"
IsPrimaryKey "colA" where "colA > 100"
RowCount != 100
RowCount = -100
RowCount between (0.9 * 10) and 1.1 * 100
Completeness of col_1 not between 0.5 and 0.8
ColumnDataType "col_1" = "Date" with threshold between 0.4 and 0.8
ColumnCorrelation of col_1 and "col abc" between 0.4 and 0.8
ColumnValues "col_1" between "2022-06-01" and "2022-06-30" where "col-A > 100"
ColumnValues "load_dt" > (now() - 1 days)
ColumnValues "col-A" not in [now(),(now() - 3 hours),(now() + 4 days)]
ColumnValues "order-id" in [1,2,3,4,NULL]
ColumnValues "col-A" not in ["a",NULL,EMPTY,WHITESPACES_ONLY]
ColumnValues "col-A" not matches "[a-z]*" with threshold <= 0.4
DataFreshness "col-A" between 2 days and 4 days
ReferentialIntegrity "col-A,col-B" "reference.{col-A1,col-A2}" = 0.99
DatasetMatch "reference" "ID1->ID11,ID2->ID22" "colA->colAA" between 0.4 and 0.8
CustomSql "select col-A from primary" with threshold > 0.5
(RowCount > 0) OR ((IsComplete "colA") AND (IsUnique "colA"))
((IsComplete "a") OR (IsComplete "b")) AND (IsComplete "c")
"""


@pytest.mark.parametrize("text", PRINTED.strip().splitlines())
def test_a_rule_is_printed_as_aws_prints_it(text):
    (rule,) = checked(parse(f"Rules = [ {text} ]"))

    assert rule.text == text


def test_spaces_comments_case_of_and_and_lists_do_not_matter():
    document = """
    # of the finance team
    Rules = [
        (IsComplete "a") and (ColumnValues "b" in [ "x", null ]),   # two
        ColumnValues "a\\"b" = "say \\"yes\\"",
        IsComplete "a", IsComplete "a"
    ]
    Analyzers = [ RowCount, Completeness "a" ]
    """

    found = parse(document)

    assert [rule.text for rule in found.rules] == [
        '(IsComplete "a") AND (ColumnValues "b" in ["x",NULL])',
        'ColumnValues "a\\"b" = "say \\"yes\\""',
        'IsComplete "a"',
    ]
    assert found.rules[1].parameters == ('a"b',)
    assert [one.kind for one in found.analyzers] == ["RowCount", "Completeness"]


def test_and_binds_before_or_and_parentheses_before_both():
    (rule,) = parse("Rules = [(RowCount > 1) or (RowCount > 2) and (RowCount > 3)]").rules

    assert isinstance(rule, Composite)
    assert rule.text == "(RowCount > 1) OR ((RowCount > 2) AND (RowCount > 3))"


def test_constants_stand_for_a_parameter_a_value_and_a_list():
    document = """
    mySql = "select count(*) from primary"
    best = ["a", NULL]
    one = "b"
    Rules = [ CustomSql $mySql between 0 and 100,
              ColumnValues "c" in $best, ColumnValues "c" = $one ]
    """

    sql, listed, single = parse(document).rules

    assert sql.parameters == ("select count(*) from primary",)
    assert listed.condition == RuleCondition("in", (Text("a", '"a"'), Keyword("NULL")))
    assert single.condition == RuleCondition("=", (Text("b", '"b"'),))


def test_arithmetic_counts_and_a_quoted_number_is_a_number():
    (rule,) = checked(parse('Rules = [Completeness "a" between 1 - 0.5 and (0.1 + 0.2) * 3]'))
    (quoted,) = checked(parse('Rules = [Completeness "a" = "1.0"]'))

    assert [round(one.value, 9) for one in rule.condition.operands] == [0.5, 0.9]
    assert [one.value for one in quoted.condition.operands] == [1.0]


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ("", "there is no section 'Rules = "),
        ("Rules = [RowCount > 1,]", "a rule type such as IsComplete, found ]"),
        ("Rules [RowCount > 1]", r"expected '='"),
        ('Rules = [\nIsComplete "a]', 'line 2: "a] has no closing quote'),
        ("Rules = [IsComplete 'a']", "strings are in double quotes"),
        ("Rules = [RowCount > 1], Analyzers = [RowCount]", "no comma is between them"),
        ("Rules = [RowCount > 1\nRowCount < 3]", "line 2: expected ',' or ']'"),
        ('Rules = [ColumnValues "a" in []]', "found ]"),
        ('Rules = [ColumnValues "a" in $b]', r"\$b is not defined"),
        ('Rules = [ColumnValues "a" > 1 with threshold > 0.1 where "b"]', "before 'with"),
        ('Rules = [Isunique "a"]', "did you mean IsUnique"),
        ('Rules = []\nAnalyzers = [Median "a"]', "no data quality analyzer 'Median'"),
        ('Rules = [RowCount "id" > 100]', "has 1 parameters, allowed: 0"),
        ('Rules = [IsComplete "a" = 1]', "takes no condition"),
        ('Rules = [Completeness "a"]', "needs a condition"),
        ('Rules = [Completeness "a" > "x"]', "something else than numbers"),
        ('Rules = [IsComplete "a" with threshold > 0.5]', "a threshold is of ColumnValues"),
        ('Rules = [ColumnExists "a" where "b > 1"]', "takes no where clause"),
        ('Rules = [ColumnValues "a" > NULL]', "go with =, !=, in and not in"),
        ('Rules = [ColumnValues "a" > "x"]', "compares numbers, days"),
        ('Rules = [ColumnValues "a" in [1, "x"]]', "mixes kinds of values"),
        ('Rules = [ColumnValues "a" > 3 days]', "goes with now()"),
        ('Rules = [DataFreshness "a" > 3]', "durations such as 3 days"),
        ('Rules = [ColumnDataType "a" in ["Date"]]', "takes = and !="),
        ("Rules = [RowCount > last(3)]", r"last\(3\) is several numbers; allowed: one of avg"),
        ("Rules = [RowCount > mode(last(3))]", "no function mode; allowed: last, avg"),
        ("Rules = [RowCount > avg(3)]", "expected 'last' in avg"),
        ("Rules = [RowCount > index(last(3), 3)]", "the last index is 2"),
        ("Rules = [RowCount > last(0)]", "integers from 1"),
        pytest.param(f"Rules = [{'(' * 9_999}", "line 1: it is nested too deeply", id="rules"),
        pytest.param(f"Rules = [Sum 'a' > {'(' * 9_999}".replace("'", '"'), "nested", id="terms"),
        pytest.param(f"Rules = [RowCount > last({'9' * 5_000})]", "an integer", id="digits"),
    ],
)
def test_a_wrong_document_is_refused_with_what_is_wrong(document, named):
    with pytest.raises(UsageError, match=named):
        checked(parse(document))


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ('Rules = [DetectAnomalies "RowCount"]', "DetectAnomalies"),
        ('Rules = [FileFreshness "s3://a/b" > (now() - 3 days)]', "FileFreshness"),
        ('Rules = [FileMatch "s3://a" in ["x"] with hash = "MD5"]', "with hash"),
        ('DefaultLabels=["a"="b"]\nRules = [RowCount > 1]', "DefaultLabels"),
        ('Rules = [RowCount > 1 labels=["a"="b"]]', "labels"),
    ],
)
def test_what_does_not_run_here_is_refused_by_name(document, named):
    with pytest.raises(UnsupportedError, match=named):
        checked(parse(document))
