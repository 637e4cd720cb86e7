"""What is told about an error of Spark's catalog."""

from __future__ import annotations

import pytest

from tidemark.glue_job.metastore.catalog_settings import catalog_hint
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable


@pytest.mark.parametrize(
    ("cause", "is_asked", "told"),
    [
        ("AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] … `db`.`t` cannot", False, "db.t is in"),
        (
            "AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] … `spark_catalog`.`db`.`t` cannot",
            False,
            "db.t is in",
        ),
        ("AnalysisException: [SCHEMA_NOT_FOUND] The schema `db` cannot", False, "db is in"),
        ("AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] … `db`.`t` cannot", True, ""),
        ("AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] … `db`.`other` cannot", False, ""),
        ("AnalysisException: [SCHEMA_NOT_FOUND] The schema `other` cannot", False, ""),
        ("ValueError: x", False, ""),
        (
            "IllegalArgumentException: Can not create a Path from an empty string",
            True,
            "the database of the table has no LocationUri",
        ),
    ],
)
def test_hint_names_the_argument_where_the_table_is_in_the_data_catalog(
    tmp_path, cause, is_asked, told
):
    with Store(tmp_path / "glue.sqlite") as store:
        put_tables(store, [CatalogTable("db", "t", {})])
        hint = catalog_hint(cause, store, is_asked=is_asked)

    assert hint.startswith(told)
    assert bool(hint) is bool(told)
