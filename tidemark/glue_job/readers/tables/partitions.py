"""Selects the partitions of a Data Catalog table that a reader enters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from tidemark.glue_job.readers.files.partitions import NULL_PARTITION
from tidemark.local_state.bookmarks.files import with_one_scheme
from tidemark.local_state.bookmarks.sources import FolderOf, Predicate
from tidemark.local_state.catalog.partitions import Partition, registered_partitions
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable


class EveryPartition:
    """Enters every partition of a table; files outside partition folders are not part of it."""

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = frozenset(column.lower() for column in columns)

    def select(self, partitions: list[dict[str, str]]) -> list[bool]:
        """Return True for each partition."""
        return [True] * len(partitions)


class RegisteredPartitions:
    """Enters the registered partitions that another predicate selects."""

    def __init__(
        self, keys: Iterable[str], registered: Iterable[tuple[str, ...]], chosen: Predicate
    ) -> None:
        """Take the names of all partition keys, their registered values, and a predicate."""
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
    chosen = chosen or EveryPartition(keys)
    registered = registered_partitions(store, table)
    if registered is None:
        return TablePartitions(chosen)
    changed_at_ms = max((one.registered_at_ms for one in registered), default=0)
    if until_ms is not None:
        registered = [one for one in registered if one.registered_at_ms <= until_ms]
    here, elsewhere = list[Partition](), list[Partition]()
    for one in registered:
        own = [f"{key}={value}" for key, value in zip(keys, one.values, strict=True)]
        expected = folder_of(table.location).joinpath(*own)
        is_own = _without_escapes(folder_of(one.location)) == _without_escapes(expected)
        (here if is_own else elsewhere).append(one)
    predicate = RegisteredPartitions(keys, (one.values for one in here), chosen)
    return TablePartitions(predicate, _located(keys, elsewhere, chosen), changed_at_ms)


def _located(
    keys: Sequence[str], partitions: Sequence[Partition], chosen: Predicate
) -> dict[str, dict[str, str | None]]:
    """Return the values of the selected partitions by their folders."""
    values = [
        {key.lower(): value for key, value in zip(keys, one.values, strict=True)}
        for one in partitions
    ]
    return {
        with_one_scheme(one.location.rstrip("/")): {
            key: None if value == NULL_PARTITION else value
            for key, value in zip(keys, one.values, strict=True)
        }
        for one, is_chosen in zip(partitions, chosen.select(values), strict=True)
        if is_chosen
    }


def _without_escapes(folder: Path) -> str:
    return unquote(str(folder)).lower()
