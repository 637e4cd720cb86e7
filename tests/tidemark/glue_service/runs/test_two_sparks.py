"""Runs of two versions of Glue, each on its Spark and its Python, from one pool of JVMs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tidemark.glue_service.runs.jvms.supply import jvms_of
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.local_state.sparks.make import spark_for
from tidemark.model.assembly.glue_versions import GLUE_VERSIONS

pytestmark = pytest.mark.spark
SCRIPT = """
import json, os, sys
from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions
from pyspark.sql import functions as F

from pyspark.context import SparkContext
glue = GlueContext(SparkContext.getOrCreate())
spark = glue.spark_session
try:
    short = getResolvedOptions(sys.argv, ["source_path"])["source_path"]
except SystemExit as error:
    short = None
except Exception as error:
    short = type(error).__name__
double = F.udf(lambda value: value * 2, "int")
found = {
    "spark": spark.version,
    "python": list(sys.version_info[:2]),
    "ansi": spark.conf.get("spark.sql.ansi.enabled"),
    "short": short,
    "udf": [row[0] for row in spark.range(3).select(double("id").alias("d")).collect()],
    "workers": spark.sparkContext.pythonVer,
}
spark.sql("CREATE DATABASE IF NOT EXISTS db LOCATION 's3://lake/db/'")
spark.range(4).write.mode("overwrite").saveAsTable("db.numbers")
found["table"] = spark.sql("SELECT count(*) FROM db.numbers").first()[0]
print(json.dumps(found))
spark.stop()
"""


@pytest.fixture
def home(tmp_path):
    home = Home.open(tmp_path / "home")
    home.create_bucket("lake")
    return home


def run(home, script, version, jvms):
    arguments = {"--source": "s3://lake/"}
    wanted = Submission(script, f"job-{version}", arguments, version)
    finished, _ = submit(wanted, home, lambda _: None, jvms=jvms)
    folder = Path(finished.log_path).parent
    assert finished.state == "SUCCEEDED", (folder / "stderr.log").read_text()[-3000:]
    lines = (folder / "stdout.log").read_text().splitlines()
    return json.loads(next(line for line in lines if line.startswith("{"))), finished.jvm


@pytest.mark.nightly
@pytest.mark.skipif(own_glue_version() == "6.0", reason="this Python has Spark 4 alone")
def test_each_version_has_its_spark_its_python_and_its_rules(home, tmp_path):
    script = tmp_path / "job.py"
    script.write_text(SCRIPT)

    with jvms_of(home) as jvms:
        new, first = run(home, script, "6.0", jvms)
        old, _ = run(home, script, "5.1", jvms)
        # On a busy machine the first JVM may not be clean yet when the next run begins.
        later = [run(home, script, "6.0", jvms)[1] for _ in range(2)]

    assert (old["spark"], old["ansi"]) == ("3.5.6", "false")
    assert (new["spark"], new["ansi"]) == (GLUE_VERSIONS["6.0"].pyspark, "true")
    assert tuple(new["python"]) == spark_for("6.0").python_version
    assert new["workers"] == ".".join(map(str, new["python"]))
    assert old["udf"] == new["udf"] == [0, 2, 4]
    assert old["table"] == new["table"] == 4
    assert (old["short"], new["short"]) == ("s3://lake/", "GlueArgumentError")
    assert first == "cold"
    assert "warm" in later
