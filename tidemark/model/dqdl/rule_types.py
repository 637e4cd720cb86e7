"""The rule types of DQDL: what each takes, and which do not run here.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.dqdl.rules import (
    AnyRule,
    Composite,
    Duration,
    Keyword,
    Number,
    Rule,
    RuleCondition,
    Ruleset,
    Text,
    is_of_dates,
    numbered,
)

NUMBERS, DURATIONS, STRINGS, ANY, NONE = "numbers", "durations", "strings", "any", "none"
_KINDS: dict[str, tuple[type, str]] = {
    DURATIONS: (Duration, "durations such as 3 days"),
    STRINGS: (Text, "strings"),
}


@dataclass(frozen=True)
class RuleType:
    """What a type takes.

    Attributes:
        compares: what its condition compares with; `NONE` has no condition.
        least: parameters at least.
        most: parameters at most; None is any number.
        where: whether it takes a where clause.
        threshold: whether it takes ``with threshold``.
        is_ratio: its outcome is a share of rows: no part of a composite rule by rows.
    """

    compares: str
    least: int = 1
    most: int | None = 1
    where: bool = True
    threshold: bool = False
    is_ratio: bool = False


TYPES = {
    "AggregateMatch": RuleType(NUMBERS, 2, 2, where=False),
    "ColumnCorrelation": RuleType(NUMBERS, 2, 2),
    "ColumnCount": RuleType(NUMBERS, 0, 0, where=False),
    "ColumnDataType": RuleType(STRINGS, threshold=True),
    "ColumnExists": RuleType(NONE, where=False),
    "ColumnLength": RuleType(NUMBERS),
    "ColumnNamesMatchPattern": RuleType(NONE, where=False),
    "ColumnValues": RuleType(ANY, threshold=True),
    "Completeness": RuleType(NUMBERS, is_ratio=True),
    "CustomSql": RuleType(ANY, where=False, threshold=True),
    "DataFreshness": RuleType(DURATIONS),
    "DatasetMatch": RuleType(NUMBERS, 2, 3, where=False, is_ratio=True),
    "DistinctValuesCount": RuleType(NUMBERS),
    "Entropy": RuleType(NUMBERS),
    "IsComplete": RuleType(NONE),
    "IsPrimaryKey": RuleType(NONE, 1, None),
    "IsUnique": RuleType(NONE),
    "Mean": RuleType(NUMBERS),
    "ReferentialIntegrity": RuleType(NUMBERS, 2, 2, where=False, is_ratio=True),
    "RowCount": RuleType(NUMBERS, 0, 0),
    "RowCountMatch": RuleType(NUMBERS, where=False),
    "SchemaMatch": RuleType(NUMBERS, where=False),
    "StandardDeviation": RuleType(NUMBERS),
    "Sum": RuleType(NUMBERS),
    "UniqueValueRatio": RuleType(NUMBERS),
    "Uniqueness": RuleType(NUMBERS, 1, None, is_ratio=True),
}
# AWS's rule types about files, or about metrics of earlier runs.
NOT_HERE = ("DetectAnomalies", "FileFreshness", "FileMatch", "FileSize", "FileUniqueness")
_ANALYZERS = (
    "RowCount",
    "Completeness",
    "Uniqueness",
    "Mean",
    "Sum",
    "StandardDeviation",
    "Entropy",
    "DistinctValuesCount",
    "Distribution",
    "UniqueValueRatio",
    "ColumnCount",
    "ColumnLength",
    "ColumnValues",
    "ColumnCorrelation",
    "CustomSql",
    "AllStatistics",
)


def checked(ruleset: Ruleset) -> tuple[AnyRule, ...]:
    """Return the rules of a document; each can be evaluated here."""
    for analyzer in ruleset.analyzers:
        if analyzer.kind not in _ANALYZERS:
            raise _unknown(analyzer.kind, "analyzer", _ANALYZERS)
    return tuple(_checked(rule) for rule in ruleset.rules)


def _checked(rule: AnyRule) -> AnyRule:
    if isinstance(rule, Composite):
        return replace(rule, rules=tuple(_checked(one) for one in rule.rules))
    if rule.kind in NOT_HERE:
        raise UnsupportedError(
            f"the data quality rule {rule.kind} does not run locally: leave it out of local runs"
        )
    if rule.kind not in TYPES:
        raise _unknown(rule.kind, "rule type", [*TYPES, *NOT_HERE])
    kind = TYPES[rule.kind]
    _check_parts(rule, kind)
    if rule.condition is None or kind.compares != NUMBERS:
        return rule
    found = numbered(rule.condition)
    _check_kinds(rule, found, Number, NUMBERS)
    return replace(rule, condition=found)


def _check_parts(rule: Rule, kind: RuleType) -> None:
    count, most = len(rule.parameters), kind.most
    if count < kind.least or (most is not None and count > most):
        allowed = f"{kind.least}" if kind.least == most else f"{kind.least} to {most or 'any'}"
        raise _wrong(rule, f"it has {count} parameters, allowed: {allowed}")
    if rule.where is not None and not kind.where:
        raise _wrong(rule, f"{rule.kind} takes no where clause")
    if rule.threshold and (not kind.threshold or (rule.kind == "CustomSql" and rule.condition)):
        raise _wrong(rule, "a threshold is of ColumnValues, ColumnDataType, or CustomSql alone")
    if rule.threshold:
        _check_kinds(rule, rule.threshold, Number, NUMBERS)
    if rule.condition:
        _check_condition(rule, kind, rule.condition)
    elif kind.compares != NONE and rule.kind != "CustomSql":
        raise _wrong(rule, f"{rule.kind} needs a condition, such as > 0.9")


def _check_condition(rule: Rule, kind: RuleType, condition: RuleCondition) -> None:
    if kind.compares == NONE:
        raise _wrong(rule, f"{rule.kind} takes no condition")
    if kind.compares in _KINDS:
        _check_kinds(rule, condition, *_KINDS[kind.compares])
    if rule.kind == "ColumnDataType" and condition.operator != "=":
        raise _wrong(rule, "ColumnDataType takes = and != with one type")
    if rule.kind == "CustomSql":
        _check_kinds(rule, condition, Number, NUMBERS)
    if rule.kind == "ColumnValues":
        _check_values(rule, condition)


def _check_kinds(rule: Rule, condition: RuleCondition, kind: type, name: str) -> None:
    if not all(isinstance(one, kind) for one in condition.operands):
        raise _wrong(rule, f"{condition.text!r} compares with something else than {name}")


def _check_values(rule: Rule, condition: RuleCondition) -> None:
    """Refuse mixed kinds of operands, and keywords that cannot equal anything."""
    # NULL goes with numbers, strings and dates, the other keywords with strings.
    kinds = {type(one) for one in condition.operands} - {Keyword}
    if len(kinds) > 1 and not is_of_dates(condition):
        raise _wrong(rule, f"{condition.text!r} mixes kinds of values")
    if Duration in kinds:
        raise _wrong(rule, "a duration goes with now(), as in (now() - 3 days)")
    is_order = condition.operator not in ("=", "in", "matches")
    if is_order and Text in kinds and not is_of_dates(condition):
        raise _wrong(
            rule, f'{condition.operator} compares numbers, days such as "2022-06-30", now()'
        )
    if condition.has(Keyword) and condition.operator not in ("=", "in"):
        raise _wrong(rule, "NULL, EMPTY and WHITESPACES_ONLY go with =, !=, in and not in")


def _wrong(rule: Rule, reason: str) -> UsageError:
    return UsageError(f"the data quality rule {rule.text!r} is wrong: {reason}")


def _unknown(name: str, what: str, known: Sequence[str]) -> UsageError:
    close = get_close_matches(name, known, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return UsageError(
        f"there is no data quality {what} {name!r}; allowed: {', '.join(known)}{hint}"
    )
