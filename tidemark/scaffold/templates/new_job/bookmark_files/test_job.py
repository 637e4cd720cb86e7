"""template_job: one set of types, and every file once."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.spark

ROW = {"id": 1, "status": "open", "updated_at": "2013-01-01T10:00:00Z"}


@pytest.mark.parametrize("changed", [{}, {"id": "1"}, {"status": None}, {"unknown": 1}])
def test_columns_and_types_do_not_depend_on_the_batch(spark, job, s3, changed):
    s3.put("landing/1.json", json.dumps(ROW | changed))

    rows = job.typed(spark.read.json(f"{s3.uri}landing/"))

    assert rows.dtypes == list(job.COLUMNS.items())
    assert [row["id"] for row in rows.collect()] == [1]


def test_times_are_utc(spark, job, s3):
    s3.put("landing/1.json", json.dumps(ROW))

    rows = job.typed(spark.read.json(f"{s3.uri}landing/"))

    assert [row[0] for row in rows.selectExpr("string(updated_at)").collect()] == [
        "2013-01-01 10:00:00"
    ]


def test_a_run_reads_the_files_that_are_new(spark, s3, run_job):
    paths = {"source_path": f"{s3.uri}landing/", "target_path": f"{s3.uri}raw/"}
    s3.put("landing/1.json", json.dumps(ROW))
    run_job(**paths)
    s3.put("landing/2.json", json.dumps(ROW | {"id": 2}))

    run_job(**paths)
    run_job(**paths)

    rows = spark.read.parquet(paths["target_path"]).collect()
    assert sorted(row["id"] for row in rows) == [1, 2]


def test_a_run_before_anything_has_landed_writes_nothing(s3, run_job):
    run_job(source_path=f"{s3.uri}landing/", target_path=f"{s3.uri}raw/")

    assert s3.names() == []
