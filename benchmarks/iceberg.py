"""Measures windows and Iceberg: `python -m benchmarks.iceberg`.

Four figures: a merge of 1 % of a table by `merge_window`, with and without an audit of all its
rows, and by the same SQL, in turns; the
reading of 100 new rows of a table with 10,000 snapshots; and a whole small job that merges, in a
JVM that ran one before.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Result
from tidemark.glue_service.runs.jvms.supply import Jvms, jvms_of
from tidemark.glue_service.submission import read_submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home

COMMAND = "python -m benchmarks.iceberg"
ROWS = 5_000_000
ROUNDS = 7
SNAPSHOTS = 10_000
LIBS = Path(__file__).parents[1] / "libs"
CATALOG = "spark.sql.catalog.glue_catalog"
CONF = " --conf ".join(
    [
        "spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        f"{CATALOG}=org.apache.iceberg.spark.SparkCatalog",
        f"{CATALOG}.catalog-impl=org.apache.iceberg.aws.glue.GlueCatalog",
        f"{CATALOG}.io-impl=org.apache.iceberg.aws.s3.S3FileIO",
        f"{CATALOG}.warehouse=s3://lake/",
    ]
)
BEGIN = """
import json, sys, time
from pyspark.sql import SparkSession
from watermarks import Window, merge_window, newest_snapshot, read_snapshots

