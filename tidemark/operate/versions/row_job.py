"""A job that compares the rows of the same targets in two lakes, on one Spark.

Each question has ``format``, ``times`` (the two intervals of the runs, epoch seconds), and ``old``
and ``new``: each the ``folder``, the ``files`` of that format in it, and whether these are ``all``
of its files.
"""

import re
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)
from pyspark.sql import types as T  # noqa: N812

from tidemark.operate.rows.spark_asked import answer_asked
from tidemark.operate.rows.spark_rows import read, types_of
from tidemark.operate.rows.spark_values import (
    IN_FULL,
    RUN_TIME,
    column_of,
    differing_of,
    measured,
    one_line,
    plain,
)

MAX_SHOWN = 3
WITH_TIMES = (T.StringType, T.TimestampType, T.TimestampNTZType)
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?", re.ASCII)
SLACK = 1  # seconds before and after a run


def main() -> None:
    """Compare every pair, and write the answers."""
    answer_asked(compared)


def compared(spark: SparkSession, pair: dict[str, Any]) -> dict[str, Any]:
    """Return how two targets differ; those that cannot be read, by their lines or bytes."""
    kind = pair["format"]
    try:
        return of_rows(spark, pair)
    except Exception as error:  # noqa: BLE001 (whatever is wrong with the files is the answer)
        problem = one_line(error)
    answer = of_rows(spark, {**pair, "format": "lines" if kind == "json" else "bytes"})
    is_equal = answer["rows"][0] == answer["rows"][1] and not answer.get("columns")
    return answer if is_equal else {**answer, "problem": problem}


def of_rows(spark: SparkSession, pair: dict[str, Any]) -> dict[str, Any]:
    """Return how the rows and types of two targets differ."""
    read_sides = [read(spark, pair["format"], pair[side]) for side in ("old", "new")]
    (old, _), (new, _) = read_sides
    if old is None or new is None:
        return {"rows": [count_of(old), count_of(new)]}
    types = [types_of(schema) for _, schema in read_sides]
    names = [name for name in types[0] if name in types[1]]
    schema = {
        name: [side.get(name) for side in types]
        for name in {**types[0], **types[1]}
        if types[0].get(name) != types[1].get(name)
    }
    sides = [plain(old, names), plain(new, names)]
    sums = [measured(frame, names) for frame in sides]
    differing = differing_of(names, sums)
    by_time = []
    if timed := [name for name in differing if is_with_times(sides, name)]:
        sides = [
            without_times(frame, timed, times)
            for frame, times in zip(sides, pair["times"], strict=True)
        ]
        sums = [measured(frame, names, timed) for frame in sides]
        still = differing_of(names, sums)
        by_time = [name for name in timed if name not in still or is_time_alone(name, sums)]
        differing = [name for name in still if name not in by_time]
    answer = {
        "rows": [side["rows"] for side in sums],
        "schema": schema,
        "columns": differing,
        "by_time": by_time,
        "by_order": by_order(old, new, differing),
    }
    if differing or sums[0]["rows"] != sums[1]["rows"] or sums[0]["all"] != sums[1]["all"]:
        answer["only_old"], answer["only_new"] = shown(*sides), shown(*reversed(sides))
    return answer


def count_of(frame: "DataFrame | None") -> "int | None":
    """Return how many rows there are; None where there is no folder."""
    return None if frame is None else frame.count()


def by_order(old: DataFrame, new: DataFrame, differing: list[str]) -> list[str]:
    """Return the columns whose arrays have the same elements in another order."""
    arrays = [
        name
        for name in differing
        if all(isinstance(frame.schema[name].dataType, T.ArrayType) for frame in (old, new))
        and "map<" not in old.schema[name].dataType.simpleString()
    ]
    if not arrays:
        return []
    sides = [
        measured(
            frame.select(
                *(F.to_json(F.array_sort(column_of(name)), IN_FULL).alias(name) for name in arrays)
            ),
            arrays,
        )
        for frame in (old, new)
    ]
    return [name for name in arrays if name not in differing_of(arrays, sides)]


def is_with_times(sides: list[DataFrame], name: str) -> bool:
    """Return whether a column may hold times of a run: timestamps, or texts with them."""
    return all(isinstance(frame.schema[name].dataType, WITH_TIMES) for frame in sides)


def is_time_alone(name: str, sums: list[dict[str, Any]]) -> bool:
    """Return whether a column holds nothing but times of the run, of however many rows."""
    return all(side[f"t_{name}"] for side in sums)


def without_times(frame: DataFrame, timed: list[str], times: list[float]) -> DataFrame:
    """Return a frame with the times of its run in some columns replaced by a fixed text."""
    begin, end = times

    def replaced(match: re.Match[str]) -> str:
        try:
            at = datetime.fromisoformat(match[0])
        except ValueError:  # such as a month 13
            return match[0]
        seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        return RUN_TIME if begin - SLACK <= seconds <= end + SLACK else match[0]

    def without(text: str | None) -> str | None:
        return None if text is None else TIME.sub(replaced, text)

    change = F.udf(without, T.StringType())
    return frame.select(
        *(
            change(column_of(name).cast("string")).alias(name) if name in timed else column_of(name)
            for name in frame.columns
        )
    )


def shown(one: DataFrame, other: DataFrame) -> list[str]:
    """Return the first rows that are in one and not in the other, as JSON."""
    rows = one.exceptAll(other).orderBy(*map(column_of, one.columns)).limit(MAX_SHOWN)
    return [row[0] for row in rows.select(F.to_json(F.struct("*"), IN_FULL)).collect()]


if __name__ == "__main__":
    main()
