"""The metadata of a new table of Iceberg, from columns as the Data Catalog writes them; pure.

Source: https://iceberg.apache.org/spec/#table-metadata-fields
"""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, TypeAlias

from tidemark.errors import UsageError
from tidemark.model.hive_types import fields_of, inside_of, is_a, parts_of

TYPES = {
    "boolean": "boolean",
    "int": "int",
    "bigint": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
}
ALLOWED = ", ".join([*TYPES, "decimal(p,s)", "array<>", "map<,>", "struct<:>"])
KEY_AND_VALUE = 2  # the parts of a map
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_NextId: TypeAlias = Callable[[], int]


def new_metadata(
    columns: Iterable[Mapping[str, Any]], location: str, uuid: str, at_ms: int
) -> dict[str, Any]:
    """Return the metadata of a table of format-version 2 that has no snapshot and no partitions.

    Example:
        >>> found = new_metadata([{"Name": "id", "Type": "bigint"}], "s3://b/t", "u", 0)
        >>> found["schemas"][0]["fields"]
        [{'id': 1, 'name': 'id', 'required': False, 'type': 'long'}]
    """
    ids = count(1)
    schema = {**_struct(_fields(columns), lambda: next(ids)), "schema-id": 0}
    return {
        "format-version": 2,
        "table-uuid": uuid,
        "location": location,
        "last-sequence-number": 0,
        "last-updated-ms": at_ms,
        "last-column-id": next(ids) - 1,
        "current-schema-id": 0,
        "schemas": [schema],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {},
        "current-snapshot-id": -1,
        "refs": {},
        "snapshots": [],
        "snapshot-log": [],
        "metadata-log": [],
    }


def _fields(columns: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    fields = [
        (column["Name"], column.get("Type") or "", column.get("Comment") or "")
        for column in columns
    ]
    return [(name, re.sub(r"\s", "", kind), doc) for name, kind, doc in fields]


def _struct(fields: Iterable[tuple[str, str, str]], next_id: _NextId) -> dict[str, Any]:
    """Return a struct; its fields are numbered before what is in them, as Iceberg does."""
    numbered = [(next_id(), *field) for field in fields]
    return {
        "type": "struct",
        "fields": [
            {
                "id": number,
                "name": name,
                "required": False,
                "type": _type(kind, next_id, name),
                **({"doc": doc} if doc else {}),
            }
            for number, name, kind, doc in numbered
        ],
    }


def _type(kind: str, next_id: _NextId, column: str) -> str | dict[str, Any]:
    if is_a(kind, "array"):
        number, inside = next_id(), inside_of(kind)
        element = {"element-id": number, "element-required": False}
        return {"type": "list", **element, "element": _type(inside, next_id, column)}
    if is_a(kind, "map") and len(parts := parts_of(inside_of(kind))) == KEY_AND_VALUE:
        key, value = parts
        key_id, value_id = next_id(), next_id()
        return {
            "type": "map",
            "key-id": key_id,
            "key": _type(key, next_id, column),
            "value-id": value_id,
            "value-required": False,
            "value": _type(value, next_id, column),
        }
    if is_a(kind, "struct"):
        return _struct([(name, one, "") for name, one in fields_of(kind)], next_id)
    if match := _DECIMAL.fullmatch(kind.lower()):
        return f"decimal({match[1]}, {match[2]})"
    if kind.lower() not in TYPES:
        raise UsageError(f"column {column!r} has the type {kind!r}, which Iceberg lacks: {ALLOWED}")
    return TYPES[kind.lower()]
