"""Finds names that two resources of one account and region state: AWS takes each once."""

from collections.abc import Iterator
from typing import Any

from tidemark.checks.graph.model import Named, Problem
from tidemark.model.assembly.resources import DYNAMODB_TABLES, Templates, resources_of
from tidemark.model.assembly.symbolic_names import SymbolicNames

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


def read_names(names: SymbolicNames, templates: Templates) -> Iterator[Named]:
    """Yield the names that resources of templates state."""
    for kind, (of, *paths) in NAMES.items():
        for stack, id_, resource in resources_of(templates, kind):
            parts = [_stated(resource.get("Properties", {}), path) for path in paths]
            if None not in parts:
                name = ".".join(names.text(stack, part) for part in parts)
                yield Named(f"{stack}/{id_}", of, name)


def _stated(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        value = value.get(step, DEFAULTS.get(step)) if isinstance(value, dict) else None
    return value


def problems_of_names(named: tuple[Named, ...]) -> Iterator[Problem]:
    """Yield the resources whose name another one has."""
    first: dict[tuple[str, str], Named] = {}
    for one in named:
        other = first.setdefault((one.of, one.name), one)
        if other.at != one.at:
            yield Problem(
                "duplicate-name",
                one.at,
                f"the {one.of} '{one.name}' is created by {other.at} too; an account and region "
                "has one of that name",
                "create it once and pass it on, or rename the other one",
            )
