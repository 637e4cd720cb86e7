"""template_job: counted rows, always of the whole source."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark

VALUES = "SELECT * FROM VALUES {} AS t(id, status)"


def rows(spark, values):
    return spark.sql(VALUES.format(values))


def test_rows_are_counted_by_group(spark, job):
    counted = job.published(rows(spark, "(1, 'open'), (2, 'done'), (3, 'open')"), ("status",))

    assert sorted(counted.collect()) == [("done", 1), ("open", 2)]
    assert counted.dtypes == [("status", "string"), ("row_count", "bigint")]


def test_without_a_group_one_row_counts_everything(spark, job):
    assert job.published(rows(spark, "(1, 'open'), (2, 'done')"), ()).collect() == [(2,)]


def test_a_run_with_something_new_writes_the_table_anew(spark, job, s3, run_job, monkeypatch):
    monkeypatch.setattr(job, "GROUP_BY", ("status",))
    paths = {"source_path": f"{s3.uri}curated/", "target_path": f"{s3.uri}mart/"}
    rows(spark, "(1, 'open'), (2, 'open')").write.parquet(paths["source_path"])
    run_job(**paths)
    rows(spark, "(3, 'done')").write.mode("append").parquet(paths["source_path"])

    run_job(**paths)
    run_job(**paths)

    assert sorted(spark.read.parquet(paths["target_path"]).collect()) == [("done", 1), ("open", 2)]


def test_a_run_before_the_source_has_any_row_writes_nothing(s3, run_job):
    run_job(source_path=f"{s3.uri}curated/", target_path=f"{s3.uri}mart/")

    assert s3.names() == []
