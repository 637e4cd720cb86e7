"""template_job: one row per key, the newest, merged again or not."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from tidemark.testing import assert_proved, iceberg_arguments

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        find_spec("snowpark_connect_deps_iceberg") is None,
        reason="pip install 'tidemark-glue[iceberg]' installs the jar of Iceberg",
    ),
]

SCRIPT = "glue_jobs/template_job.py"
TABLE = "sales.template_job"
ICEBERG = iceberg_arguments("s3://curated/template_job/")  # as the declaration gives the job
PATHS: dict[str, Any] = {
    "source_path": "s3://raw/template_job/",
    "target_table": f"glue_catalog.{TABLE}",
}


@pytest.fixture
def run(glue_job, watermarks, catalog):
    """Return a function that runs the job once."""
    catalog.put_database("sales")

    def run():
        arguments = {"watermark_table": watermarks, **PATHS, **ICEBERG}
        return glue_job(SCRIPT, bookmark="enable", **arguments).check()

    return run


def row(job, number, note, version):
    return {"note": note, **dict.fromkeys(job.KEY, number), job.VERSION: version}


def merged(catalog, job):
    return sorted((row[job.KEY[0]], row["note"]) for row in catalog.rows(TABLE))


def test_rows_are_inserted_updated_and_merged_again_without_effect(
    lake, catalog, bookmark, job, run
):
    rows = [row(job, 1, "open", 1), row(job, 2, "open", 1)]
    lake.put("raw/template_job/window=1/1.parquet", rows, minutes_ago=5)
    run()
    rows = [row(job, 1, "done", 2), row(job, 1, "sent", 1), row(job, 3, "open", 1)]
    lake.put("raw/template_job/window=2/1.parquet", rows)
    run()
    bookmark("template-job").reset()
    run()

    assert merged(catalog, job) == [(1, "done"), (2, "open"), (3, "open")]


@pytest.mark.prove
def test_no_row_is_lost_or_doubled_whatever_goes_wrong(lake, catalog, watermarks, job):
    catalog.put_database("sales")
    rows = [row(job, 1, "done", 2), row(job, 2, "open", 1)]
    lake.put("raw/template_job/window=1/1.parquet", [row(job, 1, "open", 1)], minutes_ago=20)
    lake.put("raw/template_job/window=2/1.parquet", rows, minutes_ago=10)

    assert_proved(SCRIPT, watermark_table=watermarks, **PATHS, **ICEBERG)


def test_a_run_before_the_source_has_any_row_creates_nothing(catalog, run):
    run()

    assert catalog.tables() == []
