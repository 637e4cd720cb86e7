"""template_job: every row once, and again when it changed."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark

SCRIPT = "glue_jobs/template_job.py"
TARGET = "s3://raw/template_job/"
VALUES = "SELECT * FROM VALUES {} AS t(id, status, updated_at)"
DATABASE = {
    "jdbc_url": "jdbc:derby:memory:test-template-job;create=true",
    "jdbc_driver": "org.apache.derby.jdbc.EmbeddedDriver",
}


@pytest.fixture
def table(spark, request):
    """Return a writer of rows (id, status, updated_at) into a table of this test's own."""
    name = request.node.name

    def write(rows: str) -> str:
        frame = spark.sql(VALUES.format(rows))
        properties = {"driver": DATABASE["jdbc_driver"]}
        frame.write.mode("append").jdbc(DATABASE["jdbc_url"], name, properties=properties)
        return name

    return write


@pytest.fixture
def run(glue_job, watermarks):
    """Return a function that runs the job once on a table."""

    def run(jdbc_table: str, start: str = "none", end: str = "none"):
        arguments = {"target_path": TARGET, "watermark_table": watermarks, **DATABASE}
        days = {"backfill_from": start, "backfill_to": end}
        return glue_job(SCRIPT, jdbc_table=jdbc_table, **arguments, **days).check()

    return run


def written(lake):
    return sorted((row["id"], row["status"]) for row in lake.rows(TARGET))


def test_a_run_reads_the_rows_that_are_new_or_changed(lake, table, run):
    name = table("(1, 'open', TIMESTAMP'2013-01-01 10:00:00')")
    run(name)
    table(
        "(1, 'done', TIMESTAMP'2013-01-02 10:00:00'), (2, 'open', TIMESTAMP'2013-01-02 10:00:00')"
    )

    run(name)
    run(name)

    assert written(lake) == [(1, "done"), (1, "open"), (2, "open")]


def test_days_can_be_loaded_again_and_the_next_run_reads_what_it_would_have_read(lake, table, run):
    name = table(
        "(1, 'open', TIMESTAMP'2013-01-01 10:00:00'), (2, 'open', TIMESTAMP'2013-01-02 00:00:00')"
    )
    run(name)
    table("(3, 'open', TIMESTAMP'2013-01-03 10:00:00')")

    run(name, "2013-01-01", "2013-01-02")
    again = written(lake)
    run(name)

    assert again == [(1, "open"), (1, "open"), (2, "open")]
    assert written(lake) == [*again, (3, "open")]


def test_rows_that_may_not_be_all_committed_wait_for_the_next_run(lake, table, run):
    run(table("(1, 'open', TIMESTAMP'2013-01-01 10:00:00'), (2, 'open', current_timestamp())"))

    assert written(lake) == [(1, "open")]


def test_a_select_can_stand_for_the_table(lake, run):
    values = "VALUES (1, 'open', TIMESTAMP('2013-01-01 10:00:00'))"

    run(f"({values}) AS sample(id, status, updated_at)")

    assert written(lake) == [(1, "open")]
