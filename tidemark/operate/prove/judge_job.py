"""A job that compares the rows of targets in many lakes with those of the first, on one Spark.

Each question has ``format``, ``key`` (its own), ``left_out`` (columns), ``control`` and ``sides``:
each the ``folder``, the ``files`` of that format in it, whether these are ``all`` of its files,
and, where runs have written a folder each, the files by these ``folders``, below which are those of
partitions; and ``asked``: the ``key`` (columns that identify a row, or none), and ``surrogates``
(groups of columns that do not, where all of a group are there). The first side is the baseline; the
control is a second, equal run, and columns in which the two differ are left out, too.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)

from tidemark.operate.rows.answers import (
    NOTHING_LEFT,
    ROW,
    best_key,
    candidates_of,
    details,
    header_of,
    key_of,
    possible_keys,
    unlike_reason,
    with_types,
)
from tidemark.operate.rows.records import with_marks, with_whole_records
from tidemark.operate.rows.spark_asked import answer_asked
from tidemark.operate.rows.spark_rows import Rows, as_written, read, types_of
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
        return rows_judged(spark, target, asked)
    except Exception as error:  # noqa: BLE001 (whatever is wrong with the files is the answer)
        return {"problem": one_line(error), "by_time": [], "sides": []}


def rows_judged(
    spark: SparkSession, target: dict[str, Any], asked: dict[str, Any]
) -> dict[str, Any]:
    """Return the same for files whose rows Spark reads."""
    kind = target["format"]
    sides = of_records(kind, [*target["sides"], target["control"]])
    header = header_of(kind, sides)
    *read_sides, (control, schema_of_control) = [
        rows_of_side(spark, kind, side, header) for side in sides
    ]
    base, schema = read_sides[0]
    if base is None:
        return {"by_time": [], "sides": [without_baseline(frame) for frame, _ in read_sides]}
    names = list(types_of(schema))
    differing = by_time_of(base, control, names)
    two = (base.count(), control.count()) if differing and control is not None else (0, 0)
    if why := unlike_reason(*two, names, differing):
        return {"problem": why, "by_time": [], "sides": []}
    by_time = [name for name in names if name in differing or name in target["left_out"]]
    kept = [name for name in names if name not in by_time]
    if not names:  # such as empty files
        return {"by_time": [], "sides": [without_baseline(frame) for frame, _ in read_sides]}
    if not kept:
        return {"problem": NOTHING_LEFT, "by_time": by_time, "sides": [], "columns": names}
    counted = counts_of([frame for frame, _ in read_sides], kept, by_time)
    key = [name for name in asked["key"] or target.get("key", []) if name in kept]
    candidates = candidates_of(kind, asked["surrogates"], kept)
    answers = answers_of(counted, base, read_sides, candidates, key)
    types = [types_of(of_side) for _, of_side in read_sides]
    with_types(answers, types, types_of(schema_of_control) if control else None, kept)
    return {"by_time": by_time, "columns": names, "sides": answers}


def of_records(kind: str, sides: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return sides whose lines are records, and keep apart what Spark does not."""
    if kind == "json":
        return with_marks(sides)
    return with_whole_records(sides) if kind == "lines" else sides


def rows_of_side(
    spark: SparkSession, kind: str, side: dict[str, Any], header: "str | None"
) -> Rows:
    """Return the rows of one side, and their types; None without a file of it."""
    frame, schema = read(spark, kind, side)
    if frame is None or header is None:
        return frame, schema
    return frame.where(F.col(frame.columns[0]) != header), schema


def without_baseline(frame: "DataFrame | None") -> dict[str, Any]:
    """Return the answer for a target that only other runs have written."""
    rows = 0 if frame is None else frame.count()
    return {"rows": rows or None, "expected": None, "added": rows}


def by_time_of(base: DataFrame, control: "DataFrame | None", names: list[str]) -> list[str]:
    """Return the columns in which two equal runs differ."""
    if control is None or set(types_of(control.schema)) != set(names):
        return []
    sums = [measured(plain(frame, names, is_sorted=True), names) for frame in (base, control)]
    return differing_of(names, sums)


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


def answers_of(
    counted: DataFrame,
    base: DataFrame,
    sides: Sequence[Rows],
    names: list[str],
    key: Sequence[str],
) -> list[dict[str, Any]]:
    """Return the answer for every side."""
    counted = counted.cache()
    sums = sums_of(counted, len(sides))
    differing = [number for number in range(len(sides)) if any(sums[number][1:])]
    rows, keys, present = [], list(key), set[str]()
    if differing:
        is_different = reduce(
            lambda one, other: one | other,
            (F.col(f"c{number}") != F.col("c0") for number in differing),
        )
        rows = counted.where(is_different).limit(MAX_DIFFERING).collect()
        keys = keys or found_key(base, types_of(sides[0][1]), names)
        present = present_keys(counted, rows, keys) if keys else set()
    counted.unpersist()
    return [
        {
            "rows": None if frame is None else there,
            "expected": sums[0][0],
            "lost": lost,
            "doubled": doubled,
            "added": added,
            **(
                details(rows, number, partial(shown_of, sides, number), keys, present)
                if number in differing
                else {}
            ),
        }
        for number, ((frame, _), (there, lost, doubled, added)) in enumerate(
            zip(sides, sums, strict=True)
        )
    ]


def shown_of(sides: Sequence[Rows], number: int, row: str, is_of_base: bool) -> str:
    """Return a row of a side, or of the first one, as it is for people."""
    _, schema = sides[0 if is_of_base else number]
    return as_written(row, schema)


def sums_of(counted: DataFrame, sides: int) -> list[tuple[int, int, int, int]]:
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
    return [tuple(counts[at : at + 4]) for at in range(0, len(counts), 4)]  # type: ignore[misc]


def found_key(base: DataFrame, types: Mapping[str, str], names: list[str]) -> list[str]:
    """Return the columns that identify a row of the baseline: one, or two; empty if none do."""
    candidates = possible_keys(types, names)
    rows = plain(base, names, is_sorted=True)
    asked = [F.count(F.lit(1))]
    asked += [F.count_distinct(*map(column_of, columns)) for columns in candidates]
    total, *distinct = rows.agg(*asked).collect()[0]
    pairs = zip(candidates, distinct, strict=True)
    return best_key([columns for columns, count in pairs if count == total > 1])


def present_keys(counted: DataFrame, rows: Sequence[Any], key: list[str]) -> set[str]:
    """Return the keys of added rows that rows of the baseline have, too."""
    added = {key_of(row[ROW], key) for row in rows if not row["c0"]}
    if not added:
        return set()
    paths = ["$['" + name.replace("'", "\\'") + "']" for name in key]
    parts = [F.get_json_object(ROW, path) for path in paths]
    wanted = {tuple(as_text(value) for value in json.loads(one)): one for one in added}
    of_keys = counted.where("c0 > 0").select(
        *(part.alias(f"k{at}") for at, part in enumerate(parts))
    )
    first = [values[0] for values in wanted]
    rows_of_keys = of_keys.where(F.col("k0").isin(first)).distinct().collect()
    return {wanted[tuple(row)] for row in rows_of_keys if tuple(row) in wanted}


def as_text(value: Any) -> "str | None":
    """Return a value of JSON as `get_json_object` does."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    main()
