"""A job runs on a cluster that somebody else has started, and that knows nothing of the lake."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.tidemark.cli.processes import started
from tests.waiting import wait_until
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import own_spark

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

SCRIPT = """
import os
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from pyspark.context import SparkContext

glue = GlueContext(SparkContext.getOrCreate())
spark = glue.spark_session


def look(part):
    import prices

    yield len(list(part)), os.environ["TZ"], "TIDEMARK_JOB_RUN_ID" in os.environ, prices.PRICE


print(spark.sparkContext.master, sorted(
    set(spark.range(0, 8, 1, 4).rdd.mapPartitions(look).collect())
))
rows = spark.read.json("s3://raw/in/").repartition(4)
rows.write.mode("append").parquet("s3://raw/frame/")
glue.write_dynamic_frame.from_options(
    DynamicFrame.fromDF(rows, glue, "rows"), "s3", {"path": "s3://raw/avro/"}, "avro"
)
print(spark.read.parquet("s3://raw/frame/").count())
"""


@contextmanager
def daemon(folder: Path, name: str, *words: str) -> Iterator[Path]:
    """Yield the log of a master or a worker."""
    kind = f"org.apache.spark.deploy.{name.lower()}.{name}"
    log = folder / f"{name}-{len(list(folder.iterdir()))}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [own_spark().home / "bin" / "spark-class", kind, "--host", "127.0.0.1", *words],
            env={
                "PATH": os.environ["PATH"],
                "JAVA_HOME": str(find_java_home()),
                "SPARK_HOME": str(own_spark().home),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "SPARK_WORKER_DIR": str(folder / "work"),
            },
            stdout=out,
            stderr=out,
        )
    try:
        yield log
    finally:
        process.kill()
        process.wait()


def found_in(log: Path, wanted: str) -> str:
    return wait_until(lambda: next(iter(re.findall(wanted, log.read_text(errors="replace"))), ""))


@pytest.fixture
def cluster(tmp_path) -> Iterator[str]:
    """Yield the URL of a standalone cluster of two workers."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    ports = ("--port", "0", "--webui-port", "0")
    with ExitStack() as stack:
        log = stack.enter_context(daemon(folder, "Master", *ports))
        found_in(log, "New state: ALIVE")
        url = found_in(log, r"Starting Spark master at (\S+)")
        size = ("--cores", "1", "--memory", "600m")
        for _ in range(2):
            stack.enter_context(daemon(folder, "Worker", *ports, *size, url))
        yield url


def test_a_job_runs_on_a_cluster_that_exists(home, tmp_path, cluster):
    bucket = home / "lake" / "raw"
    (bucket / "in").mkdir(parents=True)
    for number in range(4):
        (bucket / "in" / f"{number}.json").write_text(f'{{"id": {number}}}\n', encoding="utf-8")
    (bucket / "prices.py").write_text("PRICE = 7\n", encoding="utf-8")
    script = tmp_path / "job.py"
    script.write_text(SCRIPT, encoding="utf-8")

    words = ["--extra-py-files", "s3://raw/prices.py", "--conf", "spark.executor.memory=512m"]
    with started("submit", "--master", cluster, str(script), *words) as process:
        output, errors = process.communicate(timeout=300)

    assert process.returncode == 0, output.decode() + errors.decode()
    first, second, *_ = [line for line in output.decode().splitlines() if not line.startswith("  ")]
    assert first == f"{cluster} [(2, 'UTC', False, 7)]"
    assert second == "4"
    assert list((bucket / "avro").glob("part-*.avro"))
    assert list((tmp_path / "cluster" / "work").glob("app-*/*/stderr"))


def test_a_cluster_that_does_not_answer_is_one_line(home, tmp_path):
    script = tmp_path / "job.py"
    script.write_text(SCRIPT, encoding="utf-8")

    with started("submit", "--master", "spark://127.0.0.1:9", str(script)) as process:
        output, _ = process.communicate(timeout=300)

    assert process.returncode == 1
    assert "spark://127.0.0.1:9 does not answer" in output.decode()
