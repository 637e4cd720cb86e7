"""Visual transforms of Glue Studio that its scripts import by name, as ``import gs_now``.

Source: https://docs.aws.amazon.com/glue/latest/dg/add-current-timestamp-transform.html and
https://docs.aws.amazon.com/glue/latest/dg/derived-column-transform.html
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

Change = Callable[..., DataFrame]


def with_time(frame: DataFrame, colName: str, dateFormat: str | None = None) -> DataFrame:  # noqa: N803
    """Return the rows with the time of now in a column: a timestamp, or text in a format.

    Args:
        frame: any rows.
        colName: the new column.
        dateFormat: of Python, as ``%Y-%m-%d``, or of Spark, as ``yyyy-MM-dd``.
    """
    now = datetime.now(UTC)
    if not dateFormat:
        return frame.withColumn(colName, F.lit(now))
    if "%" in dateFormat:
        return frame.withColumn(colName, F.lit(now.strftime(dateFormat)))
    return frame.withColumn(colName, F.date_format(F.lit(now), dateFormat))


def with_derived(frame: DataFrame, colName: str, expr: str) -> DataFrame:  # noqa: N803
    """Return the rows with a column that an expression of SQL makes."""
    return frame.withColumn(colName, F.expr(expr))


def attach(name: str, change: Change, dynamic_frame: Any) -> None:
    """Give both kinds of frames a method that changes the rows, as Studio does.

    Args:
        name: of the method.
        change: what it does to a DataFrame.
        dynamic_frame: the class DynamicFrame.
    """

    def of_dynamic_frame(self: Any, *args: Any, **kwargs: Any) -> Any:
        return dynamic_frame.fromDF(change(self.toDF(), *args, **kwargs), self.glue_ctx, self.name)

    setattr(dynamic_frame, name, of_dynamic_frame)
    setattr(DataFrame, name, change)
