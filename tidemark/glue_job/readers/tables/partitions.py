"""Selects the partitions of a Data Catalog table that a reader enters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from urllib.parse import unquote

from tidemark.glue_job.readers.files.partitions import NULL_PARTITION
from tidemark.local_state.bookmarks.files import with_one_scheme
from tidemark.local_state.bookmarks.sources import FolderOf, Predicate
from tidemark.local_state.catalog.partitions import Partition, registered_partitions
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable


class EnteredPartitions:
    """Enters the partitions of a table that are registered, if any are, and that are chosen."""

    def __init__(
        self,
        keys: Iterable[str],
        chosen: Predicate | None,
        registered: Iterable[tuple[str, ...]] | None = None,
    ) -> None:
        """Take the names of all partition keys, a predicate if there is one, registered values."""
        self._keys = [key.lower() for key in keys]
        self.columns = frozenset(self._keys)
        self._chosen = chosen
        self._registered = None if registered is None else set(registered)

    def select(self, partitions: list[dict[str, str]]) -> list[bool]:
        """Return for each partition, its values by lower-case name, whether it is read."""
        chosen = self._chosen.select(partitions) if self._chosen else [True] * len(partitions)
        if self._registered is None:
            return chosen
        values = (tuple(partition[key] for key in self._keys) for partition in partitions)
        return [
            is_chosen and row in self._registered
            for is_chosen, row in zip(chosen, values, strict=True)
        ]


@dataclass(frozen=True)
class TablePartitions:
    """The partitions that a reader enters.

    Attributes:
        predicate: selects the folders ``key=value`` below the table's location.
        located: the values of the partitions that are elsewhere, by the URI of their folder.
        changed_at_ms: when the newest of all partitions was registered; 0 without partitions.
    """

    predicate: Predicate
    located: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    changed_at_ms: int = 0


def partitions_to_read(
    store: Store,
    table: CatalogTable,
    chosen: Predicate | None,
    folder_of: FolderOf,
    until_ms: int | None = None,
) -> TablePartitions:
    """Return the partitions that a reader enters: the registered ones, or every folder."""
    keys = [name for name, _ in table.partition_keys]
    registered = registered_partitions(store, table)
    if registered is None:
        return TablePartitions(chosen or EnteredPartitions(keys, None))
    changed_at_ms = max((partition.registered_at_ms for partition in registered), default=0)
    if until_ms is not None:
        registered = [
            partition for partition in registered if partition.registered_at_ms <= until_ms
        ]
    here, elsewhere = list[Partition](), list[Partition]()
    for partition in registered:
        own = [f"{key}={value}" for key, value in zip(keys, partition.values, strict=True)]
        expected = folder_of(table.location).joinpath(*own)
        is_own = _without_escapes(folder_of(partition.location)) == _without_escapes(expected)
        (here if is_own else elsewhere).append(partition)
    predicate = EnteredPartitions(keys, chosen, (partition.values for partition in here))
    located = _located(keys, elsewhere, chosen or EnteredPartitions(keys, None))
    return TablePartitions(predicate, located, changed_at_ms)


def _located(
    keys: Sequence[str], partitions: Sequence[Partition], chosen: Predicate
) -> dict[str, dict[str, str | None]]:
    values = [
        {key.lower(): value for key, value in zip(keys, partition.values, strict=True)}
        for partition in partitions
    ]
    return {
        with_one_scheme(partition.location.rstrip("/")): {
            key: None if value == NULL_PARTITION else value
            for key, value in zip(keys, partition.values, strict=True)
        }
        for partition in compress(partitions, chosen.select(values))
    }


def _without_escapes(folder: Path) -> str:
    return unquote(str(folder)).lower()
