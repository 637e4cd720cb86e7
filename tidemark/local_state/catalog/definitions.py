"""The databases and the connections of the local Data Catalog, kept in the store with their tags.

A table may be there without its database having been defined: that is then there too.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from tidemark.errors import EntityNotFoundError
from tidemark.local_state.job_run import job_home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_connections import CatalogConnection
from tidemark.model.assembly.catalog_databases import DEFAULT_DATABASE, CatalogDatabase
from tidemark.model.clock import now_ms

TAGS = "Tags"
Table = Literal["catalog_database", "catalog_connection"]
CREATED = {"catalog_database": "CreateTime", "catalog_connection": "CreationTime"}  # AWS's names
CHANGED = "LastUpdatedTime"


def put_definition(store: Store, table: Table, name: str, definition: Mapping[str, Any]) -> None:
    """Insert or replace a definition; it keeps its tags unless it brings others.

    Its times are in it, in epoch seconds as in requests: of its first definition, and of this one.
    """
    old = _old_definition(store, table, name)
    tags, created = tags_of(old), CREATED[table]
    old_tags = {TAGS: tags} if tags else {}
    now_s = now_ms() / 1000
    times = {created: old.get(created, now_s), CHANGED: now_s}
    store.query(
        f"INSERT OR REPLACE INTO {table} VALUES (?, ?)",  # noqa: S608 (ours)
        (name, json.dumps({**old_tags, **definition, **times})),
    )


def _old_definition(store: Store, table: Table, name: str) -> dict[str, Any]:
    rows = store.query(f"SELECT definition FROM {table} WHERE name = ?", (name,))  # noqa: S608 (ours)
    return json.loads(rows[0]["definition"]) if rows else {}


def _put_definitions(
    store: Store, table: Table, definitions: Mapping[str, Mapping[str, Any]]
) -> None:
    """Insert or replace definitions, all of them or none; as CloudFormation leaves equal ones."""
    with store.transaction():
        for name, definition in definitions.items():
            old = _old_definition(store, table, name)
            made_here = {CREATED[table], CHANGED, TAGS} - definition.keys()
            kept = {key: value for key, value in old.items() if key not in made_here}
            if not old or kept != definition:
                put_definition(store, table, name, definition)


def tags_of(definition: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of a definition."""
    return dict(definition.get(TAGS) or {})


def put_databases(store: Store, databases: Iterable[CatalogDatabase]) -> None:
    """Insert or replace databases, all of them or none; each keeps its tags."""
    definitions = {database.name: database.definition for database in databases}
    _put_definitions(store, "catalog_database", definitions)


def catalog_databases(store: Store) -> list[CatalogDatabase]:
    """Return every database by name, `default` among them."""
    rows = store.query("SELECT * FROM catalog_database")
    databases = {
        row["name"]: CatalogDatabase(row["name"], json.loads(row["definition"])) for row in rows
    }
    for row in store.query("SELECT DISTINCT database FROM catalog_table"):
        databases.setdefault(row["database"], CatalogDatabase(row["database"]))
    databases.setdefault(DEFAULT_DATABASE, CatalogDatabase(DEFAULT_DATABASE))
    return [databases[name] for name in sorted(databases)]


def find_database(store: Store, name: str) -> CatalogDatabase | None:
    """Return a database; None if it is missing."""
    rows = store.query("SELECT * FROM catalog_database WHERE name = ?", (name,))
    if rows:
        return CatalogDatabase(name, json.loads(rows[0]["definition"]))
    has_table = store.query("SELECT 1 FROM catalog_table WHERE database = ? LIMIT 1", (name,))
    return CatalogDatabase(name) if has_table or name == DEFAULT_DATABASE else None


def existing_database(store: Store, name: str) -> CatalogDatabase:
    """Return a database."""
    database = find_database(store, name.lower())
    if database is not None:
        return database
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


def put_connections(store: Store, connections: Iterable[CatalogConnection]) -> None:
    """Insert or replace connections, all of them or none; each keeps its tags."""
    definitions = {connection.name: connection.definition for connection in connections}
    _put_definitions(store, "catalog_connection", definitions)


def catalog_connections(store: Store) -> list[CatalogConnection]:
    """Return the connections by name."""
    rows = store.query("SELECT * FROM catalog_connection ORDER BY name")
    return [CatalogConnection(row["name"], json.loads(row["definition"])) for row in rows]


def find_connection(store: Store, name: str) -> CatalogConnection:
    """Return one connection."""
    connections = catalog_connections(store)
    for connection in connections:
        if connection.name == name:
            return connection
    names = ", ".join(known.name for known in connections) or "none"
    raise EntityNotFoundError(
        f"there is no connection {name!r}; the local Data Catalog has {names}; add it with "
        "`tidemark catalog put FILE.json`, or as AWS::Glue::Connection to the app"
    )


def connection_of_job(name: str) -> CatalogConnection:
    """Return a connection that the script of a job names."""
    with Store(job_home().database) as store:
        return find_connection(store, name)
