"""Creates or updates the table of a sink with enableUpdateCatalog in the Data Catalog.

A partition is a folder ``key=value`` of the table, so new partitions exist as soon as files do.
Source: https://docs.aws.amazon.com/glue/latest/dg/update-from-job.html
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql.types import StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.schemas import hive_type
from tidemark.glue_job.metastore.storage import as_columns, storage_of
from tidemark.glue_job.writers.formats import LOG, S3Sink, WriteFormat
from tidemark.local_state.catalog.definitions import existing_database, find_database
from tidemark.local_state.catalog.partitions import (
    partition_folders,
    register_partitions,
    registered_partitions,
)
from tidemark.local_state.catalog.tables import put_tables, table_or_none
from tidemark.local_state.job_run import job_home
from tidemark.local_state.run_warnings import DECLARED_VARIABLE, RunWarning, note
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import SKIP_HEADER, CatalogTable, table_of_request

CLOCK_TICK_NS = 20_000_000  # times of files are those of the kernel's last tick


@dataclass(frozen=True)
class TableUpdate:
    """Changes to the Data Catalog once the files are written.

    Attributes:
        table: to store; None changes nothing.
        partitioned: the table whose new partitions are registered, if it has registered ones.
        begun_ns: start of the write, nanoseconds since 1970.
    """

    table: CatalogTable | None
    partitioned: CatalogTable | None = None
    begun_ns: int = 0

    @classmethod
    def of(
        cls, names: tuple[str, str], sink: S3Sink, how: WriteFormat, schema: StructType
    ) -> "TableUpdate":
        """Return the update; nothing has been written yet."""
        new = new_table(names, sink.path, how, schema, sink.partition_keys)
        with Store(job_home().database) as store:
            old = table_or_none(store, new.database, new.name)
            if old is None:
                # A script that was only submitted, or is under test, has no template that declares
                # databases: it may create one.
                if os.environ.get(DECLARED_VARIABLE):
                    existing_database(store, new.database)
                elif find_database(store, new.database) is None:
                    note(RunWarning.DATABASE_MADE, new.database)
                return cls(new)
        updated, begun_ns = updated_table(old, new, sink.update_behavior), time.time_ns()
        known = _names(old.columns)
        more = [name for name, _ in new.columns if name not in known]
        if sink.update_behavior == LOG and more:
            note(RunWarning.LOGGED_COLUMNS, f"{', '.join(more)} of {old.full_name}")
            return cls(updated)
        return cls(updated, old if old.partition_keys else None, begun_ns)

    def store(self) -> None:
        """Put the table and its new partitions into the local Data Catalog."""
        home = job_home()
        with Store(home.database) as store:
            if self.table is not None:
                put_tables(store, [self.table])
            if self.partitioned and registered_partitions(store, self.partitioned) is not None:
                oldest = self.begun_ns - CLOCK_TICK_NS
                written = [
                    replace(partition, is_implicit=False)
                    for partition in partition_folders(self.partitioned, home.existing_path)
                    if _is_newer(home.local_path(partition.location), oldest)
                ]
                register_partitions(store, self.partitioned, written, home.existing_path)


def _is_newer(folder: Path, oldest_ns: int) -> bool:
    return any(file.stat().st_mtime_ns >= oldest_ns for file in folder.iterdir())


def new_table(
    names: tuple[str, str],
    path: str,
    how: WriteFormat,
    schema: StructType,
    partition_keys: tuple[str, ...],
) -> CatalogTable:
    """Return the table that a sink creates if it is missing."""
    serde_parameters = {"serialization.format": "1"}
    parameters = {"classification": how.name, "EXTERNAL": "TRUE"}
    if how.name == "csv":
        serde_parameters["field.delim"] = how.options["sep"]
        if how.options["header"] == "true":
            parameters[SKIP_HEADER] = "1"
    columns = {field.name: hive_type(field.dataType) for field in schema}
    keys = [(key.lower(), columns.pop(key)) for key in partition_keys]
    others = [(name.lower(), kind) for name, kind in columns.items()]
    database, name = names
    return table_of_request(
        {
            "DatabaseName": database,
            "TableInput": {
                "Name": name.lower(),
                "TableType": "EXTERNAL_TABLE",
                "Parameters": parameters,
                "PartitionKeys": as_columns(keys),
                "StorageDescriptor": storage_of(how.name, others, path, serde_parameters),
            },
        }
    )


def updated_table(old: CatalogTable, new: CatalogTable, behavior: str) -> CatalogTable | None:
    """Return the table with the schema of the written rows; None if nothing changes.

    A table without partition keys keeps its schema, as AWS says.
    """
    old_keys, new_keys = _names(old.partition_keys), _names(new.partition_keys)
    if old_keys != new_keys:
        raise UsageError(
            f"partitionKeys are {new_keys} and the table {old.full_name} has {old_keys}: they must "
            "be the same, in the same order"
        )
    if behavior == LOG or not old_keys:
        return None
    storage: Mapping[str, Any] = old.definition["StorageDescriptor"]
    columns = new.definition["StorageDescriptor"]["Columns"]
    definition = {**old.definition, "StorageDescriptor": {**storage, "Columns": columns}}
    return CatalogTable(old.database, old.name, definition)


def _names(columns: list[tuple[str, str]]) -> list[str]:
    return [name.lower() for name, _ in columns]
