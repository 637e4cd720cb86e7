"""The tables of the local Data Catalog, kept in the store.

A partition is a folder ``key=value``: every one that is there counts as registered.
"""

import json
from collections.abc import Iterable

from tidemark.assembly.catalog_tables import CatalogTable
from tidemark.errors import EntityNotFoundError
from tidemark.local_glue.store.database import Store


def put_tables(store: Store, tables: Iterable[CatalogTable]) -> None:
    """Insert or replace tables, all of them or none."""
    with store.transaction():
        for table in tables:
            store.query(
                "INSERT OR REPLACE INTO catalog_table VALUES (?, ?, ?)",
                (table.database, table.name, json.dumps(table.definition)),
            )


def catalog_tables(store: Store) -> list[CatalogTable]:
    """Return every table, by database and name."""
    rows = store.query("SELECT * FROM catalog_table ORDER BY database, name")
    return [
        CatalogTable(row["database"], row["name"], json.loads(row["definition"])) for row in rows
    ]


def find_table(store: Store, database: str, name: str) -> CatalogTable:
    """Return one table.

    Raises:
        EntityNotFoundError: there is none of this name; the message lists those that are there.
    """
    tables = catalog_tables(store)
    wanted = (database.lower(), name.lower())
    for table in tables:
        if (table.database, table.name) == wanted:
            return table
    known = ", ".join(table.full_name for table in tables) or "no table"
    raise EntityNotFoundError(
        f"there is no table {name!r} in the database {database!r}; the local Data Catalog has "
        f"{known}; add it with `tidemark catalog put FILE.json`, or as AWS::Glue::Table to the app"
    )
