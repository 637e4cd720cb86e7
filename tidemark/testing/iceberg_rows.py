"""Reads tables of Iceberg for a test, in a run of its own."""

from __future__ import annotations

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.testing.glue_job import GlueJob
from tidemark.testing.lake_files import Row

if TYPE_CHECKING:
    from tidemark.testing.kit import GlueTest
    from tidemark.testing.lake import Lake

SCRIPT = Path(__file__).with_name("read_iceberg.py")


def iceberg_rows(test: GlueTest, lake: Lake, table: CatalogTable, condition: str) -> list[Row]:
    """Return the rows of a table that meet a condition of SQL; the test's list of runs stays."""
    runs = list(test.runs)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        GlueJob(test, lake)(
            SCRIPT,
            isolated=True,
            datalake_formats="iceberg",
            database=table.database,
            table=table.name,
            condition=condition,
            file=str(file),
        ).check()
        test.runs[:] = runs
        rows: list[Row] = pickle.loads(file.read_bytes())  # noqa: S301 (the run has written it)
    return rows
