"""Casts that follow no setting of Spark: null where a value cannot be of a type.

A DynamicFrame's conversions are not those of Spark's SQL, which fail where
``spark.sql.ansi.enabled`` is true: on Spark 4 by default, and on 3.5 where a script says so.
"""

from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T


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
