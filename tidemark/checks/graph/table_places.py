"""Reads the locations of tables and their partitions from synthesized templates."""

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.checks.graph.model import Part
from tidemark.model.assembly.resources import METADATA, Templates, resources_of
from tidemark.model.assembly.symbolic_names import SymbolicNames

TEMPLATE = "storage.location.template"


def table_name(names: SymbolicNames, stack: str, properties: Mapping[str, Any]) -> str:
    """Return a table as `database.table`."""
    database = names.text(stack, properties.get("DatabaseName", ""))
    return f"{database}.{names.text(stack, properties.get('TableInput', {}).get('Name', ''))}"


def described(names: SymbolicNames, templates: Templates) -> Iterator[tuple[str, str, str]]:
    """Yield the tables of the datasets of jobs: the job, the table, where its data are."""
    for stack, id_, resource in resources_of(templates, "AWS::Glue::Job"):
        known = resource.get("Metadata", {}).get(METADATA, {})
        for item in (*known.get("reads", []), *known.get("writes", [])):
            if "table" in item:
                table, uri = (names.text(stack, item[key]) for key in ("table", "uri"))
                yield f"{stack}/{id_}", table, uri


def made_by_jobs(names: SymbolicNames, templates: Templates) -> Iterator[str]:
    """Yield the tables that need no resource: a job makes them, or they exist."""
    for stack, _, resource in resources_of(templates, "AWS::Glue::Job"):
        known = resource.get("Metadata", {}).get(METADATA, {})
        for item in (*known.get("reads", []), *known.get("writes", [])):
            if item.get("made"):
                yield names.text(stack, item["table"])


def located(names: SymbolicNames, templates: Templates) -> Iterator[tuple[str, str, str]]:
    """Yield the tables whose data are in S3: the resource, the table, where its data are."""
    for stack, id_, resource in resources_of(templates, "AWS::Glue::Table"):
        properties = resource.get("Properties", {})
        storage = properties.get("TableInput", {}).get("StorageDescriptor", {})
        location = names.text(stack, storage.get("Location", ""))
        if location:
            yield f"{stack}/{id_}", table_name(names, stack, properties), location


def registered(names: SymbolicNames, templates: Templates) -> Iterator[Part]:
    """Yield the partitions that templates register with folders."""
    for stack, id_, resource in resources_of(templates, "AWS::Glue::Partition"):
        properties = resource.get("Properties", {})
        database, table = (
            names.text(stack, properties.get(key, "")) for key in ("DatabaseName", "TableName")
        )
        storage = properties.get("PartitionInput", {}).get("StorageDescriptor", {})
        if uri := names.text(stack, storage.get("Location", "")):
            yield Part(f"{stack}/{id_}", f"{database}.{table}", uri)


def projected(names: SymbolicNames, templates: Templates) -> Iterator[Part]:
    """Yield the partitions that Athena works out from a template of their folders."""
    for stack, id_, resource in resources_of(templates, "AWS::Glue::Table"):
        properties = resource.get("Properties", {})
        given = properties.get("TableInput", {}).get("Parameters", {})
        is_on = (
            isinstance(given, Mapping) and str(given.get("projection.enabled")).lower() == "true"
        )
        if is_on and TEMPLATE in given:
            table, uri = table_name(names, stack, properties), names.text(stack, given[TEMPLATE])
            yield Part(f"{stack}/{id_}", table, uri, given)
