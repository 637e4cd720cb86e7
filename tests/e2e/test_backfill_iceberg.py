"""Backfills of jobs that write tables of Iceberg: the plan says what comes true, for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.iceberg_pipelines import iceberg_app, put, rows_of, run
from tests.tidemark.cli.test_cli import tidemark
from tidemark.local_state.sparks.installed import own_spark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.nightly,  # ten runs of Spark
    pytest.mark.skipif(own_spark().major >= 4, reason="the jar of Iceberg is for Spark 3.5"),
]

LOAD = """
import sys
from pyspark.sql import SparkSession, functions as F
from watermarks import Watermarks, append_window, merge_window, newest, rows_of
spark = SparkSession.builder.getOrCreate()
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
for name, partitions in (
    ("log", ""), ("orders", ""), ("daily", "PARTITIONED BY (at)"), ("ranges", "")
):
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS glue_catalog.sales.{name} (id INT, name STRING, at INT) "
        f"USING iceberg {partitions}"
    )
frame = spark.read.schema("id INT, name STRING, at INT").json("s3://lake/in/")
watermarks, run_id = Watermarks("glue-watermarks"), given["--JOB_RUN_ID"]
if given["--backfill_from"] == "none":
    windows = watermarks.windows("load", run_id=run_id, cursor="at", high=newest(frame, "at"))
else:
    low, high = int(given["--backfill_from"]), int(given["--backfill_to"])
    windows = watermarks.backfill(
        "load", backfill_id=run_id, run_id=run_id, cursor="at", low=low, high=high, bounds="[)"
    )
for window in windows:
    rows = rows_of(frame, window)
    append_window(rows, "glue_catalog.sales.log", window)
    merge_window(rows, "glue_catalog.sales.orders", window, keys=["id"])
    rows.writeTo("glue_catalog.sales.daily").overwritePartitions()
    days = [row.at for row in rows.select("at").distinct().collect()]
    rows.writeTo("glue_catalog.sales.ranges").overwrite(F.col("at").isin(days))
"""
CLEAN = """
import sys
from pyspark.sql import SparkSession
from watermarks import Watermarks, append_window, newest_snapshot, read_snapshots
spark = SparkSession.builder.getOrCreate()
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
watermarks = Watermarks("glue-watermarks")
for name in ("log", "daily"):
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS glue_catalog.sales.clean_{name} "
        "(id INT, name STRING, at INT) USING iceberg"
    )
    source = f"glue_catalog.sales.{name}"
    for window in watermarks.windows(
        "clean", run_id=given["--JOB_RUN_ID"], source=name, cursor="snapshot",
        high=newest_snapshot(spark, source),
    ):
        changes = read_snapshots(spark, source, window, read="changes")
        rows = changes.where("_change_type = 'INSERT'").drop("_change_type")
        append_window(rows, f"glue_catalog.sales.clean_{name}", window)
"""
RIGHT = [(1, "b", 2), (2, "a", 1), (3, "b", 2), (4, "c", 3)]
NUMBERS = ("--from", "2", "--to", "2")


@pytest.fixture
def app(write_assembly, home) -> Path:
    """Load three windows, and repair the second at its source."""
    arguments = {"--backfill_from": "none", "--backfill_to": "none"}
    scripts = {"load": LOAD, "clean": CLEAN}
    app = iceberg_app(write_assembly, home.parent, scripts, {"clean": ["load"]}, arguments)
    put(home, "1.json", (1, "a", 1), (2, "a", 1))
    run(app, "run")
    put(home, "2.json", (1, "wrong", 2), (3, "b", 2))
    run(app, "run")
    put(home, "3.json", (4, "c", 3))
    run(app, "run")
    put(home, "2.json", (1, "b", 2), (3, "b", 2))
    return app


def test_the_plan_of_a_backfill_into_tables_of_iceberg_comes_true(app, home):
    told = " ".join(run(app, "backfill", "load", *NUMBERS, "--yes").split())

    for said in (
        "runs add to table:sales.log: rows of 1 number",
        "`tidemark rewind --clear` cannot take table:sales.log back to before this",
        "clean reads table:sales.daily from snapshot to snapshot",
    ):
        assert said in told, told
    for unsaid in ("table:sales.orders", "table:sales.ranges", "by a key", "to table:sales.daily"):
        assert unsaid not in told, told
    log = [(1, "a", 1), (1, "b", 2), (1, "wrong", 2), (2, "a", 1), *2 * [(3, "b", 2)], (4, "c", 3)]
    assert rows_of(home, "log") == log
    assert rows_of(home, "orders") == RIGHT
    every = sorted([(1, "a", 1), *RIGHT])
    assert rows_of(home, "daily") == every
    assert rows_of(home, "ranges") == every

    run(app, "run")  # the job downstream sees what was appended, and what was replaced
    assert rows_of(home, "clean_log") == log
    assert (1, "b", 2) in rows_of(home, "clean_daily")
    words = ("rewind", "load", "--to", "beginning", "--clear", "--reason", "x", "--yes")
    refused = tidemark(*words, "--app", str(app))
    assert refused.exit_code == 2, refused.output
    assert "table:sales.log cannot be proven" in refused.output
    assert rows_of(home, "log") == log
