"""Reads the locations of tables and their partitions from synthesized templates."""

from collections.abc import Iterator, Mapping

from tidemark.checks.graph.model import Part
from tidemark.checks.graph.resources import Resource, Resources

TEMPLATE = "storage.location.template"


def table_name(table: Resource) -> str:
    """Return a table as `database.table`."""
    database = table.text(table.properties.get("DatabaseName", ""))
    return f"{database}.{table.text(table.properties.get('TableInput', {}).get('Name', ''))}"


def described(resources: Resources) -> Iterator[tuple[str, str, str]]:
    """Yield the tables of the datasets of jobs: the job, the table, where its data are."""
    for job in resources.of("AWS::Glue::Job"):
        for item in (*job.known.get("reads", []), *job.known.get("writes", [])):
            if "table" in item:
                yield job.at, job.text(item["table"]), job.text(item["uri"])


def made_by_jobs(resources: Resources) -> Iterator[str]:
    """Yield the tables that need no resource: a job makes them, or they exist."""
    for job in resources.of("AWS::Glue::Job"):
        for item in (*job.known.get("reads", []), *job.known.get("writes", [])):
            if item.get("made"):
                yield job.text(item["table"])


def located(resources: Resources) -> Iterator[tuple[str, str, str]]:
    """Yield the tables whose data are in S3: the resource, the table, where its data are."""
    for table in resources.of("AWS::Glue::Table"):
        if location := _location(table, "TableInput"):
            yield table.at, table_name(table), location


def registered(resources: Resources) -> Iterator[Part]:
    """Yield the partitions that templates register with folders."""
    for part in resources.of("AWS::Glue::Partition"):
        names = (part.text(part.properties.get(key, "")) for key in ("DatabaseName", "TableName"))
        if uri := _location(part, "PartitionInput"):
            yield Part(part.at, ".".join(names), uri)


def projected(resources: Resources) -> Iterator[Part]:
    """Yield the partitions that Athena works out from a template of their folders."""
    for table in resources.of("AWS::Glue::Table"):
        given = table.properties.get("TableInput", {}).get("Parameters", {})
        is_on = (
            isinstance(given, Mapping) and str(given.get("projection.enabled")).lower() == "true"
        )
        if is_on and TEMPLATE in given:
            yield Part(table.at, table_name(table), table.text(given[TEMPLATE]), given)


def _location(resource: Resource, key: str) -> str:
    storage = resource.properties.get(key, {}).get("StorageDescriptor", {})
    return resource.text(storage.get("Location", ""))
