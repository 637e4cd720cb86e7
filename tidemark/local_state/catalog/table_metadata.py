"""Takes a table of Iceberg back to an earlier snapshot: in its metadata, no data file is touched.

Source: https://iceberg.apache.org/spec/#table-metadata-fields
"""

import gzip
import json
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tidemark.errors import DamagedDatabaseError, UsageError
from tidemark.local_state.catalog.tables import find_table, put_tables, table_or_none
from tidemark.local_state.home import Home
from tidemark.local_state.machine.own_files import write_whole
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.assembly.iceberg import METADATA, PREVIOUS

REPLACE = "replace"  # the operation of a compaction, which changes no row
NO_SNAPSHOT = -1
DEFAULT = "default"  # the database of a name without one


def table_of(store: Store, name: str) -> CatalogTable:
    """Return the table of Iceberg that ``database.table`` names."""
    table = find_table(store, *name.split(".", 1))
    if not table.is_iceberg:
        raise UsageError(f"the table {name} is not one of Iceberg")
    return table


def read_metadata(home: Home, place: str) -> dict[str, Any]:
    """Return the metadata of a table at a place."""
    file = home.existing_path(place)
    try:
        return parsed_metadata(file.read_bytes())
    except (OSError, ValueError) as error:
        is_there = file.is_file() and file.stat().st_size
        state = "cannot be read whole" if is_there else "is gone or empty"
        raise DamagedDatabaseError(
            f"{home.shown / file.relative_to(home.root)}, the metadata of an "
            f"Iceberg table, {state}: the table cannot be used; "
            "restore a backup that was made with --with-lake, by `tidemark home restore FILE`, or "
            "`tidemark catalog drop` the table to start it anew"
        ) from error


def metadata_or_none(home: Home, store: Store, name: str) -> dict[str, Any] | None:
    """Return the metadata of the table that ``database.table`` names; None without it."""
    database, _, table = name.rpartition(".")
    definition = table_or_none(store, database or DEFAULT, table)
    place = definition.parameters.get(METADATA) if definition and definition.is_iceberg else None
    return read_metadata(home, place) if place else None


def parsed_metadata(content: bytes) -> dict[str, Any]:
    """Return the metadata that the contents of a file are, compressed or not.

    Raises:
        ValueError: they are none.
    """
    try:
        text = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        metadata = json.loads(text)
    except (EOFError, OSError, RecursionError, ValueError, zlib.error) as error:
        raise ValueError(f"it is not JSON: {error}") from error
    if not isinstance(metadata, dict) or "table-uuid" not in metadata:
        raise ValueError("it is JSON of another kind")
    return metadata


def has_replaced_partitions(metadata: Mapping[str, Any], snapshots: Collection[str]) -> bool:
    """Return whether one of some snapshots has replaced the whole partitions of its rows.

    A write that replaces what meets a condition does not.
    """
    return any(
        snapshot.get("summary", {}).get("replace-partitions") == "true"
        for snapshot in metadata.get("snapshots", ())
        if str(snapshot["snapshot-id"]) in snapshots
    )


