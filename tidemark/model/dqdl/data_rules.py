"""Rules that read other data, or SQL.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html (ReferentialIntegrity,
DatasetMatch, RowCountMatch, SchemaMatch, AggregateMatch, CustomSql),
https://github.com/awslabs/deequ (com.amazon.deequ.dqdl.execution.executors)
"""

import re
from functools import partial

from tidemark.model.dqdl.conditions import ratio_requirement
from tidemark.model.dqdl.plan import (
    Check,
    Data,
    Known,
    Match,
    OtherData,
    QueryError,
    RulePlan,
    Scalar,
)
from tidemark.model.dqdl.rule_types import ANY, NUMBERS, check_operands, rule, test_of
from tidemark.model.dqdl.rules import Rule
from tidemark.model.dqdl.sql import number, quoted, share

_AGGREGATE = re.compile(r"(sum|avg|SUM|AVG)\((?:(.*)\.)?([^.]*)\)")
PRIMARY = "primary"
WRONG_KEYS = "Provided key map not suitable for given data frames."
NO_COLUMN = (
    "The output from CustomSQL must contain at least one column that matches the input dataset "
    "for AWS Glue Data Quality to provide row level results. The SQL query is a valid query but "
    "the columns from the SQL result are not present in the Input Dataset. Ensure that matching "
    "columns are returned from the SQL."
)
OTHER_COLUMNS = (
    "The columns returned from the SQL statement should only belong to the primary table. Columns "
    "not found: {}"
)


_of_data = partial(rule, where=False, reads_columns=False)
_compares = partial(_of_data, compares=NUMBERS)


def _not_found(rule: Rule, alias: str) -> RulePlan:
    return RulePlan(rule, failure=f"{alias} not found in additional sources")


def _ratio(rule: Rule, ratio: Scalar, metric: str) -> RulePlan:
    return RulePlan(rule, (Check(ratio, metric, test_of(rule.condition), ratio_requirement),))


def _marked(rule: Rule, mark: str, metric: str) -> RulePlan:
    """Return the plan of a rule that judges rows by a column that marks those that match."""
    test = test_of(rule.condition or rule.threshold)
    check = Check(Scalar(share(mark)), metric, test, ratio_requirement)
    return RulePlan(rule, (check,), mark)


@_compares("RowCountMatch")
def row_count_match(rule: Rule, data: Data) -> RulePlan:
    """Plan the number of rows divided by that of other data."""
    (alias,) = rule.parameters
    if (other := data.others.get(alias)) is None:
        return _not_found(rule, alias)
    count = other.count()
    of_none = "CASE WHEN count(1) = 0 THEN double('NaN') ELSE double('Infinity') END"
    ratio = Scalar(f"count(1) / {number(count)}" if count else of_none)
    return _ratio(rule, ratio, f"Dataset.{alias}.RowCountMatch")


@_compares("SchemaMatch")
def schema_match(rule: Rule, data: Data) -> RulePlan:
    """Plan the share of columns that other data have, too, with the same type."""
    (alias,) = rule.parameters
    if (other := data.others.get(alias)) is None:
        return _not_found(rule, alias)
    ours, theirs = dict(data.columns.pairs), dict(other.columns.pairs)
    ratio, test = 0.0, test_of(rule.condition)
    reason = "Column counts do not match"
    if len(ours) != len(theirs):
        test = lambda _: False  # noqa: E731 (whatever the condition is)
    else:
        ratio = len(ours.items() & theirs.items()) / len(ours) if ours else 0.0
        reason = f"{ratio * 100:.2f}% of columns passed the threshold"
    check = Check(Known(ratio), f"Dataset.{alias}.SchemaMatch", test, lambda _: reason)
    return RulePlan(rule, (check,))


@_compares("AggregateMatch", least=2, most=2)
def aggregate_match(rule: Rule, data: Data) -> RulePlan:
    """Plan the first aggregate divided by the second one; 0 by 0 is 1."""
    values, names = [], []
    for text in rule.parameters:
        match = _AGGREGATE.fullmatch(text.replace('"', ""))
        if not match:
            return RulePlan(rule, failure=f"{text} is not sum(column) or avg(column)")
        word, alias, name = match[1].lower(), match[2] or PRIMARY, match[3]
        other = None if alias == PRIMARY else data.others.get(alias)
        if other is None and alias != PRIMARY:
            return _not_found(rule, alias)
        if reason := (other or data).columns.missing([name]):
            return RulePlan(rule, failure=reason)
        sql = f"CAST({word}({quoted(name)}) AS DOUBLE)"
        if other is not None:
            value = other.value(sql)
            sql = "CAST(NULL AS DOUBLE)" if value is None else number(value)
        values.append(sql)
        names.append(name)
    first, second = values
    ratio = Scalar(
        f"CASE WHEN {first} = 0 AND {second} = 0 THEN 1D WHEN {second} = 0 THEN 0D "
        f"ELSE {first} / {second} END"
    )
    return _ratio(rule, ratio, f"Column.{','.join(dict.fromkeys(names))}.AggregateMatch")


