"""A graph of Glue jobs and triggers as plain data, and the problems it can have."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.model.assembly.definitions import CRAWLER as CRAWLER

CONDITIONAL = "CONDITIONAL"


@dataclass(frozen=True)
class Problem:
    """A problem (`text`) of the resource `at` by a rule, and what to do (`fix`)."""

    rule: str
    at: str
    text: str
    fix: str
    is_error: bool = True


class Located:
    """What stands at a place of a template, `at`, and may have problems there."""

    at: str

    def problem(self, rule: str, text: str, fix: str, is_error: bool = True) -> Problem:
        """Return a problem of it, by a rule."""
        return Problem(rule, self.at, text, fix, is_error)

    def acceptable(
        self, rule: str, text: str, fix: str, is_error: bool = True, of: str = "job"
    ) -> Problem:
        """Return a problem of it that its owner may also acknowledge, with a reason."""
        or_not = f'or say why it is right: {of}.acknowledge("{rule}", "...")'
        return self.problem(rule, text, f"{fix}; {or_not}", is_error)


@dataclass(frozen=True)
class DataContract:
    """The contract of data: the type of each column, and the modes of a `SchemaPolicy`."""

    fields: Mapping[str, str] = field(default_factory=dict)
    columns: str = "evolve"
    types: str = "evolve"
    missing: str = "null"
    rescued: str = "_rescued_data"


@dataclass(frozen=True)
class GraphJob(Located):
    """One Glue job, or one crawler (`CRAWLER` + name); `at` is where its resource stands.

    Attributes:
        reads: URIs of its inputs; `delivered`: those of them that others deliver.
        writes: URIs of its outputs; `published`: those of them that others read.
        declared: the name that its construct gave it; empty if that is not known.
        tables: tables of the Data Catalog that a job uses, each as `database.table`.
        changes: those of them that it writes.
        governed: those of them whose data Lake Formation lets it read.
        crawled: tables that a crawler writes, likewise; a `*` at the end matches any string.
        described: those of them that a dataset of the job describes, and the app is to create.
        filled: those of them that a dataset it writes has, each with the URI of its data.
        kept: URIs of files of its own that are not data, by the parameter that sets it: `temp`.
        states: URIs of folders with its state, such as the checkpoint of a streaming job.
        is_incremental: whether it continues where it ended: by a bookmark or by watermarks.
        timeout_minutes: after which Glue stops a run; None if it never does, or is not known.
        queues: whether a run waits where Glue has no place for it.
        repeats: the URIs of data in which a repeated run may write rows twice, each with the
            reason that its script gives.
        accepts: the URIs of data that it reads, each with its contract for it.
        allows: the URIs of data that it writes, likewise.
        quarantines: URIs of folders of rows that it takes out.
    """

    at: str
    name: str
    has_bookmark: bool = False
    max_concurrent_runs: int = 1
    reads: tuple[str, ...] = ()
    delivered: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    declared: str = ""
    tables: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    governed: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    filled: tuple[tuple[str, str], ...] = ()
    crawled: tuple[str, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    states: tuple[str, ...] = ()
    is_incremental: bool = False
    timeout_minutes: int | None = None
    queues: bool = False
    is_flex: bool = False
    max_retries: int = 0
    repeats: tuple[tuple[str, str], ...] = ()
    accepts: tuple[tuple[str, DataContract], ...] = ()
    allows: tuple[tuple[str, DataContract], ...] = ()
    quarantines: tuple[str, ...] = ()

    @property
    def is_crawler(self) -> bool:
        """Whether it is a crawler."""
        return self.name.startswith(CRAWLER)

    def __str__(self) -> str:
        kind = "crawler" if self.is_crawler else "job"
        return f"{kind} '{self.name.removeprefix(CRAWLER)}'"


@dataclass(frozen=True)
class GraphCondition:
    """One watched job or crawler and the state it must end in."""

    name: str
    state: str = "SUCCEEDED"
    has_operator: bool = True


@dataclass(frozen=True)
class Trigger(Located):
    """One Glue trigger; `at` is where its resource stands; crawlers are named `CRAWLER` + name.

    Attributes:
        schedule: cron fields, None without a schedule, empty if only a deployment knows it.
        batch: events and seconds of its EventBatchingCondition; None has the defaults of Glue.
    """

    at: str
    name: str
    kind: str
    workflow: str | None = None
    starts: tuple[str, ...] = ()
    logical: str | None = "AND"
    conditions: tuple[GraphCondition, ...] = ()
    is_active: bool = True
    schedule: str | None = None
    batch: tuple[object, object] | None = None


@dataclass(frozen=True)
class EventRule(Located):
    """One rule of EventBridge that starts a workflow or a state machine; `at` is where it stands.

    Attributes:
        workflow: its name; empty if a state machine starts jobs without one.
        folders: URIs below which an object that arrives is such an event.
        pattern: which events it sends; empty if it is not known.
        is_on: whether it sends any.
        machine: the state machine of which it starts an execution, which starts the workflow;
            empty if it sends the event to the workflow itself.
        jobs: those that the state machine starts without a workflow.
    """

    at: str
    workflow: str
    folders: tuple[str, ...] = ()
    pattern: Mapping[str, Any] = field(default_factory=dict)
    is_on: bool = True
    machine: str = ""
    jobs: tuple[str, ...] = ()

    @property
    def started(self) -> str:
        """What it starts, for people."""
        return f"workflow '{self.workflow}'" if self.workflow else f"state machine '{self.machine}'"


@dataclass(frozen=True)
class Part(Located):
    """One or more partitions of a table that say where they are, declared `at`.

    Attributes:
        table: as `database.table`.
        uri: of its data; a `${key}` stands for a value that only a query knows.
        projection: parameters of the table that limit a key; empty if it is registered.
    """

    at: str
    table: str
    uri: str
    projection: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenSecret(Located):
    """A string that looks like a secret, by its name; `of` is its place in the resource `at`."""

    at: str
    of: str
    name: str


@dataclass(frozen=True)
class Named(Located):
    """A name that the resource `at` states; `of` says what it names."""

    at: str
    of: str
    name: str


@dataclass(frozen=True)
class Timer(Located):
    """One schedule of EventBridge Scheduler that starts a workflow; `at` is where it stands.

    Attributes:
        workflow: its name, None if only a deployment knows it.
        expression: cron fields or a rate, empty if only a deployment knows it.
        time_zone: name of the IANA database.
    """

    at: str
    workflow: str | None
    expression: str
    time_zone: str = "UTC"


@dataclass(frozen=True)
class Retention(Located):
    """An optimizer that deletes files of a table of Iceberg; `at` is where it stands.

    Attributes:
        table: as `database.table`.
        kind: `retention`, of snapshots, or `orphan_file_deletion`.
        days: how long it keeps them.
    """

    at: str
    table: str
    kind: str
    days: int


@dataclass(frozen=True)
class Graph:
    """Everything of one account and region, the workflows by name with their locations.

    `tables` are those of the Data Catalog that templates define, each as `database.table`, and
    `located` where their data are, as far as templates say so. `placed` are these and the tables of
    datasets, each as where it is declared, its name and the URI of its data. `parts` are partitions
    with their folders. `retentions` delete old files. `streamed` are the
    workflows of pipelines that have streaming jobs, which no trigger starts.
    """

    jobs: tuple[GraphJob, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    workflows: Mapping[str, str] = field(default_factory=dict)
    open_secrets: tuple[OpenSecret, ...] = ()
    timers: tuple[Timer, ...] = ()
    event_rules: tuple[EventRule, ...] = ()
    crawlers: tuple[GraphJob, ...] = ()
    tables: frozenset[str] = frozenset()
    located: Mapping[str, str] = field(default_factory=dict)
    placed: tuple[tuple[str, str, str], ...] = ()
    parts: tuple[Part, ...] = ()
    retentions: tuple[Retention, ...] = ()
    named: tuple[Named, ...] = ()
    streamed: frozenset[str] = frozenset()

    @property
    def nodes(self) -> tuple[GraphJob, ...]:
        """Return the jobs and the crawlers."""
        return self.jobs + self.crawlers

    def schedules_of(self, workflow: str | None) -> list[tuple[str, str]]:
        """Return the schedules that start a workflow, each with its time zone, as far as known."""
        timers = [timer for timer in self.timers if timer.workflow == workflow]
        triggers = self.triggers_of(workflow) if workflow else []
        return [
            *((timer.expression, timer.time_zone) for timer in timers if timer.expression),
            *((trigger.schedule, "UTC") for trigger in triggers if trigger.schedule),
        ]

    def triggers_of(self, workflow: str | None) -> list[Trigger]:
        """Return the triggers of one workflow, or those of none."""
        return [trigger for trigger in self.triggers if trigger.workflow == workflow]
