"""Queries with which a reader of `awsglue` inspects a source; their rows count for no run."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemark.glue_job.process.event_marks import OWN_QUERY

_DESCRIPTION = "spark.job.description"


@contextmanager
def own_query(spark: SparkSession) -> Iterator[None]:
    """Mark the queries that run within; the description that the script has set comes back."""
    context = spark.sparkContext
    before = context.getLocalProperty(_DESCRIPTION)
    context.setLocalProperty(_DESCRIPTION, OWN_QUERY)
    try:
        yield
    finally:
        context.setLocalProperty(_DESCRIPTION, before)  # type: ignore[arg-type] # None unsets it


def any_row_has(frame: DataFrame, conditions: Iterable[Column]) -> Sequence[bool]:
    """Return of each condition whether some row meets it, in one pass over the rows."""
    flags = [F.max(F.coalesce(one, F.lit(False))) for one in conditions]
    with own_query(frame.sparkSession):
        found: Sequence[bool] = frame.agg(*flags).collect()[0]
    return found
