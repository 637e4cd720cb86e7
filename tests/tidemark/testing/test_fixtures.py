"""The fixtures of the test kit in the test's own process: what a run reads, writes, says."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.engine.embedded import runs_here
from tidemark.testing import assert_idempotent, assert_incremental, assert_same_as_recomputed
from tidemark.testing.marker import settings_of

pytestmark = pytest.mark.spark

COPY = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path"])
glue = GlueContext(SparkContext())
job = Job(glue)
job.init(args["JOB_NAME"], args)
rows = glue.create_dynamic_frame.from_options(
    "s3", {"paths": [args["source_path"]], "recurse": True}, "json", transformation_ctx="landed"
).toDF()
print(f"{len(rows.columns)} columns")
if rows.columns:
    rows.write.mode("append").parquet(args["target_path"])
job.commit()
"""
PATHS = {"source_path": "s3://landing/orders/", "target_path": "s3://raw/orders/"}
ROWS = [{"id": 1, "status": "open"}, {"id": 2, "status": "done"}]


@pytest.fixture
def script(tmp_path):
    """Return a function that writes a script, by default the one that copies what is new."""

    def write(text: str = COPY, name: str = "copy_orders.py") -> Path:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    return write


def test_runs_read_what_is_new_and_say_so(lake, glue_job, bookmark, script):
    lake.put("landing/orders/1.json", ROWS, minutes_ago=5)
    first = glue_job(script(), bookmark="enable", **PATHS)
    lake.put("landing/orders/2.json", [{"id": 3, "status": "open"}])
    second = glue_job(script(), bookmark="enable", **PATHS)
    third = glue_job(script(), bookmark="enable", **PATHS)

    assert [run.state for run in (first, second, third)] == ["SUCCEEDED"] * 3, first.error
    assert [run.rows_read for run in (first, second, third)] == [2, 1, 0]
    assert [run.files_read for run in (first, second, third)] == [1, 1, 0]
    assert [run.rows_written for run in (first, second, third)] == [2, 1, 0]
    assert second.files_read == ["landing/orders/2.json"]
    assert (first.stdout, first.error, first.where) == ("2 columns\n", None, "in process")
    assert sorted(row["id"] for row in lake.rows("raw/orders/")) == [1, 2, 3]
    assert bookmark("copy-orders").files == ["landing/orders/1.json", "landing/orders/2.json"]

    bookmark("copy-orders").rewind(first)
    assert bookmark("copy-orders").files == ["landing/orders/1.json"]
    bookmark(second).reset()
    assert bookmark("copy_orders.py").files == []
    assert bookmark("copy_orders.py").new_files == [
        "landing/orders/1.json",
        "landing/orders/2.json",
    ]


def test_what_a_failed_run_says_is_its_error(lake, glue_job, script):
    run = glue_job(script("import logging\nlogging.warning('told')\nraise ValueError('boom')"))

    assert (run.state, run.error) == ("FAILED", "ValueError: boom (copy_orders.py, line 3)")
    assert "told" in run.stderr
    with pytest.raises(ValueError, match="boom"):
        run.check()


@pytest.mark.nightly
def test_incremental_job_passes_its_assertions_and_an_appending_one_is_not_idempotent(
    lake, glue_job, script
):
    lake.put("landing/orders/1.json", ROWS, minutes_ago=20)
    job = partial(glue_job, script(), bookmark="enable", **PATHS)

    assert_incremental(job)
    assert_same_as_recomputed(job, repeats=True)
    with pytest.raises(AssertionError, match="rows there more often"):
        assert_idempotent(job)


