"""Tables of Derby, a reader of them, and the warnings of a run."""

from __future__ import annotations

import pytest

from tests.tidemark.glue_job.readers.databases.derby import DERBY, Table
from tidemark.local_state.run_warnings import read_warnings


@pytest.fixture
def make_table(spark):
    connection = spark._jvm.java.sql.DriverManager.getConnection(DERBY["url"])
    yield lambda columns="N INT": Table(connection, columns)
    connection.close()


@pytest.fixture
def read(glue_context):
    """Return a reader of a table's rows, sorted; options are those of the connection."""

    def read(table, ctx="orders", is_sorted=True, **options):
        frame = glue_context.create_dynamic_frame.from_options(
            connection_type="custom.jdbc",
            connection_options={**DERBY, "dbTable": table.name, **options},
            transformation_ctx=ctx,
        )
        rows = [tuple(row) for row in frame.toDF().collect()]
        return sorted(rows) if is_sorted else rows

    return read


@pytest.fixture
def warnings(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_RUN_FOLDER", str(tmp_path))
    return lambda: read_warnings(tmp_path)
