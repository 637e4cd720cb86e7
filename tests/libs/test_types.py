"""What a type checker says of the calls that scripts make."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from subprocess import run

import pytest

pytestmark = pytest.mark.stress  # a type checker without a cache takes its time

PROJECT = Path(__file__).parents[2]
RIGHT = """
from datetime import UTC, datetime, timedelta
from watermarks import Watermarks, newest_jdbc, read_jdbc, rows_of, newest, write_window
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
options = {"url": "jdbc:postgresql://h/d"}
watermarks = Watermarks()
for window in watermarks.windows(
    "orders", run_id="jr_1", cursor="updated_at", high=newest_jdbc(spark, options, "orders")
):
    write_window(read_jdbc(spark, options, "orders", window, partitions=4), "s3://b/raw/", window)
for window in watermarks.windows(
    "orders", run_id="jr_1", cursor="id", source="eu", bounds="[)", nulls="include",
    settle=timedelta(hours=1), lookback=5, max_rows=10, high=newest(spark.range(5)),
):
    rows_of(spark.range(5), window).show()
with watermarks.window("orders", run_id="jr_1", cursor="at", high=datetime.now(UTC)) as window:
    print(window.low)
"""
WRONG = [
    'watermarks.windows("j", run_id="jr_1", cursr="id", high=1)',
    'watermarks.windows("j", run_id="jr_1", cursor="id", high=1, bound="[)")',
    'watermarks.windows("j", run_id="jr_1", cursor="id", high=1, bounds="[]")',
    'watermarks.windows("j", run_id=3, cursor="id", high=1)',
    'watermarks.windows("j", cursor="id", high=1)',
    'watermarks.windows("j", run_id="jr_1", cursor="id", high=1, settle=1000)',
    'watermarks.windows("j", run_id="jr_1", cursor="id", high=1, nonsense=1)',
    'watermarks.window("j", run_id="jr_1", cursor="id", high=1, nulls="drop")',
    'watermarks.open_window("j", run_id="jr_1", cursor="id", high=1, max_rows="5")',
    'print(watermarks.open_window("j", run_id="jr_1", cursor="id", high=1).hihg)',
]


@pytest.mark.nightly
def test_every_mistake_is_found_and_nothing_else(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("\n".join([RIGHT, *WRONG]), encoding="utf-8")
    first = RIGHT.count("\n") + 2

    found = run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(script)],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        check=False,
    )

    lines = {int(line) for line in re.findall(r"script\.py:(\d+): error", found.stdout)}
    assert lines == set(range(first, first + len(WRONG))), found.stdout + found.stderr
