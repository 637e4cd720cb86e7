"""A job that compares the rows of targets by Spark, whatever their size and format.

Each question is a pair, as `tidemark.operate.diff.duck` takes it.
"""

from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)
from pyspark.sql import types as T  # noqa: N812

from tidemark.operate.diff.comparing import (
    SIDES,
    TEXTS,
    Asked,
    are_unlike,
    compare_rows,
    without_times,
)
from tidemark.operate.rows.records import lines_of, with_marks, with_whole_records
from tidemark.operate.rows.spark_asked import answer_asked
from tidemark.operate.rows.spark_rows import read, rows_of, types_of
from tidemark.operate.rows.spark_values import column_of, one_line, plain


def main() -> None:
    """Compare every pair, and write the answers."""
    answer_asked(compared)


class _Spark:
    """Spark as what runs SQL."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._kept = dict[str, DataFrame]()

    def ask(self, sql: str) -> list[Any]:
        return [tuple(row) for row in self._spark.sql(sql).collect()]

    def keep(self, name: str, sql: str) -> None:
        frame = self._spark.sql(sql).persist(StorageLevel.DISK_ONLY)
        frame.createOrReplaceTempView(name)
        if name in self._kept:
            self._kept[name].unpersist()
        self._kept[name] = frame

    def forget(self) -> None:
        for frame in self._kept.values():
            frame.unpersist()


def compared(spark: SparkSession, pair: dict[str, Any]) -> dict[str, Any]:
    """Return how the rows and types of two targets differ; or the `problem` of what is wrong."""
    engine = _Spark(spark)
    try:
        return _compared(spark, engine, pair)
    except Exception as error:  # noqa: BLE001 (whatever is wrong with the files is the answer)
        return {"problem": _reason(error) or type(error).__name__}
    finally:
        engine.forget()


def _reason(error: Any) -> str:
    """Return the first cause of an error in one line; those above it only say where."""
    cause = getattr(error, "java_exception", None)
    while cause is not None and cause.getCause() is not None:
        cause = cause.getCause()
    return one_line(error) if cause is None else str(cause.getMessage()).strip().partition("\n")[0]


def _compared(spark: SparkSession, engine: _Spark, pair: dict[str, Any]) -> dict[str, Any]:
    asked = Asked(**pair["asked"])
    sides = [pair[side] for side in SIDES]
    if pair["format"] == "json":
        sides = with_marks(sides)
    elif pair["format"] == "lines":
        sides = with_whole_records(sides)
    frames = [_read(spark, pair["format"], side) for side in sides]
    where = asked.where or "true"
    frames = [None if frame is None else frame.where(where) for frame in frames]
    rows = [None if frame is None else frame.count() for frame in frames]
    types = [{} if frame is None else types_of(frame.schema) for frame in frames]
    old, new = frames
    if old is None or new is None:
        return {"rows": rows, "only": [count or 0 for count in rows], "types": types}
    names = [name for name in types[0] if name in types[1]]
    for number, (side, frame) in enumerate(zip(SIDES, (old, new), strict=True)):
        columns = [
            _canonical(frame, name, is_text=are_unlike(types[0][name], types[1][name]))
            if not asked.times or not types[number][name].startswith("timestamp")
            else F.expr(without_times(f"`{name}`", asked.times[number]))
            for name in names
        ]
        values = plain(frame, names).select(*columns or [F.lit(1)])
        numbered = (f"c{position}" for position in range(len(columns) or 1))
        values.toDF(*numbered).createOrReplaceTempView(f"{side}_rows")
    kinds = {name: types[0][name] for name in names}
    return {**asdict(compare_rows(engine, kinds, asked.of_columns(names))), "types": types}


def _read(spark: SparkSession, kind: str, side: dict[str, Any]) -> DataFrame | None:
    if kind in TEXTS and side["files"]:
        options = {"header": "true", "escape": '"', "multiLine": "true", "sep": TEXTS[kind]}
        if not all(_is_utf_8(Path(file)) for file in side["files"]):
            options["encoding"] = "ISO-8859-1"  # which has a character for each byte
        return rows_of(spark, "csv", side, None, **options)
    if kind == "avro" and side["files"]:
        files = spark.sparkContext.parallelize(side["files"], len(side["files"]))
        lines = files.flatMap(lambda file: lines_of(Path(file), "avro"))
        return spark.read.json(lines)
    return read(spark, kind, side)[0]


def _is_utf_8(file: Path) -> bool:
    try:
        with file.open(encoding="utf-8") as lines:
            deque(lines, maxlen=0)
    except UnicodeDecodeError:
        return False
    return True


def _canonical(frame: DataFrame, name: str, *, is_text: bool) -> Any:
    column = column_of(name)
    if isinstance(frame.schema[name].dataType, T.BinaryType):
        column = F.hex(column)
    return column.cast("string") if is_text else column


if __name__ == "__main__":
    main()
