"""A job that compares the rows of the same targets in two lakes, on one Spark.

Called as a job script with ``--pairs FILE``: a JSON list of objects with ``target``, ``format``,
``old`` and ``new`` (folders), ``times`` (the two intervals of the runs, epoch seconds) and ``out``,
the file of the answer. It imports nothing of this toolkit: it runs as any other script.
"""

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)
from pyspark.sql import types as T  # noqa: N812

MAX_SHOWN = 3
LINE = "line"
OF_WINDOWS = {"window", "attempt"}  # folders of `watermarks.write_window`: their names are random
NESTED = (T.MapType, T.StructType, T.ArrayType)


def main() -> None:
    """Compare every pair, and write the answers."""
    pairs = json.loads(Path(sys.argv[sys.argv.index("--pairs") + 1]).read_text(encoding="utf-8"))
    spark = SparkSession.builder.config("spark.sql.ansi.enabled", "false").getOrCreate()
    # Both sides are read as they are, whatever either version makes of old dates.
    for name in ("datetimeRebaseModeInRead", "int96RebaseModeInRead"):
        spark.conf.set(f"spark.sql.parquet.{name}", "CORRECTED")
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    answers = [compared(spark, pair) for pair in pairs["pairs"]]
    Path(pairs["out"]).write_text(json.dumps(answers), encoding="utf-8")
    spark.stop()


def compared(spark: SparkSession, pair: dict[str, Any]) -> dict[str, Any]:
    """Return how two folders differ."""
    try:
        old, new = (read(spark, pair["format"], pair[side]) for side in ("old", "new"))
    except Exception as error:  # noqa: BLE001 (whatever is wrong with the files is the answer)
        return {"problem": str(error).splitlines()[0]}
    if old is None or new is None:
        return {"rows": [count_of(old), count_of(new)]}
    types = [types_of(old), types_of(new)]
    names = [name for name in types[0] if name in types[1]]
    schema = {
        name: [side.get(name) for side in types]
        for name in {**types[0], **types[1]}
        if types[0].get(name) != types[1].get(name)
    }
    old, new = plain(old, names), plain(new, names)
    sums = [measured(frame, names) for frame in (old, new)]
    differing = [name for name in names if sums[0][f"h_{name}"] != sums[1][f"h_{name}"]]
    by_time = [name for name in differing if is_time_of_run(name, sums, pair["times"])]
    kept = [name for name in names if name not in by_time]
    answer = {
        "rows": [side["rows"] for side in sums],
        "schema": schema,
        "columns": [name for name in differing if name not in by_time],
        "by_time": by_time,
    }
    if kept and (
        answer["columns"]
        or sums[0]["rows"] != sums[1]["rows"]
        or by_time
        or sums[0]["all"] != sums[1]["all"]
    ):
        one, other = old.select(*kept), new.select(*kept)
        answer["only_old"], answer["only_new"] = shown(one, other), shown(other, one)
    return answer


def types_of(frame: DataFrame) -> dict[str, str]:
    """Return the type of each column, without those that name a window."""
    types = {field.name: field.dataType.simpleString() for field in frame.schema}
    if types.keys() >= OF_WINDOWS:
        return {name: kind for name, kind in types.items() if name not in OF_WINDOWS}
    return types


def read(spark: SparkSession, kind: str, folder: str) -> "DataFrame | None":
    """Return the rows of a folder; None without a file in it."""
    if not any(is_data(file) for file in Path(folder).rglob("*")):
        return None
    uri = Path(folder).as_uri()
    if kind in ("parquet", "orc"):
        return spark.read.option("mergeSchema", "true").format(kind).load(uri)
    if kind == "json":
        return spark.read.option("primitivesAsString", "true").json(uri)
    if kind == "lines":
        return spark.read.text(uri).withColumnRenamed("value", LINE)
    files = [file for file in sorted(Path(folder).rglob("*")) if is_data(file)]
    lines = Counter(line for file in files for line in lines_of(file, kind))
    rows = [(line,) for line in lines.elements()]
    return spark.createDataFrame(rows, f"{LINE} STRING")


def is_data(file: Path) -> bool:
    """Return whether readers see a file."""
    return file.is_file() and not file.name.startswith(("_", "."))


def lines_of(file: Path, kind: str) -> list[str]:
    """Return the records of a file as lines: those of Avro, or the hash of its bytes."""
    if kind == "avro":
        import fastavro

        with file.open("rb") as opened:
            return [json.dumps(row, default=str, sort_keys=True) for row in fastavro.reader(opened)]
    return [hashlib.sha256(file.read_bytes()).hexdigest()]


def count_of(frame: "DataFrame | None") -> "int | None":
    """Return how many rows there are; None where there is no folder."""
    return None if frame is None else frame.count()


def plain(frame: DataFrame, names: list[str]) -> DataFrame:
    """Return some columns, nested ones as JSON: maps cannot be compared."""
    types = {field.name: field.dataType for field in frame.schema}
    return frame.select(
        *(
            F.to_json(column_of(name)).alias(name)
            if isinstance(types[name], NESTED)
            else column_of(name)
            for name in names
        )
    )


def column_of(name: str) -> Any:
    """Return a column by a name that may have a dot."""
    return F.col(f"`{name.replace('`', '``')}`")


def measured(frame: DataFrame, names: list[str]) -> dict[str, Any]:
    """Return how many rows there are, and for each column a sum that is the same for the same."""
    wide = T.DecimalType(38, 0)
    types = {field.name: field.dataType for field in frame.schema}
    asked = [F.count(F.lit(1)).alias("rows")]
    asked.append(F.sum(F.xxhash64(*map(column_of, names)).cast(wide)).alias("all"))
    for name in names:
        asked.append(F.sum(F.xxhash64(column_of(name)).cast(wide)).alias(f"h_{name}"))
        if isinstance(types[name], T.TimestampType):
            seconds = column_of(name).cast("double")
            asked += [F.min(seconds).alias(f"min_{name}"), F.max(seconds).alias(f"max_{name}")]
    return frame.agg(*asked).collect()[0].asDict()


def is_time_of_run(name: str, sums: list[dict[str, Any]], times: list[list[float]]) -> bool:
    """Return whether all values of a column lie within the runs that wrote them."""
    for side, (begin, end) in zip(sums, times, strict=True):
        low, high = side.get(f"min_{name}"), side.get(f"max_{name}")
        if low is None or high is None or not begin - 1 <= low <= high <= end + 1:
            return False
    return True


def shown(one: DataFrame, other: DataFrame) -> list[str]:
    """Return some rows that are in one and not in the other, as JSON."""
    rows = one.exceptAll(other).limit(MAX_SHOWN)
    return [
        row[0]
        for row in rows.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"})).collect()
    ]


if __name__ == "__main__":
    main()
