"""Rules that read other data, or SQL: columns that say which rows match.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types.html (ReferentialIntegrity,
DatasetMatch, RowCountMatch, SchemaMatch, AggregateMatch),
https://github.com/awslabs/deequ (com.amazon.deequ.dqdl.execution.executors)
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidemark.data_quality.plan import Check, Known, Leaf, Scalar
from tidemark.data_quality.sql import number, quoted
from tidemark.data_quality.table import Table, share
from tidemark.model.dqdl.conditions import holds, is_one, ratio_requirement
from tidemark.model.dqdl.rules import Rule

Found = tuple[DataFrame, Leaf]
_AGGREGATE = re.compile(r"(sum|avg|SUM|AVG)\((?:(.*)\.)?([^.]*)\)")
PRIMARY = "primary"
WRONG_KEYS = "Provided key map not suitable for given data frames."


@dataclass(frozen=True)
class Frames:
    """The data that a rule reads.

    Attributes:
        frame: the rows as they came.
        rows: the same with columns of the rules before.
        others: other data by their aliases.
    """

    frame: DataFrame
    rows: DataFrame
    others: Mapping[str, DataFrame]


def compared(rule: Rule, frames: Frames, name: str) -> Found:
    """Return the rows, with a column of whether each matches if the rule is about rows."""
    if rule.kind == "AggregateMatch":
        return frames.rows, _aggregates(rule, frames)
    alias, columns = rule.parameters[0], list[str]()
    if rule.kind == "ReferentialIntegrity":
        text = rule.parameters[1]  # alias.column or alias.{column,column}
        alias, _, listed = text.partition(".{") if ".{" in text else text.rpartition(".")
        columns = [name.strip() for name in listed.rstrip("}").split(",")]
    other = frames.others.get(alias)
    if other is None:
        return frames.rows, Leaf(rule, failure=f"{alias} not found in additional sources")
    if rule.kind == "RowCountMatch":
        return frames.rows, _row_counts(rule, alias, other)
    if rule.kind == "SchemaMatch":
        return frames.rows, _schemas(rule, alias, frames.frame, other)
    if rule.kind == "ReferentialIntegrity":
        return _subset(rule, frames, (alias, other, columns), name)
    return _same(rule, frames, (alias, other), name)


def matched(rule: Rule, metric: str, name: str) -> Leaf:
    """Return the needs of a rule that judges rows by a column."""
    condition = rule.condition or rule.threshold
    test = holds(condition) if condition else is_one
    ratio = Scalar(share(quoted(name), None))
    return Leaf(rule, (Check(ratio, metric, test, ratio_requirement),), quoted(name))


def joined(frame: DataFrame, other: DataFrame, on: Column, name: str) -> DataFrame:
    """Return the rows of a frame, each once, with a column of whether the other has a row."""
    marked = other.withColumn(name, F.lit(True))
    columns = [F.col(quoted(one)) for one in frame.columns]
    found = frame.join(marked, on, "left")
    return found.select(*columns, F.coalesce(F.col(name), F.lit(False)).alias(name))


def renamed(frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    """Return the columns of a frame by other names."""
    return frame.select(*(F.col(quoted(old)).alias(new) for old, new in columns.items()))


def _row_counts(rule: Rule, alias: str, other: DataFrame) -> Leaf:
    count = other.count()
    share_of = f"count(1) / {number(count)}"
    none = "CASE WHEN count(1) = 0 THEN double('NaN') ELSE double('Infinity') END"
    measure = Scalar(share_of if count else none)
    return Leaf(rule, (_ratio(rule, measure, f"Dataset.{alias}.RowCountMatch"),))


def _schemas(rule: Rule, alias: str, frame: DataFrame, other: DataFrame) -> Leaf:
    ours, theirs = dict(frame.dtypes), dict(other.dtypes)
    metric = f"Dataset.{alias}.SchemaMatch"
    if len(ours) != len(theirs):
        reason = "Column counts do not match"
        return Leaf(rule, (Check(Known(0.0), metric, lambda _: False, lambda _: reason),))
    ratio = len(ours.items() & theirs.items()) / len(ours) if ours else 0.0
    reason = f"{ratio * 100:.2f}% of columns passed the threshold"
    return Leaf(rule, (Check(Known(ratio), metric, _test(rule), lambda _: reason),))


def _aggregates(rule: Rule, frames: Frames) -> Leaf:
    """Return the check of the first aggregate divided by the second one; 0 by 0 is 1."""
    values, names = [], []
    for text in rule.parameters:
        found = _AGGREGATE.fullmatch(text.replace('"', ""))
        if not found:
            return Leaf(rule, failure=f"{text} is not sum(column) or avg(column)")
        word, alias, name = found.group(1).lower(), found.group(2) or PRIMARY, found.group(3)
        source = frames.frame if alias == PRIMARY else frames.others.get(alias)
        if source is None:
            return Leaf(rule, failure=f"{alias} not found in additional sources")
        if reason := Table.of(source.dtypes).missing([name]):
            return Leaf(rule, failure=reason)
        sql = f"CAST({word}({quoted(name)}) AS DOUBLE)"
        if alias != PRIMARY:
            (value,) = source.agg(F.expr(sql)).collect()[0]
            sql = "CAST(NULL AS DOUBLE)" if value is None else number(value)
        values.append(sql)
        names.append(name)
    first, second = values
    ratio = Scalar(
        f"CASE WHEN {first} = 0 AND {second} = 0 THEN 1D WHEN {second} = 0 THEN 0D "
        f"ELSE {first} / {second} END"
    )
    return Leaf(
        rule, (_ratio(rule, ratio, f"Column.{','.join(dict.fromkeys(names))}.AggregateMatch"),)
    )


def _subset(
    rule: Rule, frames: Frames, reference: tuple[str, DataFrame, list[str]], name: str
) -> Found:
    """Return whether the values of each row are in a reference; null is in none."""
    alias, other, theirs = reference
    ours = [one.strip() for one in rule.parameters[0].split(",")]
    for table, names, what in ((frames.frame, ours, "primary"), (other, theirs, "reference")):
        absent = [one for one in names if Table.of(table.dtypes).find(one) is None]
        if absent:
            reason = f"{', '.join(absent)} does not exist in the {what} dataset"
            return frames.rows, Leaf(rule, failure=reason)
    if len(ours) != len(theirs):
        reason = f"the numbers of columns differ: {len(ours)} and {len(theirs)}"
        return frames.rows, Leaf(rule, failure=reason)
    keys = {one: f"{name}_{place}" for place, one in enumerate(theirs)}
    on = _all(
        F.col(quoted(mine)) == F.col(key) for mine, key in zip(ours, keys.values(), strict=True)
    )
    found = joined(frames.rows, renamed(other, keys).distinct(), on, name)
    return found, matched(rule, f"Column.{alias}.ReferentialIntegrity", name)


def _same(rule: Rule, frames: Frames, reference: tuple[str, DataFrame], name: str) -> Found:
    """Return whether the row with the same key has the same values; two nulls are the same."""
    alias, other = reference
    keys = _mapping(rule.parameters[1])
    lower = {one.lower() for one in keys}
    values = (
        _mapping(rule.parameters[2])
        if len(rule.parameters) > 2
        else {one: one for one in frames.frame.columns if one.lower() not in lower}
    )
    every = keys | values
    if reason := Table.of(frames.frame.dtypes).missing(every):
        return frames.rows, Leaf(rule, failure=reason)
    if reason := Table.of(other.dtypes).missing(every.values()):
        return frames.rows, Leaf(rule, failure=reason)
    if not (_is_key(frames.frame, list(keys)) and _is_key(other, list(keys.values()))):
        return frames.rows, Leaf(rule, failure=WRONG_KEYS)
    theirs = {mine: f"{name}_{place}" for place, mine in enumerate(every)}
    right = other.select(*(F.col(quoted(every[mine])).alias(new) for mine, new in theirs.items()))
    on = _all(
        [
            *(F.col(quoted(one)) == F.col(theirs[one]) for one in keys),
            *(F.col(quoted(one)).eqNullSafe(F.col(theirs[one])) for one in values),
        ]
    )
    found = joined(frames.rows, right, on, name)
    return found, matched(rule, f"Dataset.{alias}.DatasetMatch", name)


def _mapping(text: str) -> dict[str, str]:
    """Return our column and theirs for each of ``a, b->c``."""
    pairs = (one.partition("->") for one in text.replace('"', "").split(","))
    return {ours.strip(): (theirs or ours).strip() for ours, _, theirs in pairs}


def _is_key(frame: DataFrame, names: list[str]) -> bool:
    """Return whether columns have no null and no values twice."""
    columns = [F.col(quoted(one)) for one in names]
    is_null = reduce(lambda a, b: a | b, (one.isNull() for one in columns))
    counts = frame.groupBy(*columns).agg(F.count(F.lit(1)).alias("_dq_count"))
    wrong = counts.where(is_null | (F.col("_dq_count") > 1))
    return wrong.isEmpty()


def _all(tests: Iterable[Column]) -> Column:
    return reduce(lambda a, b: a & b, tests)


def _test(rule: Rule) -> Callable[[float], bool]:
    assert rule.condition is not None, rule.text  # noqa: S101 (rules are checked)
    return holds(rule.condition)


def _ratio(rule: Rule, measure: Scalar, metric: str) -> Check:
    return Check(measure, metric, _test(rule), ratio_requirement)
