"""The versions of a table of the local Data Catalog: its current and its earlier definitions.

Source: https://docs.aws.amazon.com/glue/latest/webapi/API_GetTableVersions.html
"""

import json
import sqlite3
from dataclasses import dataclass

from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable


@dataclass(frozen=True)
class TableVersion:
    """A version of a table: its number of changes so far, and when, in epoch milliseconds."""

    table: CatalogTable
    version: int
    created_at_ms: int
    changed_at_ms: int


def keep_version(store: Store, table: CatalogTable) -> None:
    """Keep the definition of a table before it is replaced; nothing if it is missing."""
    with store.transaction():
        store.query(
            "INSERT OR REPLACE INTO catalog_table_version SELECT database, name, version, "
            "definition, created_at_ms, changed_at_ms FROM catalog_table "
            "WHERE database = ? AND name = ?",
            (table.database, table.name),
        )


def version_of(store: Store, table: CatalogTable) -> TableVersion:
    """Return the current version of a table."""
    (row,) = store.query(
        "SELECT * FROM catalog_table WHERE database = ? AND name = ?", (table.database, table.name)
    )
    return _version(row)


def versions_of(store: Store, table: CatalogTable) -> list[TableVersion]:
    """Return the versions of a table, the newest first: the current one and the kept ones."""
    kept = store.query(
        "SELECT * FROM catalog_table_version WHERE database = ? AND name = ? ORDER BY version DESC",
        (table.database, table.name),
    )
    return [version_of(store, table), *map(_version, kept)]


def forget_version(store: Store, table: CatalogTable, version: int) -> None:
    """Delete a kept version of a table."""
    with store.transaction():
        store.query(
            "DELETE FROM catalog_table_version WHERE database = ? AND name = ? AND version = ?",
            (table.database, table.name, version),
        )


def _version(row: sqlite3.Row) -> TableVersion:
    table = CatalogTable(row["database"], row["name"], json.loads(row["definition"]))
    return TableVersion(table, row["version"], row["created_at_ms"], row["changed_at_ms"])
