"""Finds the resources of a template that hold state: tables, databases, buckets and keys."""

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.checks.state.manifest import CONTRACT, GLUE_TABLE, ICEBERG_TABLE, StatefulResource
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.assembly.intrinsics import Scope
from tidemark.model.assembly.resources import DYNAMODB_TABLES, METADATA

# Where the template states their names.
NAMES = {
    **dict.fromkeys(DYNAMODB_TABLES, ("TableName",)),
    "AWS::Glue::Database": ("DatabaseInput", "Name"),
    "AWS::KMS::Key": (),
    "AWS::S3::Bucket": ("BucketName",),
}


def holds_state(resource: Mapping[str, Any]) -> bool:
    """Return whether a resource holds state that a new one of its kind would not have.

    Of the tables of the Data Catalog that is one with partitions that jobs register, and one of
    Iceberg, whose snapshots only the catalog finds.
    """
    if resource["Type"] != GLUE_TABLE:
        return resource["Type"] in NAMES
    table = _table(resource, "")
    return "OpenTableFormatInput" in resource.get("Properties", {}) or (
        bool(table.partition_keys) and not table.is_projected
    )


def stateful_resource(resource: Mapping[str, Any], scope: Scope) -> StatefulResource:
    """Return the manifest's record of a resource that holds state."""
    kind, properties = resource["Type"], resource.get("Properties", {})
    is_retained = all(
        resource.get(policy, "Delete").startswith("Retain")
        for policy in ("DeletionPolicy", "UpdateReplacePolicy")
    )
    if kind == GLUE_TABLE:
        table = _table(scope.resolve(resource), str(scope.resolve(properties["DatabaseName"])))
        columns = tuple(f"{name} {type_}" for name, type_ in table.partition_keys)
        return StatefulResource(kind, table.full_name, columns, is_retained)
    types = {
        attribute["AttributeName"]: attribute["AttributeType"]
        for attribute in properties.get("AttributeDefinitions", [])
    }
    name: Any = properties if NAMES[kind] else ""
    for part in NAMES[kind]:
        name = name.get(part, "")
    return StatefulResource(
        type=kind,
        name=str(scope.resolve(name)),
        keys=tuple(
            f"{key['AttributeName']} {types.get(key['AttributeName'], '?')} {key['KeyType']}"
            for key in properties.get("KeySchema", [])
        ),
        is_retained=is_retained,
    )


def iceberg_tables(
    resource: Mapping[str, Any], scope: Scope
) -> Iterator[tuple[str, StatefulResource]]:
    """Yield the tables of Iceberg that a job writes, each with its key in the manifest."""
    for data in resource.get("Metadata", {}).get(METADATA, {}).get("writes", []):
        if data.get("format") == "iceberg":
            name, uri = str(scope.resolve(data["table"])), str(scope.resolve(data["uri"]))
            yield f"iceberg/{name}", StatefulResource(ICEBERG_TABLE, name, (uri,))


def contracts(resource: Mapping[str, Any], scope: Scope) -> Iterator[tuple[str, StatefulResource]]:
    """Yield the contracts with columns of data that a job writes, each with its key."""
    for data in resource.get("Metadata", {}).get(METADATA, {}).get("writes", []):
        if fields := data.get("schema", {}).get("fields"):
            columns = tuple(f"{name} {kind}" for name, kind in fields.items())
            yield f"contract/{scope.resolve(data['uri'])}", StatefulResource(CONTRACT, "", columns)


def _table(resource: Mapping[str, Any], database: str) -> CatalogTable:
    definition = resource.get("Properties", {}).get("TableInput", {})
    return CatalogTable(database, str(definition.get("Name", "")), definition)
