"""Computes what rules need of the rows: all aggregates in one pass, all groups in another."""

import math
from collections.abc import Iterable, Mapping
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tidemark.data_quality.plan import Measure, OfGroups, Scalar

Groups = tuple[tuple[str, ...], str | None]


def measured(
    frame: DataFrame, rows: DataFrame, measures: Iterable[Measure]
) -> dict[Measure, float | None]:
    """Return the values of measures; None if no row gives one."""
    wanted = dict.fromkeys(measures)
    scalars = [one for one in wanted if isinstance(one, Scalar)]
    grouped = [one for one in wanted if isinstance(one, OfGroups)]
    values: dict[Measure, float | None] = {}
    if scalars:
        (row,) = rows.agg(*(F.expr(one.sql) for one in scalars)).collect()
        values |= zip(scalars, row, strict=True)
    groups: list[Groups] = list(dict.fromkeys((one.columns, one.where) for one in grouped))
    if groups:
        parts = [_counted(frame, number, one) for number, one in enumerate(groups)]
        counted = reduce(DataFrame.unionAll, parts).collect()
        found = {groups[row["number"]]: _numbers(*row[1:]) for row in counted}
        values |= {one: found[one.columns, one.where].get(one.field) for one in grouped}
    return values


def _counted(frame: DataFrame, number: int, groups: Groups) -> DataFrame:
    """Return one row about groups: how many, and so on; rows of nulls only are a group apart."""
    columns, where = groups
    kept = frame.where(F.expr(where)) if where else frame
    keys = [F.expr(one).alias(f"key{place}") for place, one in enumerate(columns)]
    counts = kept.groupBy(*keys).agg(F.count(F.lit(1)).alias("n"))
    is_value = reduce(
        lambda a, b: a | b, (F.col(f"key{place}").isNotNull() for place in range(len(columns)))
    )
    n = F.when(is_value, F.col("n"))
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
    """Return the numbers about groups; without a value only ``distinct``."""
    found = {"distinct": float(distinct)}
    if not rows or weighted is None:
        return found
    return found | {
        "uniqueness": alone / rows,
        "unique_value_ratio": alone / groups,
        "entropy": math.log(rows) - weighted / rows,
    }
