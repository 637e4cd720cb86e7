"""The partitions of the tables of the local Data Catalog.

Until a partition of a table is registered, every folder ``key=value`` is one. The first
registration keeps those folders, and from then on only registered ones count, as on AWS.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tidemark.local_state.bookmarks.sources import FolderOf
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.clock import now_ms

IMPLICIT = "null"  # in place of the parameters of a folder that was kept


@dataclass(frozen=True)
class Partition:
    """One partition of a table.

    Attributes:
        values: of the partition keys, in order, as strings.
        location: the URI of its folder.
        parameters: its properties.
        definition: Glue's PartitionInput, if a client gave one.
        is_implicit: whether it is a folder that nobody has registered by itself: to register it is
            no error then.
        registered_at_ms: when it was, epoch milliseconds; 0 for a folder that counted before.
    """

    values: tuple[str, ...]
    location: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    definition: Mapping[str, Any] | None = None
    is_implicit: bool = False
    registered_at_ms: int = field(default=0, compare=False)


def partitions_of(store: Store, table: CatalogTable, folder_of: FolderOf) -> list[Partition]:
    """Return the partitions of a table, by their values."""
    registered = registered_partitions(store, table)
    return partition_folders(table, folder_of) if registered is None else registered


def registered_partitions(store: Store, table: CatalogTable) -> list[Partition] | None:
    """Return the registered partitions by their values; None if its folders count."""
    name = (table.database, table.name)
    if not store.query(
        "SELECT 1 FROM catalog_registration WHERE database = ? AND table_name = ?", name
    ):
        return None
    rows = store.query(
        "SELECT * FROM catalog_partition WHERE database = ? AND table_name = ? "
        "ORDER BY partition_values",
        name,
    )
    return [
        Partition(
            tuple(json.loads(row["partition_values"])),
            row["location"],
            json.loads(row["parameters"]) or {},
            json.loads(row["definition"]) if row["definition"] else None,
            is_implicit=row["parameters"] == IMPLICIT,
            registered_at_ms=row["registered_at_ms"],
        )
        for row in rows
    ]


def partition_folders(table: CatalogTable, folder_of: FolderOf) -> list[Partition]:
    """Return the folders ``key=value`` of a table, by their values."""
    keys = [name.lower() for name, _ in table.partition_keys]
    if not keys:
        return []
    root = table.location.rstrip("/")
    folders = _folders(folder_of(table.location), root, keys)
    return sorted(folders, key=lambda partition: partition.values)


def _folders(
    folder: Path, uri: str, keys: list[str], values: tuple[str, ...] = ()
) -> Iterator[Partition]:
    if len(values) == len(keys):
        yield Partition(values, uri, is_implicit=True)
        return
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        name, equals, value = entry.name.partition("=")
        if equals and name.lower() == keys[len(values)] and entry.is_dir():
            yield from _folders(entry, f"{uri}/{entry.name}", keys, (*values, unquote(value)))


def register_partitions(
    store: Store, table: CatalogTable, partitions: Iterable[Partition], folder_of: FolderOf
) -> None:
    """Register partitions, or replace them; the folders that counted so far are registered too."""
    with store.transaction():
        _keep_folders(store, table, folder_of)
        _insert(store, table, partitions)


def unregister_partitions(
    store: Store, table: CatalogTable, partitions: Iterable[tuple[str, ...]], folder_of: FolderOf
) -> None:
    """Forget partitions; their folders stay, and do not count any more."""
    with store.transaction():
        _keep_folders(store, table, folder_of)
        for values in partitions:
            store.query(
                "DELETE FROM catalog_partition WHERE database = ? AND table_name = ? AND "
                "partition_values = ?",
                (table.database, table.name, json.dumps(values)),
            )


def sync_partitions(store: Store, table: CatalogTable, folder_of: FolderOf) -> int:
    """Register every folder that is not a partition yet, as MSCK REPAIR TABLE; return how many."""
    known = {partition.values for partition in registered_partitions(store, table) or ()}
    new = [folder for folder in partition_folders(table, folder_of) if folder.values not in known]
    explicit = [replace(folder, is_implicit=False) for folder in new]
    register_partitions(store, table, explicit, folder_of)
    return len(new)


def _keep_folders(store: Store, table: CatalogTable, folder_of: FolderOf) -> None:
    if registered_partitions(store, table) is None:
        store.query("INSERT INTO catalog_registration VALUES (?, ?)", (table.database, table.name))
        _insert(store, table, partition_folders(table, folder_of))


def _insert(store: Store, table: CatalogTable, partitions: Iterable[Partition]) -> None:
    for partition in partitions:
        store.query(
            "INSERT INTO catalog_partition VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "location = excluded.location, parameters = excluded.parameters, "
            "definition = excluded.definition, registered_at_ms = iif(location = excluded.location,"
            " registered_at_ms, excluded.registered_at_ms)",
            (
                table.database,
                table.name,
                json.dumps(partition.values),
                partition.location,
                IMPLICIT if partition.is_implicit else json.dumps(dict(partition.parameters)),
                None if partition.definition is None else json.dumps(partition.definition),
                0 if partition.is_implicit else now_ms(),
            ),
        )
