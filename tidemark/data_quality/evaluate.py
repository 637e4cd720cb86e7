"""Evaluates a data quality ruleset on a frame."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidemark.data_quality.custom_sql import queried, views
from tidemark.data_quality.leaves import leaf_of
from tidemark.data_quality.measure import measured
from tidemark.data_quality.options import Options
from tidemark.data_quality.others import Frames, compared
from tidemark.data_quality.plan import (
    Check,
    Leaf,
    Measure,
    Outcome,
    Scalar,
    combined,
    measures_of,
    outcome_of,
    row_sql,
)
from tidemark.data_quality.table import Table, share
from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.clock import now
from tidemark.model.dqdl.conditions import is_one
from tidemark.model.dqdl.dynamic import bound, is_dynamic, render_evaluated
from tidemark.model.dqdl.parser import parse
from tidemark.model.dqdl.rule_types import TYPES, checked
from tidemark.model.dqdl.rules import AnyRule, Composite, Rule, leaves

PASSED, FAILED = "Passed", "Failed"
_TEXTS = "array<string>"


def with_results(frame: DataFrame, rules: Mapping[str, str | None]) -> DataFrame:
    """Return the rows with the columns that Glue adds."""
    columns = {f"_dq_{place}": sql for place, sql in enumerate(rules.values())}
    known = {name: F.expr(sql) for name, sql in columns.items() if sql is not None}
    judged = frame.withColumns(known) if known else frame
    said = [
        (F.lit(text), F.col(name) if name in known else F.lit(None).cast("boolean"))
        for text, name in zip(rules, columns, strict=True)
    ]
    failed = _string_array([F.when(~value, text) for text, value in said])
    found = judged.withColumns(
        {
            "DataQualityRulesPass": _string_array([F.when(value, text) for text, value in said]),
            "DataQualityRulesFail": failed,
            "DataQualityRulesSkip": _string_array(
                [F.when(value.isNull(), text) for text, value in said]
            ),
            "DataQualityEvaluationResult": F.when(F.size(failed) == 0, PASSED).otherwise(FAILED),
        }
    )
    return found.drop(*known)


def _string_array(values: list[Column]) -> Column:
    return F.array_compact(F.array(*values)).cast(_TEXTS)


OUTCOMES = (
    "Rule string, Outcome string, FailureReason string, EvaluatedMetrics map<string,double>, "
    "EvaluatedRule string"
)
_COMPARE = (
    "AggregateMatch",
    "DatasetMatch",
    "ReferentialIntegrity",
    "RowCountMatch",
    "SchemaMatch",
)


FAILURES = (PySparkException, Py4JJavaError)


@dataclass(frozen=True)
class Evaluation:
    """The rules of a document with their outcomes, and the rows that they judged.

    Attributes:
        outcomes: of each rule, in order.
        frame: the rows, with columns of rules that compare data.
        leaves: the needs of the rules' parts.
        options: what changes results.
        columns: of the rows.
    """

    outcomes: Mapping[AnyRule, Outcome]
    frame: DataFrame
    leaves: Mapping[Rule, Leaf]
    options: Options
    columns: tuple[str, ...]

    def rule_outcomes(self) -> DataFrame:
        """Return a row per rule, in order, with the columns of `OUTCOMES`."""
        rows = [
            (
                rule.text,
                PASSED if outcome.passed else FAILED,
                outcome.reason,
                dict(outcome.metrics),
                render_evaluated(rule, lambda part: self.leaves[part].rule),
            )
            for rule, outcome in self.outcomes.items()
        ]
        return self.frame.sparkSession.createDataFrame(rows, OUTCOMES).coalesce(1)

    def metrics(self) -> dict[str, float]:
        """Return the metrics of all rules by name."""
        found = [outcome.metrics for outcome in self.outcomes.values()]
        return {name: value for metrics in found for name, value in metrics.items()}

    def row_outcomes(self) -> DataFrame:
        """Return the rows with the result of each rule; see `with_results`."""
        rules = {
            rule.text: row_sql(rule, self.leaves, self.options.skips) for rule in self.outcomes
        }
        found = with_results(self.frame, rules)
        return found.drop(*(set(self.frame.columns) - set(self.columns)))


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
    at, table = now(), Table.of(frame.dtypes)
    rows, found = frame, dict[Rule, Leaf]()

    def looked_at(rule: Rule, name: str) -> tuple[DataFrame, Leaf]:
        if rule.kind in _COMPARE:
            return compared(rule, Frames(frame, rows, others), name)
        if rule.kind == "CustomSql":
            with views(frame, others):
                return queried(rule, rows, name)
        return rows, leaf_of(rule, table, at)

    for place, rule in enumerate(parts):
        name = f"_dq_match_{place}"
        judged, leaf = looked_at(rule, name)
        if is_dynamic(rule) and leaf.checks:
            judged, leaf = looked_at(bound(rule, past(leaf.checks[0].metric)), name)
        rows, found[rule] = judged, leaf
    try:
        values = measured(frame, rows, measures_of(found.values()))
    except FAILURES:  # one rule must not hide the others
        found = {rule: _tried(frame, rows, leaf) for rule, leaf in found.items()}
        values = measured(frame, rows, measures_of(found.values()))
    by_row = {rule: _of_rows(rule, found, options) for rule in rules}
    values |= measured(frame, rows, (check.measure for check in by_row.values() if check))
    outcomes = {rule: _outcome(rule, found, values, by_row[rule]) for rule in rules}
    return Evaluation(outcomes, rows, found, options, tuple(frame.columns))


def _tried(frame: DataFrame, rows: DataFrame, leaf: Leaf) -> Leaf:
    """Return the needs of a rule, or why Spark cannot compute them."""
    try:
        measured(frame, rows, measures_of([leaf]))
        if leaf.row is not None:
            rows.select(F.expr(leaf.row))
    except FAILURES as error:
        return Leaf(leaf.rule, failure=_reason(error))
    return leaf


def _reason(error: PySparkException | Py4JJavaError) -> str:
    text = str(error) if isinstance(error, PySparkException) else str(error.java_exception)
    lines = [line for line in text.splitlines() if line.strip()]
    return f"Exception thrown while evaluating rule: {lines[0] if lines else text}"


def _outcome(
    rule: AnyRule,
    found: Mapping[Rule, Leaf],
    values: Mapping[Measure, float | None],
    by_row: Check | None,
) -> Outcome:
    whole = combined(rule, lambda part: outcome_of(found[part], values))
    if by_row is None:
        return whole
    judged = outcome_of(Leaf(Rule(""), (by_row,)), values)
    return Outcome(judged.passed, judged.reason, whole.metrics)


def _of_rows(rule: AnyRule, found: Mapping[Rule, Leaf], options: Options) -> Check | None:
    """Return the check of a composite rule that is evaluated for each row."""
    if not options.by_row or not isinstance(rule, Composite):
        return None
    sql = row_sql(rule, found, skips=False)
    return Check(Scalar(share(f"({sql})", None)), "", is_one) if sql else None


def _check_parts(rules: tuple[AnyRule, ...]) -> None:
    """Refuse parts of composite rules that do not judge single rows."""
    # Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html#dqdl-syntax-composite-rules
    of_rows = ("ColumnDataType", "ColumnLength", "ColumnValues", "CustomSql", "DataFreshness")
    known = (*of_rows, "IsComplete", "IsPrimaryKey", "IsUnique", "UniqueValueRatio")
    for composite in rules:
        for part in leaves((composite,)) if isinstance(composite, Composite) else ():
            is_number = part.kind == "CustomSql" and part.condition
            if part.kind not in known or part.threshold or is_number or TYPES[part.kind].is_ratio:
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
