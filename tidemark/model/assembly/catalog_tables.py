"""Tables of the Data Catalog, as Glue's CreateTable defines them.

Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateTable.html
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.errors import UnsupportedError, UsageError

# The format of a table without a classification: by a part of its SerDe's class name.
SERDES = {
    "jsonserde": "json",
    "opencsvserde": "csv",
    "lazysimpleserde": "csv",
    "parquethiveserde": "parquet",
    "orcserde": "orc",
    "avroserde": "avro",
}
JDBC_CLASSIFICATIONS = ("jdbc", "mysql", "oracle", "postgresql", "redshift", "sqlserver", "derby")
VIEW = "VIRTUAL_VIEW"
STREAMS = ("kafka", "kinesis")
SKIP_HEADER = "skip.header.line.count"


@dataclass(frozen=True)
class CatalogTable:
    """One table of the Data Catalog.

    Attributes:
        database: its database.
        name: its name.
        definition: Glue's TableInput.
    """

    database: str
    name: str
    definition: Mapping[str, Any]

    @property
    def full_name(self) -> str:
        """``database.table``, as people know it."""
        return f"{self.database}.{self.name}"

    @property
    def location(self) -> str:
        """Where its data are."""
        location = self._storage.get("Location")
        if not location:
            raise UsageError(
                f"the table {self.full_name} has no StorageDescriptor.Location; define it again "
                "with one"
            )
        return str(location)

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The names and Hive types of the columns inside of the files."""
        return _columns(self._storage.get("Columns", []))

    @property
    def partition_keys(self) -> list[tuple[str, str]]:
        """The names and Hive types of the columns that are folders, outermost first."""
        return _columns(self.definition.get("PartitionKeys", []))

    @property
    def parameters(self) -> dict[str, str]:
        """The table properties, of the storage descriptor and of the table itself."""
        return {**self._storage.get("Parameters", {}), **self.definition.get("Parameters", {})}

    @property
    def serde_parameters(self) -> dict[str, str]:
        """The parameters of the SerDe, such as ``field.delim``."""
        return dict(self._serde.get("Parameters", {}))

    @property
    def serde_library(self) -> str:
        """The class of the SerDe; empty without one."""
        return str(self._serde.get("SerializationLibrary") or "")

    @property
    def input_format(self) -> str:
        """The class that splits its files; empty without one."""
        return str(self._storage.get("InputFormat") or "")

    @property
    def bucket_columns(self) -> list[str]:
        """The columns by whose hash rows are in files; empty without buckets."""
        return list(self._storage.get("BucketColumns") or [])

    @property
    def bucket_count(self) -> int:
        """How many buckets there are."""
        return int(self._storage.get("NumberOfBuckets") or 0)

    @property
    def sort_columns(self) -> list[str]:
        """The sort columns of a bucket."""
        return [str(column["Column"]) for column in self._storage.get("SortColumns") or []]

    @property
    def classification(self) -> str:
        """The format of its files, or the kind of its database."""
        if stated := self.parameters.get("classification"):
            return str(stated).lower()
        if self.is_iceberg:
            return "iceberg"
        library = self.serde_library.lower()
        for part, format_name in SERDES.items():
            if part in library:
                return format_name
        raise UsageError(
            f"the table {self.full_name} has no Parameters.classification and no known SerDe "
            f"({library or 'none'}); set classification to csv, json, avro, xml, parquet or orc"
        )

    @property
    def is_iceberg(self) -> bool:
        """Whether it is a table of Iceberg, whose metadata names its files.

        Source: https://iceberg.apache.org/docs/1.10.0/aws/#glue-catalog
        """
        return str(self.parameters.get("table_type", "")).upper() == "ICEBERG"

    @property
    def is_view(self) -> bool:
        """Whether it is a named query without its own data."""
        return self.definition.get("TableType") == VIEW

    @property
    def stream(self) -> str | None:
        """What kind of stream its data are: ``kafka`` or ``kinesis``; None for none.

        Source: https://docs.aws.amazon.com/glue/latest/dg/add-job-streaming.html
        """
        kind = str(self.parameters.get("typeOfData") or "").lower()
        return kind if kind in STREAMS else None

    @property
    def is_jdbc(self) -> bool:
        """Whether its data are in a database, not in files."""
        return "connectionName" in self.parameters or self.classification in JDBC_CLASSIFICATIONS

    @property
    def is_projected(self) -> bool:
        """Whether Athena works its partitions out, so that none is registered.

        Source: https://docs.aws.amazon.com/athena/latest/ug/partition-projection.html
        """
        enabled = str(self.parameters.get("projection.enabled", "")).lower()
        return bool(self.partition_keys) and enabled == "true"

    @property
    def _storage(self) -> Mapping[str, Any]:
        return self.definition.get("StorageDescriptor") or {}

    @property
    def _serde(self) -> Mapping[str, Any]:
        return self._storage.get("SerdeInfo") or {}


def _columns(columns: Iterable[Mapping[str, str]]) -> list[tuple[str, str]]:
    return [(column["Name"], column.get("Type", "string")) for column in columns]


def table_of_request(request: Mapping[str, Any]) -> CatalogTable:
    """Return the table that a request of Glue's CreateTable defines."""
    definition = request.get("TableInput")
    if not isinstance(definition, Mapping) or not definition.get("Name"):
        raise UsageError("the request has no TableInput.Name; see `aws glue create-table help`")
    if not request.get("DatabaseName"):
        raise UsageError("the request has no DatabaseName")
    for unsupported in ("TargetTable", "ViewDefinition", "ViewOriginalText"):
        if definition.get(unsupported):
            raise UnsupportedError(
                f"the table {definition['Name']} has a {unsupported}; links and views do not run "
                "locally"
            )
    # Glue keeps names in lower case, for Hive.
    database, name = str(request["DatabaseName"]).lower(), str(definition["Name"]).lower()
    return CatalogTable(database, name, definition)


def read_request(file: Path) -> Mapping[str, Any]:
    """Return the request that a file holds: of CreateTable or CreateConnection."""
    try:
        request = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"cannot read {file}: {error}; it must hold what `aws glue create-table "
            "--cli-input-json` or `create-connection --cli-input-json` takes"
        ) from error
    if not isinstance(request, Mapping):
        raise UsageError(f"{file} holds no JSON object")
    return request
