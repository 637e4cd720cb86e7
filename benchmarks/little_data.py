"""Measures runs with and without the JVM's best compiler: `python -m benchmarks.little_data`.

The same script writes and reads JSON and Parquet, groups and joins, in a JVM of its own; with each
of the options of docs/warm-jvms.md, for little data and for more of it.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Result, time_command

COMMAND = "python -m benchmarks.little_data"
ROUNDS = 2
QUICK = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1"}
PLAIN = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=4"}
LITTLE, MORE = 100_000, 2_000_000
SCRIPT = """
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
rows = spark.range({rows}).selectExpr(
    "id", "string(id % 1000) AS kind", "id * 1.5 AS value", "concat('name ', id) AS name"
)
rows.write.mode("overwrite").json("s3://bench/json/")
spark.read.json("s3://bench/json/").write.mode("overwrite").parquet("s3://bench/parquet/")
table = spark.read.parquet("s3://bench/parquet/")
table.groupBy("kind").agg(F.sum("value"), F.countDistinct("name")).collect()
table.join(table.select("id", F.col("value").alias("other")), "id").agg(F.sum("other")).collect()
"""


def measure() -> list[Result]:
    """Return the seconds of runs over little and more data, as it comes and with the option."""
    with tempfile.TemporaryDirectory() as folder:
        little, more = (_pairs(Path(folder), rows) for rows in (LITTLE, MORE))
    return [
        Result(f"{rows:,} rows, {how}", COMMAND, seconds)
        for rows, both in ((LITTLE, little), (MORE, more))
        for how, seconds in zip(("JVM as it comes", "quick JVM"), both, strict=True)
    ]


def _pairs(folder: Path, rows: int) -> tuple[list[float], list[float]]:
    """Return the seconds without the option and with it; the two take turns."""
    script = folder / f"rows_{rows}.py"
    script.write_text(SCRIPT.format(rows=rows), encoding="utf-8")
    (folder / "home" / "lake" / "bench").mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tidemark", "submit", "--isolated", str(script)]
    plain: list[float] = []
    quick: list[float] = []
    for _ in range(ROUNDS):
        for option, seconds in ((PLAIN, plain), (QUICK, quick)):
            home = {"TIDEMARK_HOME": str(folder / "home"), **option}
            seconds.append(time_command(command, folder, home))
    return plain, quick


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
