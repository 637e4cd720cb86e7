"""What Glue would refuse of a ruleset that is created: its grammar, its rules, its columns."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches

from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.dqdl import data_rules, rules, table_rules, value_rules
from tidemark.model.dqdl.parser import parse
from tidemark.model.dqdl.rule_types import (
    DURATIONS,
    NONE,
    NUMBERS,
    STRINGS,
    TYPES,
    check_operands,
    wrong,
)

RULES = (data_rules, table_rules, value_rules)
"""The files of rules, which have filled `TYPES`."""
# AWS's rule types about files, or about metrics of earlier runs.
NOT_HERE = ("DetectAnomalies", "FileFreshness", "FileMatch", "FileSize", "FileUniqueness")


def find_problem(text: str, columns: Collection[str] | None = None) -> str:
    """Return what is wrong with DQDL; empty if it is right, as far as known here.

    What Glue has and this machine does not run is not judged.
    Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html

    >>> find_problem("Rules = [RowCount > 0]"), find_problem('Rules = [IsUnique "x"]', ["id"])
    ('', 'the table has no column x')

    Args:
        text: the ruleset.
        columns: the columns and partition keys of its table; None: not known.
    """
    try:
        ruleset = parse(text)
        checked(rules.Ruleset((), ruleset.analyzers))
    except UnsupportedError:
        return ""
    except UsageError as error:
        return str(error)
    if not (ruleset.rules or ruleset.analyzers):
        return "the list of rules is empty"
    problems = (_problem_of(rule, columns) for rule in rules.leaves(ruleset.rules))
    return next(filter(None, problems), "")


def _problem_of(rule: rules.Rule, columns: Collection[str] | None) -> str:
    try:
        checked(rules.Ruleset((rule,), ()))
    except UnsupportedError:
        return ""
    except UsageError as error:
        return str(error)
    if columns is None:
        return ""
    lower = {column.lower() for column in columns}
    # Of a nested column the outer one is in the table.
    names = (name.strip("`").partition(".")[0] for name in TYPES[rule.kind].columns(rule))
    missing = (name for name in names if name.lower() not in lower)
    return next((f"the table has no column {name}" for name in missing), "")


def checked(ruleset: rules.Ruleset) -> tuple[rules.AnyRule, ...]:
    """Return the rules of a document; each can be evaluated here."""
    analyzers = ["AllStatistics", "Distribution"]  # which are no rules
    analyzers += sorted(name for name, kind in TYPES.items() if kind.is_analyzer)
    for analyzer in ruleset.analyzers:
        if analyzer.kind not in analyzers:
            raise _unknown(analyzer.kind, "analyzer", analyzers)
    return tuple(_checked(rule) for rule in ruleset.rules)


def _checked(rule: rules.AnyRule) -> rules.AnyRule:
    if isinstance(rule, rules.Composite):
        return replace(rule, rules=tuple(map(_checked, rule.rules)))
    if rule.kind in NOT_HERE:
        raise UnsupportedError(
            f"the data quality rule {rule.kind} does not run locally: leave it out of local runs"
        )
    if rule.kind not in TYPES:
        raise _unknown(rule.kind, "rule type", [*sorted(TYPES), *NOT_HERE])
    _check_parts(rule)
    if rule.condition is None or TYPES[rule.kind].compares != NUMBERS:
        return rule
    condition = rules.numbered(rule.condition)
    check_operands(rule, condition, NUMBERS)
    return replace(rule, condition=condition)


def _check_parts(rule: rules.Rule) -> None:
    kind, count = TYPES[rule.kind], len(rule.parameters)
    if count < kind.least or (kind.most is not None and count > kind.most):
        some = f"{kind.least} to {kind.most or 'any'}"
        allowed = f"{kind.least}" if kind.least == kind.most else some
        raise wrong(rule, f"it has {count} parameters, allowed: {allowed}")
    if rule.where is not None and not kind.where:
        raise wrong(rule, f"{rule.kind} takes no where clause")
    # CustomSql has either: a number that it compares, or rows.
    either = not kind.needs_condition and rule.condition is not None
    if rule.threshold and (not kind.threshold or either):
        raise wrong(rule, "a threshold is of ColumnValues, ColumnDataType, or CustomSql alone")
    if rule.threshold:
        check_operands(rule, rule.threshold, NUMBERS)
    if rule.condition:
        _check_condition(rule, rule.condition)
    elif kind.compares != NONE and kind.needs_condition:
        raise wrong(rule, f"{rule.kind} needs a condition, such as > 0.9")


def _check_condition(rule: rules.Rule, condition: rules.RuleCondition) -> None:
    kind = TYPES[rule.kind]
    if kind.compares == NONE:
        raise wrong(rule, f"{rule.kind} takes no condition")
    if kind.compares in (DURATIONS, STRINGS):
        check_operands(rule, condition, kind.compares)
    if kind.check:
        kind.check(rule, condition)


def _unknown(name: str, what: str, allowed: Sequence[str]) -> UsageError:
    close = get_close_matches(name, allowed, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return UsageError(
        f"there is no data quality {what} {name!r}; allowed: {', '.join(allowed)}{hint}"
    )
