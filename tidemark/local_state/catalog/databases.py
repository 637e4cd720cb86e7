"""The databases of the local Data Catalog, kept in the store.

A table may be there without its database having been defined: that is then there too.
"""

import json
from collections.abc import Iterable

from tidemark.errors import EntityNotFoundError
from tidemark.local_state.catalog.tagged import put_definition
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_databases import DEFAULT_DATABASE, CatalogDatabase


def put_databases(store: Store, databases: Iterable[CatalogDatabase]) -> None:
    """Insert or replace databases, all of them or none; each keeps its tags."""
    with store.transaction():
        for database in databases:
            put_definition(store, "catalog_database", database.name, database.definition)


def catalog_databases(store: Store) -> list[CatalogDatabase]:
    """Return every database by name, `default` among them."""
    rows = store.query("SELECT * FROM catalog_database")
    found = {
        row["name"]: CatalogDatabase(row["name"], json.loads(row["definition"])) for row in rows
    }
    for row in store.query("SELECT DISTINCT database FROM catalog_table"):
        found.setdefault(row["database"], CatalogDatabase(row["database"]))
    found.setdefault(DEFAULT_DATABASE, CatalogDatabase(DEFAULT_DATABASE))
    return [found[name] for name in sorted(found)]


def find_database(store: Store, name: str) -> CatalogDatabase | None:
    """Return a database; None if it is missing."""
    rows = store.query("SELECT * FROM catalog_database WHERE name = ?", (name,))
    if rows:
        return CatalogDatabase(name, json.loads(rows[0]["definition"]))
    has_table = store.query("SELECT 1 FROM catalog_table WHERE database = ? LIMIT 1", (name,))
    return CatalogDatabase(name) if has_table or name == DEFAULT_DATABASE else None


def existing_database(store: Store, name: str) -> CatalogDatabase:
    """Return a database."""
    if found := find_database(store, name.lower()):
        return found
    known = ", ".join(database.name for database in catalog_databases(store))
    raise EntityNotFoundError(
        f"Database {name} not found. (Service: AWSGlue; Status Code: 400; Error Code: "
        f"EntityNotFoundException): the local Data Catalog has {known}; add it as "
        "AWS::Glue::Database to the app, or with `tidemark catalog put FILE.json`"
    )


def drop_database(store: Store, name: str) -> None:
    """Forget a database, with its tables and their partitions; their data stay."""
    with store.transaction():
        for table in ("catalog_table", "catalog_partition", "catalog_registration"):
            store.query(f"DELETE FROM {table} WHERE database = ?", (name,))  # noqa: S608 (our own)
        store.query("DELETE FROM catalog_database WHERE name = ?", (name,))
