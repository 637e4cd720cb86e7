"""The commands of docs/glue-6.md."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import Page

SCRIPT = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print("on Spark", spark.version)
spark.range(7).write.mode("overwrite").parquet("s3://mart/numbers/")
spark.stop()
"""
EXPECTED = ("Glue 6.0 runs on Spark 4.1.1", "on Spark 4.1.1", "Glue 5.1 and 6.0: equal")


@pytest.mark.spark
@pytest.mark.nightly
def test_the_commands_of_the_page(tmp_path, monkeypatch):
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    (tmp_path / "glue_jobs").mkdir()
    (tmp_path / "glue_jobs" / "orders.py").write_text(SCRIPT, encoding="utf-8")
    bucket = ["tidemark", "bucket", "mart"]
    subprocess.run(bucket, cwd=tmp_path, check=True, capture_output=True)

    lines = Page("docs/glue-6.md").blocks["glue-6"].splitlines()

    for line, expected in zip(lines, EXPECTED, strict=True):
        done = subprocess.run(shlex.split(line), cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
