"""What frames ask of Spark's session: casts that follow no setting of it, and queries of our own.

A DynamicFrame's conversions are not those of Spark's SQL, which fail where
``spark.sql.ansi.enabled`` is true: on Spark 4 by default, and on 3.5 where a script says so.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.glue_job.process.event_marks import OWN_QUERY


def lenient_cast(column: Column, kind: T.DataType | str) -> Column:
    """Return a value as another type, as Spark casts without ANSI: null where it cannot be one.

    A number too large for an integer type loses its upper bits.
    """
    session = SparkSession.getActiveSession()
    assert session is not None  # noqa: S101 (there is a frame)
    jvm: Any = session._jvm
    if isinstance(kind, str):
        target = jvm.org.apache.spark.sql.types.DataType.fromDDL(kind)
    else:
        target = session._jsparkSession.parseDataType(kind.json())
    return Column(jvm.dev.tidemark.jvm.SparkVersion.lenientCast(column._jc, target))


# What Spark takes for a date, but for a time of day after it, or any text, which it leaves out.
_DAY = r"^\s*[^\sT]+([T ]00:00(:00(\.0+)?)?Z?)?\s*$"


def read_text(text: Column, kind: T.DataType) -> Column:
    """Return a string of a file as the type of its column; null if a date would not hold all."""
    value = lenient_cast(text, kind)
    return F.when(text.rlike(_DAY), value) if isinstance(kind, T.DateType) else value


K = TypeVar("K")
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


def met_in_some_row(frame: DataFrame, conditions: Mapping[K, Column]) -> set[K]:
    """Return the keys of the conditions that some row meets, in one pass over the rows."""
    if not conditions:
        return set()
    flags = [F.max(F.coalesce(condition, F.lit(False))) for condition in conditions.values()]
    with own_query(frame.sparkSession):
        row = frame.agg(*flags).collect()[0]
    return {key for key, is_met in zip(conditions, row, strict=True) if is_met}
