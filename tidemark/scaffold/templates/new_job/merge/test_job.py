"""template_job: one row per key, the newest, merged again or not."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.testing import assert_idempotent, assert_proved

pytestmark = pytest.mark.spark

SCRIPT = "glue_jobs/template_job.py"
PATHS: dict[str, Any] = {
    "source_path": "s3://raw/template_job/",
    "target_path": "s3://curated/template_job/",
}
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


@pytest.mark.parametrize("folder", ["source_file=1a", "window=0000000001/attempt=1"])
def test_the_folders_of_rows_are_no_columns(spark, job, lake, folder):
    lake.put(f"raw/template_job/{folder}/1.parquet", [row(job, 1, "open", 1)])

    columns = job.read_source(spark, PATHS["source_path"]).columns

    assert sorted(columns) == sorted(row(job, 1, "open", 1))


def row(job, number, note, version):
    return {"note": note, **dict.fromkeys(job.KEY, number), job.VERSION: version}


def merged(lake, job):
    rows = lake.rows("curated/template_job/")
    return sorted((row[job.KEY[0]], row["note"]) for row in rows)


def test_rows_are_inserted_updated_and_merged_again_without_effect(lake, glue_job, job):
    lake.put(
        "raw/template_job/1.parquet",
        [row(job, 1, "open", 1), row(job, 2, "open", 1)],
        minutes_ago=5,
    )
    glue_job(SCRIPT, bookmark="enable", **PATHS).check()
    lake.put("raw/template_job/2.parquet", [row(job, 1, "done", 2), row(job, 3, "open", 1)])
    glue_job(SCRIPT, bookmark="enable", **PATHS).check()

    assert merged(lake, job) == [(1, "done"), (2, "open"), (3, "open")]
    assert_idempotent(SCRIPT, **PATHS)
    assert merged(lake, job) == [(1, "done"), (2, "open"), (3, "open")]


@pytest.mark.prove
def test_no_row_is_lost_or_doubled_whatever_goes_wrong(lake, job):
    rows = [row(job, 1, "done", 2), row(job, 2, "open", 1)]
    lake.put("raw/template_job/1.parquet", [row(job, 1, "open", 1)], minutes_ago=20)
    lake.put("raw/template_job/2.parquet", rows, minutes_ago=10)

    assert_proved(SCRIPT, **PATHS)


def test_a_run_before_the_source_has_any_row_writes_nothing(lake, glue_job):
    glue_job(SCRIPT, bookmark="enable", **PATHS).check()

    assert lake.names() == []
