"""The versions of rows in a table that keeps them all, each with its start and its end.

Such a table is called a slowly changing dimension of type 2. Versions and deletions that come late
take their place among those that are there, so the order in which windows are merged does not
matter. A deletion that comes before its row is kept as a version that ends when it starts, which no
time is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from watermarks.errors import WatermarkValueError

from .columns import DELETED, TargetColumns, as_inserted, check_columns, escaped, without_loss

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_AT, _IS_END, _RANK, _NEXT, _BEFORE = (
    f"_tidemark_{name}" for name in ("at", "is_end", "rank", "next", "before")
)


@dataclass(frozen=True)
class History:
    """The columns of a table with versions.

    Attributes:
        keys: the columns that identify a row.
        start: the column from which a version is.
        end: the column until which it is; NULL for the last one.
    """

    keys: Sequence[str]
    start: str
    end: str

    def changes(
        self,
        frame: DataFrame,
        table: DataFrame,
        columns: TargetColumns,
        cursor: str,
        deleted: str | None,
    ) -> DataFrame:
        """Return the versions of the keys in a frame: those of the table, and those of the frame.

        Args:
            frame: the rows of a window; several of one key are several versions.
            table: the table.
            columns: its columns.
            cursor: the column that says from when a row of the frame is.
            deleted: an SQL condition on a row of the frame that ends its key.

        Returns:
            The versions, with the columns of the table, and `DELETED`.

        Raises:
            WatermarkValueError: a column is missing.
        """
        from pyspark.sql import Window as Over
        from pyspark.sql import functions

        check_columns(table, [*self.keys, self.start, self.end], of="table")
        names = [name for name in table.columns if name.lower() not in self._times]
        check_columns(frame, [cursor])
        own = replace(columns, schema=table.select(*map(escaped, names)).schema)
        lacks, frame = own.lacking(frame), own.filled(frame)
        kind = table.schema[self.start].dataType
        at = without_loss(frame, cursor, kind)
        failure = functions.raise_error(
            f"the column {cursor!r} has no value in a row, so the row has no place in the history"
        )
        at = functions.when(at.isNull(), failure).otherwise(at)
        is_end = functions.expr(deleted) if deleted else functions.lit(False)
        new = frame.select(
            *map(escaped, names),
            at.cast(kind).alias(_AT),
            functions.coalesce(is_end, functions.lit(False)).alias(_IS_END),
            functions.lit(0).alias(_RANK),
        )
        touched = frame.select(*map(escaped, self.keys)).distinct().alias("s")
        there = table.alias("t").join(touched, self._is_same("t", "s"), "left_semi")
        starts = self._starts(there, names)
        new = as_inserted(new, starts.schema)
        events = new.unionByName(starts).unionByName(self._ends(there, names))
        # A version that is merged again keeps what the frame lacks.
        same = Over.partitionBy(*self._key, _AT, _IS_END)
        first_values = {name: functions.first(escaped(name), True).over(same) for name in lacks}
        return self._versions(events.withColumns(first_values), table.columns)

    @property
    def _times(self) -> tuple[str, str]:
        return self.start.lower(), self.end.lower()

    @property
    def _key(self) -> list[str]:
        return [escaped(name) for name in self.keys]

    def _starts(self, there: DataFrame, names: Sequence[str]) -> DataFrame:
        from pyspark.sql import functions

        start, end = functions.col(escaped(self.start)), functions.col(escaped(self.end))
        return there.where(end.isNull() | (end != start)).select(
            *map(escaped, names),
            start.alias(_AT),
            functions.lit(False).alias(_IS_END),
            functions.lit(1).alias(_RANK),
        )

    def _ends(self, there: DataFrame, names: Sequence[str]) -> DataFrame:
        # A key was deleted where a version ends and no other one starts.
        from pyspark.sql import Window as Over
        from pyspark.sql import functions

        start, end = functions.col(escaped(self.start)), functions.col(escaped(self.end))
        after = functions.lead(start).over(Over.partitionBy(*self._key).orderBy(start))
        ends = there.withColumn(_NEXT, after).where(end.isNotNull())
        is_deletion = (end == start) | functions.col(_NEXT).isNull() | (end != functions.col(_NEXT))
        return ends.where(is_deletion).select(
            *map(escaped, names),
            end.alias(_AT),
            functions.lit(True).alias(_IS_END),
            functions.lit(1).alias(_RANK),
        )

    def _versions(self, events: DataFrame, columns: Sequence[str]) -> DataFrame:
        from pyspark.sql import Window as Over
        from pyspark.sql import functions

        at_once = Over.partitionBy(*self._key, _AT, _IS_END).orderBy(_RANK)
        ordered = Over.partitionBy(*self._key).orderBy(_AT, _IS_END)
        versions = events.withColumn(_NEXT, functions.row_number().over(at_once)).where(
            f"{_NEXT} = 1"
        )
        versions = versions.withColumn(_NEXT, functions.lead(_AT).over(ordered))
        versions = versions.withColumn(_BEFORE, functions.lag(_IS_END).over(ordered))
        # A deletion needs a version of its own only where it ends none.
        is_needed = ~functions.col(_IS_END) | functions.coalesce(
            functions.col(_BEFORE), functions.lit(True)
        )
        end = functions.when(functions.col(_IS_END), functions.col(_AT)).otherwise(
            functions.col(_NEXT)
        )
        versions = versions.withColumn(_NEXT, end).withColumn(DELETED, ~is_needed)
        at = Over.partitionBy(*self._key, _AT).orderBy(_IS_END)
        versions = versions.withColumn(_RANK, functions.row_number().over(at)).where(f"{_RANK} = 1")
        times = dict(zip(self._times, (_AT, _NEXT), strict=True))
        chosen = [
            functions.col(times.get(name.lower(), escaped(name))).alias(name) for name in columns
        ]
        return versions.select(*chosen, DELETED)

    def _is_same(self, left: str, right: str) -> Column:
        from pyspark.sql import functions

        same = functions.lit(True)
        for key in self._key:
            same &= functions.col(f"{left}.{key}").eqNullSafe(functions.col(f"{right}.{key}"))
        return same


def history_of(keys: Sequence[str], history: object) -> History:
    """Return the history that two names of columns mean.

    Raises:
        WatermarkValueError: it is not two names.
    """
    names = list(history) if isinstance(history, (tuple, list)) else []
    if len(names) != 2 or not all(isinstance(name, str) and name for name in names):
        raise WatermarkValueError(
            f"history is {history!r}: give the two columns of the table that say from when and "
            "until when a version is, such as ('valid_from', 'valid_to')"
        )
    return History(keys, *names)
