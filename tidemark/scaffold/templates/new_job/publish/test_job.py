"""template_job: counted rows, always of the whole source."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.testing import assert_proved

pytestmark = pytest.mark.spark

SCRIPT = "glue_jobs/template_job.py"
PATHS: dict[str, Any] = {
    "source_path": "s3://curated/template_job/",
    "target_path": "s3://mart/template_job/",
}
# A row that its source has twice counts twice ("twice" delivers a file again): put a job of kind
# merge before this one, which keeps one row of each key.
GOES_WRONG = ("crash", "error", "again", "parts", "order", "meanwhile", "replaced", "rewind")
VALUES = "SELECT * FROM VALUES {} AS t(id, status)"


def rows(spark, values):
    return spark.sql(VALUES.format(values))


def test_rows_are_counted_by_group(spark, job):
    counted = job.published(rows(spark, "(1, 'open'), (2, 'done'), (3, 'open')"), ("status",))

    assert sorted(counted.collect()) == [("done", 1), ("open", 2)]
    assert counted.dtypes == [("status", "string"), ("row_count", "bigint")]


def test_without_a_group_one_row_counts_everything(spark, job):
    assert job.published(rows(spark, "(1, 'open'), (2, 'done')"), ()).collect() == [(2,)]


def test_a_run_with_something_new_writes_the_table_anew(lake, glue_job):
    lake.put("curated/template_job/1.parquet", [{"id": 1, "status": "open"}], minutes_ago=5)
    first = glue_job(SCRIPT, bookmark="enable", **PATHS).check()
    lake.put("curated/template_job/2.parquet", [{"id": 2, "status": "done"}])

    second = glue_job(SCRIPT, bookmark="enable", **PATHS).check()
    third = glue_job(SCRIPT, bookmark="enable", **PATHS).check()

    written = [run.rows_written > 0 for run in (first, second, third)]
    assert written == [True, True, False]
    assert sum(row["row_count"] for row in lake.rows("mart/template_job/")) == 2


@pytest.mark.prove
def test_no_row_is_lost_or_doubled_whatever_goes_wrong(lake):
    lake.put("curated/template_job/1.parquet", [{"id": 1, "status": "open"}], minutes_ago=20)
    lake.put("curated/template_job/2.parquet", [{"id": 2, "status": "done"}], minutes_ago=10)

    assert_proved(SCRIPT, only=GOES_WRONG, **PATHS)


def test_a_run_before_the_source_has_any_row_writes_nothing(lake, glue_job):
    glue_job(SCRIPT, bookmark="enable", **PATHS).check()

    assert lake.names() == []
