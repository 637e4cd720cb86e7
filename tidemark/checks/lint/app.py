"""Reads out of an assembly its jobs and what starts them, those too that cannot run here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tidemark.checks.lint.argument_rules import JobStart
from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import Assembly, Stack, deployable
from tidemark.model.assembly.definitions import JobDefinition, overlaid
from tidemark.model.assembly.intrinsics import Scope
from tidemark.model.assembly.resources import METADATA
from tidemark.model.assembly.template import job_definition, resolve_stacks, stack_resources

Resource: TypeAlias = Mapping[str, Any]
REGION = "us-east-1"  # no rule depends on it
SPARK = "glueetl"  # the one kind of job that has bookmarks


@dataclass(frozen=True)
class AppJob:
    """A job whose script is Python.

    Attributes:
        job: its definition.
        has_bookmarks: whether jobs of its kind can have bookmarks.
        starts: every way in which triggers start it; without a trigger, a start of the job itself.
        stated_version: the GlueVersion of the template; None if it names none.
        iceberg_tables: the tables of Iceberg among its data, each as `database.table`.
    """

    job: JobDefinition
    has_bookmarks: bool
    starts: tuple[JobStart, ...]
    stated_version: str | None = None
    iceberg_tables: frozenset[str] = frozenset()


def read_jobs(assembly: Assembly) -> list[AppJob]:
    """Return the Python jobs of an assembly."""
    jobs: dict[str, Resource] = {}
    triggers: dict[str, Resource] = {}
    tables: dict[str, frozenset[str]] = {}
    with deployable():
        for stack, scope in resolve_stacks(assembly, REGION, may_guess=True):
            for id_, kind, name, properties in stack_resources(stack, scope):
                if kind == "AWS::Glue::Job":
                    jobs[name] = properties
                    tables[name] = frozenset(_iceberg_tables(stack, id_, scope))
                elif kind == "AWS::Glue::Trigger":
                    triggers[name] = properties
        app_jobs = [
            _app_job(name, properties, triggers, tables[name]) for name, properties in jobs.items()
        ]
    if not app_jobs:
        raise UsageError("the assembly defines no AWS::Glue::Job; add one and synthesize again")
    return [job for job in app_jobs if job.starts[0].arguments.get("--job-language") != "scala"]


def _iceberg_tables(stack: Stack, id_: str, scope: Scope) -> Iterator[str]:
    known = stack.template["Resources"][id_].get("Metadata", {}).get(METADATA, {})
    for data in (*known.get("reads", []), *known.get("writes", [])):
        if data.get("format") == "iceberg":
            yield str(scope.resolve(data["table"]))


def _app_job(
    name: str, properties: Resource, triggers: Mapping[str, Resource], tables: frozenset[str]
) -> AppJob:
    job = job_definition(name, properties)
    is_abbreviating = tuple(map(int, job.glue_version.split("."))) < (6,)
    actions = [
        (f"trigger {by}", action.get("Arguments", {}), "WorkflowName" in trigger)
        for by, trigger in triggers.items()
        for action in trigger["Actions"]
        if action.get("JobName") == name
    ]
    starts = [
        JobStart(by, overlaid(job, arguments), is_in_workflow, is_abbreviating)
        for by, arguments, is_in_workflow in actions or [("", {}, False)]
    ]
    if len({tuple(sorted(start.names)) for start in starts}) == 1:
        starts = [replace(start, by=f"job {name}") for start in starts]
    stated = properties.get("GlueVersion")
    return AppJob(job, properties["Command"]["Name"] == SPARK, tuple(starts), stated, tables)
