"""A job that compares the rows of the same targets in two lakes, on one Spark.

Called as a job script with ``--pairs FILE``: an object with ``out``, the file of the answer, and
``pairs``, a list of objects with ``format``, ``times`` (the two intervals of the runs, epoch
seconds), and ``old`` and ``new``: each the ``folder``, the ``files`` of that format in it, and
whether these are ``all`` of its files.
"""

import json
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)
from pyspark.sql import types as T  # noqa: N812

from tidemark.operate.versions.rows import NESTED, read, types_of

MAX_SHOWN = 3
WITH_TIMES = (T.StringType, T.TimestampType, T.TimestampNTZType)
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?", re.ASCII)
PY4J_PREFIX = "An error occurred while calling "
RUN_TIME = "(time of the run)"
SLACK = 1  # seconds before and after a run

IN_FULL = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
# Both sides are read as they are, whatever either version makes of old dates and names.
SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.streaming.fileStreamSink.ignoreMetadata": "true",  # it names files of the lake
}


def main() -> None:
    """Compare every pair, and write the answers."""
    pairs = json.loads(Path(sys.argv[sys.argv.index("--pairs") + 1]).read_text(encoding="utf-8"))
    spark = SparkSession.builder.getOrCreate()
    answers = compared_pairs(spark, pairs["pairs"])
    Path(pairs["out"]).write_text(json.dumps(answers), encoding="utf-8")
    spark.stop()


def compared_pairs(spark: SparkSession, pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how the two targets of each pair differ."""
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    return [compared(spark, pair) for pair in pairs]


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
    found = [read(spark, pair["format"], pair[side]) for side in ("old", "new")]
    (old, _), (new, _) = found
    if old is None or new is None:
        return {"rows": [count_of(old), count_of(new)]}
    types = [types_of(schema) for _, schema in found]
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


def one_line(error: Exception) -> str:
    """Return an error in one line, without that of py4j, which says that Java has one."""
    first, *others = str(error).splitlines() or [type(error).__name__]
    return others[0].lstrip(": ") if first.startswith(PY4J_PREFIX) and others else first


def count_of(frame: "DataFrame | None") -> "int | None":
    """Return how many rows there are; None where there is no folder."""
    return None if frame is None else frame.count()


def plain(frame: DataFrame, names: list[str], *, is_sorted: bool = False) -> DataFrame:
    """Return some columns, nested ones as JSON: maps cannot be compared; arrays sorted, or not."""
    types = {field.name: field.dataType for field in frame.schema}
    return frame.select(
        *(
            F.to_json(ordered(column_of(name), types[name], is_sorted), IN_FULL).alias(name)
            if isinstance(types[name], NESTED)
            else column_of(name)
            for name in names
        )
    )


def ordered(column: Column, kind: T.DataType, is_sorted: bool = False) -> Column:
    """Return a nested value with each map as the list of its entries in the order of their keys.

    Arrays are sorted if that is asked for, and their elements have an order.
    """
    text = kind.simpleString()
    is_sorted = is_sorted and "array<" in text and "variant" not in text
    if "map<" not in text and not is_sorted:
        return column
    if isinstance(kind, T.ArrayType):
        found = F.transform(column, lambda one: ordered(one, kind.elementType, is_sorted))
        return F.array_sort(found) if is_sorted else found
    if isinstance(kind, T.StructType):
        fields = (ordered(column[it.name], it.dataType, is_sorted).alias(it.name) for it in kind)
        return F.when(column.isNotNull(), F.struct(*fields))
    if isinstance(kind, T.MapType):
        entry = T.StructType().add("key", kind.keyType).add("value", kind.valueType)
        entries = F.transform(F.map_entries(column), lambda one: ordered(one, entry, is_sorted))
        return F.array_sort(entries)
    return column


def column_of(name: str) -> Any:
    """Return a column by a name that may have a dot."""
    return F.col(f"`{name.replace('`', '``')}`")


def measured(frame: DataFrame, names: list[str], timed: Sequence[str] = ()) -> dict[str, Any]:
    """Return how many rows there are, and for each column a sum that is the same for the same."""
    wide = T.DecimalType(38, 0)
    asked = [F.count(F.lit(1)).alias("rows")]
    hashed = F.xxhash64(F.lit(0), *map(column_of, names))  # of no column where none is on both
    asked.append(F.sum(hashed.cast(wide)).alias("all"))
    asked += [F.sum(F.xxhash64(column_of(name)).cast(wide)).alias(f"h_{name}") for name in names]
    for name in timed:
        is_time = F.coalesce(column_of(name) == RUN_TIME, F.lit(False))
        asked.append(F.min(is_time).alias(f"t_{name}"))
    return frame.agg(*asked).collect()[0].asDict()


def differing_of(names: list[str], sums: list[dict[str, Any]]) -> list[str]:
    """Return the columns that have other values."""
    return [name for name in names if sums[0][f"h_{name}"] != sums[1][f"h_{name}"]]


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

    def replaced(found: re.Match[str]) -> str:
        try:
            at = datetime.fromisoformat(found[0])
        except ValueError:  # such as a month 13
            return found[0]
        seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        return RUN_TIME if begin - SLACK <= seconds <= end + SLACK else found[0]

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
