"""Queries that a reader of `awsglue` makes to look at a source; their rows count for no run."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

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
