"""Answers the questions of Spark's catalog in the JVM about the local Data Catalog."""

import contextlib
import json
import threading
import traceback
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tidemark.errors import TidemarkError
from tidemark.glue_job.edge.announce import announced
from tidemark.glue_job.iceberg.answers import ICEBERG_OPERATIONS
from tidemark.glue_job.metastore.spark_tables import (
    PROVIDER,
    ROWS,
    SIZE,
    TYPES,
    catalog_table,
    hive_table,
    spark_table,
)
from tidemark.glue_job.metastore.table_files import (
    Names,
    WhiteRows,
    ask_java,
    columns_of,
    files_of,
    is_plain,
    look_at,
    spelled,
    spelled_names,
    warnings_of,
)
from tidemark.local_state.bookmarks.hidden import of_each_kind
from tidemark.local_state.bookmarks.listing import Filters, list_files
from tidemark.local_state.catalog.definitions import (
    catalog_databases,
    drop_database,
    find_database,
    put_databases,
)
from tidemark.local_state.catalog.partitions import (
    Partition,
    partitions_of,
    register_partitions,
    unregister_partitions,
)
from tidemark.local_state.catalog.tables import (
    catalog_tables,
    drop_table,
    put_tables,
    table_or_none,
)
from tidemark.local_state.home import Home
from tidemark.local_state.operations import CATALOG
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_databases import CatalogDatabase
from tidemark.model.assembly.catalog_tables import SKIP_HEADER, CatalogTable

Request = Mapping[str, Any]
CHANGES = frozenset(
    "put_database put_table put_partitions drop_database drop_table drop_partitions "
    "commit_iceberg_table drop_iceberg_table rename_iceberg_table".split()
)


class Answers:
    """The Data Catalog of a database file, for the JVM of one job run."""

    def __init__(self, home: Home, database: Path) -> None:
        """Answer for a home."""
        self._home = home
        self._database = database
        self._warned = set[str]()
        self._looked = set[tuple[str, str, int, int]]()
        self._names: dict[str, Names] = {}
        self._white_rows = WhiteRows()
        self._of_thread = threading.local()  # a connection to SQLite belongs to one thread
        self._operations: dict[str, Callable[[Store, Request], Any]] = {
            "databases": lambda store, _: [database.name for database in catalog_databases(store)],
            "database": _get_database,
            "put_database": _put_database,
            "drop_database": lambda store, request: drop_database(store, request["database"]),
            "tables": lambda store, request: [
                {"name": table.name, "is_view": table.is_view}
                for table in catalog_tables(store, request["database"])
            ],
            "table": self._table,
            "stored_table": _stored_table,
            "put_table": _put_table,
            "put_stats": _put_stats,
            "drop_table": lambda store, request: drop_table(
                store, request["database"].lower(), request["table"].lower()
            ),
            "places": self._locations,
            "partitions": self._partitions,
            "put_partitions": self._put_partitions,
            "drop_partitions": self._drop_partitions,
            "hive_table": lambda _, request: hive_table(request),
            **ICEBERG_OPERATIONS,
        }

    def ask(self, request: str) -> str:
        """Return the answer to a request, both JSON; an error is an answer too."""
        question = json.loads(request)
        operation = question["operation"]
        subject = ".".join(question[key] for key in ("database", "table") if question.get(key))
        changes = [(CATALOG, subject)] if operation in CHANGES else []
        try:
            with announced(*changes):
                answer = self._operations[operation](self._store(question), question)
        except TidemarkError as error:
            return json.dumps({"error": str(error)})
        except Exception as error:  # noqa: BLE001 (else Py4J tells the script nothing of it)
            traceback.print_exc()
            text = f"the local Data Catalog failed at {operation}"
            return json.dumps({"error": f"{text}: {type(error).__name__}: {error}"})
        return json.dumps({"answer": answer})

    def _store(self, request: Request) -> Store:
        # Iceberg asks for the Data Catalog even where the session has a catalog of its own.
        file = self._home.database if request.get("is_glue") else self._database
        stores: dict[Path, Store] = self._of_thread.__dict__.setdefault("stores", {})
        return stores.get(file) or stores.setdefault(file, Store(file))

    def _folder_of(self, uri: str) -> Path:
        if uri.startswith("file:"):
            return Path(urlsplit(uri).path)
        return self._home.existing_path(uri)

    def _table(self, store: Store, request: Request) -> dict[str, Any] | None:
        table = table_or_none(store, request["database"], request["table"])
        if table is None:
            return None
        for_spark = spark_table(table)
        is_of_hive = for_spark["provider"] == "json" and for_spark["schema"] is None
        if for_spark["provider"] == "csv" and for_spark["schema"] is None:
            with contextlib.suppress(OSError, EOFError, zlib.error):  # Spark reports it at the read
                for_spark["options"] |= self._white_rows.options_for(
                    for_spark, self._files(store, table)
                )
        if is_of_hive:
            if not self._names.get(table.location):  # cached once it has some
                self._names[table.location] = spelled_names(self._folder_of(table.location))
            for_spark = spelled(for_spark, self._names[table.location])
        if table.full_name not in self._warned:
            self._warned.add(table.full_name)
            _warn(table)
            self._warn_of_hidden(store, table)
        if for_spark["provider"] == "json" and is_plain(for_spark["options"]):
            self._warn_of_json(store, table, for_spark)
        return for_spark

    def _warn_of_hidden(self, store: Store, table: CatalogTable) -> None:
        hidden: list[str] = []
        with contextlib.suppress(TidemarkError, OSError):  # the query reports it
            for folder in [] if table.is_view else self._folders_of(store, table):
                hidden += list_files(self._folder_of(folder), folder, Filters(recurse=True)).hidden
        if hidden:
            note(RunWarning.HIDDEN_FILES, of_each_kind(hidden))

    def _warn_of_json(
        self, store: Store, table: CatalogTable, for_spark: Mapping[str, Any]
    ) -> None:
        """Note what Spark skips in a JSON table, once per file."""
        keys = for_spark["partition_keys"]
        try:
            files = [file for file in self._files(store, table) if self._is_new(file, table)]
            seen = look_at(columns_of(for_spark), files, ask_java, keys) if files else []
        except Exception as error:  # noqa: BLE001 (to look fails no query)
            reason = " ".join(f"{type(error).__name__}: {error}".splitlines()[:2])  # not the stack
            about = f"{table.full_name} ({reason})"
            note(RunWarning.TABLE_NOT_LOOKED_AT, about)
            return
        for warning, about in warnings_of(seen, table.full_name):
            note(warning, about)

    def _files(self, store: Store, table: CatalogTable) -> list[Path]:
        folders = self._folders_of(store, table)
        return [file for folder in folders for file in files_of(self._folder_of(folder))]

    def _folders_of(self, store: Store, table: CatalogTable) -> list[str]:
        if not table.partition_keys:
            return [table.location]
        return [partition.location for partition in partitions_of(store, table, self._folder_of)]

    def _is_new(self, file: Path, table: CatalogTable) -> bool:
        stat = file.stat()
        # A file that changed since the last call is new.
        key = (table.full_name, str(file), stat.st_mtime_ns, stat.st_size)
        is_new = key not in self._looked
        self._looked.add(key)
        return is_new

    def _locations(self, store: Store, request: Request) -> list[str]:
        table = _existing(store, request)
        partitions = partitions_of(store, table, self._folder_of)
        return [*(partition.location for partition in partitions), table.location]

    def _partitions(self, store: Store, request: Request) -> list[dict[str, Any]]:
        table = _existing(store, request)
        keys = spark_table(table)["partition_keys"]
        spec_asked = request.get("spec") or {}
        return [
            {
                "spec": spec,
                "location": partition.location,
                "parameters": dict(partition.parameters),
                "is_implicit": partition.is_implicit,
            }
            for partition in partitions_of(store, table, self._folder_of)
            if (spec := dict(zip(keys, partition.values, strict=True))).items()
            >= spec_asked.items()
        ]

    def _put_partitions(self, store: Store, request: Request) -> None:
        table = _existing(store, request)
        partitions = [
            Partition(
                _values(table, partition["spec"]), partition["location"], partition["parameters"]
            )
            for partition in request["partitions"]
        ]
        register_partitions(store, table, partitions, self._folder_of)

    def _drop_partitions(self, store: Store, request: Request) -> None:
        table = _existing(store, request)
        values = [_values(table, spec) for spec in request["specs"]]
        unregister_partitions(store, table, values, self._folder_of)


