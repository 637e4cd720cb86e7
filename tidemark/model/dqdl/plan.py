"""What to compute for a rule, and what its outcome is by the values: plain data, no Spark."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from tidemark.model.dqdl.conditions import Holds, is_one, requirement
from tidemark.model.dqdl.rules import AnyRule, Rule
from tidemark.model.dqdl.sql import quoted

# Words of Spark's SQL -> the names of its types.
_TYPES = {
    "tinyint": "ByteType",
    "smallint": "ShortType",
    "int": "IntegerType",
    "bigint": "LongType",
}
_ALIKE = "float double decimal string boolean date timestamp binary array map struct"
NUMERIC = (*_TYPES, "float", "double", "decimal")
STRING = ("string",)


@dataclass(frozen=True)
class Columns:
    """The columns of a frame, in order: pairs of name and type, as `DataFrame.dtypes` has them."""

    pairs: Sequence[tuple[str, str]]

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [name for name, _ in self.pairs]

    def find(self, name: str) -> tuple[str, str] | None:
        """Return name and type of a column by its name in any case, None if it is missing."""
        plain = name.strip("`").lower()
        return next((pair for pair in self.pairs if pair[0].lower() == plain), None)

    def sql(self, name: str) -> str:
        """Return an existing column as SQL."""
        pair = self.find(name)
        assert pair is not None, name  # noqa: S101 (`missing` was asked)
        return quoted(pair[0])

    def missing(self, names: Iterable[str]) -> str | None:
        """Return why columns cannot be looked at, as Glue says it; None: all are there.

        Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html#dqdl-labels-api-response
        """
        absent = [name for name in names if self.find(name) is None]
        return "\n".join(f"Input data does not include column {name}!" for name in absent) or None

    def other_type(self, names: Iterable[str], allowed: tuple[str, ...]) -> str | None:
        """Return why columns are not of a type, in deequ's words; None: all are."""
        words, reasons = ",".join(map(_type_name, allowed)), []
        for name, kind in filter(None, map(self.find, names)):
            base = kind.partition("<")[0].partition("(")[0]
            if base not in allowed:
                reasons.append(
                    f"Expected type of column {name} to be one of ({words}), but found "
                    f"{_type_name(base)} instead!"
                )
        return "\n".join(reasons) or None


def _type_name(word: str) -> str:
    # The classes of other words, such as timestamp_ntz, have names of their own.
    return _TYPES.get(word) or (f"{word.title()}Type" if word in _ALIKE.split() else word)


class OtherData(Protocol):
    """Rows beside those that are judged: another source, or the result of a query."""

    columns: Columns

    def count(self) -> int:
        """Return how many there are."""

    def value(self, sql: str) -> float | None:
        """Return the value of an aggregate."""

    def first_rows(self, number: int) -> Sequence[Sequence[Any]]:
        """Return the first rows."""

    def is_key(self, names: Sequence[str]) -> bool:
        """Return whether columns have no null and no values twice."""


@dataclass(frozen=True)
class Match:
    """A column of the rows that are judged, equal to one of other data; two nulls are if said."""

    ours: str
    theirs: str
    nulls_match: bool = False


class Data(Protocol):
    """What a rule is planned by: the columns of the rows that it judges, the time, other data."""

    columns: Columns
    now: datetime
    cast: str
    """The function that casts without failing: Spark 4's CAST fails."""

    @property
    def others(self) -> Mapping[str, OtherData]:
        """Other data by their aliases."""

    def is_key(self, names: Sequence[str]) -> bool:
        """Return whether columns have no null and no values twice."""

    def mark_matches(self, other: OtherData, matches: Sequence[Match], *, distinct: bool) -> str:
        """Mark the rows that match one of other data; return the SQL of the mark."""

    def query(self, sql: str) -> OtherData:
        """Return the result of SQL about ``primary``, the rows, and other data by their aliases.

        Raises:
            QueryError: Spark refuses it.
        """


class QueryError(Exception):
    """SQL of a rule does not run; the message is Spark's."""


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
class RulePlan:
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


def measures_of(plans: Iterable[RulePlan]) -> Iterator[Measure]:
    """Yield what rules need of the rows."""
    for plan in plans:
        yield from (check.measure for check in plan.checks)


def outcome_of(plan: RulePlan, values: Mapping[Measure, float | None]) -> Outcome:
    """Return the result of a rule by the values of its measures; None is of no row."""
    if plan.failure is not None:
        return Outcome(False, plan.failure)
    reasons = []
    metrics = {}
    for check in plan.checks:
        value = check.measure.value if isinstance(check.measure, Known) else values[check.measure]
        if value is None:
            reasons += [] if check.passes_empty else [check.empty(plan.rule.where)]
            continue
        if check.metric:
            metrics[check.metric] = value
        if not check.holds(value):
            reasons.append(check.says(value))
    return Outcome(not reasons, "\n".join(reasons) or None, metrics)


def combined(rule: AnyRule, outcome_of_part: Callable[[Rule], Outcome]) -> Outcome:
    """Return the result of a rule from those of its parts, each over all rows.

    The reasons of parts stay where another one lets the rule pass.
    Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html#dqdl-syntax-composite-rules
    """
    if isinstance(rule, Rule):
        return outcome_of_part(rule)
    parts = [combined(part, outcome_of_part) for part in rule.rules]
    passed = (all if rule.operator == "AND" else any)(part.passed for part in parts)
    reasons = [part.reason for part in parts if part.reason]
    metrics = {name: value for part in parts for name, value in part.metrics.items()}
    return Outcome(passed, "\n".join(reasons) or None, metrics)


def row_sql(rule: AnyRule, plans: Mapping[Rule, RulePlan], skips: bool) -> str | None:
    """Return SQL that is true for rows that pass a rule; None: it does not judge rows."""
    if isinstance(rule, Rule):
        row = plans[rule].row
        return row if row is None or skips or rule.where is None else f"coalesce({row}, true)"
    parts = [row_sql(part, plans, skips) for part in rule.rules]
    judged = [f"({part})" for part in parts if part is not None]
    return f" {rule.operator} ".join(judged) if len(judged) == len(parts) else None
