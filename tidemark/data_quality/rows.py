"""The rows that rules judge, as Spark has them, and the other data that rules read."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import and_, or_
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tidemark.local_state.sparks.installed import own_spark
from tidemark.model.dqdl.data_rules import PRIMARY
from tidemark.model.dqdl.plan import Columns, Match, OtherData, QueryError
from tidemark.model.dqdl.sql import quoted


class SparkData(OtherData):
    """Rows of a frame."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame
        self.columns = Columns(frame.dtypes)

    def count(self) -> int:
        """Return how many there are."""
        return self.frame.count()

    def value(self, sql: str) -> float | None:
        """Return the value of an aggregate."""
        value: float | None = self.frame.agg(F.expr(sql)).collect()[0][0]
        return value

    def first_rows(self, number: int) -> Sequence[Sequence[Any]]:
        """Return the first rows.

        Raises:
            QueryError: Spark cannot compute them.
        """
        with _as_query_error():
            return self.frame.limit(number).collect()

    def is_key(self, names: Sequence[str]) -> bool:
        """Return whether columns have no null and no values twice."""
        columns = [F.col(quoted(name)) for name in names]
        is_null = reduce(or_, (column.isNull() for column in columns))
        counts = self.frame.groupBy(*columns).agg(F.count(F.lit(1)).alias("_dq_count"))
        return counts.where(is_null | (F.col("_dq_count") > 1)).isEmpty()


@dataclass
class JudgedRows:
    """The rows that the rules of a document judge; rules that compare data mark them.

    Attributes:
        frame: the rows as they came.
        sources: other data by their aliases.
        now: the time of the evaluation.
        marked: the rows with the marks of the rules so far.
    """

    frame: DataFrame
    sources: Mapping[str, DataFrame]
    now: datetime
    marked: DataFrame = field(init=False)

    def __post_init__(self) -> None:
        """Begin without marks."""
        self.marked = self.frame
        self.columns = Columns(self.frame.dtypes)
        self.cast = "TRY_CAST" if own_spark().major >= 4 else "CAST"  # that of Spark 4 fails

    @property
    def others(self) -> Mapping[str, OtherData]:
        """Other data by their aliases."""
        return {alias: SparkData(frame) for alias, frame in self.sources.items()}

    def is_key(self, names: Sequence[str]) -> bool:
        """Return whether columns have no null and no values twice."""
        return SparkData(self.frame).is_key(names)

    def mark_matches(self, other: OtherData, matches: Sequence[Match], *, distinct: bool) -> str:
        """Mark the rows that match one of other data; return the SQL of the mark."""
        assert isinstance(other, SparkData)  # noqa: S101 (one of `others`, or of `query`)
        mark = f"_dq_match_{len(self.marked.columns)}"
        keys = {f"{mark}_{place}": match for place, match in enumerate(matches)}
        columns = (F.col(quoted(match.theirs)).alias(key) for key, match in keys.items())
        theirs = other.frame.select(*columns)
        # Two nulls are the same value only where the rule says so.
        equal = [
            F.col(quoted(match.ours)).eqNullSafe(F.col(key))
            if match.nulls_match
            else F.col(quoted(match.ours)) == F.col(key)
            for key, match in keys.items()
        ]
        theirs = (theirs.distinct() if distinct else theirs).withColumn(mark, F.lit(True))
        rows = [F.col(quoted(name)) for name in self.marked.columns]
        joined = self.marked.join(theirs, reduce(and_, equal), "left")
        self.marked = joined.select(*rows, F.coalesce(F.col(mark), F.lit(False)).alias(mark))
        return quoted(mark)

    def query(self, sql: str) -> OtherData:
        """Return the result of SQL about ``primary``, the rows, and other data by their aliases.

        Raises:
            QueryError: Spark refuses it.
        """
        with self._views(), _as_query_error():
            return SparkData(self.frame.sparkSession.sql(sql))

    @contextmanager
    def _views(self) -> Iterator[None]:
        spark = self.frame.sparkSession
        session: Any = spark._jsparkSession
        before: dict[str, DataFrame | None] = {}
        for alias, data in {**self.sources, PRIMARY: self.frame}.items():
            if not alias.isidentifier():
                continue  # SQL cannot name it
            is_view = session.sessionState().catalog().getTempView(alias).isDefined()
            before[alias] = spark.table(alias) if is_view else None
            data.createOrReplaceTempView(alias)
        try:
            yield
        finally:
            # The script may have had views of these names.
            for alias, old in before.items():
                if old is None:
                    spark.catalog.dropTempView(alias)
                else:
                    old.createOrReplaceTempView(alias)


@contextmanager
def _as_query_error() -> Iterator[None]:
    try:
        yield
    except PySparkException as error:
        raise QueryError(str(error).splitlines()[0]) from error
