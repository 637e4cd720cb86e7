"""Measures contracts and the observation of columns: `python -m benchmarks.schemas`.

A contract that rescues, and the same rows read without one, in turns: text that becomes numbers,
dates and times against a read with these types, and Parquet as it is. And a read whose columns are
observed against one whose are not, in the process of a job.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import PROJECT, Result
from tidemark.glue_service.submission import read_submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home

COMMAND = "python -m benchmarks.schemas"
ROWS, TEXT_ROWS, ROUNDS = 5_000_000, 500_000, 7
SCRIPT = """
import json, os, sys, time
from pyspark.sql import SparkSession
from watermarks import Contract

spark = SparkSession.builder.getOrCreate()
rows, text_rows, rounds = map(int, sys.argv[-1].split(","))
DDL = "id BIGINT, kind INT, amount DOUBLE, day DATE, name STRING, at TIMESTAMP, flag BOOLEAN"
TEXT = ", ".join(f"{column.split()[0]} STRING" for column in DDL.split(", "))
made = spark.range(rows).selectExpr(
    "id", "int(id % 1000) AS kind", "id * 0.25D AS amount",
    "date_add(date'2020-01-01', int(id % 2000)) AS day", "concat('name ', id) AS name",
    "timestamp_seconds(1600000000 + id) AS at", "id % 2 = 0 AS flag",
)
made.write.parquet("s3://lake/parquet/")
made.limit(text_rows).write.csv("s3://lake/csv/")
made.limit(text_rows).write.json("s3://lake/json/")
rescue = Contract(DDL, columns="rescue", types="rescue").apply
TIMES = "id BIGINT, kind INT, amount DOUBLE, day STRING, name STRING, at STRING, flag BOOLEAN"


def seconds(read):
    begin = time.monotonic()
    read().write.format("noop").mode("overwrite").save()
    return time.monotonic() - begin


def unobserved():
    folder = os.environ.pop("TIDEMARK_RUN_FOLDER")
    try:
        return seconds(lambda: spark.read.parquet("s3://lake/parquet/"))
    finally:
        os.environ["TIDEMARK_RUN_FOLDER"] = folder


def ratios(one, other):
    return [one() / other() for _ in range(rounds + 1)][1:]  # the first one compiles


def of(read):
    return lambda: seconds(read)


print(json.dumps([
    ratios(of(lambda: rescue(spark.read.schema(TEXT).csv("s3://lake/csv/"))),
           of(lambda: spark.read.schema(DDL).csv("s3://lake/csv/"))),
    ratios(of(lambda: rescue(spark.read.schema(TIMES).json("s3://lake/json/"))),
           of(lambda: spark.read.schema(DDL).json("s3://lake/json/"))),
    ratios(of(lambda: rescue(spark.read.parquet("s3://lake/parquet/"))),
           of(lambda: spark.read.parquet("s3://lake/parquet/"))),
    ratios(of(lambda: spark.read.parquet("s3://lake/parquet/")), unobserved),
]))
"""


def measure() -> list[Result]:
    """Return how many times as long rescuing takes for three formats, and observing."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home.open(Path(folder) / "home")
        home.create_bucket("lake")
        library = shutil.make_archive(f"{folder}/libs", "zip", PROJECT / "libs", "watermarks")
        script = Path(folder) / "schemas.py"
        script.write_text(SCRIPT, encoding="utf-8")
        numbers = ",".join(map(str, (ROWS, TEXT_ROWS, ROUNDS)))
        arguments = ["--extra-py-files", library, "--numbers", numbers]
        finished, _ = submit(read_submission(script, arguments), home, lambda _: None)
        if finished.state != "SUCCEEDED":
            raise RuntimeError(f"{finished.state}: {finished.error_message}")
        printed = (home.runs / finished.run_id / "stdout.log").read_text(encoding="utf-8")
    csv, as_json, parquet, observed = json.loads(printed.splitlines()[-1])
    typed = "500,000 rows; against a read with the same types; target 1.3"
    return [
        Result("rescue of CSV, times a read", COMMAND, csv, typed),
        Result("rescue of JSON, times a read", COMMAND, as_json, typed),
        Result("rescue of Parquet, times a read", COMMAND, parquet, "5 M rows; target 1.3"),
        Result("observing a read of 5 M rows, times a read", COMMAND, observed, "target 1.03"),
    ]


if __name__ == "__main__":
    for result in measure():
        sys.stdout.write(f"{result.row()}\n")