@pytest.mark.parametrize(
    ("there", "instead", "told"),
    [
        (', transformation_ctx="landed"', "", "give the source a transformation_ctx"),
        ("job.commit()\n", "", "the script never called Job.commit"),
        pytest.param(
            "if rows.columns:",
            "rows.cache().count()\njob.commit()\nif rows.columns:",
            "so its input is lost there: call Job.commit last",
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["no context", "no commit", "commit too early"],
)
def test_job_that_loses_or_doubles_does_not(there, instead, told, lake, script):
    lake.put("landing/orders/1.json", ROWS, minutes_ago=20)
    broken = COPY.replace(there, instead, 1)

    with pytest.raises(AssertionError, match=told):
        assert_incremental(script(broken), **PATHS)


def test_catalog_of_a_test_is_that_of_its_jobs(catalog, lake, glue_job, script):
    name = catalog.put_table("sales.orders", rows=ROWS, format="json")
    run = glue_job(
        script(
            "from pyspark.sql import SparkSession\n"
            "spark = SparkSession.builder.getOrCreate()\n"
            "print(spark.table('sales.orders').count())\n"
            "spark.sql('CREATE TABLE sales.copy AS SELECT * FROM sales.orders')\n"
        ),
        enable_glue_datacatalog=True,
    )

    assert (run.state, run.stdout) == ("SUCCEEDED", "2\n"), run.error
    assert run.where == "in process"
    assert catalog.tables() == ["sales.copy", "sales.orders"]
    assert sorted(catalog.rows(name), key=lambda row: row["id"]) == ROWS
    assert catalog.columns(name) == {"id": "bigint", "status": "string"}
    with pytest.raises(EntityNotFoundError, match=r"sales\.orders"):
        catalog.rows("sales.other")


def test_a_table_of_watermarks_that_no_run_uses_starts_no_engine(watermarks, glue_test):
    assert not runs_here(glue_test.home)


def test_watermarks_are_kept_in_the_embedded_engine(watermarks, glue_job, script):
    run = glue_job(
        script(
            "import sys\nfrom awsglue.utils import getResolvedOptions\n"
            "from watermarks import Watermarks\n"
            "args = getResolvedOptions(sys.argv, ['JOB_NAME', 'table'])\n"
            "Watermarks(args['table']).advance(\n"
            "    job_id=args['JOB_NAME'], run_id='r', to={'id': 7}, base=None)\n"
        ),
        table=watermarks,
    )

    assert run.state == "SUCCEEDED", run.error
    assert watermarks.latest("copy-orders").watermarks == {"id": 7}


def test_clock_moves_files_runs_and_bookmarks(lake, glue_job, bookmark, glue_clock, script):
    glue_clock.set("2024-03-01T06:00")
    lake.put("landing/orders/1.json", ROWS, minutes_ago=1)
    lake.put("landing/orders/2.json", ROWS, at=datetime(2024, 3, 1, 6, 30, tzinfo=UTC))
    first = glue_job(script(), bookmark="enable", **PATHS)
    glue_clock.advance(hours=1)
    second = glue_job(script(), bookmark="enable", **PATHS)

    assert first.files_read == ["landing/orders/1.json"]
    assert second.files_read == ["landing/orders/2.json"]
    assert second.warnings == []


def test_lake_reads_what_it_wrote_in_every_format(lake):
    for suffix in ("json", "jsonl.gz", "parquet", "avro", "orc"):
        lake.put(f"data/{suffix}/day=2024-01-01/a.{suffix}", ROWS)

        rows = lake.rows(f"s3://data/{suffix}/")

        assert [(row["id"], row["status"]) for row in rows] == [(1, "open"), (2, "done")], suffix
        assert [str(row["day"]) for row in rows] == ["2024-01-01"] * 2
    lake.put("data/csv/a.csv", ROWS)
    assert lake.rows("data/csv/") == [
        {"id": "1", "status": "open"},
        {"id": "2", "status": "done"},
    ]
    assert lake.rows("data/nothing/") == lake.rows("never/made/") == []


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda lake, _: lake.put("landing/", ROWS), "give the key of an object"),
        (lambda lake, _: lake.put("landing/a.xls", ROWS), "names no format that rows"),
        (lambda lake, _: lake.put("landing/a.json", 5), "are not rows"),
        (lambda lake, _: lake.put("Landing/a.json", ROWS), "cannot be the name of a bucket"),
        (lambda lake, _: lake.put("landing/a.json", ROWS, minutes_ago="5"), "give a number"),
        (lambda lake, _: lake.text("landing/a.json"), "there is no object"),
        (lambda _, job: job("nowhere.py"), r"there is no script 'nowhere\.py'"),
        (lambda _, job: job("ingest_flights.py", bookmark="enabled"), "did you mean 'enable'"),
        (lambda _, job: job("ingest_flights.py", a=print), "arguments of a job are strings"),
    ],
)
def test_what_cannot_be_is_one_line(call, told, lake, glue_job):
    with pytest.raises(UsageError, match=told):
        call(lake, glue_job)


def test_version_that_does_not_run_here_is_refused():
    with pytest.raises(UsageError, match=r"version='4\.0'; allowed: "):
        settings_of([pytest.mark.glue(version="4.0").mark])
