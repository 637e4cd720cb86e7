"""The definitions of a template as plain data: jobs, triggers, workflows, tables, buckets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.model.assembly.catalog_connections import CatalogConnection
from tidemark.model.assembly.catalog_databases import CatalogDatabase
from tidemark.model.assembly.catalog_tables import CatalogTable

SPARK, SHELL, STREAMING = "glueetl", "pythonshell", "gluestreaming"  # commands of Glue
TIMEOUT_MINUTES = 480  # Glue's default for a job
CRAWLER = "crawler "  # before the name of a crawler, where jobs and crawlers stand together


@dataclass(frozen=True)
class JobDefinition:
    """One ``AWS::Glue::Job``; arguments keep their leading ``--``.

    `submitted_file` is the file of this machine that the script is a copy of, if that is known:
    messages name it. `is_declared` is False for a script that was only submitted.
    """

    name: str
    script_location: str
    glue_version: str
    default_arguments: Mapping[str, str] = field(default_factory=dict)
    non_overridable_arguments: Mapping[str, str] = field(default_factory=dict)
    timeout_minutes: int = TIMEOUT_MINUTES
    max_retries: int = 0
    max_concurrent_runs: int = 1
    submitted_file: str | None = None
    command: str = SPARK
    is_declared: bool = True


@dataclass(frozen=True)
class TriggerCondition:
    """One watched job or crawler (`CRAWLER` + name) of a predicate, and its state."""

    job_name: str
    state: str


@dataclass(frozen=True)
class Action:
    """The job or crawler that a trigger starts, with its arguments and a timeout that wins."""

    job_name: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    timeout_minutes: int | None = None


@dataclass(frozen=True)
class TriggerDefinition:
    """One ``AWS::Glue::Trigger``; `conditions` is empty unless the type is CONDITIONAL."""

    name: str
    type: str
    actions: tuple[Action, ...]
    workflow_name: str | None = None
    logical: str = "AND"
    conditions: tuple[TriggerCondition, ...] = ()
    is_active: bool = True


@dataclass(frozen=True)
class ScheduleDefinition:
    """One ``AWS::Scheduler::Schedule`` that starts a workflow: on AWS, not on this machine."""

    workflow_name: str
    expression: str
    time_zone: str = "UTC"


@dataclass(frozen=True)
class TableDefinition:
    """One ``AWS::DynamoDB::Table``: the CreateTable request, and its TTL attribute if any."""

    name: str
    create_request: Mapping[str, Any]
    ttl_attribute: str | None = None


@dataclass(frozen=True)
class Deployment:
    """Everything an assembly defines that the local Glue runs, by physical name.

    Streaming jobs are named only: they do not run here.
    """

    jobs: Mapping[str, JobDefinition]
    triggers: tuple[TriggerDefinition, ...]
    workflows: tuple[str, ...]
    tables: tuple[TableDefinition, ...]
    buckets: tuple[str, ...]
    outputs: Mapping[str, str]
    region: str
    stack_of_job: Mapping[str, str] = field(default_factory=dict)
    catalog_databases: tuple[CatalogDatabase, ...] = ()
    catalog_tables: tuple[CatalogTable, ...] = ()
    iceberg_tables: tuple[Mapping[str, Any], ...] = ()  # as CreateTable takes them
    catalog_connections: tuple[CatalogConnection, ...] = ()
    schedules: tuple[ScheduleDefinition, ...] = ()
    streaming_jobs: tuple[str, ...] = ()

    def triggers_of(self, workflow_name: str) -> tuple[TriggerDefinition, ...]:
        """Return the triggers of one workflow in template order."""
        return tuple(t for t in self.triggers if t.workflow_name == workflow_name)


BOOKMARK_OPTION = "--job-bookmark-option"
WATERMARK_TABLE = "--watermark_table"  # of a job that keeps watermarks
ENABLE, DISABLE, PAUSE = "job-bookmark-enable", "job-bookmark-disable", "job-bookmark-pause"
BOOKMARK_OPTIONS = (ENABLE, DISABLE, PAUSE)
CONTINUATION_OPTIONS = {
    "continuation-enabled": ENABLE,
    "continuation-readonly": PAUSE,
    "continuation-ignore": DISABLE,
}


def overlaid(job: JobDefinition, run_arguments: Mapping[str, str]) -> dict[str, str]:
    """Return NonOverridable over run over default arguments, key by key."""
    return {**job.default_arguments, **run_arguments, **job.non_overridable_arguments}


def bookmark_option(arguments: Mapping[str, str]) -> str:
    """Return the job-bookmark-option of merged arguments; the newer of the two parameters wins.

    Source: https://github.com/awslabs/aws-glue-libs (branch glue-5.1, awsglue/utils.py)
    """
    legacy = CONTINUATION_OPTIONS.get(arguments.get("--continuation-option", ""))
    return arguments.get(BOOKMARK_OPTION) or legacy or DISABLE


FROM, TO = "--backfill_from", "--backfill_to"
NOT_GIVEN = "none"


def is_filling(arguments: Mapping[str, str]) -> bool:
    """Return whether a run with these arguments fills a range and is not incremental."""
    return arguments.get(FROM, NOT_GIVEN) != NOT_GIVEN
