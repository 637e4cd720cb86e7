"""Existing jobs as found, and the result of their adoption: plain data.

Resources are as boto3 returns them (`get_job`, `get_triggers`, `get_workflow`), whatever they were
read from, so that there is one translation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from tidemark.model.assembly.definitions import CRAWLER
from tidemark.model.stage.runtime import JobRuntime, ShellRuntime, StreamingRuntime

Resource: TypeAlias = Mapping[str, Any]
KeyPath: TypeAlias = tuple[str, ...]
Reason: TypeAlias = tuple[str, str]
"""Why something is not as it was, and what to do about it."""

Runtime: TypeAlias = JobRuntime | ShellRuntime | StreamingRuntime
SCRATCH = "tidemark-adopt"  # folder for output of runs that only create a bookmark


@dataclass(frozen=True)
class Difference:
    """Something of the old that the new one has in another way, or not at all.

    Attributes:
        of: its owner, as `job nightly_orders`.
        path: its place there; empty for the whole.
        value: its value, as people read it; None if it is missing, or a secret.
        why: why it is not the same.
        do: what to do about it.
    """

    of: str
    path: KeyPath
    value: str | None
    why: str
    do: str


@dataclass(frozen=True)
class Guess:
    """A fact that no definition states, with the assumed value and how to check it."""

    of: str
    what: str
    check: str


@dataclass(frozen=True)
class RolePolicies:
    """The known facts of a role of a job.

    Attributes:
        documents: of its policies, inline and attached.
        unread: names of policies that could not be read.
    """

    documents: tuple[Resource, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Existing:
    """Everything that was read of the jobs to adopt.

    Attributes:
        origin: where it was read, in readable form.
        jobs: jobs by name.
        triggers: every trigger there is, by name.
        workflow: the workflow that is adopted as a whole, or None.
        crawlers: crawlers that the triggers name, by name.
        locations: data locations of tables that crawlers name, as far as known.
        bookmarks: bookmark entries by job, None for one that never stored any; absent if not known.
        scripts: the scripts' source, by job; absent if they could not be read.
        bucket_keys: the KMS key of a bucket, by bucket, as far as known.
        rules: rules of EventBridge that have a workflow as a target, by name of the workflow.
        clock: schedules of EventBridge Scheduler, as GetSchedule has them.
        other_rules: rules of EventBridge with another target; its ARN is their `Target`.
        roles: the permissions of jobs' roles, by ARN, if they are kept.
        unread: the properties that this version does not know.
        taken: names of jobs, workflows and crawlers that exist already.
        is_of_stack: whether a stack of CloudFormation deploys the old jobs.
        connections: properties of connections, by name, as far as known.
        resources: everything of a file that has to do with Glue: type and name.
        around: what may name a job without being of Glue: kind, name and properties.
    """

    origin: str
    jobs: Mapping[str, Resource]
    triggers: Mapping[str, Resource] = field(default_factory=dict)
    workflow: Resource | None = None
    crawlers: Mapping[str, Resource] = field(default_factory=dict)
    locations: Mapping[str, str] = field(default_factory=dict)
    bookmarks: Mapping[str, Resource | None] = field(default_factory=dict)
    scripts: Mapping[str, str] = field(default_factory=dict)
    bucket_keys: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, tuple[Resource, ...]] = field(default_factory=dict)
    clock: tuple[Resource, ...] = ()
    other_rules: tuple[Resource, ...] = ()
    roles: Mapping[str, RolePolicies] = field(default_factory=dict)
    unread: tuple[Difference, ...] = ()
    taken: frozenset[str] = frozenset()
    is_of_stack: bool = False
    connections: Mapping[str, Resource] = field(default_factory=dict)
    resources: tuple[tuple[str, str], ...] = ()
    around: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()

    @property
    def workflow_name(self) -> str | None:
        """Return the name of the workflow that is adopted as a whole, or None."""
        return str(self.workflow["Name"]) if self.workflow else None

    @property
    def own_triggers(self) -> list[str]:
        """Return the names of the triggers of that workflow."""
        workflows = {name: trigger.get("WorkflowName") for name, trigger in self.triggers.items()}
        return [name for name, of in workflows.items() if of and of == self.workflow_name]


@dataclass(frozen=True, order=True)
class Folder:
    """A folder of a bucket."""

    bucket: str
    prefix: str

    @property
    def uri(self) -> str:
        """Return its address."""
        return f"s3://{self.bucket}/{self.prefix}"


@dataclass(frozen=True)
class Wait:
    """The conditions of a job: old names of jobs and crawlers, and the states they must end in."""

    logical: str
    conditions: tuple[tuple[str, str], ...]

    @property
    def nodes(self) -> list[str]:
        """Return the jobs and crawlers that it watches, each once."""
        return list(dict.fromkeys(node for node, _ in self.conditions))


@dataclass(frozen=True)
class AdoptedJob:
    """One job as `add_job` declares it.

    Attributes:
        old: its name until now, the key of its bookmark.
        name: its name from now on.
        script_location: where its script is until now, or None.
        bookmark: a member of `BookmarkOption`, by name.
        runtime: its runtime; a `ShellRuntime` makes it a Python shell job, a
            `StreamingRuntime` a streaming job, which nothing starts.
        arguments: arguments of the script, without dashes.
        temp: location of temporary files.
        python_modules: packages, each with its version.
        connections: names of Glue connections.
        tables: tables of the catalog, from the script.
        run_properties: a member of `RunProperties`, by name, or None.
        watermark_table: the table that its argument `watermark_table` names, or None.
        reads: arguments to the places that are taken for its input, "" for those in the script.
        writes: the same of its output.
        glue: fields of `GlueArguments`.
        options: fields of `JobOptions`.
        started: fields of `ActionOptions`, added by its trigger.
        role: the ARN of its role until now, if it keeps that.
        writes_elsewhere: True if its script writes more than folders that arguments name.
        checkpoint: checkpoint location of a streaming job.
        old_checkpoint: its location until now.
        streams: ARNs of the Kinesis streams that a streaming job reads.
        secrets: names or ARNs of secrets that its script or its connections name.
        wait: its conditions; None if it starts with the workflow, or nothing starts it.
    """

    old: str
    name: str
    script_location: str | None
    bookmark: str
    runtime: Runtime
    arguments: Mapping[str, str]
    temp: Folder | None = None
    python_modules: tuple[str, ...] = ()
    connections: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    run_properties: str | None = None
    watermark_table: str | None = None
    reads: tuple[tuple[str, Folder], ...] = ()
    writes: tuple[tuple[str, Folder], ...] = ()
    glue: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    started: Mapping[str, object] = field(default_factory=dict)
    role: str | None = None
    writes_elsewhere: bool = False
    checkpoint: Folder | None = None
    old_checkpoint: Folder | None = None
    streams: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    wait: Wait | None = None

    @property
    def variable(self) -> str:
        """Return the name of a variable for it."""
        return self.name.replace("-", "_")

    @property
    def script(self) -> str:
        """Return the path of its script in the project."""
        return f"glue_jobs/{self.variable}.py"

    @property
    def is_streaming(self) -> bool:
        """Return whether it is a streaming job."""
        return isinstance(self.runtime, StreamingRuntime)

    @property
    def started_arguments(self) -> dict[str, str]:
        """Return the arguments that its trigger adds, without dashes."""
        arguments = self.started.get("arguments")
        return dict(arguments) if isinstance(arguments, Mapping) else {}

    @property
    def scratch(self) -> Folder | None:
        """Return its own folder within that of its temporary files."""
        own = f"{SCRATCH}/{self.name}/"
        if self.temp is None or self.temp.prefix.endswith(own):
            return self.temp
        return Folder(self.temp.bucket, self.temp.prefix + own)


@dataclass(frozen=True)
class Member:
    """A member of an enumeration of the constructs, which adopt does not import: it has no Node."""

    of: str
    name: str


@dataclass(frozen=True)
class CrawlTarget:
    """A target of a crawler, as one of the constructs' targets.

    Attributes:
        kind: `Dataset`, or the name of another class of targets, such as `CrawledData`.
        place: the data in S3; None of a database.
        fields: the other fields of the target.
    """

    kind: str
    place: Folder | None = None
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class AdoptedCrawler:
    """One crawler as `add_crawler` declares it.

    Attributes:
        old: `CRAWLER` + its name until now.
        name: its name from now on.
        targets: its targets.
        database: the database that it writes.
        options: fields of `CrawlerOptions`.
        is_scheduled: whether its own schedule starts it too.
        role: as for a job.
        wait: its conditions; None if it starts with the workflow.
    """

    old: str
    name: str
    targets: tuple[CrawlTarget, ...]
    database: str
    options: Mapping[str, object] = field(default_factory=dict)
    is_scheduled: bool = False
    role: str | None = None
    wait: Wait | None = None
    writes: ClassVar[tuple[tuple[str, Folder], ...]] = ()  # it writes tables only

    @property
    def old_name(self) -> str:
        """Return its name until now."""
        return self.old.removeprefix(CRAWLER)

    @property
    def variable(self) -> str:
        """Return the name of a variable for it."""
        return self.name.replace("-", "_")

    @property
    def reads(self) -> tuple[tuple[str, Folder], ...]:
        """Return its data in S3, as that of a job."""
        return tuple(("", target.place) for target in self.targets if target.place)

    @property
    def tables(self) -> tuple[str, ...]:
        """Return the tables that it writes; a `*` at the end matches any string."""
        named = [str(target.fields["table"]) for target in self.targets if "table" in target.fields]
        return tuple(named) or (f"{self.database}.{self.options.get('table_prefix', '')}*",)


Node: TypeAlias = AdoptedJob | AdoptedCrawler


@dataclass(frozen=True)
class AdoptedEvent:
    """A rule of EventBridge that starts the pipeline, as `OnEvent` declares it.

    Attributes:
        rule: its name until now.
        pattern: the events that it matches.
        batch_size: how many of them start a run.
        batch_window_minutes: after which fewer do, too; None: Glue's own, 15.
    """

    rule: str
    pattern: Mapping[str, Any]
    batch_size: int = 1
    batch_window_minutes: int | None = None


@dataclass(frozen=True)
class Switch:
    """What starts the old jobs from outside of Glue, and has to be disabled.

    Attributes:
        kind: `schedule` of EventBridge Scheduler, or `rule` of EventBridge.
        group: of the schedule, or the event bus of the rule.
        name: of the schedule or rule.
        starts: its targets, for people.
    """

    kind: str
    group: str
    name: str
    starts: str


@dataclass(frozen=True)
class LeftOut:
    """A job or crawler that the pipeline does not have, why, and what to do with it."""

    job: str
    why: str
    do: str


@dataclass(frozen=True)
class Adoption:
    """A pipeline that replaces the old jobs, and all facts about the change.

    Attributes:
        name: of the pipeline, and its workflow.
        old_workflow: name of the old workflow, or None.
        nodes: jobs and crawlers, ordered so that each waits only for earlier ones.
        left_out: jobs and crawlers that cannot be declared.
        schedules: when it starts, as cron expressions, each with its time zone.
        events: which events start it.
        policies: the present permissions of the kept roles, by ARN.
        switches: the starts of the old jobs from outside of Glue.
        others: everything else in the source, each with the reason.
        run_properties: the initial ones of every run.
        start_triggers: old triggers that start something without another trigger, by name.
        other_triggers: the others.
        differences: in the order of the resources.
        guesses: the guessed facts.
        acknowledged: job to rules of the graph that its old definition breaks, with the findings.
    """

    name: str
    old_workflow: str | None
    nodes: tuple[Node, ...]
    left_out: tuple[LeftOut, ...]
    schedules: tuple[tuple[str, str], ...]
    run_properties: Mapping[str, str]
    start_triggers: tuple[str, ...]
    other_triggers: tuple[str, ...]
    differences: tuple[Difference, ...]
    guesses: tuple[Guess, ...]
    acknowledged: Mapping[str, Mapping[str, str]]
    events: tuple[AdoptedEvent, ...] = ()
    policies: Mapping[str, RolePolicies] = field(default_factory=dict)
    switches: tuple[Switch, ...] = ()
    others: tuple[LeftOut, ...] = ()

    @property
    def started_jobs(self) -> tuple[AdoptedJob, ...]:
        """Return the jobs that the workflow starts."""
        return tuple(job for job in self.jobs if not job.is_streaming)

    @property
    def streaming_jobs(self) -> tuple[AdoptedJob, ...]:
        """Return the jobs that nothing starts."""
        return tuple(job for job in self.jobs if job.is_streaming)

    @property
    def jobs(self) -> tuple[AdoptedJob, ...]:
        """Return the jobs."""
        return tuple(node for node in self.nodes if isinstance(node, AdoptedJob))

    @property
    def crawlers(self) -> tuple[AdoptedCrawler, ...]:
        """Return the crawlers."""
        return tuple(node for node in self.nodes if isinstance(node, AdoptedCrawler))


@dataclass(frozen=True)
class MigrationStep:
    """One step of a migration.

    Attributes:
        title: the action.
        why: why, and why now.
        commands: commands to run; a line that starts with `#` is done by hand.
        check: commands that show that it worked; continue only then.
        rollback: how to undo it.
    """

    title: str
    why: str
    commands: tuple[str, ...]
    check: tuple[str, ...]
    rollback: tuple[str, ...]
