"""Programs that run with Apache Iceberg, in a JVM beside the session's, which lacks the jar."""

import atexit
import json
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import own_spark

LIBS = Path(__file__).parents[1] / "libs"
SETTINGS = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.defaultCatalog": "lake",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
# A session of its own for each program, in one JVM: to start one takes longer than most programs.
SERVE = """
import contextlib, io, json, os, sys, traceback
import boto3
from pyspark.sql import SparkSession

answers, sys.stdout = sys.stdout, sys.stderr
builder = SparkSession.builder.master("local[1]")
for name, value in json.loads(sys.argv[1]).items():
    builder = builder.config(name, value)
first, at_start = builder.getOrCreate(), dict(os.environ)
for line in sys.stdin:
    order = json.loads(line)
    os.environ.clear()
    os.environ.update(at_start | order["environment"])
    os.chdir(order["folder"])
    boto3.DEFAULT_SESSION = None
    sys.argv[1:] = ["", *order["arguments"]]
    for name in [name for name in sys.modules if name.partition(".")[0] == "watermarks"]:
        del sys.modules[name]  # which remembers what its process has done
    given = {"__name__": "__main__", "json": json, "sys": sys}
    lake = os.path.join(order["folder"], "lake")
    first.sparkContext._jsc.sc().conf().set("spark.sql.catalog.lake.warehouse", lake)
    spark = first.newSession()
    hadoop = spark._jvm.org.apache.hadoop.fs
    files = hadoop.FileSystem.get(spark._jsc.hadoopConfiguration())
    files.setWorkingDirectory(hadoop.Path(order["folder"]))
    SparkSession._instantiatedSession = spark
    jvm = spark._jvm.org.apache.spark.sql.SparkSession
    jvm.setDefaultSession(spark._jsparkSession)
    jvm.setActiveSession(spark._jsparkSession)
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(order["program"], {**given, "spark": spark})
        except BaseException:
            error = traceback.format_exc()
    print(json.dumps([printed.getvalue(), error]), file=answers, flush=True)
"""


def run_with_iceberg(program: str, folder: Path, *arguments: str) -> list[str]:
    """Run a program that finds a session as `spark`; return the lines it printed.

    Its arguments are `sys.argv[2:]`; the catalog `lake` is in the folder.
    """
    if own_spark().major >= 4:
        pytest.skip("the jar of Iceberg is for Spark 3.5")
    changed = {name: text for name, text in os.environ.items() if name.startswith("AWS_")}
    order = {
        "program": program,
        "folder": str(folder),
        "arguments": arguments,
        "environment": changed,
    }
    server = _server()
    assert server.stdin
    assert server.stdout
    server.stdin.write(json.dumps(order) + "\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    if not answer:  # the program has killed it
        _server.cache_clear()
    assert answer, f"the program ended its process: {server.wait()}"
    printed, error = json.loads(answer)
    assert not error, error
    return list(printed.splitlines())


@cache
def _server() -> "subprocess.Popen[Any]":
    spec = find_spec("snowpark_connect_deps_iceberg")
    assert spec, "the jar of Iceberg is not installed: run `make setup`"
    assert spec.origin
    (jar,) = (Path(spec.origin).parent / "jars").glob("iceberg-spark-runtime-3.5_2.12-*.jar")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, json.dumps({**SETTINGS, "spark.jars": str(jar)})],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(LIBS), "JAVA_HOME": str(find_java_home())},
    )
    atexit.register(server.kill)
    return server