def _get_database(store: Store, request: Request) -> dict[str, Any] | None:
    database = find_database(store, request["database"])
    if database is None:
        return None
    return {
        "database": database.name,
        "description": database.description,
        "location": database.location,
        "properties": database.parameters,
    }


def _warn(table: CatalogTable) -> None:
    # Views, and tables of Spark, surprise nobody.
    if table.is_view or PROVIDER in table.parameters:
        return
    if str(table.parameters.get(SKIP_HEADER, "0")) != "0":
        note(RunWarning.HEADER_IS_A_ROW, table.full_name)
    if "openx" in table.serde_library:
        note(RunWarning.SERDE_JAR, table.full_name)


def _values(table: CatalogTable, spec: Mapping[str, str]) -> tuple[str, ...]:
    by_name = {name.lower(): value for name, value in spec.items()}
    return tuple(by_name[name.lower()] for name, _ in table.partition_keys)


def _put_database(store: Store, request: Request) -> None:
    definition = {
        "Name": request["database"],
        "Description": request["description"] or "",
        **({"LocationUri": request["location"]} if request["location"] else {}),
        "Parameters": request["properties"],
    }
    put_databases(store, [CatalogDatabase(request["database"].lower(), definition)])


def _stored_table(store: Store, request: Request) -> dict[str, str] | None:
    table = table_or_none(store, request["database"], request["table"])
    if table is None:
        return None
    is_managed = table.definition.get("TableType") == TYPES["MANAGED"]
    return {"type": "MANAGED" if is_managed else "EXTERNAL"}


def _existing(store: Store, request: Request) -> CatalogTable:
    table = table_or_none(store, request["database"], request["table"])
    if table is None:  # another job dropped it just now
        raise TidemarkError(f"the table {request['database']}.{request['table']} is gone")
    return table


def _put_table(store: Store, request: Request) -> None:
    old = table_or_none(store, request["database"], request["table"])
    put_tables(store, [catalog_table(request, old)])


def _put_stats(store: Store, request: Request) -> None:
    table = _existing(store, request)
    parameters = dict(table.definition.get("Parameters") or {})
    for name, key in ((SIZE, "size_bytes"), (ROWS, "rows")):
        parameters.pop(name, None)
        if request.get(key):
            parameters[name] = request[key]
    definition = {**table.definition, "Parameters": parameters}
    put_tables(store, [CatalogTable(table.database, table.name, definition)])
