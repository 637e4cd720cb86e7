"""Dynamic rules: numbers of the metrics of earlier evaluations."""

from __future__ import annotations

import pytest

from tidemark.data_quality.history import History
from tidemark.errors import UsageError
from tidemark.model.dqdl.check import checked
from tidemark.model.dqdl.dynamic import bound, is_dynamic
from tidemark.model.dqdl.parser import parse


def rule_of(condition):
    (rule,) = checked(parse(f"Rules = [ RowCount {condition} ]"))
    return rule


@pytest.mark.rule("Data Quality", source="DQDL")
@pytest.mark.parametrize(
    ("condition", "without", "with_three"),
    [
        ("> last()", "> 0.0", "> 4.0"),
        ("> avg(last(2)) * 0.5 + 1", "> 1.0", "> 3.5"),
        ("between min(last(10)) and max(last(10))", "between 0.0 and 0.0", "between 1.0 and 6.0"),
        ("= index(last(3), 1)", "= 0.0", "= 6.0"),
        ("< std(last(2)) - median(last(3))", "< 0.0", "< -3.0"),
        ("> -abs(last(1))", "> 0.0", "> -4.0"),
        ("in [sum(last(3)), 2]", "in [0.0,2]", "in [11.0,2]"),
    ],
)
def test_dynamic_numbers_come_from_earlier_metrics_and_are_zero_without(
    condition, without, with_three
):
    rule = rule_of(condition)

    assert is_dynamic(rule)
    assert bound(rule, ()).text == f"RowCount {without}"
    assert bound(rule, (4.0, 6.0, 1.0)).text == f"RowCount {with_three}"


def test_an_index_beyond_what_is_there_is_an_error():
    with pytest.raises(UsageError, match="there are only 1 earlier metrics"):
        bound(rule_of("= index(last(3), 1)"), (4.0,))
    assert not is_dynamic(rule_of("> (2 + 3) * 2"))


def test_metrics_are_kept_by_context_and_a_torn_line_is_none(tmp_path):
    file = tmp_path / "data_quality" / "job.jsonl"
    one, other = History(file, "one"), History(file, "other")
    assert one.past("RowCount") == []

    one.keep({"RowCount": 1.0})
    with file.open("a") as lines:
        lines.write('["one", {"RowCount": 9')
    one.keep({"RowCount": 2.0, "More": float("nan")})
    other.keep({"RowCount": 3.0})

    assert one.past("RowCount") == [2.0, 1.0]
    assert other.past("RowCount") == [3.0]
    History().keep({"RowCount": 1.0})
    assert History().past("RowCount") == []


@pytest.mark.spark
@pytest.mark.rule("Data Quality", source="DQDL", choice="stored at the end of an evaluation")
def test_a_dynamic_rule_compares_with_earlier_evaluations(people, start_job, glue_context):
    from awsglue.dynamicframe import DynamicFrame
    from awsgluedq.transforms import EvaluateDataQuality

    start_job()
    ruleset = 'Rules = [ (RowCount >= last()) and (ColumnCount = 5), Mean "id" >= last() ]'
    options = {"dataQualityEvaluationContext": "people"}

    def outcomes(frame):
        found = EvaluateDataQuality().process_rows(frame, ruleset, options)["ruleOutcomes"]
        return [(row.Outcome, row.EvaluatedRule) for row in found.toDF().collect()]

    assert outcomes(people) == [
        ("Passed", "(RowCount >= 0.0) AND (ColumnCount = 5)"),
        ("Passed", 'Mean "id" >= 0.0'),
    ]
    fewer = DynamicFrame.fromDF(people.toDF().limit(2), glue_context, "fewer")
    assert outcomes(fewer) == [
        ("Failed", "(RowCount >= 4.0) AND (ColumnCount = 5)"),
        ("Failed", 'Mean "id" >= 2.25'),
    ]
