"""Measures DynamicFrames against the same work of DataFrames: `python -m benchmarks.awsglue`.

Rows without choices are mapped, renamed, joined and written away, by Glue's transforms and by
Spark's own expressions; JSON of values of mixed types is read with choices, and by Spark. Both ways
take turns, and the ratio is of the fastest runs, which others on the machine disturb least. The
environment variable ROWS makes it smaller.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (as in PySpark's own documents)

from benchmarks.measure import PROJECT, Result
from tidemark.glue_job.process.lake_fs.jar import lake_jar
from tidemark.local_state.machine.java import find_java_home
from tidemark.sites import SITES

ROWS = int(os.environ.get("ROWS", "5000000"))
ROUNDS = 5
TARGET = 1.10
JSON_ROWS = ROWS // 5
JSON_TARGET = 0.5  # of the speed of Spark's reader
COMMAND = "python -m benchmarks.awsglue"
IMPORT = (
    "import pyspark.sql.functions, awsglue.context, time; begin = time.perf_counter(); "
    "import awsglue.transforms; print(time.perf_counter() - begin)"
)


def measure() -> list[Result]:
    """Return the seconds of both ways, with their ratio, and of importing the transforms."""
    os.environ["JAVA_HOME"] = str(find_java_home())
    sys.path.extend(map(str, SITES))
    classes = str(lake_jar(find_java_home()))
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = spark.config("spark.driver.extraClassPath", classes)
    session = spark.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    try:
        frames, plain = _in_turns(
            partial(_by_dynamic_frames, session), partial(_by_data_frames, session)
        )
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/mixed"
            _mixed(session).write.text(path)
            mixed, inferred = _in_turns(
                partial(_with_choices, session, path), partial(session.read.json, path)
            )
    finally:
        session.stop()
    ratio, speed = min(frames) / min(plain), min(inferred) / min(mixed)
    size, lines = f"{ROWS:,} rows", f"{JSON_ROWS:,} lines"
    note = f"{ratio:.2f} times the DataFrames; target {TARGET:.2f}"
    return [
        Result(f"mapping, rename and join of {size} by DynamicFrames", COMMAND, frames, note),
        Result(f"the same of {size} by DataFrames", COMMAND, plain),
        Result(
            f"JSON of mixed types, {lines}, by a DynamicFrame",
            COMMAND,
            mixed,
            f"{speed:.2f} of the speed of spark.read.json; target {JSON_TARGET}",
        ),
        Result(f"the same {lines} by spark.read.json", COMMAND, inferred),
        Result("import awsglue.transforms", COMMAND, _imports(), "target 0.05"),
    ]


def _in_turns(*ways: Callable[[], DataFrame]) -> tuple[list[float], list[float]]:
    """Return the seconds of two ways, after one round that warms up."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS + 1):
        for way, found in zip(ways, seconds, strict=True):
            taken = _seconds(lambda way=way: _drain(way()))  # type: ignore[misc]
            if number:
                found.append(taken)
    return seconds


def _mixed(spark: SparkSession) -> DataFrame:
    """Return lines of JSON: an amount is a number or text, a part of a struct long or double."""
    line = """concat('{"id": ', id, ', "amount": ', if(id % 10 = 0, '"', ''), id % 977,
        if(id % 10 = 0, '"', ''), ', "who": {"name": "n', id % 100, '", "x": ', id % 7,
        if(id % 3 = 0, '.5', ''), '}, "tags": ["a", "b"]}')"""
    return spark.range(0, JSON_ROWS, 1, 4).selectExpr(line)


def _with_choices(spark: SparkSession, path: str) -> DataFrame:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame
    from tidemark.glue_job.readers.files.formats import Format
    from tidemark.glue_job.readers.files.s3 import read_files
    from tidemark.local_state.bookmarks.files import FileVersion

    parts = sorted(Path(path).glob("part-*"))
    files = [FileVersion(f"file://{part}", 0, part.stat().st_size) for part in parts]
    frame = read_files(spark, files, [f"file://{path}"], Format("json", is_dynamic=True))
    found: DataFrame = DynamicFrame(frame, GlueContext(spark.sparkContext), "mixed").toDF()
    return found


def _rows(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    orders = spark.range(ROWS).select(
        F.col("id"),
        (F.col("id") % 1000).alias("customer"),
        F.concat(F.lit("a"), F.col("id").cast("string")).alias("text"),
        F.struct(F.col("id").cast("string").alias("amount")).alias("nested"),
    )
    customers = spark.range(1000).select(F.col("id").alias("key"), F.lit("x").alias("name"))
    return orders, customers


def _by_dynamic_frames(spark: SparkSession) -> DataFrame:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame
    from awsglue.transforms import ApplyMapping, DropFields, Join, RenameField

    context = GlueContext(spark.sparkContext)
    orders, customers = (DynamicFrame.fromDF(one, context, "rows") for one in _rows(spark))
    mapped = ApplyMapping.apply(
        frame=orders,
        mappings=[
            ("id", "long", "order_id", "string"),
            ("customer", "long", "customer", "long"),
            ("text", "string", "text", "string"),
            ("nested.amount", "string", "amount", "decimal(12,2)"),
        ],
    )
    renamed = RenameField.apply(mapped, "text", "label")
    joined = Join.apply(renamed, customers, "customer", "key")
    found: DataFrame = DropFields.apply(joined, ["key"]).toDF()
    return found


def _by_data_frames(spark: SparkSession) -> DataFrame:
    orders, customers = _rows(spark)
    mapped = orders.select(
        F.col("id").cast("string").alias("order_id"),
        "customer",
        F.col("text").alias("label"),
        F.col("nested.amount").cast("decimal(12,2)").alias("amount"),
    )
    return mapped.join(customers, mapped["customer"] == customers["key"]).drop("key")


def _drain(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _seconds(call: Callable[[], None]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _imports() -> list[float]:
    """Return the seconds that the transforms take after the context, in processes of their own."""
    found = []
    for _ in range(ROUNDS):
        run = subprocess.run(  # noqa: S603 (our own program)
            [sys.executable, "-c", IMPORT],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (PROJECT, *SITES)))},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(float(run.stdout))
    return found


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
