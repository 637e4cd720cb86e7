"""A run loses an executor: what its tasks have written before decides, and the run after it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.tidemark.operate.prove.jobs import BOOKMARK, COMMIT, NEW, WHERE_ANY
from tidemark.cli.main import main
from tidemark.glue_service.runs import run_variables

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(sys.platform != "linux", reason="finds executors in /proc"),
]

APPEND = NEW + WHERE_ANY + 'rows.write.mode("append").parquet(OUT)' + COMMIT
SINK = NEW.replace(".toDF()", "") + (
    'glue.write_dynamic_frame.from_options(rows, "s3", {"path": OUT}, "json")' + COMMIT
)
OWN_FILES = (
    NEW
    + """
import os, uuid
from pathlib import Path


def write(part):
    part = [row.asDict() for row in part]
    if part:
        place = Path(os.environ["TIDEMARK_HOME"], "lake/lake/out", f"{uuid.uuid4()}.json")
        place.parent.mkdir(exist_ok=True)
        place.write_text("".join(json.dumps(row) + "\\n" for row in part))
    return part


if rows.columns:
    kept = spark.createDataFrame(rows.rdd.mapPartitions(write), SCHEMA)
    kept.write.mode("append").json("s3://lake/second/")
""".replace("import os", "import json, os")
    + COMMIT
)
DRIVER = (
    "import json\n"
    + NEW
    + """
import boto3

if rows.columns:
    text = "".join(json.dumps(row.asDict()) + "\\n" for row in rows.collect())
    boto3.client("s3").put_object(Bucket="lake", Key="out/rows.json", Body=text)
"""
    + COMMIT
)


def prove(project: Path, script: str) -> Result:
    file = project / "job.py"
    file.write_text(script, encoding="utf-8")
    words = ["prove", "--kind", "executors", "--format", "json", str(file), *BOOKMARK]
    return CliRunner().invoke(main, words)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        pytest.param(APPEND, "equal", id="Parquet"),
        pytest.param(SINK, "doubled", id="a sink of DynamicFrames"),
        pytest.param(OWN_FILES, "doubled", id="files with new names"),
        pytest.param(DRIVER, "not tried", id="the driver writes"),
    ],
)
def test_rows_are_compared_after_the_loss(project, script, verdict):
    result = prove(project, script)

    (found,) = json.loads(result.stdout)["experiments"]
    assert found["verdict"] == verdict, result.output
    if verdict == "doubled":
        assert "job.py" in found["cause"]["text"]
    if verdict == "not tried":
        assert found["reason"] == "no executor has written an object"


def test_a_machine_that_is_too_small_says_so(monkeypatch):
    monkeypatch.setattr(run_variables, "memory_bytes", lambda: 2 * 1024**3)

    assert "this machine has 2.0 GB of memory" in run_variables.no_executors_reason()
