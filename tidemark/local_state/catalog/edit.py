"""Shows and changes tables of a home by their names, for the command line."""

from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.catalog.partitions import (
    partitions_of,
    registered_partitions,
    sync_partitions,
)
from tidemark.local_state.catalog.tables import catalog_tables, drop_table, find_table
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable


def named_table(store: Store, name: str) -> CatalogTable:
    """Return the table of a name ``database.table``."""
    database, dot, table = name.partition(".")
    if not (database and dot and table):
        raise UsageError(f"{name!r} is not the name of a table; write it as DATABASE.TABLE")
    return find_table(store, database, table)


def described(home: Home, name: str) -> dict[str, Any]:
    """Return a table and its partitions as Glue's API answers, and whether they are registered."""
    with Store(home.database) as store:
        table = named_table(store, name)
        has_partitions = table.partition_keys and not (table.is_projected or table.is_view)
        partitions = partitions_of(store, table, home.existing_path) if has_partitions else []
        is_registered = registered_partitions(store, table) is not None
    return {
        "Table": {**table.definition, "DatabaseName": table.database, "Name": table.name},
        "Partitions": [
            {
                "Values": list(partition.values),
                "StorageDescriptor": {"Location": partition.location},
                "Parameters": dict(partition.parameters),
            }
            for partition in partitions
        ],
        "PartitionsAreRegistered": is_registered,
    }


def synced(home: Home, name: str | None = None) -> dict[str, int]:
    """Register the folders of one table, or of every table; return how many were new, by table."""
    with Store(home.database) as store:
        if name is not None:
            table = named_table(store, name)
            if not _has_folders(table):
                raise UsageError(
                    f"the table {table.full_name} has no partition keys, or partition projection: "
                    "there is nothing to register"
                )
            tables = [table]
        else:
            tables = [table for table in catalog_tables(store) if _has_folders(table)]
        return {t.full_name: sync_partitions(store, t, home.existing_path) for t in tables}


def _has_folders(table: CatalogTable) -> bool:
    return bool(table.partition_keys) and not table.is_projected


def dropped(home: Home, name: str) -> str:
    """Forget a table; return its name."""
    with Store(home.database) as store:
        table = named_table(store, name)
        drop_table(store, table.database, table.name)
    return table.full_name
