"""A Glue workflow and its jobs: one call per job."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from tidemark.assembly.resources import METADATA
from tidemark.checks.plain_secrets import NotSecret, reasons
from tidemark.constructs.catalog.published_tables import create_tables
from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.crawlers.crawler import Crawler
from tidemark.constructs.crawlers.options import CrawlerOptions
from tidemark.constructs.crawlers.permissions import LOGS as CRAWLER_LOGS
from tidemark.constructs.crawlers.targets import Target
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.governance import apply_to_all
from tidemark.constructs.graph_check import check_graph_at_synth
from tidemark.constructs.jobs.action_options import ActionOptions
from tidemark.constructs.jobs.conditions import Condition
from tidemark.constructs.jobs.connections import Connection, StageNetwork
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.jobs.glue_job import Argument, GlueJob, JobUses, RunProperties
from tidemark.constructs.jobs.incremental_job import BookmarkOption, IncrementalJob
from tidemark.constructs.jobs.job_checks import check_name, check_type
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.shared_parts import SharedParts
from tidemark.constructs.jobs.shell_job import LOGS as SHELL_LOGS
from tidemark.constructs.jobs.shell_job import ShellJob, refuse_watermark
from tidemark.constructs.jobs.stream_sources import StreamSource
from tidemark.constructs.jobs.streaming_job import StreamingJob
from tidemark.constructs.kinds import check_free
from tidemark.constructs.libs import libs_asset
from tidemark.constructs.monitoring.alerting import Alerting
from tidemark.constructs.monitoring.monitoring import PIPELINE_TAG, Monitoring
from tidemark.constructs.pipeline_checks import (
    check_age,
    check_alerts,
    check_default,
    check_places,
    check_run_properties,
    check_security,
    check_tags,
    check_types,
)
from tidemark.constructs.predicates import Predicate, predicate_of
from tidemark.constructs.security.security import (
    ExistingSecurity,
    JobSecurity,
    LogGroups,
    let_services_use,
)
from tidemark.constructs.starts.declared import (
    Start,
    described,
    events_of,
    schedules_of,
    starts_of,
)
from tidemark.constructs.starts.event_start import EventStart
from tidemark.constructs.starts.start_schedule import StartSchedule, group_name
from tidemark.constructs.triggers import NOTHING, Extra, Triggers
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.errors import JobDefinitionError
from tidemark.stage.config import StageConfig
from tidemark.stage.runtime import JobRuntime
from tidemark.stage.shell_runtime import ShellRuntime
from tidemark.stage.streaming_runtime import StreamingRuntime


def construct_id(name: str) -> str:
    """Return the construct id of a job or crawler, which has no dash."""
    return "".join(word.capitalize() for word in name.split("-"))


class Pipeline(Construct):
    """Creates a workflow, the zip of shared packages, and a job with its trigger per `add_job`.

    Jobs without `after` start together; the others start when what they wait for has happened. A
    job can only name jobs added before it, so the graph has no cycle. The triggers are created one
    after the other, since Glue refuses concurrent changes of one workflow, and the start trigger
    last, so that no run begins in half a graph. Synthesis checks the graph by the rules of
    `tidemark.checks.graph.rules`.

    The start trigger is ON_DEMAND: `StartWorkflowRun` starts it. A schedule is a resource of
    EventBridge Scheduler that calls StartWorkflowRun, so turning one on or off changes no trigger.
    Only where events start the pipeline is the trigger of the type EVENT: docs/start-a-pipeline.md.

    Attributes:
        workflow: the Glue workflow.
        security: how the jobs encrypt, and where their logs go.
        jobs: the jobs that the workflow starts, by name.
        crawlers: the crawlers that it starts, by name.
        streaming_jobs: the jobs that nothing starts, by name.
        monitoring: alerts, alarms and dashboard.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        root: Path | str,
        stage: StageConfig,
        watermarks: WatermarkTable | None,
        key: kms.IKey,
        run_properties: Mapping[str, str | NotSecret] | None = None,
        alerts: Alerting | None = None,
        security: ExistingSecurity | None = None,
        log_groups: LogGroups = LogGroups.MADE,
        glue_arguments: GlueArguments | None = None,
        starts: Sequence[Start] | None = None,
    ) -> None:
        """Declare the workflow.

        Args:
            scope: the construct that owns the pipeline.
            id_: construct id.
            name: Glue workflow name in kebab case; a part of other names.
            root: folder of the project: scripts are named relative to it. Packages in its folder
                `libs`, if it has one, ship to the jobs, and so does the watermark library.
            stage: schedule, and what the jobs run on.
            watermarks: the table for jobs that keep watermarks; None if none does.
            key: KMS key for data, bookmarks, logs and alerts. Of a key that the app makes the
                policy is completed; that of an imported one must let the services in already.
            run_properties: what every run of the workflow begins with.
            alerts: a topic that is there already, and who is told beside the stage's `alert_email`.
            security: a security configuration that is there already; None makes one.
            log_groups: EXISTING declares no log groups: their names are taken, or others make them
                and say how long logs are kept. A group that no one made Glue makes, to be kept for
                ever. MADE is for roles that the pipeline makes, and for given ones whose groups are
                not there yet.
            glue_arguments: Glue's own arguments of every job, as far as jobs of its kind have
                them; a job's own count before them.
            starts: `Schedule`, `OnObjects` and `OnEvent`, as many as wanted; an empty list: runs
                are started by hand only; None: by the schedule of the stage, if it has one.
                Changing between a list with events and one without needs a step by hand:
                docs/start-a-pipeline.md.

        Raises:
            JobDefinitionError: the name cannot be part of other names, the project is no folder, a
                run property is not a string or shows a secret, or the stack is a nested one.
        """
        check_name("pipeline", name)
        check_types(name, root=root, stage=stage, watermarks=watermarks, key=key)
        check_security(name, security, log_groups)
        check_alerts(name, alerts, stage)
        check_default(name, "glue_arguments", glue_arguments, GlueArguments)
        begun_by = starts_of(name, starts, stage)
        check_free(scope, id_, f"pipeline '{name}'")
        super().__init__(scope, id_)
        stack = cdk.Stack.of(self)
        if stack.nested_stack_parent is not None:
            raise JobDefinitionError(
                f"pipeline '{name}' is in the nested stack '{stack.node.path}', whose "
                "template no validation is shown; put it into a stack of the app or of a Stage"
            )
        check_places(name, stack, key, watermarks, alerts, begun_by)
        apply_to_all(self, stage)
        let_services_use(self, key)
        self.name = name
        self.jobs: dict[str, GlueJob] = {}
        self.crawlers: dict[str, Crawler] = {}
        self.streaming_jobs: dict[str, StreamingJob] = {}
        self._root = Path(root)
        self._stage = stage
        self._tree = self.node
        properties = check_run_properties(name, {} if run_properties is None else run_properties)
        self.security = JobSecurity(
            self,
            "Security",
            name=stage.name_of(name),
            key=key,
            log_retention_days=stage.log_retention_days,
            existing=security,
            log_groups=log_groups,
        )
        self.workflow = glue.CfnWorkflow(
            self,
            "Workflow",
            name=name,
            max_concurrent_runs=1,
            default_run_properties=properties or None,
        )
        if not_secret := reasons(run_properties or {}):
            self.workflow.add_metadata(METADATA, {"notSecret": not_secret})
        self._shared = SharedParts(
            root=self._root,
            stack=stack,
            libs=libs_asset(self, "Libs", self._root),
            security=self.security,
            watermarks=watermarks,
            workflow_name=name,
            metrics=stage.metrics,
            network=StageNetwork(
                connections=stage.connections,
                vpc_only=stage.vpc_only,
                public_packages=stage.public_packages,
            ),
            glue_arguments=glue_arguments,
        )
        events = events_of(begun_by)
        batch = events[0].batch if events else None
        self._triggers = Triggers(self, workflow=self.workflow, name=name, batch=batch)
        self._waits: dict[str, Predicate | None] = {}
        self.monitoring = Monitoring(
            self,
            "Operations",  # as deployed: another id would replace its resources
            pipeline_name=name,
            stage=stage,
            key=key,
            alerting=alerts or Alerting(),
            jobs=self.jobs,
            crawlers=self.crawlers,
            streaming_jobs=self.streaming_jobs,
            waits=self._waits,
            starts=[described(one) for one in begun_by],
        )
        self._start_by(begun_by)
        cdk.Tags.of(self).add(PIPELINE_TAG, name)
        check_graph_at_synth(self)

    def _start_by(self, starts: Sequence[Start]) -> None:
        """Create what starts the workflow; no run begins in half a graph."""
        name, events, schedules = (
            self._stage.name_of(self.name),
            events_of(starts),
            schedules_of(starts),
        )
        waiting: list[cdk.CfnResource] = []
        if schedules:
            group = group_name(name)
            timer = StartSchedule(
                self,
                "Start-Schedule",  # no job has a dash in its id
                group_name=group,
                workflow_name=self.name,
                schedules=schedules,
                by_event=bool(events),
            )
            waiting += timer.resources
            self.monitoring.alarms.on_missed_start(timer.missed.queue_name, group, bool(events))
        if events:
            by_event = EventStart(
                self, "Start-Events", name=name, workflow_name=self.name, starts=events
            )
            waiting += by_event.rules
            self.monitoring.alarms.on_missed_event(by_event.missed.queue_name)
        for resource in waiting:
            resource.add_resource_dependency(self._triggers.start)

    def add_job(
        self,
        name: str,
        *,
        script: str,
        bookmark: BookmarkOption,
        after: Predicate | Sequence[GlueJob | Crawler | Condition] = (),
        watermark: bool = False,
        reads: Sequence[Dataset] = (),
        writes: Sequence[Dataset] = (),
        arguments: Mapping[str, Argument] | None = None,
        runtime: JobRuntime | None = None,
        tables: Sequence[str | TableUse] = (),
        temp: Dataset | None = None,
        python_modules: Sequence[str] = (),
        connections: Sequence[Connection] | None = None,
        secrets: Sequence[str] = (),
        run_properties: RunProperties | None = None,
        max_watermark_age_hours: int | None = None,
        role: iam.IRole | None = None,
        glue_arguments: GlueArguments | None = None,
        options: JobOptions | None = None,
        started: ActionOptions | None = None,
    ) -> IncrementalJob:
        """Create a job of this pipeline and what starts it.

        Args:
            name: Glue job name in kebab case, unique in the app.
            script: the Python file that Glue runs, relative to the project.
            bookmark: whether Glue keeps a bookmark for the job.
            after: what must have happened first: a list of jobs and crawlers that must all have
                SUCCEEDED, `all_of(...)` or `any_of(...)`; empty: the job starts with the workflow.
            watermark: True gives the job its own rows of the watermark table, whose name the
                script gets as `watermark_table`.
            reads: data the job takes as its input, and may list and read.
            writes: data the job may list, read, write and replace. A job that merges into its
                target names that here only: a target in `reads` too would be its own input.
            arguments: argument name, without dashes, to what the script gets as text: a text, the
                URI of a dataset, or the URI of what a job of `after` writes. `NotSecret(text,
                reason)` is a text that would be refused as a secret in the open.
            runtime: what the job runs on instead of what the stage says.
            tables: tables of the Data Catalog, beside those of `reads` and `writes`: those that
                the job may read, each as `database.table`, or as a `TableUse`, which says more;
                their data is declared in `reads` or `writes`.
            temp: data the job may write while it runs; the script gets it as `TempDir`.
            python_modules: packages that Glue installs, each with its version,
                `pyarrow==21.0.0`, or wheels in S3, which the job may read.
            connections: Glue connections, by name or as constructs of the app; the job joins
                their network, and may read the secret that one made in the app names. None: those
                of the stage; an empty list: none, which a stage with `vpcOnly` refuses.
            secrets: names of secrets in Secrets Manager that the job may read. The policy of a
                key of their own must allow the job's role to decrypt.
            run_properties: whether the job may read, or also put, those of the workflow.
            role: a role that is there already, which gets what the job needs if it may be changed;
                otherwise synthesis warns, and `tidemark grants` prints it. None makes a role for
                this job alone, which is the least that it can have.
            max_watermark_age_hours: raises an alarm when the newest data of a run is older; for
                watermarks that are times. None: no alarm.
            glue_arguments: Glue's own arguments: `GlueArguments(conf={...})`; what it does not
                name, the pipeline may.
            options: description, tags, log retention, concurrent runs and the like.
            started: what the trigger that starts the job adds to it, in runs of the workflow only.

        Returns:
            The job, to be named in `after` of later ones.

        Raises:
            JobDefinitionError: the name is taken, a job is named that is not in this pipeline or
                not waited for, or the job itself cannot be deployed.
        """
        check_name("job", name)
        check_age(name, max_watermark_age_hours, watermark=watermark)
        check_tags(name, self._stage, options)
        id_, waits_for = self._place("job", name, after, script, arguments, started)
        job = IncrementalJob(
            self,
            id_,
            name=name,
            script=self._root / script,
            shared=self._shared,
            runtime=self._stage.runtime if runtime is None else runtime,
            bookmark=bookmark,
            watermark=watermark,
            uses=JobUses(
                reads=reads,
                writes=writes,
                arguments=arguments,
                tables=tables,
                temp=temp,
                python_modules=python_modules,
                connections=connections,
                secrets=secrets,
                run_properties=run_properties,
                role=role,
                glue_arguments=glue_arguments,
                options=options,
            ),
        )
        create_tables(self, job)
        self.jobs[name] = job
        self._waits[name] = waits_for
        self.monitoring.watch(job, max_watermark_age_hours)
        self._triggers.add(
            id_, job, waits_for, _extra(job, job.runtime.timeout_minutes, started, options)
        )
        return job

    def add_shell_job(
        self,
        name: str,
        *,
        script: str,
        after: Predicate | Sequence[GlueJob | Crawler | Condition] = (),
        watermark: Literal[False] = False,
        reads: Sequence[Dataset] = (),
        writes: Sequence[Dataset] = (),
        arguments: Mapping[str, Argument] | None = None,
        runtime: ShellRuntime | None = None,
        tables: Sequence[str | TableUse] = (),
        python_modules: Sequence[str] = (),
        connections: Sequence[Connection] | None = None,
        secrets: Sequence[str] = (),
        run_properties: RunProperties | None = None,
        glue_arguments: GlueArguments | None = None,
        options: JobOptions | None = None,
        role: iam.IRole | None = None,
        started: ActionOptions | None = None,
    ) -> ShellJob:
        """Create a Python shell job of this pipeline and what starts it: a script without Spark.

        It keeps no bookmark, and packages in `libs/` do not ship to it.

        Args:
            name: Glue job name in kebab case, unique in the app.
            script: the Python file that Glue runs, of Python 3.9, relative to the project.
            after: as for `add_job`.
            watermark: False; the watermark library needs a newer Python.
            reads: as for `add_job`, and so are the others that are not said here.
            writes: as for `add_job`.
            arguments: as for `add_job`.
            runtime: capacity, timeout and retries; None takes the smallest capacity, and the
                timeout and the retries of the stage.
            tables: as for `add_job`.
            python_modules: as for `add_job`; wheels in S3 are how code of one's own ships.
            connections: as for `add_job`.
            secrets: as for `add_job`.
            run_properties: as for `add_job`.
            glue_arguments: as for `add_job`; those that Python shell jobs have.
            options: as for `add_job`.
            role: as for `add_job`.
            started: as for `add_job`.

        Returns:
            The job, to be named in `after` of later ones.

        Raises:
            JobDefinitionError: as for `add_job`, or it is to keep a watermark.
        """
        refuse_watermark(name, watermark)
        check_tags(name, self._stage, options)
        id_, waits_for = self._place("job", name, after, script, arguments, started)
        self.security.encrypt_logs(SHELL_LOGS)
        stage = self._stage.runtime
        limits = ShellRuntime(timeout_minutes=stage.timeout_minutes, max_retries=stage.max_retries)
        job = ShellJob(
            self,
            id_,
            name=name,
            script=self._root / script,
            shared=self._shared,
            runtime=limits if runtime is None else runtime,
            uses=JobUses(
                reads=reads,
                writes=writes,
                arguments=arguments,
                tables=tables,
                python_modules=python_modules,
                connections=connections,
                secrets=secrets,
                run_properties=run_properties,
                glue_arguments=glue_arguments,
                options=options,
                role=role,
            ),
        )
        create_tables(self, job)
        self.jobs[name] = job
        self._waits[name] = waits_for
        self._triggers.add(
            id_, job, waits_for, _extra(job, job.runtime.timeout_minutes, started, options)
        )
        return job

    def add_streaming_job(
        self,
        name: str,
        *,
        script: str,
        checkpoint: Dataset,
        sources: Sequence[StreamSource] = (),
        reads: Sequence[Dataset] = (),
        writes: Sequence[Dataset] = (),
        arguments: Mapping[str, Argument] | None = None,
        runtime: StreamingRuntime | None = None,
        tables: Sequence[str | TableUse] = (),
        temp: Dataset | None = None,
        python_modules: Sequence[str] = (),
        connections: Sequence[Connection] | None = None,
        secrets: Sequence[str] = (),
        glue_arguments: GlueArguments | None = None,
        options: JobOptions | None = None,
        role: iam.IRole | None = None,
    ) -> StreamingJob:
        """Create a streaming job: it has logs, a role and alarms as others, and no trigger.

        Nothing starts it but `aws glue start-job-run`, since a run does not end; an alarm tells
        while it does not run.

        Args:
            name: Glue job name in kebab case, unique in the app.
            script: the Python file that Glue runs, relative to the project.
            checkpoint: where the job keeps how far it has come, and no other writes; the script
                gets its URI as `checkpoint`.
            sources: the streams that the job reads; `connections` for those of a Kafka cluster.
            reads: as for `add_job`, and so are the others that are not said here.
            writes: as for `add_job`.
            arguments: as for `add_job`; a job stands for what it writes, and is not waited for.
            runtime: workers, and when Glue may start a run again.
            tables: as for `add_job`.
            temp: as for `add_job`.
            python_modules: as for `add_job`.
            connections: as for `add_job`.
            secrets: as for `add_job`.
            glue_arguments: as for `add_job`; those that streaming jobs have.
            options: as for `add_job`; one run at a time.
            role: as for `add_job`.

        Returns:
            The job.

        Raises:
            JobDefinitionError: the name is taken, or the job cannot be deployed.
        """
        check_name("job", name)
        check_tags(name, self._stage, options)
        check_type(name, "script", script, str, "the path of a Python file in the project")
        id_ = construct_id(name)
        self._check_free("job", name, id_)
        job = StreamingJob(
            self,
            id_,
            name=name,
            script=self._root / script,
            shared=self._shared,
            runtime=StreamingRuntime() if runtime is None else runtime,
            checkpoint=checkpoint,
            sources=sources,
            uses=JobUses(
                reads=reads,
                writes=writes,
                arguments=arguments,
                tables=tables,
                temp=temp,
                python_modules=python_modules,
                connections=connections,
                secrets=secrets,
                glue_arguments=glue_arguments,
                options=options,
                role=role,
            ),
        )
        create_tables(self, job)
        self.streaming_jobs[name] = job
        self.monitoring.alarms.on_not_running(name)
        return job

    def add_crawler(
        self,
        name: str,
        *,
        targets: Sequence[Target],
        database: str,
        after: Predicate | Sequence[GlueJob | Crawler | Condition] = (),
        options: CrawlerOptions | None = None,
        role: iam.IRole | None = None,
    ) -> Crawler:
        """Create a crawler of this pipeline and what starts it.

        Args:
            name: name of the crawler in kebab case, unique in the app.
            targets: what it reads: datasets, `CrawledData` with exclusions, `CrawledTable` or
                `CrawledDatabase`.
            database: the database of the Data Catalog that it writes, `lake.database.ref`.
            after: as for `add_job`.
            options: what it does with tables that have changed, a prefix for their names, and so
                on.
            role: as for `add_job`.

        Returns:
            The crawler, to be named in `after` of later jobs and crawlers.

        Raises:
            JobDefinitionError: the name is taken, something is named that is not in this pipeline,
                or the crawler itself cannot be deployed.
        """
        check_tags(name, self._stage, options, of="crawler")
        id_, waits_for = self._place("crawler", name, after)
        self.security.encrypt_logs(CRAWLER_LOGS)
        crawler = Crawler(
            self,
            id_,
            name=name,
            targets=targets,
            database=database,
            shared=self._shared,
            options=options,
            role=role,
        )
        self.crawlers[name] = crawler
        self._waits[name] = waits_for
        self.monitoring.alerts.on_failed_crawl()
        self._triggers.add(id_, crawler, waits_for)
        return crawler

    def _place(
        self,
        of: str,
        name: str,
        after: object,
        script: object = "",
        arguments: Mapping[str, Argument] | None = None,
        started: ActionOptions | None = None,
    ) -> tuple[str, Predicate | None]:
        """Return the construct id of a node, and what it waits for, if there is a place for it."""
        check_name(of, name)
        check_type(name, "script", script, str, "the path of a Python file in the project")
        check_type(name, "arguments", arguments or {}, Mapping, "a dict of names to values")
        check_type(name, "started", started, ActionOptions | None, "ActionOptions(...)")
        waits_for = predicate_of(after)
        id_ = construct_id(name)
        passed = [*(arguments or {}).items(), *(started.arguments.items() if started else ())]
        self._check_place(of, name, id_, waits_for, passed)
        return id_, waits_for

    def _check_free(self, of: str, name: str, id_: str) -> None:
        """Raise unless neither a job nor a crawler, nor anything else, has the name."""
        if name in self.jobs | self.crawlers | self.streaming_jobs:
            raise JobDefinitionError(
                f"{of} '{name}' is in the pipeline already; names must be unique; rename one of "
                "the two"
            )
        if self._tree.try_find_child(id_) or self._tree.try_find_child(f"{id_}Trigger"):
            raise JobDefinitionError(
                f"{of} '{name}' would have the construct id '{id_}', which the pipeline uses for "
                "something else; give it another name"
            )

    def _check_place(
        self,
        of: str,
        name: str,
        id_: str,
        after: Predicate | None,
        arguments: Iterable[tuple[str, Argument]],
    ) -> None:
        """Raise unless the name is free and all that is waited for is in this pipeline."""
        self._check_free(of, name, id_)
        waited_for = [ended.job for ended in after.conditions] if after else []
        known: dict[str, GlueJob | Crawler] = {**self.jobs, **self.crawlers}
        for job in waited_for:
            if job not in known.values():
                raise JobDefinitionError(
                    f"{of} '{name}' waits for '{job.name}', which no trigger of this pipeline "
                    f"starts; allowed: {', '.join(known) or 'none yet'}; pass what "
                    "add_job returned, of a job added before this one"
                )
        for key, value in arguments:
            if isinstance(value, GlueJob) and value not in waited_for:
                raise JobDefinitionError(
                    f"job '{name}' takes its argument {key!r} from '{value.name}', which it does "
                    "not wait for; add that job to after="
                )


def _extra(
    job: GlueJob, timeout_minutes: int, started: ActionOptions | None, options: JobOptions | None
) -> Extra:
    """Return what a trigger adds to the runs of a job, as Glue wants it."""
    if started is None:
        return NOTHING
    notify_after_minutes = (options and options.notify_after_minutes) or timeout_minutes // 2
    started.check_against(job.name, timeout_minutes)
    late = started.notify_after_minutes
    if started.timeout_minutes and not late and notify_after_minutes >= started.timeout_minutes:
        late = max(1, started.timeout_minutes // 2)  # what the job says would come after its end
    return Extra(
        arguments=job.run_arguments(started.arguments),
        not_secret=reasons({f"--{key}": value for key, value in started.arguments.items()}),
        timeout_minutes=started.timeout_minutes,
        notify_after_minutes=late,
    )
