"""Answers the questions of Iceberg's catalog in the JVM about tables of the local Data Catalog."""

from collections.abc import Callable, Mapping
from typing import Any

from tidemark.glue_job.iceberg.table_input import table_input
from tidemark.local_state.catalog.definitions import find_database
from tidemark.local_state.catalog.tables import (
    catalog_tables,
    drop_table,
    put_tables,
    table_or_none,
    version_of,
)
from tidemark.local_state.run_notes import note_snapshots
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.assembly.iceberg import METADATA

Request = Mapping[str, Any]


def _table(store: Store, request: Request) -> dict[str, Any] | None:
    table = table_or_none(store, request["database"], request["table"])
    if table is None:
        return None
    return {
        "table_type": table.parameters.get("table_type"),
        "metadata_location": table.parameters.get(METADATA) if table.is_iceberg else None,
        "version": version_of(store, table).version,
    }


def _commit(store: Store, request: Request) -> str:
    database, name = request["database"], request["table"]
    with store.transaction():
        old = table_or_none(store, database, name)
        # Another writer was faster: Iceberg tries again, by the reason in the answer.
        if old is None and request["version"] is not None:
            return "dropped"
        if old is not None and request["version"] is None:
            return "exists"
        if old is not None and version_of(store, old).version != request["version"]:
            return "changed"
        if old is None and find_database(store, database) is None:
            return "no database"
        definition = table_input(request, old.definition if old else {})
        # As Iceberg's catalog does: a version of each commit would be too many.
        put_tables(store, [CatalogTable(database, name, definition)], keeps_replaced=False)
    note_snapshots(f"{database}.{name}", request["snapshots"])
    return ""


def _drop(store: Store, request: Request) -> bool:
    with store.transaction():
        table = table_or_none(store, request["database"], request["table"])
        if table is None or not table.is_iceberg:
            return False
        drop_table(store, table.database, table.name)
    return True


def _rename(store: Store, request: Request) -> str:
    with store.transaction():
        table = table_or_none(store, request["database"], request["table"])
        if table is None or not table.is_iceberg:
            return "missing"
        database, name = request["new_database"], request["new_table"]
        if table_or_none(store, database, name):
            return "exists"
        drop_table(store, table.database, table.name)
        put_tables(store, [CatalogTable(database, name, {**table.definition, "Name": name})])
    return ""


ICEBERG_OPERATIONS: dict[str, Callable[[Store, Request], Any]] = {
    "iceberg_table": _table,
    "iceberg_tables": lambda store, request: [
        table.name for table in catalog_tables(store, request["database"]) if table.is_iceberg
    ],
    "commit_iceberg_table": _commit,
    "drop_iceberg_table": _drop,
    "rename_iceberg_table": _rename,
    "note_session_catalog": lambda _, request: note(
        RunWarning.ICEBERG_SESSION_CATALOG, request["name"]
    ),
}
