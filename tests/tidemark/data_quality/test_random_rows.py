"""Metrics of random rows equal those of plain Python, and rows pass as their rule says."""

from __future__ import annotations

import math
from collections import Counter
from statistics import fmean, pstdev

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
NUMBERS = st.none() | st.integers(-3, 3)
TEXTS = st.none() | st.sampled_from(["", " ", "a", "ab", "B1"])
ROWS = st.lists(st.tuples(NUMBERS, TEXTS), min_size=1, max_size=12)
RULES = {
    "RowCount > 0": "Dataset.*.RowCount",
    'Completeness "n" > 0.5': "Column.n.Completeness",
    'Uniqueness "n" > 0.5': "Column.n.Uniqueness",
    'Uniqueness "n" "t" > 0.5': "Multicolumn.n,t.Uniqueness",
    'UniqueValueRatio "t" > 0.5': "Column.t.UniqueValueRatio",
    'DistinctValuesCount "t" > 2': "Column.t.DistinctValuesCount",
    'Entropy "t" > 0.5': "Column.t.Entropy",
    'Mean "n" > 0': "Column.n.Mean",
    'StandardDeviation "n" > 1': "Column.n.StandardDeviation",
    'ColumnValues "n" not in [1,2]': "Column.n.ColumnValues.Compliance",
    'ColumnValues "t" in ["a",EMPTY,WHITESPACES_ONLY]': "Column.t.ColumnValues.Compliance",
    'ColumnLength "t" in [0,1]': "Column.t.LengthCompliance",
}


def shares(values):
    """Return how often each value occurs, without null."""
    return Counter(value for value in values if value is not None)


def expected(rows):
    """Return the metric of each rule by its definition; None without a value."""
    numbers, texts = [n for n, _ in rows], [t for _, t in rows]
    known = [n for n in numbers if n is not None]
    pairs = Counter(row for row in rows if row != (None, None))
    n, t, count = shares(numbers), shares(texts), len(rows)

    def alone(groups, of):
        return sum(1 for size in groups.values() if size == 1) / of if of else None

    total = sum(t.values())
    entropy = -sum(size / total * math.log(size / total) for size in t.values())
    values = [
        float(count),
        len(known) / count,
        alone(n, len(known)),
        alone(pairs, sum(pairs.values())),
        alone(t, len(t)),
        float(len(set(texts))),
        entropy if t else None,
        fmean(known) if known else None,
        pstdev(known) if known else None,
        sum(number not in (1, 2) for number in numbers) / count,
        sum(text in ("a", "", " ") for text in texts) / count,
        sum(len(text or "") in (0, 1) for text in texts) / count,
    ]
    return dict(zip(RULES, values, strict=True))


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_metrics_equal_their_definitions(rows_of, rows):
    from awsgluedq.transforms import EvaluateDataQuality

    ruleset = f"Rules = [ {', '.join(RULES)} ]"
    frame = rows_of("n int, t string", *rows)

    found = EvaluateDataQuality.apply(frame, ruleset).toDF().collect()

    metrics = {row.Rule: row.EvaluatedMetrics.get(RULES[row.Rule]) for row in found}
    assert metrics == {
        rule: value if value is None else pytest.approx(value)
        for rule, value in expected(rows).items()
    }


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_every_row_is_judged_once_and_as_the_rule_says(rows_of, rows):
    from awsgluedq.transforms import EvaluateDataQuality

    unique, values = 'IsUnique "n"', 'ColumnValues "n" between -2 and 2'
    frame = rows_of("n int, t string", *rows)

    found = EvaluateDataQuality().process_rows(frame, f"Rules = [{unique}, {values}]")

    times = Counter(n for n, _ in rows)
    judged = found.select("rowLevelOutcomes").toDF().collect()
    assert Counter((row.n, row.t) for row in judged) == Counter(rows)
    for row in judged:
        passed = [unique] if times[row.n] == 1 else []
        passed += [values] if row.n is not None and -2 < row.n < 2 else []
        assert row.DataQualityRulesPass == passed
        assert row.DataQualityRulesFail == [one for one in (unique, values) if one not in passed]
