"""Operations on partitions.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-catalog-partitions.html
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_service.catalog_api.expressions import rows_that_match
from tidemark.glue_service.catalog_api.requests import attempt
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.models import as_shape
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
)
from tidemark.local_state.catalog.partitions import (
    Partition,
    partitions_of,
    register_partitions,
    unregister_partitions,
)
from tidemark.local_state.catalog.tables import find_table, version_of

Values = tuple[str, ...]
TIMES = ("LastAccessTime", "LastAnalyzedTime")  # that clients set


class _Table:
    """A table of a request with its partitions."""

    def __init__(self, glue: GlueState, request: Request) -> None:
        self._glue = glue
        self.table = find_table(glue.store, request["DatabaseName"], request["TableName"])
        self._created_at_ms = version_of(glue.store, self.table).created_at_ms
        partitions = partitions_of(glue.store, self.table, self._folder_of)
        self.partitions = {partition.values: partition for partition in partitions}

    def _folder_of(self, uri: str) -> Path:
        try:
            return self._glue.machine.home.existing_path(uri)
        except (EntityNotFoundError, UsageError):
            # A catalog knows places that are not there, too.
            return Path(os.devnull)

    def get(self, values: Iterable[str]) -> Partition:
        """Return the partition of some values."""
        wanted = tuple(values)
        if wanted not in self.partitions:
            raise NotFoundError(
                f"Partition not found: {list(wanted)} of the table {self.table.full_name}"
            )
        return self.partitions[wanted]

    def create(self, given: Request) -> None:
        """Register a new partition."""
        partition = self._partition(given)
        old = self.partitions.get(partition.values)
        if old and not old.is_implicit:
            raise AlreadyExistsError(f"Partition already exists: {list(partition.values)}")
        self._register(partition)

    def replace(self, values: Iterable[str], given: Request) -> None:
        """Replace a partition, possibly with other values."""
        old, new = self.get(values), self._partition(given)
        if new.values != old.values and new.values in self.partitions:
            raise AlreadyExistsError(f"Partition already exists: {list(new.values)}")
        with self._glue.store.transaction():
            if new.values != old.values:
                self.delete(old.values)
            self._register(new)

    def delete(self, values: Iterable[str]) -> None:
        """Delete a partition from the catalog; its data is kept."""
        old = self.get(values)
        unregister_partitions(self._glue.store, self.table, [old.values], self._folder_of)
        del self.partitions[old.values]

    def _register(self, partition: Partition) -> None:
        register_partitions(self._glue.store, self.table, [partition], self._folder_of)
        self.partitions[partition.values] = partition

    def _partition(self, given: Request) -> Partition:
        keys = self.table.partition_keys
        values = tuple(given.get("Values", ()))
        if len(values) != len(keys):
            raise InvalidInputError(
                "The number of partition keys do not match the number of partition values: "
                f"{[name for name, _ in keys]}, {list(values)}"
            )
        pairs = zip(keys, values, strict=True)
        folder = "/".join(f"{name}={value}" for (name, _), value in pairs)
        stated = given.get("StorageDescriptor", {}).get("Location")
        location = stated or f"{self.table.location.rstrip('/')}/{folder}"
        return Partition(values, location, given.get("Parameters", {}), dict(given))

    def member(self, partition: Partition) -> Answer:
        """Return a partition in the form of answers; the table provides missing fields."""
        of_table = as_shape("Table", self.table.definition).get("StorageDescriptor", {})
        own = partition.definition or {}
        descriptor = {
            **of_table,
            **own.get("StorageDescriptor", {}),
            "Location": partition.location,
        }
        return {
            **as_shape("Partition", {name: own[name] for name in TIMES if name in own}),
            "Values": list(partition.values),
            "DatabaseName": self.table.database,
            "TableName": self.table.name,
            "CreationTime": partition.registered_at_ms or self._created_at_ms,
            "StorageDescriptor": descriptor,
            "Parameters": dict(partition.parameters),
            "CatalogId": self._glue.account,
        }


def create_partition(glue: GlueState, request: Request) -> Answer:
    """Register a partition."""
    _Table(glue, request).create(request["PartitionInput"])
    return {}


def batch_create_partition(glue: GlueState, request: Request) -> Answer:
    """Register partitions; each that fails is an error."""
    table = _Table(glue, request)
    with glue.store.transaction():
        errors = [
            {"PartitionValues": given.get("Values", []), "ErrorDetail": detail}
            for given in request["PartitionInputList"]
            if (detail := attempt(table.create, given))
        ]
    return {"Errors": errors}


def update_partition(glue: GlueState, request: Request) -> Answer:
    """Replace a partition."""
    _Table(glue, request).replace(request["PartitionValueList"], request["PartitionInput"])
    return {}


def batch_update_partition(glue: GlueState, request: Request) -> Answer:
    """Replace partitions; each that fails is an error."""
    table = _Table(glue, request)
    errors = []
    for entry in request["Entries"]:
        values, given = entry["PartitionValueList"], entry["PartitionInput"]
        if detail := attempt(table.replace, values, given):
            errors.append({"PartitionValueList": values, "ErrorDetail": detail})
    return {"Errors": errors}


def delete_partition(glue: GlueState, request: Request) -> Answer:
    """Delete a partition from the catalog; its data is kept."""
    _Table(glue, request).delete(request["PartitionValues"])
    return {}


def batch_delete_partition(glue: GlueState, request: Request) -> Answer:
    """Delete partitions from the catalog; each missing one is an error."""
    table = _Table(glue, request)
    with glue.store.transaction():
        errors = [
            {"PartitionValues": partition["Values"], "ErrorDetail": detail}
            for partition in request["PartitionsToDelete"]
            if (detail := attempt(table.delete, partition["Values"]))
        ]
    return {"Errors": errors}


def get_partition(glue: GlueState, request: Request) -> Answer:
    """Return a partition."""
    table = _Table(glue, request)
    return {"Partition": table.member(table.get(request["PartitionValues"]))}


def batch_get_partition(glue: GlueState, request: Request) -> Answer:
    """Return the existing partitions of a list."""
    table = _Table(glue, request)
    wanted = [tuple(partition["Values"]) for partition in request["PartitionsToGet"]]
    members = [table.member(table.partitions[key]) for key in wanted if key in table.partitions]
    return {"Partitions": members, "UnprocessedKeys": []}


def _order(partition: Partition) -> str:
    return json.dumps(partition.values)


def get_partitions(glue: GlueState, request: Request) -> Answer:
    """Return a page of the partitions of a table, filtered by an Expression."""
    table = _Table(glue, request)
    partitions = sorted(table.partitions.values(), key=_order)
    if expression := request.get("Expression"):
        values = [partition.values for partition in partitions]
        matching = rows_that_match(expression, table.table.partition_keys, values)
        partitions = [partitions[number] for number in matching]
    if segment := request.get("Segment"):
        total, number = segment["TotalSegments"], segment["SegmentNumber"]
        partitions = partitions[number::total]
    page, token = glue_page(partitions, request, _order)
    members = [table.member(partition) for partition in page]
    if request.get("ExcludeColumnSchema", False):
        for member in members:
            member["StorageDescriptor"].pop("Columns", None)
    return {"Partitions": members, "NextToken": token}
