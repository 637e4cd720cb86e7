"""Which partitions of a table of the Data Catalog a reader enters."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from tidemark.assembly.catalog_tables import CatalogTable
from tidemark.errors import UnsupportedError
from tidemark.local_glue.bookmarks.sources import FolderOf, Predicate
from tidemark.local_glue.catalog.partitions import registered_partitions
from tidemark.local_glue.store.database import Store


class EveryPartition:
    """Enters every partition of a table; files outside of partition folders are no part of it."""

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = frozenset(column.lower() for column in columns)

    def select(self, partitions: list[dict[str, str]]) -> list[bool]:
        """Return that each partition is read."""
        return [True] * len(partitions)


class RegisteredPartitions:
    """Enters the partitions that are registered and that another predicate chooses."""

    def __init__(
        self, keys: Iterable[str], registered: Iterable[tuple[str, ...]], chosen: Predicate
    ) -> None:
        """Take the names of all partition keys, the registered values of them, a predicate."""
        self._keys = [key.lower() for key in keys]
        self.columns = frozenset(self._keys)
        self._registered = set(registered)
        self._chosen = chosen

    def select(self, partitions: list[dict[str, str]]) -> list[bool]:
        """Return for each partition, its values by lower-case name, whether it is read."""
        return [
            is_chosen and tuple(one[key] for key in self._keys) in self._registered
            for one, is_chosen in zip(partitions, self._chosen.select(partitions), strict=True)
        ]


def partitions_to_read(
    store: Store, table: CatalogTable, chosen: Predicate | None, folder_of: FolderOf
) -> Predicate:
    """Return what enters the partitions of a table: those registered, or every folder.

    Args:
        store: the Data Catalog.
        table: the table.
        chosen: which of them are read; None: all.
        folder_of: where a URI is on this machine.

    Raises:
        UnsupportedError: a partition is registered with a folder that is not its own.
    """
    keys = [name for name, _ in table.partition_keys]
    chosen = chosen or EveryPartition(keys)
    registered = registered_partitions(store, table)
    if registered is None:
        return chosen
    for one in registered:
        own = [f"{key}={value}" for key, value in zip(keys, one.values, strict=True)]
        root = folder_of(table.location)
        if _without_escapes(folder_of(one.location)) != _without_escapes(root.joinpath(*own)):
            raise UnsupportedError(
                f"the partition {'/'.join(own)} of the table {table.full_name} is registered with "
                f"the folder {one.location}, and readers of Glue find partitions here by their "
                "folders key=value only: read it with spark.sql and --enable-glue-datacatalog"
            )
    return RegisteredPartitions(keys, (one.values for one in registered), chosen)


def _without_escapes(folder: Path) -> str:
    return unquote(str(folder)).lower()
