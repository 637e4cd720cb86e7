"""template_job: one row per key, the newest, merged again or not."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark

KEY = ("id",)
VALUES = "SELECT * FROM VALUES {} AS t(id, status, {})"


def rows(spark, job, values):
    return spark.sql(VALUES.format(values, job.VERSION))


def test_the_newest_version_of_each_key_stays(spark, job):
    versions = rows(spark, job, "(1, 'open', 1), (1, 'done', 2), (2, 'open', 1)")

    merged = job.newest(versions, KEY).orderBy("id")

    assert merged.select("id", "status").collect() == [(1, "done"), (2, "open")]
    assert merged.dtypes == versions.dtypes


def test_a_key_may_have_several_columns(spark, job):
    versions = rows(spark, job, "(1, 'open', 1), (1, 'done', 1), (1, 'done', 2)")

    merged = job.newest(versions, ("id", "status"))

    assert sorted(row[job.VERSION] for row in merged.collect()) == [1, 2]


def test_the_folders_of_windows_are_no_columns(spark, job, s3):
    rows(spark, job, "(1, 'open', 1)").write.parquet(f"{s3.uri}window=0000000001/attempt=1/")

    assert job.read_source(spark, s3.uri).columns == ["id", "status", job.VERSION]


def test_rows_are_inserted_updated_and_merged_again_without_effect(
    spark, job, s3, run_job, monkeypatch
):
    monkeypatch.setattr(job, "KEY", KEY)
    paths = {"source_path": f"{s3.uri}raw/", "target_path": f"{s3.uri}curated/"}
    rows(spark, job, "(1, 'open', 1), (2, 'open', 1)").write.parquet(paths["source_path"])
    run_job(**paths)
    late = rows(spark, job, "(1, 'done', 2), (3, 'open', 1)")
    late.write.mode("append").parquet(paths["source_path"])

    run_job(**paths)
    run_job(**paths)

    merged = spark.read.parquet(paths["target_path"]).select("id", "status").orderBy("id")
    assert merged.collect() == [(1, "done"), (2, "open"), (3, "open")]


def test_a_run_before_the_source_has_any_row_writes_nothing(s3, run_job):
    run_job(source_path=f"{s3.uri}raw/", target_path=f"{s3.uri}curated/")

    assert s3.names() == []
