"""The tables of the local Data Catalog and their earlier definitions, kept in the store.

Source: https://docs.aws.amazon.com/glue/latest/webapi/API_GetTableVersions.html
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.errors import EntityNotFoundError
from tidemark.local_state.catalog.definitions import existing_database
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.clock import now_ms


@dataclass(frozen=True)
class TableVersion:
    """A version of a table: its number of changes so far, and when, in epoch milliseconds."""

    table: CatalogTable
    version: int
    created_at_ms: int
    changed_at_ms: int


def version_of(store: Store, table: CatalogTable) -> TableVersion:
    """Return the current version of a table."""
    (row,) = store.query(
        "SELECT * FROM catalog_table WHERE database = ? AND name = ?", (table.database, table.name)
    )
    return _version(row)


def versions_of(store: Store, table: CatalogTable) -> list[TableVersion]:
    """Return the versions of a table, the newest first: the current one and the kept ones."""
    earlier = store.query(
        "SELECT * FROM catalog_table_version WHERE database = ? AND name = ? ORDER BY version DESC",
        (table.database, table.name),
    )
    return [version_of(store, table), *map(_version, earlier)]


def forget_version(store: Store, table: CatalogTable, version: int) -> None:
    """Delete a kept version of a table."""
    store.change(
        "DELETE FROM catalog_table_version WHERE database = ? AND name = ? AND version = ?",
        (table.database, table.name, version),
    )


def _version(row: sqlite3.Row) -> TableVersion:
    table = CatalogTable(row["database"], row["name"], json.loads(row["definition"]))
    return TableVersion(table, row["version"], row["created_at_ms"], row["changed_at_ms"])


def put_tables(
    store: Store, tables: Iterable[CatalogTable], *, keeps_replaced: bool = True
) -> None:
    """Insert or replace tables, all of them or none; their partitions stay.

    A table that is replaced gets the next version; the old one is kept unless that is switched off.
    """
    with store.transaction():
        for table in tables:
            if keeps_replaced:
                store.change(
                    "INSERT OR REPLACE INTO catalog_table_version SELECT database, name, version, "
                    "definition, created_at_ms, changed_at_ms FROM catalog_table "
                    "WHERE database = ? AND name = ?",
                    (table.database, table.name),
                )
            store.query(
                "INSERT INTO catalog_table (database, name, definition, created_at_ms, "
                "changed_at_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT (database, name) DO UPDATE SET "
                "definition = excluded.definition, changed_at_ms = excluded.changed_at_ms, "
                "version = version + 1",
                (table.database, table.name, json.dumps(table.definition), now_ms(), now_ms()),
            )


def catalog_tables(store: Store, database: str | None = None) -> list[CatalogTable]:
    """Return every table, or those of one database, by database and name."""
    if database is None:
        rows = store.query("SELECT * FROM catalog_table ORDER BY database, name")
    else:
        where = "SELECT * FROM catalog_table WHERE database = ? ORDER BY name"
        rows = store.query(where, (database.lower(),))
    return [_table(row) for row in rows]


def table_or_none(store: Store, database: str, name: str) -> CatalogTable | None:
    """Return one table; None if it is missing."""
    wanted = (database.lower(), name.lower())
    rows = store.query("SELECT * FROM catalog_table WHERE database = ? AND name = ?", wanted)
    return _table(rows[0]) if rows else None


def find_table(store: Store, database: str, name: str) -> CatalogTable:
    """Return one table."""
    if (table := table_or_none(store, database, name)) is not None:
        return table
    existing_database(store, database)
    names = ", ".join(known.full_name for known in catalog_tables(store, database)) or "no table"
    raise EntityNotFoundError(
        "Entity Not Found (Service: AWSGlue; Status Code: 400; Error Code: "
        f"EntityNotFoundException): there is no table {name!r} in the database {database!r}, which "
        f"has {names}; add it with `tidemark catalog put FILE.json`, `tidemark catalog crawl`, or "
        "as AWS::Glue::Table to the app"
    )


def drop_table(store: Store, database: str, name: str) -> None:
    """Forget a table with its partitions; its data stay."""
    with store.transaction():
        store.query("DELETE FROM catalog_table WHERE database = ? AND name = ?", (database, name))
        store.query(
            "DELETE FROM catalog_table_version WHERE database = ? AND name = ?", (database, name)
        )
        for table in ("catalog_partition", "catalog_registration"):
            store.query(
                f"DELETE FROM {table} WHERE database = ? AND table_name = ?",  # noqa: S608 (our own)
                (database, name),
            )


def _table(row: sqlite3.Row) -> CatalogTable:
    return CatalogTable(row["database"], row["name"], json.loads(row["definition"]))
