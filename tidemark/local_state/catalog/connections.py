"""The connections of the local Data Catalog, kept in the store."""

import json
from collections.abc import Iterable

from tidemark.errors import EntityNotFoundError
from tidemark.local_state.catalog.tagged import put_definition
from tidemark.local_state.job_run import job_home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_connections import CatalogConnection


def put_connections(store: Store, connections: Iterable[CatalogConnection]) -> None:
    """Insert or replace connections, all of them or none; each keeps its tags."""
    with store.transaction():
        for connection in connections:
            put_definition(store, "catalog_connection", connection.name, connection.definition)


def find_connection(store: Store, name: str) -> CatalogConnection:
    """Return one connection."""
    rows = store.query("SELECT * FROM catalog_connection ORDER BY name")
    for row in rows:
        if row["name"] == name:
            return CatalogConnection(name, json.loads(row["definition"]))
    known = ", ".join(row["name"] for row in rows) or "none"
    raise EntityNotFoundError(
        f"there is no connection {name!r}; the local Data Catalog has {known}; add it with "
        "`tidemark catalog put FILE.json`, or as AWS::Glue::Connection to the app"
    )


def connection_of_job(name: str) -> CatalogConnection:
    """Return a connection that the script of a job names."""
    with Store(job_home().database) as store:
        return find_connection(store, name)
