"""Evaluates a ruleset on a frame: all aggregates in one pass, all groups in another."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidemark.data_quality.options import Options
from tidemark.data_quality.rows import JudgedRows
from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.clock import now
from tidemark.model.dqdl import plan as plans
from tidemark.model.dqdl.check import checked
from tidemark.model.dqdl.dynamic import bound, is_dynamic, render_evaluated
from tidemark.model.dqdl.parser import parse
from tidemark.model.dqdl.plan import Check, Measure, OfGroups, Outcome, RulePlan, Scalar
from tidemark.model.dqdl.rule_types import TYPES, plan_of
from tidemark.model.dqdl.rules import AnyRule, Composite, Rule, leaves
from tidemark.model.dqdl.sql import share

PASSED, FAILED = "Passed", "Failed"
OUTCOMES = (
    "Rule string, Outcome string, FailureReason string, EvaluatedMetrics map<string,double>, "
    "EvaluatedRule string"
)
FAILURES = (PySparkException, Py4JJavaError)


def with_results(frame: DataFrame, rules: Mapping[str, str | None]) -> DataFrame:
    """Return the rows with the columns that Glue adds."""
    columns = {f"_dq_{place}": sql for place, sql in enumerate(rules.values())}
    judging = {name: F.expr(sql) for name, sql in columns.items() if sql is not None}
    judged = frame.withColumns(judging) if judging else frame
    results = [
        (F.lit(text), F.col(name) if name in judging else F.lit(None).cast("boolean"))
        for text, name in zip(rules, columns, strict=True)
    ]
    failed = _string_array(F.when(~result, text) for text, result in results)
    passed = _string_array(F.when(result, text) for text, result in results)
    skipped = _string_array(F.when(result.isNull(), text) for text, result in results)
    added = {
        "DataQualityRulesPass": passed,
        "DataQualityRulesFail": failed,
        "DataQualityRulesSkip": skipped,
        "DataQualityEvaluationResult": F.when(F.size(failed) == 0, PASSED).otherwise(FAILED),
    }
    return judged.withColumns(added).drop(*judging)


def _string_array(values: Iterable[Column]) -> Column:
    return F.array_compact(F.array(*values)).cast("array<string>")


@dataclass(frozen=True)
class Evaluation:
    """The rules of a document with their outcomes, and the rows that they judged.

    Attributes:
        outcomes: of each rule, in order.
        rows: what was judged.
        plans: of the rules' parts.
        options: what changes results.
    """

    outcomes: Mapping[AnyRule, Outcome]
    rows: JudgedRows
    plans: Mapping[Rule, RulePlan]
    options: Options

    def rule_outcomes(self) -> DataFrame:
        """Return a row per rule, in order, with the columns of `OUTCOMES`."""
        rows = [
            (
                rule.text,
                PASSED if outcome.passed else FAILED,
                outcome.reason,
                dict(outcome.metrics),
                render_evaluated(rule, lambda part: self.plans[part].rule),
            )
            for rule, outcome in self.outcomes.items()
        ]
        return self.rows.frame.sparkSession.createDataFrame(rows, OUTCOMES).coalesce(1)

    def metrics(self) -> dict[str, float]:
        """Return the metrics of all rules by name."""
        metrics = (outcome.metrics for outcome in self.outcomes.values())
        return {name: value for of_rule in metrics for name, value in of_rule.items()}

    def row_outcomes(self) -> DataFrame:
        """Return the rows with the result of each rule; see `with_results`."""
        skips = self.options.skips
        rules = {rule.text: plans.row_sql(rule, self.plans, skips) for rule in self.outcomes}
        results = with_results(self.rows.marked, rules)
        return results.drop(*(set(self.rows.marked.columns) - set(self.rows.frame.columns)))


def evaluate(
    frame: DataFrame,
    ruleset: str,
    others: Mapping[str, DataFrame],
    options: Options,
    past: Callable[[str], Sequence[float]] = lambda _: (),
) -> Evaluation:
    """Evaluate a ruleset: nothing is computed of rules that need no row."""
    rules = checked(parse(ruleset))
    frame = frame.persist() if options.caches else frame
    parts = list(dict.fromkeys(leaves(rules)))
    if options.by_row:
        _check_parts(rules)
    _check_clauses(frame, parts)
    rows = JudgedRows(frame, others, now())
    planned = {part: _plan(part, rows, past) for part in parts}
    try:
        values = measured(rows, plans.measures_of(planned.values()))
    except FAILURES:  # one rule must not hide the others
        planned = {part: _tried(rows, plan) for part, plan in planned.items()}
        values = measured(rows, plans.measures_of(planned.values()))
    by_row = {rule: _row_check(rule, planned, options) for rule in rules}
    values |= measured(rows, (check.measure for check in by_row.values() if check))
    outcomes = {rule: _outcome(rule, planned, values, by_row[rule]) for rule in rules}
    return Evaluation(outcomes, rows, planned, options)


def _plan(rule: Rule, rows: JudgedRows, past: Callable[[str], Sequence[float]]) -> RulePlan:
    before = rows.marked
    plan = plan_of(rule, rows)
    if not is_dynamic(rule) or not plan.checks:
        return plan
    # The plan says which metric it is whose earlier values the rule compares with.
    rows.marked = before
    return plan_of(bound(rule, past(plan.checks[0].metric)), rows)


def measured(rows: JudgedRows, measures: Iterable[Measure]) -> dict[Measure, float | None]:
    """Return the values of measures; None if no row gives one."""
    wanted = list(dict.fromkeys(measures))
    scalars = [measure for measure in wanted if isinstance(measure, Scalar)]
    grouped = [measure for measure in wanted if isinstance(measure, OfGroups)]
    values: dict[Measure, float | None] = {}
    if scalars:
        (row,) = rows.marked.agg(*(F.expr(scalar.sql) for scalar in scalars)).collect()
        values |= zip(scalars, row, strict=True)
    groups = list(dict.fromkeys((measure.columns, measure.where) for measure in grouped))
    if groups:
        # All groups in one query.
        counts = [_counted(rows.frame, number, *group) for number, group in enumerate(groups)]
        counted = reduce(DataFrame.unionAll, counts).collect()
        numbers = {groups[row["number"]]: _numbers(*row[1:]) for row in counted}
        for measure in grouped:
            values[measure] = numbers[measure.columns, measure.where].get(measure.field)
    return values


def _counted(
    frame: DataFrame, number: int, columns: tuple[str, ...], where: str | None
) -> DataFrame:
    """Return one row about groups: how many, and so on; rows of nulls only are a group apart."""
    rows = frame.where(F.expr(where)) if where else frame
    keys = {f"key{place}": F.expr(sql) for place, sql in enumerate(columns)}
    named = (column.alias(key) for key, column in keys.items())
    counts = rows.groupBy(*named).agg(F.count(F.lit(1)).alias("n"))
    n = F.when(reduce(or_, (F.col(key).isNotNull() for key in keys)), F.col("n"))
    return counts.agg(
        F.lit(number).alias("number"),
        F.count(F.lit(1)).alias("distinct"),
        F.sum(n).alias("rows"),
        F.count(n).alias("groups"),
        F.count(F.when(n == 1, n)).alias("alone"),
        F.sum(n * F.log(n)).alias("weighted"),
    )


def _numbers(
    distinct: int, rows: int | None, groups: int, alone: int, weighted: float | None
) -> Mapping[str, float]:
    if not rows or weighted is None:
        return {"distinct": float(distinct)}
    return {
        "distinct": float(distinct),
        "uniqueness": alone / rows,
        "unique_value_ratio": alone / groups,
        "entropy": math.log(rows) - weighted / rows,
    }


def _tried(rows: JudgedRows, plan: RulePlan) -> RulePlan:
    try:
        # Alone, so that the error is that of this rule.
        measured(rows, plans.measures_of([plan]))
        if plan.row is not None:
            rows.marked.select(F.expr(plan.row))
    except FAILURES as error:
        text = str(error) if isinstance(error, PySparkException) else str(error.java_exception)
        first = next((line for line in text.splitlines() if line.strip()), text)
        return RulePlan(plan.rule, failure=f"Exception thrown while evaluating rule: {first}")
    return plan


def _outcome(
    rule: AnyRule,
    planned: Mapping[Rule, RulePlan],
    values: Mapping[Measure, float | None],
    by_row: Check | None,
) -> Outcome:
    whole = plans.combined(rule, lambda part: plans.outcome_of(planned[part], values))
    if by_row is None:
        return whole
    judged = plans.outcome_of(RulePlan(Rule(""), (by_row,)), values)
    return Outcome(judged.passed, judged.reason, whole.metrics)


def _row_check(rule: AnyRule, planned: Mapping[Rule, RulePlan], options: Options) -> Check | None:
    if not options.by_row or not isinstance(rule, Composite):
        return None
    sql = plans.row_sql(rule, planned, skips=False)
    return Check(Scalar(share(f"({sql})")), "") if sql else None


def _check_parts(rules: tuple[AnyRule, ...]) -> None:
    """Refuse parts of composite rules that do not judge single rows."""
    # Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html#dqdl-syntax-composite-rules
    for part in leaves(tuple(rule for rule in rules if isinstance(rule, Composite))):
        kind = TYPES[part.kind]
        is_number = not kind.needs_condition and part.condition  # of CustomSql
        if not kind.by_row or part.threshold or is_number:
            raise UnsupportedError(
                f"the data quality rule {part.text!r} has no result for each row, so it cannot "
                "be part of a composite rule with compositeRuleEvaluation.method ROW: make it "
                "a rule of its own, or leave the option out"
            )


def _check_clauses(frame: DataFrame, rules: list[Rule]) -> None:
    """Refuse where clauses as AWS does."""
    # Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html#dqdl-filtering-data-in-dqdl
    for rule in rules:
        try:
            if rule.where is not None:
                frame.where(F.expr(rule.where))
        except (AnalysisException, ParseException) as error:
            reason = str(error).splitlines()[0]
            raise UsageError(
                f"Rule {rule.text} has provided an invalid where clause : {reason}"
            ) from error
