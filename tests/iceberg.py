"""Programs that run with Apache Iceberg, in a JVM of their own: the jar is not in the session's."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

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
}
START = """
import json, sys
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]")
for name, value in json.loads(sys.argv[1]).items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
"""


def run_with_iceberg(program: str, folder: Path, *arguments: str) -> list[str]:
    """Run a program that finds a session as `spark`; return the lines it printed.

    Its arguments are `sys.argv[2:]`; the catalog `lake` is in the folder.
    """
    if own_spark().major >= 4:
        pytest.skip("the jar of Iceberg is for Spark 3.5")
    spec = find_spec("snowpark_connect_deps_iceberg")
    assert spec, "the jar of Iceberg is not installed: run `make setup`"
    assert spec.origin
    (jar,) = (Path(spec.origin).parent / "jars").glob("iceberg-spark-runtime-3.5_2.12-*.jar")
    places = {"spark.jars": str(jar), "spark.sql.catalog.lake.warehouse": str(folder / "lake")}
    settings = json.dumps({**SETTINGS, **places})
    ended = subprocess.run(
        [sys.executable, "-c", START + program, settings, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(LIBS), "JAVA_HOME": str(find_java_home())},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()
