"""Finds names that two resources of one account and region state: AWS takes each once."""

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from tidemark.checks.graph.folders import Folders, overlap
from tidemark.checks.graph.model import Graph, Named, Problem
from tidemark.checks.graph.resources import Resources
from tidemark.model.assembly.resources import DYNAMODB_TABLES

# Where resources state a name that is theirs alone; where it has two parts, both. Jobs and crawlers
# have their own rules.
NAMES: dict[str, tuple[str, *tuple[tuple[str, ...], ...]]] = {
    **dict.fromkeys(DYNAMODB_TABLES, ("table of DynamoDB", ("TableName",))),
    "AWS::CloudWatch::Dashboard": ("dashboard", ("DashboardName",)),
    "AWS::Events::Rule": ("rule", ("EventBusName",), ("Name",)),
    "AWS::Glue::Connection": ("connection", ("ConnectionInput", "Name")),
    "AWS::Glue::DataQualityRuleset": ("ruleset", ("Name",)),
    "AWS::Glue::Database": ("database", ("DatabaseInput", "Name")),
    "AWS::Glue::SecurityConfiguration": ("security configuration", ("Name",)),
    "AWS::Glue::Table": ("table", ("DatabaseName",), ("TableInput", "Name")),
    "AWS::Glue::Trigger": ("trigger", ("Name",)),
    "AWS::Glue::Workflow": ("workflow", ("Name",)),
    "AWS::KMS::Alias": ("alias of a key", ("AliasName",)),
    "AWS::Logs::LogGroup": ("log group", ("LogGroupName",)),
    "AWS::Scheduler::ScheduleGroup": ("group of schedules", ("Name",)),
}
DEFAULTS = {"EventBusName": "default"}


def read_names(resources: Resources) -> Iterator[Named]:
    """Yield the names that resources of templates state."""
    for kind, (of, *paths) in NAMES.items():
        for resource in resources.of(kind):
            parts = [reduce(_step, path, resource.properties) for path in paths]
            if None not in parts:
                yield Named(resource.at, of, ".".join(map(resource.text, parts)))


def _step(value: Any, key: str) -> Any:
    return value.get(key, DEFAULTS.get(key)) if isinstance(value, Mapping) else None


def problems_of_names(named: tuple[Named, ...]) -> Iterator[Problem]:
    """Yield the resources whose name another one has."""
    first: dict[tuple[str, str], Named] = {}
    for resource in named:
        other = first.setdefault((resource.of, resource.name), resource)
        if other.at != resource.at:
            yield resource.problem(
                "duplicate-name",
                f"the {resource.of} '{resource.name}' is created by {other.at} too; an account and "
                "region has one of that name",
                "create it once and pass it on, or rename the other one",
            )


def duplicates(graph: Graph) -> Iterator[Problem]:
    """Yield the readers of data that a repeated run of the writer leaves twice, as it accepts."""
    read = Folders()
    for job in graph.jobs:
        read.add(job, job.reads)
    for writer in (job for job in graph.jobs if job.repeats):
        twice = {uri for uri, _ in writer.repeats}
        filled = {table for table, uri in writer.filled if uri in twice}
        near = {job.at for job in read.touching(twice)}
        tried = (job for job in graph.jobs if job.at in near or filled.intersection(job.tables))
        for reader in (job for job in tried if job is not writer):
            shared = [uri for uri, _ in overlap(reader.reads, twice)]
            shared += [table for table in reader.tables if table in filled]
            if shared:
                yield reader.problem(
                    "reads-duplicates",
                    f"the job '{reader.name}' reads {shared[0]}, where a repeated run of "
                    f"'{writer.name}' leaves its rows twice: the script of that job accepts it "
                    f"({'; '.join(dict.fromkeys(reason for _, reason in writer.repeats))})",
                    "let the writer replace what a repeated run wrote (docs/automatic-upgrades.md),"
                    " or let the reader keep one row of each key and say so: "
                    'job.acknowledge("reads-duplicates", "keeps the newest row of each key")',
                )
