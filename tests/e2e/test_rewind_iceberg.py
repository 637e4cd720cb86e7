"""A rewind of a pipeline over tables of Iceberg, with --clear, killed at each of its steps."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.iceberg_pipelines import iceberg_app, put, rows_of, run
from tests.tidemark.cli.test_cli import tidemark
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import own_spark
from tidemark.local_state.store.database import Store

pytestmark = [
    pytest.mark.spark,
    pytest.mark.nightly,  # a dozen runs of Spark
    pytest.mark.skipif(own_spark().major >= 4, reason="the jar of Iceberg is for Spark 3.5"),
]

LOAD = """
import sys
from pyspark.sql import SparkSession
from watermarks import Watermarks, append_window, merge_window, newest, rows_of
spark = SparkSession.builder.getOrCreate()
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
for name in ("log", "orders"):
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS glue_catalog.sales.{name} (id INT, name STRING, at INT) "
        "USING iceberg"
    )
frame = spark.read.schema("id INT, name STRING, at INT").json("s3://lake/in/")
for window in Watermarks("glue-watermarks").windows(
    "load", run_id=given["--JOB_RUN_ID"], cursor="at", high=newest(frame, "at")
):
    append_window(rows_of(frame, window), "glue_catalog.sales.log", window)
    merge_window(rows_of(frame, window), "glue_catalog.sales.orders", window, keys=["id"])
"""
CLEAN = """
import sys
from pyspark.sql import SparkSession
from watermarks import Watermarks, append_window, newest_snapshot, read_snapshots
spark = SparkSession.builder.getOrCreate()
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
spark.sql(
    "CREATE TABLE IF NOT EXISTS glue_catalog.sales.clean (id INT, name STRING, at INT) "
    "USING iceberg"
)
source = "glue_catalog.sales.log"
for window in Watermarks("glue-watermarks").windows(
    "clean", run_id=given["--JOB_RUN_ID"], cursor="snapshot", high=newest_snapshot(spark, source)
):
    rows = read_snapshots(spark, source, window)
    rows = rows.selectExpr("id", "upper(name) AS name", "at")
    append_window(rows, "glue_catalog.sales.clean", window)
"""
DYING = """
import os, signal, sys
from tidemark.operate.rewind.home_rewinds import HomeRewinds
made, (step, *words) = HomeRewinds.__init__, sys.argv[1:]

def dies(name):
    print("step:", name, flush=True)
    if name == step:
        os.kill(os.getpid(), signal.SIGKILL)

def dying(self, *args, **kwargs):
    made(self, *args, **kwargs, before=dies)

HomeRewinds.__init__ = dying
from tidemark.cli.main import main
main(words)
"""


@pytest.fixture
def app(write_assembly, home) -> Path:
    scripts = {"load": LOAD, "clean": CLEAN}
    return iceberg_app(write_assembly, home.parent, scripts, {"clean": ["load"]}, {})


def outcome(home: Home) -> list[list[tuple[int, str, int]]]:
    return [rows_of(home, table) for table in ("log", "orders", "clean")]


def state(app: Path, home: Home) -> tuple[object, ...]:
    """Return the rows of all tables, and how far both jobs have read."""
    words = ("rewind", "load", "clean", "--to", "beginning", "--dry-run", "--format", "json")
    jobs = json.loads(run(app, *words))["jobs"]
    return outcome(home), [one["before"] for job in jobs for one in job["states"]]


def killed(app: Path, step: str, *words: str) -> list[str]:
    """Run a command that SIGKILL ends before a step, if one is given; return those it reached."""
    command = [sys.executable, "-c", DYING, step, *words, "--app", str(app)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ})
    assert done.returncode == (-signal.SIGKILL if step else 0), done.stdout + done.stderr
    return [line.removeprefix("step: ") for line in done.stdout.splitlines() if "step: " in line]


@pytest.fixture
def loaded(app, home):
    """Load three days, the second of which has a wrong row; then repair it at the source."""
    put(home, "1.json", (1, "a", 1), (2, "a", 1))
    run(app, "run")
    first = state(app, home)
    put(home, "2.json", (1, "wrong", 2), (3, "b", 2))
    run(app, "run")
    put(home, "3.json", (2, "c", 3), (4, "c", 3))
    run(app, "run")
    put(home, "2.json", (1, "b", 2), (3, "b", 2))
    with Store(Home.open(home).database) as store:
        of_first_day = min(store.job_runs_of_job("load"), key=lambda one: one.started_at_ms)
    return first, of_first_day.run_id


ALL = [(1, "a", 1), (1, "b", 2), (2, "a", 1), (2, "c", 3), (3, "b", 2), (4, "c", 3)]
RIGHT = [
    ALL,
    [(1, "b", 2), (2, "c", 3), (3, "b", 2), (4, "c", 3)],
    [(number, name.upper(), at) for number, name, at in ALL],
]


def test_both_jobs_go_back_to_the_first_day_and_load_the_others_again(app, home, loaded):
    first, run_id = loaded
    before = state(app, home)
    words = ("rewind", "load", "--to", run_id, "--with-downstream", "--clear", "--reason", "x")
    words += ("--yes",)
    steps = killed(app, "", *words)
    rewound = state(app, home)
    assert (rewound[0][0], rewound[0][2], rewound[1]) == (first[0][0], first[0][2], first[1])
    assert rewound[0][1] == before[0][1]  # the table that is merged into stays
    run(app, "rewind", "undo", "--yes")
    assert state(app, home) == before

    names = ("mark", "files", "table", "table", "watermarks", "bookmarks", "unmark")
    assert [step.split()[0] for step in steps] == ["record", *names]
    for step in steps[1:-1]:
        killed(app, step, *words)
        run(app, "rewind", "resume")
        assert state(app, home) == rewound, step
        run(app, "rewind", "undo", "--yes")
        assert state(app, home) == before, step

        killed(app, step, *words)
        killed(app, "given up", "rewind", "undo", "--yes")
        run(app, "rewind", "undo", "--yes")
        assert state(app, home) == before, step

    killed(app, steps[-1], *words)  # it is done, and so is its undoing after a kill
    assert state(app, home) == rewound
    killed(app, "bookmarks", "rewind", "undo", "--yes")
    run(app, "rewind", "resume")
    assert state(app, home) == before

    run(app, *words)
    run(app, "run")
    assert outcome(home) == RIGHT


def test_a_reader_of_snapshots_that_stays_fails_by_name_and_goes_back_later(app, home, loaded):
    _, run_id = loaded
    words = ("rewind", "load", "--to", run_id, "--clear", "--reason", "x", "--yes")
    assert "its next run fails with SnapshotRolledBackError" in " ".join(run(app, *words).split())

    done = tidemark("run", "--app", str(app))
    assert "SnapshotRolledBackError" in done.output

    with Store(Home.open(home).database) as store:
        of_first_day = min(store.job_runs_of_job("clean"), key=lambda one: one.started_at_ms)
    run(app, "rewind", "clean", "--to", of_first_day.run_id, "--clear", "--reason", "x", "--yes")
    run(app, "run")
    assert outcome(home) == RIGHT


def test_without_clear_the_rows_are_twice_where_the_plan_says_so(app, home, loaded):
    _, run_id = loaded
    run(app, "rewind", "load", "--to", run_id, "--reason", "x", "--yes")

    run(app, "run")

    log, orders, clean = outcome(home)
    assert orders == RIGHT[1]
    assert len(log) == len(clean) == len(ALL) + 4
