"""template_job: every row once, and again when it changed."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark

VALUES = "SELECT * FROM VALUES {} AS t(id, status, updated_at)"
DATABASE = {
    "jdbc_url": "jdbc:derby:memory:test-template-job;create=true",
    "jdbc_driver": "org.apache.derby.jdbc.EmbeddedDriver",
}


@pytest.fixture
def table(spark, s3):
    """Return a writer of rows (id, status, updated_at) into a table of this test's own."""
    name = s3.folder.name.replace("-", "_")

    def write(rows: str) -> str:
        frame = spark.sql(VALUES.format(rows))
        properties = {"driver": DATABASE["jdbc_driver"]}
        frame.write.mode("append").jdbc(DATABASE["jdbc_url"], name, properties=properties)
        return name

    return write


def written(spark, s3):
    rows = spark.read.parquet(f"{s3.uri}raw/").select("id", "status").collect()
    return sorted(tuple(row) for row in rows)


def test_a_run_reads_the_rows_that_are_new_or_changed(spark, s3, table, run_job, watermark_table):
    arguments = DATABASE | {"target_path": f"{s3.uri}raw/", "watermark_table": watermark_table}
    name = table("(1, 'open', TIMESTAMP'2013-01-01 10:00:00')")
    run_job(jdbc_table=name, **arguments)
    table(
        "(1, 'done', TIMESTAMP'2013-01-02 10:00:00'), (2, 'open', TIMESTAMP'2013-01-02 10:00:00')"
    )

    run_job(jdbc_table=name, **arguments)
    run_job(jdbc_table=name, **arguments)

    assert written(spark, s3) == [(1, "done"), (1, "open"), (2, "open")]


def test_rows_that_may_not_be_all_committed_wait_for_the_next_run(
    spark, s3, table, run_job, watermark_table
):
    name = table("(1, 'open', TIMESTAMP'2013-01-01 10:00:00'), (2, 'open', current_timestamp())")

    run_job(
        jdbc_table=name,
        target_path=f"{s3.uri}raw/",
        watermark_table=watermark_table,
        **DATABASE,
    )

    assert written(spark, s3) == [(1, "open")]


def test_a_select_can_stand_for_the_table(spark, s3, run_job, watermark_table):
    values = "VALUES (1, 'open', TIMESTAMP('2013-01-01 10:00:00'))"

    run_job(
        jdbc_table=f"({values}) AS sample(id, status, updated_at)",
        target_path=f"{s3.uri}raw/",
        watermark_table=watermark_table,
        **DATABASE,
    )

    assert written(spark, s3) == [(1, "open")]