spark = SparkSession.builder.getOrCreate()
spark.sql("CREATE DATABASE IF NOT EXISTS glue_catalog.b")
"""
MERGE = """
rows, rounds = map(int, sys.argv[-1].split(","))
base = f"SELECT id, id % 97 AS kind, CAST(0 AS BIGINT) AS at FROM range({rows})"
spark.sql(f"CREATE TABLE glue_catalog.b.t USING iceberg AS {base}")
changed = "SELECT id, 1 AS kind, CAST({} AS BIGINT) AS at FROM range({}) WHERE id % 100 = 0"
ours, audited, theirs = [], [], []
for number in range(1, 3 * rounds + 1):
    frame = spark.sql(changed.format(number, rows))
    start = time.monotonic()
    if number % 3:
        window = Window("j", "jr", "at", f"{number:010d}-b", number, None, number)
        audit = "kind >= 0" if number % 3 == 2 else None
        merge_window(frame, "glue_catalog.b.t", window, ["id"], audit=audit)
        (audited if audit else ours).append(time.monotonic() - start)
        continue
    frame.createOrReplaceTempView("changes")
    spark.sql(
        "MERGE INTO glue_catalog.b.t t USING (SELECT id, kind, at FROM (SELECT *, row_number() "
        "OVER (PARTITION BY id ORDER BY at DESC) AS n FROM changes) WHERE n = 1) s "
        "ON t.id <=> s.id WHEN MATCHED AND s.at >= t.at THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )
    theirs.append(time.monotonic() - start)
print(json.dumps([ours[1:], audited[1:], theirs[1:]]))  # the first of each compiles its code
"""
READ = """
import boto3
glue = boto3.client("glue")
spark.sql("CREATE TABLE glue_catalog.b.s USING iceberg AS SELECT id FROM range(100)")
table = glue.get_table(DatabaseName="b", Name="s")["Table"]
place = table["Parameters"]["metadata_location"]
s3 = boto3.client("s3")
bucket, _, key = place.removeprefix("s3://").partition("/")
metadata = json.load(s3.get_object(Bucket=bucket, Key=key)["Body"])
(first,), count = metadata["snapshots"], int(sys.argv[-1])
chain = [
    {**first, "snapshot-id": number, "sequence-number": number,
     **({"parent-snapshot-id": number - 1} if number > 1 else {})}
    for number in range(1, count + 1)
]
metadata |= {"snapshots": chain, "current-snapshot-id": count, "last-sequence-number": count}
metadata["refs"]["main"]["snapshot-id"] = count
metadata["snapshot-log"] = [
    {"snapshot-id": one["snapshot-id"], "timestamp-ms": one["timestamp-ms"]} for one in chain
]
s3.put_object(Bucket=bucket, Key=key, Body=json.dumps(metadata))
spark.sql("CALL glue_catalog.system.register_table('b.many', '" + place + "')")
low = newest_snapshot(spark, "glue_catalog.b.many").newest("snapshot", None, "raise")
spark.sql("INSERT INTO glue_catalog.b.many SELECT id FROM range(100)")
seconds = []
for _ in range(5):
    spark.catalog.clearCache()
    start = time.monotonic()
    bound = newest_snapshot(spark, "glue_catalog.b.many")
    high = bound.newest("snapshot", low, "raise")
    frame = read_snapshots(
        spark, "glue_catalog.b.many", Window("j", "jr", "snapshot", "1-a", 1, low, high)
    )
    planned = frame.rdd.getNumPartitions()
    seconds.append(time.monotonic() - start)
assert frame.count() == 100, frame.count()
print(json.dumps(seconds))
"""
JOB = """
spark.sql("CREATE TABLE IF NOT EXISTS glue_catalog.b.j (id BIGINT, at BIGINT) USING iceberg")
number = time.time_ns()
window = Window("j", "jr", "at", f"{number}-b", number, None, number)
frame = spark.sql(f"SELECT id, CAST({number} AS BIGINT) AS at FROM range(100)")
merge_window(frame, "glue_catalog.b.j", window, ["id"])
"""


def measure() -> list[Result]:
    """Return the seconds of a merge by each way, of a read and of a whole job."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home.open(Path(folder) / "home")
        home.create_bucket("lake")
        with jvms_of(home) as jvms:
            run = _runner(Path(folder), home, jvms)
            ours, audited, sql = json.loads(run("merge", BEGIN + MERGE, ROWS, ROUNDS + 1)[0])
            reads = json.loads(run("read", BEGIN + READ, SNAPSHOTS)[0])
            run("job", BEGIN + JOB, 0)
            jobs = [run("job", BEGIN + JOB, 0)[1] for _ in range(5)]
    shares = [mine / theirs for mine, theirs in zip(ours, sql, strict=True)]
    audits = [mine / plain for mine, plain in zip(audited, ours, strict=True)]
    return [
        Result("merge_window of 1 % of 5 M rows, share of SQL", COMMAND, shares, "target 1.05"),
        Result("the same with an audit, share of it without", COMMAND, audits, "target 1.15"),
        Result("100 new rows after 10,000 snapshots, metadata", COMMAND, reads, "target 1.0 s"),
        Result("a small job that merges, warm JVM", COMMAND, jobs, "target 2.5 s"),
    ]


def _runner(folder: Path, home: Home, jvms: Jvms) -> Callable[..., tuple[str, float]]:
    """Return a function that runs a script as a job; returns its last line and its seconds."""
    library = shutil.make_archive(str(folder / "libs"), "zip", LIBS, "watermarks")

    def run(name: str, text: str, *numbers: int) -> tuple[str, float]:
        script = folder / f"{name}.py"
        script.write_text(text, encoding="utf-8")
        arguments = ["--datalake-formats", "iceberg", "--conf", CONF, "--extra-py-files", library]
        arguments += ["--numbers", ",".join(map(str, numbers))]
        start = time.monotonic()
        finished, _ = submit(read_submission(script, arguments), home, lambda _: None, jvms=jvms)
        seconds = time.monotonic() - start
        if finished.state != "SUCCEEDED":
            raise RuntimeError(f"{name}: {finished.error_message}")
        printed = (home.runs / finished.run_id / "stdout.log").read_text(encoding="utf-8")
        return printed.splitlines()[-1] if printed else "", seconds

    return run


if __name__ == "__main__":
    for result in measure():
        sys.stdout.write(f"{result.row()}\n")
