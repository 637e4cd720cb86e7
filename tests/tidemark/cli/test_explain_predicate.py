"""`tidemark explain` asks Spark which partitions a push_down_predicate selects."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.nightly]  # it starts two JVMs of its own

SCRIPT = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
frame = glue_context.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://landing/in/"]}, "json", transformation_ctx="landing",
    push_down_predicate="day between 9 and 10",
)
print("rows:", frame.count())
job.commit()
"""
# One after the other in one process, so that Spark starts one JVM for both.
EXPLAIN = """
import sys
from tidemark.cli.main import main

main(["explain", "by-day", "--format", "json"], standalone_mode=False)
print("--")
main(["explain", "by-day", "--file", "s3://landing/in/day=8/a.json"], standalone_mode=False)
"""
ENABLE = ("--job-bookmark-option", "job-bookmark-enable")


def python(*words):
    run = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_partitions_that_the_predicate_leaves_out_are_explained(tmp_path, home):
    (tmp_path / "by_day.py").write_text(SCRIPT, encoding="utf-8")
    for day in (8, 9, 10):
        folder = home / "lake" / "landing" / "in" / f"day={day}"
        folder.mkdir(parents=True)
        (folder / "a.json").write_text('{"id": 1}\n', encoding="utf-8")
    assert "rows: 2" in python("-m", "tidemark", "submit", tmp_path / "by_day.py", *ENABLE)

    explained, _, left_out = python("-c", EXPLAIN).partition("--\n")
    listed = json.loads(explained)["sources"][0]["listed"]

    assert {file["file"] for file in listed} == {
        "s3://landing/in/day=9/a.json",
        "s3://landing/in/day=10/a.json",
    }
    assert "the predicate 'day between 9 and 10' leaves it out" in left_out
