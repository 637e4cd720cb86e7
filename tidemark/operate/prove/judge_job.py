"""A job that compares the rows of targets in many lakes with those of the first, on one Spark.

Each question has ``format``, ``key`` (its own), ``left_out`` (columns), ``control`` and ``sides``:
each the ``folder``, the ``files`` of that format in it, whether these are ``all`` of its files,
and, where runs have written a folder each, the files by these ``folders``, below which are those of
partitions; and ``asked``: the ``key`` (columns that identify a row, or none), and ``surrogates``
(groups of columns that do not, where all of a group are there). The first side is the baseline; the
control is a second, equal run, and columns in which the two differ are left out, too.
"""

import json
from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)

from tidemark.operate.rows.answers import ROW, header_of, judged_sides, key_of
from tidemark.operate.rows.records import LINE, with_marks, with_whole_records
from tidemark.operate.rows.spark_asked import answer_asked
from tidemark.operate.rows.spark_rows import as_written, read, types_of
from tidemark.operate.rows.spark_values import (
    IN_FULL,
    column_of,
    differing_of,
    measured,
    one_line,
    plain,
)

SIDE = "side"
AT_ONCE = 2  # targets
MAX_DIFFERING = 5000  # rows that are looked at one by one


def main() -> None:
    """Compare every target, and write the answers."""
    answer_asked(lambda spark, target: judged(spark, target, target["asked"]), AT_ONCE)


def judged(spark: SparkSession, target: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Return how each side of a target differs from its first side."""
    try:
        sides = _SidesOfSpark(spark, target)
        answer = judged_sides(sides, target, asked)
        sides.forget()
        return answer
    except Exception as error:  # noqa: BLE001 (whatever is wrong with the files is the answer)
        return {"problem": one_line(error), "by_time": [], "sides": []}


class _SidesOfSpark:
    """The rows of the sides of a target as frames."""

    def __init__(self, spark: SparkSession, target: dict[str, Any]) -> None:
        kind, sides = target["format"], [*target["sides"], target["control"]]
        sides = with_marks(sides) if kind == "json" else sides
        sides = with_whole_records(sides) if kind == "lines" else sides
        header = header_of(kind, sides)
        frames, self._schemas = zip(*(read(spark, kind, side) for side in sides), strict=True)
        self.types = [
            None if frame is None else types_of(schema)
            for frame, schema in zip(frames, self._schemas, strict=True)
        ]
        self._frames = [
            frame if frame is None or header is None else frame.where(F.col(LINE) != header)
            for frame in frames
        ]
        self._counted: DataFrame | None = None
        self._differing: list[Any] = []

    def count(self, number: int) -> int:
        frame = self._frames[number]
        return 0 if frame is None else frame.count()

    def differing(self, names: list[str]) -> list[str]:
        both = self._frames[0], self._frames[-1]
        sums = [measured(plain(frame, names, is_sorted=True), names) for frame in both if frame]
        return differing_of(names, sums)

    def sums(self, names: list[str], left_out: Sequence[str]) -> list[tuple[int, ...]]:
        frames = self._frames[:-1]
        self._counted = counted = counts_of(frames, names, left_out).cache()
        sums = sums_of(counted, len(frames))
        if differing := [number for number, of_side in enumerate(sums) if any(of_side[1:])]:
            is_different = " OR ".join(f"c{number} <> c0" for number in differing)
            self._differing = counted.where(is_different).limit(MAX_DIFFERING).collect()
        return sums

    def rows(self, _: int) -> list[Any]:
        return self._differing

    def identifying(self, candidates: Sequence[list[str]]) -> list[list[str]]:
        names = list(dict.fromkeys(name for columns in candidates for name in columns))
        base = self._frames[0]
        if base is None or not names:
            return []
        asked = [F.count(F.lit(1))]
        asked += [F.count_distinct(*map(column_of, columns)) for columns in candidates]
        total, *distinct = plain(base, names, is_sorted=True).agg(*asked).collect()[0]
        pairs = zip(candidates, distinct, strict=True)
        return [columns for columns, count in pairs if count == total > 1]

    def present(self, key: list[str]) -> set[str]:
        """Return those of added rows: each is looked for among the rows of the baseline."""
        added = {key_of(row[ROW], key) for row in self._differing if not row["c0"]}
        if not added or self._counted is None:
            return set()
        paths = ["$['" + name.replace("'", "\\'") + "']" for name in key]
        parts = [F.get_json_object(ROW, path) for path in paths]
        wanted = {tuple(as_text(value) for value in json.loads(of_row)): of_row for of_row in added}
        of_keys = self._counted.where("c0 > 0").select(
            *(part.alias(f"k{at}") for at, part in enumerate(parts))
        )
        first = [values[0] for values in wanted]
        rows_of_keys = of_keys.where(F.col("k0").isin(first)).distinct().collect()
        return {wanted[tuple(row)] for row in rows_of_keys if tuple(row) in wanted}

    def shown(self, row: str, number: int) -> str:
        return as_written(row, self._schemas[number])

    def forget(self) -> None:
        if self._counted is not None:
            self._counted.unpersist()


def counts_of(
    sides: Sequence["DataFrame | None"], names: list[str], left_out: Sequence[str]
) -> DataFrame:
    """Return each different row as JSON, and how often each side has it: columns c0, c1, …."""
    counted = []
    for number, frame in enumerate(sides):
        if frame is None:
            continue
        there = [name for name in names if name in frame.columns]
        missing = [F.lit(None).alias(name) for name in names if name not in there]
        known = {*names, *left_out}
        more = [name for name in types_of(frame.schema) if name not in known]
        rows = plain(frame, [*there, *more], is_sorted=True).select("*", *missing)
        row = F.to_json(F.struct(*map(column_of, [*names, *more])), IN_FULL)
        counted.append(rows.select(row.alias(ROW), F.lit(number).alias(SIDE)))
    one = F.lit(1)
    columns = [
        F.coalesce(F.sum(F.when(F.col(SIDE) == number, one)), F.lit(0)).alias(f"c{number}")
        for number in range(len(sides))
    ]
    return reduce(DataFrame.unionAll, counted).groupBy(ROW).agg(*columns)


def sums_of(counted: DataFrame, sides: int) -> list[tuple[int, ...]]:
    """Return for each side how many rows it has, and how many are lost, doubled and added."""
    base, nothing = F.col("c0"), F.lit(0)
    asked = []
    for number in range(sides):
        there = F.col(f"c{number}")
        more = F.greatest(there - base, nothing)
        asked += [
            F.sum(there),
            F.sum(F.greatest(base - there, nothing)),
            F.sum(F.when(base > 0, more).otherwise(nothing)),
            F.sum(F.when(base == 0, more).otherwise(nothing)),
        ]
    counts = [int(value or 0) for value in counted.agg(*asked).collect()[0]]
    return [tuple(counts[at : at + 4]) for at in range(0, len(counts), 4)]


def as_text(value: Any) -> "str | None":
    """Return a value of JSON as `get_json_object` does."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    main()