def transforms_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the transforms that partition new rows of a table, such as ``month``.

    Example:
        >>> fields = [{"transform": "month"}, {"transform": "void"}]
        >>> specs = [{"spec-id": 2, "fields": fields}]
        >>> transforms_of({"default-spec-id": 2, "partition-specs": specs})
        ('month',)
    """
    specs = {part["spec-id"]: part["fields"] for part in metadata.get("partition-specs", ())}
    transforms = (part["transform"] for part in specs.get(metadata.get("default-spec-id"), ()))
    return tuple(part for part in transforms if part != "void")  # of a field that was removed


def snapshot_before(metadata: Mapping[str, Any], undone: Collection[str]) -> str:
    """Return the snapshot before those of undone runs; empty if the table had none then.

    A snapshot that never became the table's, as of a write that another writer overtook, counts for
    nothing; one that picks an undone one (`cherrypick_snapshot`) counts as that. If none of them is
    the table's, that is the current one. Rows that another writer has changed since cannot be
    undone, nor can snapshots that have expired: both raise.
    """
    line = list(line_of(metadata))
    by_id = {str(snapshot["snapshot-id"]): snapshot for snapshot in metadata.get("snapshots", ())}
    at_table = [
        snapshot for snapshot in line if any(name in undone for name in _picks(snapshot, by_id))
    ]
    oldest = line[-1].get("parent-snapshot-id") if line else None
    if len(at_table) < len(set(undone)) and oldest is not None:
        raise UsageError(f"snapshot {oldest} and those before it have expired")
    if not at_table:
        return str(line[0]["snapshot-id"]) if line else ""
    for snapshot in line[: line.index(at_table[-1])]:
        is_replace = snapshot.get("summary", {}).get("operation") == REPLACE
        if snapshot not in at_table and not is_replace:
            raise UsageError(f"snapshot {snapshot['snapshot-id']} is of another run or writer")
    before = at_table[-1].get("parent-snapshot-id")
    if before is not None and at_table[-1] is line[-1]:
        raise UsageError(f"snapshot {before}, the target of the rollback, has expired")
    return "" if before is None else str(before)


def _picks(snapshot: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the id of a snapshot, and of those whose rows it has brought back."""
    name: str | None = str(snapshot["snapshot-id"])
    while name is not None:
        yield name
        name = by_id.get(name, {}).get("summary", {}).get("source-snapshot-id")


def line_of(metadata: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the current snapshot, the one before it, and so on, as far as they are kept."""
    by_id = {snapshot["snapshot-id"]: snapshot for snapshot in metadata.get("snapshots", [])}
    current = by_id.get(metadata.get("current-snapshot-id"))
    while current is not None:
        yield current
        current = by_id.get(current.get("parent-snapshot-id"))


def at_snapshot(
    metadata: Mapping[str, Any], snapshot: str, at_ms: int, place: str
) -> dict[str, Any]:
    """Return the metadata of a table with a snapshot as the current one; without one if empty.

    The log of its metadata gets the place of those that were given.
    """
    refs = {name: ref for name, ref in metadata.get("refs", {}).items() if name != "main"}
    number = int(snapshot) if snapshot else NO_SNAPSHOT
    log = list(metadata.get("snapshot-log", []))
    if snapshot:
        main = metadata.get("refs", {}).get("main", {"type": "branch"})
        refs["main"] = {**main, "snapshot-id": number}
        log.append({"snapshot-id": number, "timestamp-ms": at_ms})
    return {
        **metadata,
        "current-snapshot-id": number,
        "refs": refs,
        "snapshot-log": log if snapshot else [],
        "metadata-log": [
            *metadata.get("metadata-log", ()),
            {"metadata-file": place, "timestamp-ms": metadata["last-updated-ms"]},
        ],
        "last-updated-ms": at_ms,
    }


def write_metadata(home: Home, place: str, metadata: Mapping[str, Any]) -> None:
    """Write metadata at a place."""
    write_whole(home.local_path(place), json.dumps(metadata))


def put_metadata(store: Store, name: str, expected: str, place: str) -> bool:
    """Make a place that of a table's metadata; return False if another writer was faster."""
    with store.transaction():
        table = table_of(store, name)
        if table.parameters.get(METADATA) != expected:
            return False
        parameters = {**table.definition.get("Parameters", {}), METADATA: place, PREVIOUS: expected}
        new = CatalogTable(
            table.database, table.name, {**table.definition, "Parameters": parameters}
        )
        put_tables(store, [new], keeps_replaced=False)
    return True


def next_place(place: str, mark: str) -> str:
    """Return a place for metadata after those at a place: its number plus one, and a mark."""
    folder, _, name = place.rpartition("/")
    number = name.partition("-")[0]
    following = f"{int(number) + 1:05d}" if number.isdecimal() else "00000"
    return f"{folder}/{following}-{mark}.metadata.json"
