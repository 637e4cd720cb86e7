"""The rule types of DQDL: a function each, registered with what it takes.

A function returns what to compute for a rule of its type. `check` imports the files of them all.
Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.dqdl.conditions import Holds, holds, is_one
from tidemark.model.dqdl.plan import Data, RulePlan
from tidemark.model.dqdl.rules import Duration, Number, Rule, RuleCondition, Text

NUMBERS, DURATIONS, STRINGS, ANY, NONE = "numbers", "durations", "strings", "any", "none"
KINDS: dict[str, tuple[type, str]] = {
    NUMBERS: (Number, NUMBERS),
    DURATIONS: (Duration, "durations such as 3 days"),
    STRINGS: (Text, "strings"),
}
Plan = Callable[[Rule, Data], RulePlan]


@dataclass(frozen=True)
class RuleType:
    """What a type takes, and how a rule of it is planned.

    Attributes:
        plan: returns what to compute.
        compares: what its condition compares with; `NONE` has no condition.
        least: parameters at least.
        most: parameters at most; None is any number.
        where: whether it takes a where clause.
        threshold: whether it takes ``with threshold``.
        needs_condition: whether the condition may not be left out.
        by_row: whether each row has a result, as in a composite rule that is evaluated by rows;
            not where the outcome is a share of them.
        reads_columns: whether the parameters are columns without which the rule fails.
        named: returns the columns that a rule names, if these are not its parameters.
        check: refuses conditions that only this type refuses.
        is_analyzer: whether it is an analyzer, too.
    """

    plan: Plan
    compares: str
    least: int = 1
    most: int | None = 1
    where: bool = True
    threshold: bool = False
    needs_condition: bool = True
    by_row: bool = False
    reads_columns: bool = True
    named: Callable[[Rule], Iterable[str]] | None = None
    check: Callable[[Rule, RuleCondition], None] | None = None
    is_analyzer: bool = False

    def columns(self, rule: Rule) -> Iterable[str]:
        """Return the columns of the table that a rule names."""
        if self.named:
            return self.named(rule)
        return rule.parameters if self.reads_columns else ()


TYPES: dict[str, RuleType] = {}


def rule(name: str, compares: str = NONE, **facts: Any) -> Callable[[Plan], Plan]:
    """Return a decorator that registers a function as the type of this name; see `RuleType`."""

    def register(plan: Plan) -> Plan:
        TYPES[name] = RuleType(plan, compares, **facts)
        return plan

    return register


def plan_of(rule: Rule, data: Data) -> RulePlan:
    """Return what to compute for a rule, which is checked."""
    kind = TYPES[rule.kind]
    if kind.reads_columns and (reason := data.columns.missing(rule.parameters)):
        return RulePlan(rule, failure=reason)
    return kind.plan(rule, data)


def condition_of(rule: Rule) -> RuleCondition:
    """Return the condition of a rule of a type that has one."""
    assert rule.condition is not None, rule.text  # noqa: S101 (rules are checked)
    return rule.condition


def test_of(condition: RuleCondition | None) -> Holds:
    """Return the test of a condition of numbers; without one, all rows must comply."""
    return holds(condition) if condition else is_one


def wrong(rule: Rule, reason: str) -> UsageError:
    """Return the error of a rule that its type does not allow."""
    return UsageError(f"the data quality rule {rule.text!r} is wrong: {reason}")


def check_operands(rule: Rule, condition: RuleCondition, compares: str) -> None:
    """Refuse operands of another kind."""
    kind, words = KINDS[compares]
    if not all(isinstance(operand, kind) for operand in condition.operands):
        raise wrong(rule, f"{condition.text!r} compares with something else than {words}")