def _own_columns(rule: Rule) -> list[str]:
    return [name.strip() for name in rule.parameters[0].split(",")]


@_compares("ReferentialIntegrity", least=2, most=2, named=_own_columns)
def referential_integrity(rule: Rule, data: Data) -> RulePlan:
    """Plan the share of rows whose values are in a reference; null is in none."""
    text = rule.parameters[1]  # alias.column or alias.{column,column}
    alias, _, listed = text.partition(".{") if ".{" in text else text.rpartition(".")
    if (other := data.others.get(alias)) is None:
        return _not_found(rule, alias)
    ours, theirs = _own_columns(rule), [name.strip() for name in listed.rstrip("}").split(",")]
    sides = ((data.columns, ours, "primary"), (other.columns, theirs, "reference"))
    for columns, names, side in sides:
        if absent := [name for name in names if columns.find(name) is None]:
            reason = f"{', '.join(absent)} does not exist in the {side} dataset"
            return RulePlan(rule, failure=reason)
    if len(ours) != len(theirs):
        reason = f"the numbers of columns differ: {len(ours)} and {len(theirs)}"
        return RulePlan(rule, failure=reason)
    metric = f"Column.{alias}.ReferentialIntegrity"
    mark = data.mark_matches(other, list(map(Match, ours, theirs)), distinct=True)
    return _marked(rule, mark, metric)


@_compares("DatasetMatch", least=2, most=3)
def dataset_match(rule: Rule, data: Data) -> RulePlan:
    """Plan the share of rows that have the values of the row with the same key."""
    alias, *texts = rule.parameters
    if (other := data.others.get(alias)) is None:
        return _not_found(rule, alias)
    keys = _mapping(texts[0])
    lower = {name.lower() for name in keys}
    rest = [name for name in data.columns.names if name.lower() not in lower]
    values = _mapping(texts[1]) if len(texts) > 1 else dict(zip(rest, rest, strict=True))
    every = keys | values
    if reason := data.columns.missing(every) or other.columns.missing(every.values()):
        return RulePlan(rule, failure=reason)
    if not (data.is_key(list(keys)) and other.is_key(list(keys.values()))):
        return RulePlan(rule, failure=WRONG_KEYS)
    matches = [Match(ours, theirs) for ours, theirs in keys.items()]
    # AWS is silent on nulls: two are the same value.
    matches += [Match(ours, every[ours], nulls_match=True) for ours in values]
    mark = data.mark_matches(other, matches, distinct=False)
    return _marked(rule, mark, f"Dataset.{alias}.DatasetMatch")


def _mapping(text: str) -> dict[str, str]:
    """Return our column and theirs for each of ``a, b->c``."""
    pairs = (pair.partition("->") for pair in text.replace('"', "").split(","))
    return {ours.strip(): (theirs or ours).strip() for ours, _, theirs in pairs}


@_of_data(
    "CustomSql",
    ANY,
    threshold=True,
    needs_condition=False,
    by_row=True,
    check=lambda rule, condition: check_operands(rule, condition, NUMBERS),
    is_analyzer=True,
)
def custom_sql(rule: Rule, data: Data) -> RulePlan:
    """Plan a number that SQL gives, or the rows that it returns."""
    try:
        result = data.query(rule.parameters[0])
        if rule.condition:
            return _number(rule, result)
    except QueryError as error:
        return RulePlan(rule, failure=f"Error executing SQL statement: {error}")
    ours, names = {name.lower() for name in data.columns.names}, result.columns.names
    if strange := [name for name in names if name.lower() not in ours]:
        reason = OTHER_COLUMNS.format(", ".join(strange))
        return RulePlan(rule, failure=NO_COLUMN if strange == names else reason)
    matches = [Match(name, name, nulls_match=True) for name in names]
    mark = data.mark_matches(result, matches, distinct=True)
    return _marked(rule, mark, "Dataset.*.CustomSQL.Compliance")


def _number(rule: Rule, result: OtherData) -> RulePlan:
    rows = result.first_rows(2)
    if len(result.columns.pairs) != 1 or len(rows) != 1:
        return RulePlan(rule, failure="Custom SQL did not return exactly 1 row and 1 column")
    try:
        value = float(rows[0][0])
    except (TypeError, ValueError):
        return RulePlan(rule, failure=f"Custom SQL did not return a number: {rows[0][0]}")
    return RulePlan(rule, (Check(Known(value), "Dataset.*.CustomSQL", test_of(rule.condition)),))
