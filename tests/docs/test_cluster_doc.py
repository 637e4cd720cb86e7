"""docs/cluster.md: the command and the test run as the page has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import PROJECT, Page
from tests.projects import shell
from tidemark.local_state.home import Home

pytest_plugins = ("pytester",)
pytestmark = [pytest.mark.spark, pytest.mark.nightly]
PAGE = Page("docs/cluster.md")
SCRIPT = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rows = spark.read.json("s3://landing/orders/")
rows.write.mode("append").parquet("s3://raw/orders/")
print("written on", spark.sparkContext.master, rows.rdd.getNumPartitions())
"""


def write_script(folder: Path) -> None:
    (folder / "etl").mkdir()
    (folder / "etl" / "orders.py").write_text(SCRIPT, encoding="utf-8")


def test_the_command_runs_the_script_on_executors(tmp_path):
    write_script(tmp_path)
    landing = Home.open(tmp_path / ".tidemark").lake / "landing" / "orders"
    landing.mkdir(parents=True)
    (landing / "1.json").write_text('{"id": 1}\n', encoding="utf-8")
    (landing.parents[1] / "raw").mkdir()

    line = PAGE.blocks["executors"]
    told = shell(tmp_path, f"PYTHONPATH={PROJECT}:{PROJECT}/libs {line}")

    assert "written on spark://127.0.0.1:" in told
    assert "SUCCEEDED" in told


def test_its_test_passes(pytester):
    write_script(pytester.path)
    pytester.makepyfile(test_page=PAGE.blocks["marker"])

    result = pytester.runpytest_subprocess(
        "-p", "tidemark.testing.plugin", "-p", "no:cacheprovider"
    )

    result.assert_outcomes(passed=1)
