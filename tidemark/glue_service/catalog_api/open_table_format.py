"""Creates tables of Iceberg as Glue does for `OpenTableFormatInput`: with their first metadata.

Sources: https://docs.aws.amazon.com/glue/latest/dg/populate-otf.html (columns, no partitions), and
the messages of AWS as others have observed them:
https://github.com/go-to-k/cdkd/issues/1408, https://github.com/apache/iceberg-go/pull/410
"""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias
from uuid import uuid4

from tidemark.glue_job.iceberg.table_input import table_input
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.local_state.catalog.table_metadata import write_metadata
from tidemark.local_state.home import Home
from tidemark.model.assembly.catalog_tables import CatalogTable, table_of_request
from tidemark.model.assembly.iceberg import METADATA, PREVIOUS
from tidemark.model.assembly.iceberg_metadata import new_metadata

Request: TypeAlias = Mapping[str, Any]
VERSION = "2"


def iceberg_table_of(home: Home, request: Request, at_ms: int) -> CatalogTable:
    """Write the first metadata of a table at its place; return its definition.

    The request is one that `check_iceberg` has let pass.
    """
    table = table_of_request(request)
    storage = request["TableInput"]["StorageDescriptor"]
    location = storage["Location"].rstrip("/")
    metadata = new_metadata(storage["Columns"], location, str(uuid4()), at_ms)
    place = f"{location}/metadata/00000-{uuid4()}.metadata.json"
    home.existing_path(place).parent.mkdir(parents=True, exist_ok=True)
    write_metadata(home, place, metadata)
    commit = {
        "table": table.name,
        METADATA: place,
        PREVIOUS: None,
        "location": location,
        "properties": {},
        "schemas": [json.dumps(metadata["schemas"][0])],
    }
    return CatalogTable(table.database, table.name, table_input(commit, table.definition))


def check_iceberg(request: Request) -> None:
    """Refuse a table of Iceberg as AWS does, with its message where it is known."""
    iceberg_input = request["OpenTableFormatInput"]["IcebergInput"]
    definition: dict[str, Any] = request.get("TableInput") or {}
    storage: dict[str, Any] = definition.get("StorageDescriptor") or {}
    if iceberg_input.get("CreateIcebergTableInput"):
        if storage.get("Location") or storage.get("Columns"):
            raise InvalidInputError(
                "Table metadata information present at multiple parts of input request"
            )
        raise InvalidInputError(
            "CreateIcebergTableInput does not work on this machine: give Location and Columns in "
            "TableInput.StorageDescriptor, or create the table by Spark SQL"
        )
    if definition.get("TableType") != "EXTERNAL_TABLE":
        raise InvalidInputError("Iceberg table type has to be EXTERNAL_TABLE")
    if not storage.get("Location"):
        raise InvalidInputError(
            "Location information cannot be null while creating an iceberg table"
        )
    if {"table_type", METADATA} & (definition.get("Parameters") or {}).keys():
        raise InvalidInputError(
            f"Cannot use reserved parameters table_type or {METADATA} while creating an iceberg "
            "table"
        )
    _check_supported(iceberg_input, definition, storage)


def _check_supported(iceberg_input: Request, definition: Request, storage: Request) -> None:
    """Refuse what AWS's pages say is not supported, in words of our own."""
    if (version := iceberg_input.get("Version", VERSION)) != VERSION:
        raise InvalidInputError(f"IcebergInput.Version is {version!r}; allowed: {VERSION}")
    if definition.get("PartitionKeys"):
        raise InvalidInputError(
            "PartitionKeys of a table of Iceberg: the Data Catalog creates none with partitions; "
            "add them by Spark SQL, ALTER TABLE ... ADD PARTITION FIELD"
        )
    if not storage.get("Columns"):
        raise InvalidInputError("a table of Iceberg needs StorageDescriptor.Columns")
