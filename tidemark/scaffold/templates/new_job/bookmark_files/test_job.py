"""template_job: one set of types, and every file once."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.testing import assert_incremental, assert_proved

pytestmark = pytest.mark.spark

SCRIPT = "glue_jobs/template_job.py"
PATHS: dict[str, Any] = {
    "source_path": "s3://landing/template_job/",
    "target_path": "s3://raw/template_job/",
}
# A file that is delivered again under another name ("twice") is another file: who reads the rows
# keeps the newest of each key, as a job of kind merge does.
GOES_WRONG = ("crash", "error", "again", "parts", "order", "meanwhile", "replaced", "rewind")
ROW = {"id": 1, "status": "open", "updated_at": "2013-01-01T10:00:00Z"}


def landed(spark, job):
    rows = spark.read.json(PATHS["source_path"])
    return rows.selectExpr("*", f"input_file_name() AS {job.SOURCE_FILE}")


@pytest.mark.parametrize("changed", [{}, {"id": "1"}, {"status": None}, {"unknown": 1}])
def test_columns_and_types_do_not_depend_on_the_batch(spark, job, lake, changed):
    lake.put("landing/template_job/1.json", [ROW | changed])

    rows = job.typed(landed(spark, job))

    assert rows.dtypes == [*job.COLUMNS.items(), (job.SOURCE_FILE, "string")]
    assert [row["id"] for row in rows.collect()] == [1]


def test_times_are_utc(spark, job, lake):
    lake.put("landing/template_job/1.json", [ROW])

    rows = job.typed(landed(spark, job))

    assert [row[0] for row in rows.selectExpr("string(updated_at)").collect()] == [
        "2013-01-01 10:00:00"
    ]


def test_a_run_reads_the_files_that_are_new(lake, glue_job):
    lake.put("landing/template_job/1.json", [ROW], minutes_ago=5)
    glue_job(SCRIPT, bookmark="enable", **PATHS).check()
    lake.put("landing/template_job/2.json", [ROW | {"id": 2}])

    run = glue_job(SCRIPT, bookmark="enable", **PATHS).check()

    assert run.files_read == ["landing/template_job/2.json"]
    assert sorted(row["id"] for row in lake.rows("raw/template_job/")) == [1, 2]


def test_a_file_that_is_read_again_replaces_its_rows(lake, glue_job):
    lake.put("landing/template_job/1.json", [ROW])
    lake.put("landing/template_job/deep/1.json", [ROW | {"id": 2}])
    for _ in range(2):
        glue_job(SCRIPT, bookmark="disable", **PATHS).check()

    assert sorted(row["id"] for row in lake.rows("raw/template_job/")) == [1, 2]


def test_every_file_is_read_once_whatever_happens_between_runs(lake):
    lake.put("landing/template_job/1.json", [ROW], minutes_ago=20)

    assert_incremental(SCRIPT, **PATHS)


@pytest.mark.prove
def test_no_row_is_lost_or_doubled_whatever_goes_wrong(lake):
    lake.put("landing/template_job/1.json", [ROW], minutes_ago=20)
    lake.put("landing/template_job/2.json", [ROW | {"id": 2}], minutes_ago=10)

    assert_proved(SCRIPT, only=GOES_WRONG, **PATHS)


def test_a_run_before_anything_has_landed_writes_nothing(lake, glue_job):
    glue_job(SCRIPT, bookmark="enable", **PATHS).check()

    assert lake.names() == []
