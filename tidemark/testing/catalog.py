"""The fixture `catalog`: tables of the Data Catalog of one test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from tidemark.errors import UsageError
from tidemark.glue_job.metastore.catalog_settings import ARGUMENT, catalog_settings
from tidemark.glue_job.metastore.storage import STORED_AS, as_columns, storage_of
from tidemark.local_state.catalog.definitions import catalog_databases, put_databases
from tidemark.local_state.catalog.edit import dropped, named_table
from tidemark.local_state.catalog.partitions import partitions_of, sync_partitions
from tidemark.local_state.catalog.tables import catalog_tables, put_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_databases import CatalogDatabase
from tidemark.model.assembly.catalog_tables import SKIP_HEADER, CatalogTable, table_of_request
from tidemark.testing.lake_files import Row, plain

if TYPE_CHECKING:
    from tidemark.testing.kit import GlueTest
    from tidemark.testing.lake import Lake

Columns: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]] | str
TYPES = {bool: "boolean", int: "bigint", float: "double", str: "string"}


class Catalog:
    """Databases and tables of a test, as jobs find them with `from_catalog` and Spark with SQL.

    Example:
        >>> _ = lake.put("raw/orders/1.json", [{"id": 1}, {"id": 2}])
        >>> catalog.put_table("sales.orders", {"id": "bigint"}, "s3://raw/orders/", format="json")
        'sales.orders'
        >>> catalog.rows("sales.orders", where="id > 1")
        [{'id': 2}]
    """

    def __init__(self, test: GlueTest, lake: Lake) -> None:
        """Take the test whose they are."""
        self._test = test
        self._lake = lake

    def put_database(self, name: str, **definition: Any) -> None:
        """Define a database; `definition` adds properties of Glue's DatabaseInput."""
        with Store(self._test.home.database) as store:
            put_databases(store, [CatalogDatabase(name.lower(), {"Name": name, **definition})])

    def put_table(
        self,
        name: str,
        columns: Columns | None = None,
        location: str | None = None,
        *,
        format: str = "parquet",  # noqa: A002 (as in Spark)
        partition_keys: Columns = (),
        rows: Iterable[Mapping[str, Any]] | None = None,
        parameters: Mapping[str, str] | None = None,
        database: str | None = None,
        definition: Mapping[str, Any] | None = None,
    ) -> str:
        """Define a table; return its name. A missing database is created, with a bucket.

        Args:
            name: ``database.table``; or the table, with `database`.
            columns: Hive's types by name, as a dict, as pairs, or as one string,
                ``"id bigint, status string"``; without, those of `rows`.
            location: of its files; without, ``s3://DATABASE-tables/TABLE/``. The bucket is created.
            format: parquet, json, csv, orc or avro.
            partition_keys: as `columns`; existing folders ``key=value/`` are registered.
            rows: are written as one file into the location.
            parameters: further table properties.
            database: of the table.
            definition: Glue's TableInput, instead of all of these.

        Raises:
            UsageError: the name, a column or the format is not valid.
        """
        owner, table = self._names(name, database)
        if definition is None:
            definition = self._definition(
                owner, table, columns, location, format, partition_keys, rows, parameters
            )
        made = table_of_request(
            {"DatabaseName": owner, "TableInput": {"Name": table, **definition}}
        )
        if made.definition.get("StorageDescriptor", {}).get("Location"):
            self._lake.uri(made.location)
        if rows is not None:
            place = f"{made.location.rstrip('/')}/rows.{format}"
            self._lake.put(place, list(rows))
        with Store(self._test.home.database) as store:
            if owner not in self.databases():
                address = self._lake.uri(_bucket(owner))
                put_databases(store, [CatalogDatabase(owner, {"LocationUri": address})])
            put_tables(store, [made])
            if made.partition_keys and not made.is_projected:
                sync_partitions(store, made, self._test.home.existing_path)
        return made.full_name

    def rows(self, name: str, where: str | None = None) -> list[Row]:
        """Return the rows of a table, as Spark reads it through the Data Catalog.

        A table of Iceberg is read by a run of its own, which takes some seconds.

        Args:
            name: ``database.table``.
            where: a condition of SQL; without, all rows.

        Raises:
            EntityNotFoundError: the table does not exist.
        """
        table = self._table(name)
        if table.is_iceberg:
            from tidemark.testing.iceberg_rows import iceberg_rows

            return iceberg_rows(self._test, self._lake, table, where or "true")
        condition = f" WHERE {where}" if where else ""
        return self.sql(f"SELECT * FROM `{table.database}`.`{table.name}`{condition}")  # noqa: S608

    def sql(self, query: str) -> list[Row]:
        """Return the rows of a query over tables of the Data Catalog."""
        from pyspark.sql import SparkSession

        from tidemark.testing.process_state import NeedsProcessError
        from tidemark.testing.spark_settings import Taken

        home, engine = self._test.home, self._test.kit.engine
        self._test.spark()
        settings = catalog_settings(home, {ARGUMENT: "true"}, {}).settings
        with engine.lent(home.database, settings, Taken(home, NeedsProcessError)):
            return [plain(row) for row in SparkSession.builder.getOrCreate().sql(query).collect()]

    def tables(self, database: str | None = None) -> list[str]:
        """Return the names of all tables, or of those of a database."""
        with Store(self._test.home.database) as store:
            return [table.full_name for table in catalog_tables(store, database)]

    def databases(self) -> list[str]:
        """Return the names of all databases."""
        with Store(self._test.home.database) as store:
            return [database.name for database in catalog_databases(store)]

    def table(self, name: str) -> Mapping[str, Any]:
        """Return the definition of a table, Glue's TableInput.

        Raises:
            EntityNotFoundError: the table does not exist.
        """
        return self._table(name).definition

    def columns(self, name: str) -> dict[str, str]:
        """Return the types of a table's columns by name, partition keys last."""
        table = self._table(name)
        return dict([*table.columns, *table.partition_keys])

    def partitions(self, name: str) -> list[dict[str, str]]:
        """Return the values of each partition of a table, by key."""
        table = self._table(name)
        keys = [key for key, _ in table.partition_keys]
        with Store(self._test.home.database) as store:
            values = partitions_of(store, table, self._test.home.existing_path)
        return [dict(zip(keys, partition.values, strict=True)) for partition in values]

    def drop_table(self, name: str) -> None:
        """Forget a table; its files stay."""
        dropped(self._test.home, name)

    def _table(self, name: str) -> CatalogTable:
        with Store(self._test.home.database) as store:
            return named_table(store, name)

    def _names(self, name: str, database: str | None) -> tuple[str, str]:
        owner, _, table = name.rpartition(".")
        owner = owner or database or ""
        if not owner or not table:
            raise UsageError(f"{name!r} is not the name of a table; write it as 'database.table'")
        return owner.lower(), table.lower()

    def _definition(
        self,
        database: str,
        table: str,
        columns: Columns | None,
        location: str | None,
        format_name: str,
        partition_keys: Columns,
        rows: Iterable[Mapping[str, Any]] | None,
        parameters: Mapping[str, str] | None,
    ) -> dict[str, Any]:
        if format_name not in STORED_AS:
            raise UsageError(f"format is {format_name!r}; allowed: {', '.join(sorted(STORED_AS))}")
        known = columns_of(columns) if columns is not None else _types_of_rows(table, rows)
        properties = {"classification": format_name, "EXTERNAL": "TRUE", **(parameters or {})}
        uri = self._lake.uri(location or f"{_bucket(database)}/{table}/")
        of_serde = {"serialization.format": "1"}
        if format_name == "csv":
            of_serde["field.delim"] = ","
            properties.setdefault(SKIP_HEADER, "1")
        return {
            "TableType": "EXTERNAL_TABLE",
            "Parameters": properties,
            "PartitionKeys": as_columns(columns_of(partition_keys)),
            "StorageDescriptor": storage_of(format_name, known, uri, of_serde),
        }


def _bucket(database: str) -> str:
    return f"{database.replace('_', '-').strip('-')}-tables"


def columns_of(columns: Columns) -> list[tuple[str, str]]:
    """Return columns as pairs of name and type.

    Raises:
        UsageError: one of them has no type.
    """
    if isinstance(columns, str):
        pairs: list[Any] = [
            part.strip().replace(":", " ", 1).split(None, 1) for part in _parts(columns)
        ]
    else:
        pairs = list(columns.items() if isinstance(columns, Mapping) else columns)
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise UsageError(f"the column {pair!r} has no type; write 'id bigint, status string'")
    return [(str(name), str(kind)) for name, kind in pairs]


def _parts(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]


def _types_of_rows(table: str, rows: Iterable[Mapping[str, Any]] | None) -> list[tuple[str, str]]:
    types: dict[str, str] = {}
    for row in rows if isinstance(rows, list | tuple) else ():
        for name, value in row.items():
            if value is not None and type(value) in TYPES:
                types.setdefault(name, TYPES[type(value)])
    if not types:
        raise UsageError(f"the table {table} has no columns; give columns={{'id': 'bigint'}}")
    return list(types.items())
