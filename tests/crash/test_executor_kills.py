"""Executors are killed with SIGKILL while they write, and every writer leaves each row once.

The script writes to a folder, or a table, for each way to write. In each of these one executor is
killed right before or after a change that it makes, chosen by the seed. Spark runs its tasks again,
and stages whose shuffle files were lost; tasks are started twice (speculation).
"""

from __future__ import annotations

import json
import os
import random
import signal
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tidemark.glue_job.edge.jvm import executor_at
from tidemark.local_state.sparks.installed import own_spark
from tidemark.testing import iceberg_arguments

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(sys.platform != "linux", reason="finds executors in /proc"),
]

EVER = "before or after"
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
}
HEAD = """
import json, sys
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql import functions as F

glue = GlueContext(SparkContext.getOrCreate())
spark = glue.spark_session
ROWS = 40
# From a shuffle: with its executor its files are lost, and the stage before runs again.
rows = spark.range(ROWS).withColumn("day", F.expr("id % 2")).repartition(4, "id")
V1 = {"spark.sql.parquet.fs.optimized.committer.optimization-enabled": "false",
      "mapreduce.fileoutputcommitter.algorithm.version": "1"}
V2 = {**V1, "mapreduce.fileoutputcommitter.algorithm.version": "2"}
found = {}


def frame(name, kind, *keys, mode="append", **options):
    place = f"s3://raw/{name}/"
    writer = rows.write.mode(mode).options(**options)
    (writer.partitionBy(*keys) if keys else writer).save(place, format=kind)
    note(name, spark.read.schema("id LONG").load(place, format=kind))


def sink(kind):
    place = f"s3://raw/sink-{kind}/"
    glue.write_dynamic_frame.from_options(
        DynamicFrame.fromDF(rows, glue, "rows"), "s3", {"path": place}, kind
    )
    read = glue.create_dynamic_frame.from_options("s3", {"paths": [place]}, kind,
        {"withHeader": True} if kind == "csv" else {})
    note(f"sink-{kind}", read.toDF().select(F.col("id").cast("long")))


def note(name, read):
    found[name] = sorted(row.id for row in read.select("id").collect())
"""
END = """
print(json.dumps(found))
"""
SMALL = HEAD + 'frame("optimized", "parquet")\nframe("json", "json", **V2)\n' + END
FILES = (
    HEAD
    + """
frame("optimized", "parquet")
frame("optimized-overwrite", "parquet", mode="overwrite")
frame("optimized-partitions", "parquet", "day")
frame("dynamic", "parquet", "day", mode="overwrite", partitionOverwriteMode="dynamic")
frame("parquet-v1", "parquet", **V1)
frame("parquet-v2", "parquet", "day", **V2)
frame("json-v1", "json", "day", **V1)
frame("json-v2", "json", **V2)
frame("json-v2-overwrite", "json", mode="overwrite", **V2)
frame("csv", "csv")
frame("orc", "orc", "day", **V2)
"""
    + END
)
SINKS = (
    HEAD
    + """
for kind in ("json", "csv", "parquet", "glueparquet", "orc", "avro"):
    sink(kind)
"""
    + END
)
ONE_SINK = HEAD + 'sink("json")\n' + END
WINDOWS = (
    HEAD
    + """
from watermarks import (
    Watermarks, append_window, merge_window, newest, rows_of, write_window,
)

args = getResolvedOptions(sys.argv, ["JOB_NAME", "watermark_table"])
marks = Watermarks(args["watermark_table"])
spark.sql("CREATE DATABASE IF NOT EXISTS glue_catalog.sales")
for name in ("appended", "merged"):
    spark.sql(f"CREATE TABLE glue_catalog.sales.{name} (id BIGINT, day BIGINT) USING iceberg")
WRITE = {
    "files": lambda part, window: write_window(part, "s3://raw/files/", window),
    "appended": lambda part, window: append_window(part, "glue_catalog.sales.appended", window),
    "merged": lambda part, window: merge_window(
        part, "glue_catalog.sales.merged", window, keys=["id"]
    ),
}
for name, write in WRITE.items():
    of_run = {"run_id": args["JOB_RUN_ID"], "cursor": "id"}
    for window in marks.windows(name, high=newest(rows), **of_run):
        write(rows_of(rows, window), window)
note("files", spark.read.option("recursiveFileLookup", "true").parquet("s3://raw/files/"))
for name in ("appended", "merged"):
    note(name, spark.table(f"glue_catalog.sales.{name}"))
"""
    + END
)


class Killer(socketserver.ThreadingUnixStreamServer):
    """Takes changes as the edge of a job does, and kills an executor in each target once.

    Where an object that the lost task has written must not be there, `when` is `before`.
    """

    daemon_threads = True

    def __init__(self, path: str, seed: int, when: str, chance: float) -> None:
        super().__init__(path, _Connection)
        self.turn = threading.Lock()
        self.when, self.chance = when, chance
        self.killed: dict[str, str] = {}
        self._random = random.Random(seed)  # noqa: S311 (the same kills for the same seed)

    def kills(self, pid: int | None, target: str, when: str, what: str) -> bool:
        """Kill an executor that changes a target, or do not, by chance."""
        if not target or pid is None or target in self.killed or when not in self.when:
            return False
        if self._random.random() >= self.chance:
            return False
        self.killed[target] = f"{when} {what}"
        os.kill(pid, signal.SIGKILL)
        return True


