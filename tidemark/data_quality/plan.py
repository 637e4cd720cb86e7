"""What to compute for a rule, and what its outcome is by the values: plain data, no Spark."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tidemark.model.dqdl.conditions import Holds, is_one, requirement
from tidemark.model.dqdl.rules import AnyRule, Rule


@dataclass(frozen=True)
class Known:
    """A value that needs no row."""

    value: float


@dataclass(frozen=True)
class Scalar:
    """An aggregate over all rows, as SQL."""

    sql: str


@dataclass(frozen=True)
class OfGroups:
    """A number about the groups of rows with the same values.

    Attributes:
        columns: as SQL.
        where: which rows, as SQL.
        field: ``uniqueness``, ``unique_value_ratio`` and ``entropy`` leave out rows whose values
            are all null; ``distinct`` counts null as a value.
    """

    columns: tuple[str, ...]
    where: str | None
    field: str


Measure = Known | Scalar | OfGroups


@dataclass(frozen=True)
class Check:
    """A value, and what must hold of it.

    Attributes:
        measure: the value.
        metric: its name among the evaluated metrics; empty: it is not one.
        holds: what must hold.
        says: returns the reason if it does not hold.
        passes_empty: it holds without rows.
    """

    measure: Measure
    metric: str
    holds: Holds = is_one
    says: Callable[[float], str] = requirement
    passes_empty: bool = False

    def empty(self, where: str | None) -> str:
        """Return why no row of a clause has a value, in deequ's words."""
        instance, _, name = self.metric.partition(".")[2].rpartition(".")
        rows = f"Some({where})" if where else "None"
        analyzer = f"{name or 'Completeness'}({instance or '*'},{rows},None)"
        return f"Empty state for analyzer {analyzer}, all input values were NULL."


@dataclass(frozen=True)
class Leaf:
    """What a rule needs.

    Attributes:
        rule: the rule.
        checks: all must hold.
        row: SQL that is true of rows that pass, null of rows that its where clause leaves out;
            None: the rule does not judge single rows.
        failure: why it fails without reading the rows.
    """

    rule: Rule
    checks: tuple[Check, ...] = ()
    row: str | None = None
    failure: str | None = None


@dataclass(frozen=True)
class Outcome:
    """The result of a rule: whether it passed, why it did not, the metrics by name."""

    passed: bool
    reason: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


def measures_of(leaves: Iterable[Leaf]) -> Iterator[Measure]:
    """Yield what rules need of the rows."""
    for leaf in leaves:
        yield from (check.measure for check in leaf.checks)


def outcome_of(leaf: Leaf, values: Mapping[Measure, float | None]) -> Outcome:
    """Return the result of a rule by the values of its measures; None is of no row."""
    if leaf.failure is not None:
        return Outcome(False, leaf.failure)
    reasons = []
    metrics = {}
    for check in leaf.checks:
        value = check.measure.value if isinstance(check.measure, Known) else values[check.measure]
        if value is None:
            reasons += [] if check.passes_empty else [check.empty(leaf.rule.where)]
            continue
        if check.metric:
            metrics[check.metric] = value
        if not check.holds(value):
            reasons.append(check.says(value))
    return Outcome(not reasons, "\n".join(reasons) or None, metrics)


def combined(rule: AnyRule, of: Callable[[Rule], Outcome]) -> Outcome:
    """Return the result of a rule from those of its parts, each over all rows.

    The reasons of parts stay where another one lets the rule pass.
    Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html#dqdl-syntax-composite-rules
    """
    if isinstance(rule, Rule):
        return of(rule)
    parts = [combined(part, of) for part in rule.rules]
    passed = (all if rule.operator == "AND" else any)(part.passed for part in parts)
    reasons = [part.reason for part in parts if part.reason]
    metrics = {name: value for part in parts for name, value in part.metrics.items()}
    return Outcome(passed, "\n".join(reasons) or None, metrics)


def row_sql(rule: AnyRule, leaves: Mapping[Rule, Leaf], skips: bool) -> str | None:
    """Return SQL that is true for rows that pass a rule; None: it does not judge rows."""
    if isinstance(rule, Rule):
        row = leaves[rule].row
        return row if row is None or skips or rule.where is None else f"coalesce({row}, true)"
    parts = [row_sql(part, leaves, skips) for part in rule.rules]
    known = [f"({part})" for part in parts if part is not None]
    return f" {rule.operator} ".join(known) if len(known) == len(parts) else None
