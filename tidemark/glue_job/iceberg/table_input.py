"""Tables of Iceberg as the Data Catalog describes them; plain data only.

Source: https://github.com/apache/iceberg/tree/apache-iceberg-1.10.0/aws (IcebergToGlueConverter)
"""

import json
from collections.abc import Mapping
from typing import Any

from tidemark.model.assembly.iceberg import METADATA, PREVIOUS

TYPES = {
    "integer": "int",
    "long": "bigint",
    "time": "string",
    "uuid": "string",
    **dict.fromkeys(("timestamptz", "timestamp_ns", "timestamptz_ns"), "timestamp"),
}


def table_input(commit: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return Glue's TableInput of a table after a commit, from the one before it.

    A commit has `metadata_location`, `previous_metadata_location`, `location`, `properties` and
    `schemas`, Iceberg's JSON of each, the current one first.
    """
    properties = commit["properties"]
    parameters = {"table_type": "ICEBERG", METADATA: commit[METADATA]}
    if commit[PREVIOUS]:
        parameters[PREVIOUS] = commit[PREVIOUS]
    columns: dict[str, dict[str, Any]] = {}
    # A column that was dropped or renamed stays, and is marked as not current.
    for place, schema in enumerate(map(json.loads, commit["schemas"])):
        for field in schema["fields"]:
            columns.setdefault(field["name"], _column(field, is_current=place == 0))
    storage = {
        **before.get("StorageDescriptor", {}),
        "Location": commit["location"],
        "Columns": list(columns.values()),
    }
    texts = {"Description": properties.get("comment"), "Owner": properties.get("owner")}
    return {
        **before,
        "Name": commit["table"],
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {**before.get("Parameters", {}), **parameters},
        "StorageDescriptor": storage,
        **{name: text for name, text in texts.items() if text},
    }


def _column(field: Mapping[str, Any], *, is_current: bool) -> dict[str, Any]:
    column: dict[str, Any] = {
        "Name": field["name"],
        "Type": glue_type(field["type"]),
        "Parameters": {
            "iceberg.field.id": str(field["id"]),
            "iceberg.field.optional": str(not field["required"]).lower(),
            "iceberg.field.current": str(is_current).lower(),
        },
    }
    return {**column, "Comment": field["doc"]} if field.get("doc") else column


def glue_type(iceberg_type: str | Mapping[str, Any]) -> str:
    """Return the type of the Data Catalog for a type of Iceberg.

    Example:
        >>> glue_type({"type": "list", "element": "long"})
        'array<bigint>'
    """
    if isinstance(iceberg_type, str):
        if iceberg_type.startswith("fixed"):
            return "binary"
        return TYPES.get(iceberg_type, iceberg_type.replace(" ", ""))
    if iceberg_type["type"] == "list":
        return f"array<{glue_type(iceberg_type['element'])}>"
    if iceberg_type["type"] == "map":
        return f"map<{glue_type(iceberg_type['key'])},{glue_type(iceberg_type['value'])}>"
    fields = (f"{field['name']}:{glue_type(field['type'])}" for field in iceberg_type["fields"])
    return f"struct<{','.join(fields)}>"