class _Connection(socketserver.StreamRequestHandler):
    server: Killer

    def handle(self) -> None:
        last = ""
        while line := self.rfile.readline().decode():
            if line.startswith("enter"):
                with self.server.turn:
                    pid = executor_at(self.request)
                    if self.server.kills(pid, last, "before", "another change"):
                        return
                    self._go()
                    words = self.rfile.readline().decode().rstrip("\n").split("\t")
                    last = target_of(words[-1]) if len(words) > 1 else last
                    if self.server.kills(pid, last, "after", " ".join(words[1:])):
                        return
            self._go()

    def _go(self) -> None:
        self.wfile.write(b"go\n")


def target_of(uri: str) -> str:
    """Return the folder of a bucket: each way to write has one."""
    return uri.partition("://")[2].split("/")[1]


@contextmanager
def killing(seed: int, when: str, chance: float) -> Iterator[Killer]:
    with (
        TemporaryDirectory(prefix="kill-") as folder,
        Killer(str(Path(folder) / "s"), seed, when, chance) as killer,
    ):
        threading.Thread(target=killer.serve_forever, daemon=True).start()
        yield killer
        killer.shutdown()


def run_of(glue_job, tmp_path, text, seed, when=EVER, chance=0.4, **arguments):
    """Return a run of a script, and where executors were killed."""
    script = tmp_path / "write.py"
    script.write_text(text, encoding="utf-8")
    with killing(seed, when, chance) as killer:
        edge = {"spark.hadoop.tidemark.edge": killer.server_address}
        conf = {**arguments.pop("conf", {}), **SPECULATION, **edge}
        return glue_job(script, conf=conf, **arguments), killer.killed


def found_by(*what, **arguments):
    """Return what a script has found, and where executors were killed."""
    run, killed = run_of(*what, **arguments)
    return json.loads(run.check().stdout.splitlines()[-1]), killed


ALL = list(range(40))


@pytest.mark.nightly
@pytest.mark.glue(executors=2, s3_semantics=True)
def test_rows_are_there_once_although_executors_were_killed(glue_job, lake, tmp_path):
    found, killed = found_by(glue_job, tmp_path, SMALL, seed=1)

    assert killed.keys() == {"optimized", "json"}
    assert found == {"optimized": ALL, "json": ALL}


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.glue(executors=2, s3_semantics=True)
def test_every_writer_of_files_leaves_each_row_once(glue_job, lake, tmp_path, seed):
    found, killed = found_by(glue_job, tmp_path, FILES, seed)

    assert len(found) == 11
    assert len(killed) >= 6
    assert {name: rows for name, rows in found.items() if rows != ALL} == {}, killed


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.glue(executors=2, s3_semantics=True)
def test_every_sink_leaves_each_row_once_without_an_object_of_the_lost_task(
    glue_job, lake, tmp_path, seed
):
    for again in range(3):
        script = SINKS.replace("s3://raw/sink-", f"s3://raw/{again}-")
        run, killed = run_of(glue_job, tmp_path, script, seed + 10 * again, when="before")
        if run.state == "SUCCEEDED":
            break
        # A task whose stage began again was not killed, and has put its object meanwhile.
        assert "FileAlreadyExistsException" in run.error

    found = json.loads(run.check().stdout.splitlines()[-1])
    assert len(found) == 6
    assert killed
    assert {name: rows for name, rows in found.items() if rows != ALL} == {}, killed


@pytest.mark.nightly
@pytest.mark.glue(executors=2, s3_semantics=True)
def test_a_sink_finds_the_object_of_the_lost_task_and_fails(glue_job, lake, tmp_path):
    run, killed = run_of(glue_job, tmp_path, ONE_SINK, seed=1, when="after", chance=1)

    assert killed
    assert run.state == "FAILED"
    assert "FileAlreadyExistsException" in run.error


@pytest.mark.nightly
@pytest.mark.glue(executors=2)
def test_a_sink_into_folders_holds(glue_job, lake, tmp_path):
    found, killed = found_by(glue_job, tmp_path, SINKS, seed=1)

    assert killed
    assert {name: rows for name, rows in found.items() if rows != ALL} == {}, killed


@pytest.mark.nightly
@pytest.mark.skipif(own_spark().major >= 4, reason="the jar of Iceberg is for Spark 3.5")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.glue(executors=2, s3_semantics=True)
def test_every_writer_of_windows_leaves_each_row_once(glue_job, watermarks, tmp_path, seed):
    arguments = {"watermark_table": watermarks, **iceberg_arguments("s3://raw/tables/")}

    found, killed = found_by(glue_job, tmp_path, WINDOWS, seed, **arguments)

    assert killed
    assert found == {"files": ALL, "appended": ALL, "merged": ALL}
