"""The Data Catalog as facts: databases, and tables with their columns and partitions."""

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.local_state.catalog.definitions import catalog_databases
from tidemark.local_state.catalog.partitions import Partition, registered_partitions
from tidemark.local_state.catalog.tables import catalog_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_databases import DEFAULT_DATABASE
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.messages import plural
from tidemark.operate.versions.facts import State, json_string, without_window

# Times, numbers of files and of bytes: they are those of the run and of the writer's version.
LEFT_OUT = set(
    "CreateTime LastAccessTime LastAnalyzedTime LastUpdatedTime averageRecordSize "
    "last_modified_time numFiles objectCount rawDataSize sizeKey spark.sql.create.version "
    "spark.sql.statistics.totalSize totalSize transient_lastDdlTime".split()
)
SPARK_SCHEMA = "spark.sql.sources.schema"
COLUMNS, KEYS = "Columns", "PartitionKeys"
RANDOM = ("window", "attempt")  # keys of partitions


def database_states(store: Store) -> dict[str, State]:
    """Return every database by its name, except the one that is always there."""
    return {
        database.name: State(dict(_flat(database.definition)), database.location)
        for database in catalog_databases(store)
        if database.name != DEFAULT_DATABASE
    }


def table_states(store: Store) -> dict[str, State]:
    """Return every table by its full name."""
    return {table.full_name: _table(store, table) for table in catalog_tables(store)}


def _table(store: Store, table: CatalogTable) -> State:
    definition = {**table.definition}
    storage = {**definition.pop("StorageDescriptor", {})}
    columns, keys = storage.pop(COLUMNS, []), definition.pop(KEYS, [])
    facts = {
        **dict(_columns("column", columns)),
        **dict(_columns("partition key", keys)),
        **dict(_flat(definition)),
        **dict(_flat(storage)),
    }
    partitions = registered_partitions(store, table)
    names = [str(key["Name"]) for key in keys]
    described = dict(_partition(names, partition) for partition in partitions or ())
    summary = plural(len(columns), "column")
    if partitions is not None:
        summary += f", {plural(len(described), 'partition')}"
    return State({**facts, **described}, summary)


def _columns(kind: str, columns: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for column in columns:
        comment = f" ({column['Comment']})" if column.get("Comment") else ""
        yield f"{kind} {column['Name']}", f"{column.get('Type', '')}{comment}"
    if columns:
        yield f"{kind}s", ", ".join(str(column["Name"]) for column in columns)


def _partition(keys: list[str], partition: Partition) -> tuple[str, str]:
    values = zip(keys, partition.values, strict=False)
    name = "/".join(f"{key}={value}" for key, value in values if key not in RANDOM)
    return f"partition {name}", without_window(partition.location).rstrip("/")


def _flat(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values of a definition by the path of their names."""
    for name, inner in value.items():
        if name in LEFT_OUT or inner in (None, "", [], {}):
            continue
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{path}{name}.")
        else:
            yield f"{path}{name}", json_string(inner)
