"""push_down_predicate: a condition on partition columns, parsed and evaluated by Spark.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-partitions.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.lenient import lenient_cast
from tidemark.glue_job.readers.files.partitions import NULL_PARTITION, inferred_type
from tidemark.local_state.bookmarks.sources import not_partitioned

_NUMBER = "partition number"  # no partition column has a space in its name


class SparkPredicate:
    """A predicate that needs only a session, so that it can be evaluated outside a job."""

    def __init__(
        self, spark: SparkSession, expression: str, types: Mapping[str, str] | None = None
    ) -> None:
        """Parse the expression."""
        self._spark = spark
        self._expression = expression
        self._types = {name.lower(): kind for name, kind in (types or {}).items()}
        try:
            parser = spark._jsparkSession.sessionState().sqlParser()
            self.columns = frozenset(_columns(parser.parseExpression(expression)))
        except ParseException as error:
            raise self._error(error) from error
        if not self.columns:
            raise UsageError(f"push_down_predicate {expression!r} names no partition column")
        if types is not None and not self.columns <= set(self._types):
            raise not_partitioned(self.columns, self._types)

    def select(self, partitions: list[dict[str, str]]) -> list[bool]:
        """Return for each partition, its values by lower-case name, whether it is read."""
        if not partitions:
            return []
        names = sorted(self.columns)
        values = [[_value(partition[name]) for name in names] for partition in partitions]
        schema = StructType(
            [
                StructField(_NUMBER, IntegerType()),
                *[StructField(name, StringType()) for name in names],
            ]
        )
        typed = [
            lenient_cast(F.col(f"`{name}`"), self._types.get(name) or inferred_type(column)).alias(
                name
            )
            for name, column in zip(names, zip(*values, strict=True), strict=True)
        ]
        try:
            frame = self._spark.createDataFrame(
                [(number, *row) for number, row in enumerate(values)], schema
            )
            chosen = frame.select(F.col(_NUMBER), *typed).filter(self._expression).collect()
        except AnalysisException as error:
            raise self._error(error) from error
        numbers = {row[0] for row in chosen}
        return [number in numbers for number in range(len(partitions))]

    def _error(self, error: Exception) -> UsageError:
        reason = next(line for line in str(error).splitlines() if line.strip())
        return UsageError(
            f"push_down_predicate {self._expression!r} is not a condition on partition columns: "
            f"{reason}; write it in Spark SQL, such as year = 2013 AND month > 6"
        )


def _columns(expression: Any) -> Iterator[str]:
    """Yield the columns of a parsed, unresolved expression of Catalyst, in lower case."""
    if expression.getClass().getSimpleName() == "UnresolvedAttribute":
        yield expression.name().lower()
    children = expression.children()
    for position in range(children.size()):
        yield from _columns(children.apply(position))


def _value(text: str) -> str | None:
    return None if text == NULL_PARTITION else text
