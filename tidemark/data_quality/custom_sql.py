"""CustomSql: a number that SQL gives, or the rows that it returns.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl-rule-types-CustomSql.html
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tidemark.data_quality.others import PRIMARY, joined, matched, renamed
from tidemark.data_quality.plan import Check, Known, Leaf
from tidemark.data_quality.sql import quoted
from tidemark.model.dqdl.conditions import holds
from tidemark.model.dqdl.rules import Rule

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


@contextmanager
def views(frame: DataFrame, others: Mapping[str, DataFrame]) -> Iterator[None]:
    """Let SQL name the rows ``primary`` and other data by their aliases; then restore the names."""
    spark = frame.sparkSession
    session: Any = spark._jsparkSession
    before: dict[str, DataFrame | None] = {}
    for alias, data in {**others, PRIMARY: frame}.items():
        if not alias.isidentifier():
            continue  # SQL cannot name it
        is_view = session.sessionState().catalog().getTempView(alias).isDefined()
        before[alias] = spark.table(alias) if is_view else None
        data.createOrReplaceTempView(alias)
    try:
        yield
    finally:
        for alias, old in before.items():
            if old is None:
                spark.catalog.dropTempView(alias)
            else:
                old.createOrReplaceTempView(alias)


def queried(rule: Rule, frame: DataFrame, name: str) -> tuple[DataFrame, Leaf]:
    """Return the rows and the needs of a rule; it names the views."""
    try:
        found = frame.sparkSession.sql(rule.parameters[0])
        if rule.condition:
            return frame, _number(rule, found)
    except PySparkException as error:
        reason = f"Error executing SQL statement: {str(error).splitlines()[0]}"
        return frame, Leaf(rule, failure=reason)
    ours = {one.lower() for one in frame.columns}
    strange = [one for one in found.columns if one.lower() not in ours]
    if strange:
        reason = OTHER_COLUMNS.format(", ".join(strange))
        return frame, Leaf(rule, failure=NO_COLUMN if strange == found.columns else reason)
    keys = {one: f"{name}_{place}" for place, one in enumerate(found.columns)}
    same = (F.col(quoted(one)).eqNullSafe(F.col(key)) for one, key in keys.items())
    on = reduce(lambda a, b: a & b, same)
    rows = joined(frame, renamed(found, keys).distinct(), on, name)
    return rows, matched(rule, "Dataset.*.CustomSQL.Compliance", name)


def _number(rule: Rule, found: DataFrame) -> Leaf:
    assert rule.condition is not None  # noqa: S101 (the caller has looked)
    rows = found.limit(2).collect()
    if len(found.columns) != 1 or len(rows) != 1:
        return Leaf(rule, failure="Custom SQL did not return exactly 1 row and 1 column")
    try:
        value = float(rows[0][0])
    except (TypeError, ValueError):
        return Leaf(rule, failure=f"Custom SQL did not return a number: {rows[0][0]}")
    return Leaf(rule, (Check(Known(value), "Dataset.*.CustomSQL", holds(rule.condition)),))
