"""template_job: the cells of a notebook run as a job."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytestmark = pytest.mark.spark

SCRIPT = "glue_jobs/template_job.py"
ARGUMENTS: dict[str, Any] = {}
# What the cells read: put rows here, each list by its place: "bucket/orders/1.json".
ROWS: dict[str, list[dict[str, Any]]] = {}
NOT_THERE = re.compile(r"NOT_FOUND|EntityNotFound|does not exist|UNABLE_TO_INFER|UNRESOLVED_COLUMN")


def test_the_cells_run_to_the_end_and_again(lake, glue_job):
    for place, rows in ROWS.items():
        lake.put(place, rows)

    for _ in range(2):
        run = glue_job(SCRIPT, bookmark="disable", **ARGUMENTS)
        if not ROWS and NOT_THERE.search(run.error or ""):
            pytest.skip(f"put rows that the cells read into ROWS: {run.error}")
        run.check()
