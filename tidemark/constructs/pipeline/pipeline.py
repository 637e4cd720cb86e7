"""A Glue workflow and its jobs: one call per job."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from aws_cdk import aws_iam as iam
from constructs import Construct

from tidemark.constructs.catalog.databases import Database
from tidemark.constructs.catalog.published_tables import create_tables
from tidemark.constructs.crawlers.crawler import Crawler
from tidemark.constructs.crawlers.options import CrawlerOptions
from tidemark.constructs.crawlers.permissions import LOGS as CRAWLER_LOGS
from tidemark.constructs.crawlers.targets import Target
from tidemark.constructs.jobs.action_options import ActionOptions
from tidemark.constructs.jobs.conditions import Condition
from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.constructs.jobs.incremental_job import IncrementalJob
from tidemark.constructs.jobs.job_props import ShellJobProps, SparkJobProps, StreamingJobProps
from tidemark.constructs.jobs.shell_job import LOGS as SHELL_LOGS
from tidemark.constructs.jobs.shell_job import ShellJob
from tidemark.constructs.jobs.streaming_job import StreamingJob
from tidemark.constructs.pipeline.checks import check_age, check_tags
from tidemark.constructs.pipeline.nodes import construct_id
from tidemark.constructs.pipeline.workflow import Workflow
from tidemark.constructs.predicates import Predicate
from tidemark.constructs.starts.events import described
from tidemark.constructs.starts.state_machine import ByStateMachine
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong

if TYPE_CHECKING:
    from aws_cdk import aws_stepfunctions as sfn

MAX_WAIT_SECONDS = 99_999_999


class Pipeline(Workflow):
    """Creates a workflow, the zip of shared packages, and a job with its trigger per `add_job`.

    Jobs without `after` start together; the others start when their conditions are met. A
    job can only name jobs added before it, so the graph has no cycle. The triggers are created one
    after the other, because Glue refuses concurrent changes of one workflow, and the start trigger
    last, so that no run starts in an incomplete graph. Synthesis checks the graph by the rules of
    `tidemark.checks.graph.rules`.

    The start trigger is ON_DEMAND: `StartWorkflowRun` starts it. A schedule is a resource of
    EventBridge Scheduler that calls StartWorkflowRun, so turning it on or off changes no trigger.
    Only if events start the pipeline, the trigger has the type EVENT: docs/start-a-pipeline.md.

    Attributes:
        workflow: the Glue workflow.
        security: encryption of the jobs, and the names of their logs.
        jobs: the jobs that the workflow starts, by name.
        crawlers: the crawlers that it starts, by name.
        streaming_jobs: the jobs that nothing starts, by name.
        monitoring: alerts, alarms and dashboard.
    """

    @checked
    def add_job(
        self,
        name: str,
        *,
        after: Predicate | Sequence[GlueJob | Crawler | Condition] = (),
        started: ActionOptions | None = None,
        max_watermark_age_hours: int | None = None,
        **props: Unpack[SparkJobProps],
    ) -> IncrementalJob:
        """Create a job of this pipeline and its trigger.

        Args:
            name: Glue job name in kebab case, unique in the app.
            after: what the job waits for: a list of jobs and crawlers that must all have
                SUCCEEDED, `all_of(...)` or `any_of(...)`; empty: the job starts with the workflow.
            started: additions of the trigger that starts the job, in runs of the workflow only.
            max_watermark_age_hours: raises an alarm when the newest data of a run is older; for
                watermarks that are times. None: no alarm.
            props: what the job declares.

        Returns:
            The job, for `after` of later ones.

        Raises:
            JobDefinitionError: the name is taken, a named job is not in this pipeline or
                not waited for, or the job itself cannot be deployed.

        Example:
            >>> raw, trusted = Dataset(bucket, "raw/"), Dataset(bucket, "trusted/")
            >>> orders = pipeline.add_job(
            ...     "orders",
            ...     script="job.py",
            ...     bookmark=BookmarkOption.ENABLE,
            ...     reads=[raw],
            ...     writes=[trusted],
            ...     arguments={"target": trusted},
            ... )
            >>> mart = pipeline.add_job(
            ...     "mart",
            ...     script="job.py",
            ...     bookmark=BookmarkOption.ENABLE,
            ...     after=[orders],
            ...     reads=[trusted],
            ... )
        """
        check_age(name, max_watermark_age_hours, watermark=props["watermark"])
        check_tags(name, self._stage, props["options"])
        waits_for = self._nodes.place("job", name, after, props["arguments"], started)
        job = IncrementalJob(self, construct_id(name), name=name, shared=self._shared, props=props)
        self._add_to_graph(job, waits_for, started)
        self.monitoring.watch(job, max_watermark_age_hours)
        return job

    @checked
    def add_shell_job(
        self,
        name: str,
        *,
        after: Predicate | Sequence[GlueJob | Crawler | Condition] = (),
        started: ActionOptions | None = None,
        **props: Unpack[ShellJobProps],
    ) -> ShellJob:
        """Create a Python shell job of this pipeline and its trigger: a script without Spark.

        Its Python is 3.9. It keeps no bookmark, and packages in `libs/` do not ship to it: put your
        own code into wheels in S3.

        Args:
            name: Glue job name in kebab case, unique in the app.
            after: as for `add_job`.
            started: as for `add_job`.
            props: what the job declares.

        Returns:
            The job, for `after` of later ones.

        Raises:
            JobDefinitionError: as for `add_job`, or it would keep a watermark.

        Example:
            >>> notice = pipeline.add_shell_job("notice", script="job.py", arguments={"to": "ops"})
        """
        check_tags(name, self._stage, props["options"])
        waits_for = self._nodes.place("job", name, after, props["arguments"], started)
        self.security.encrypt_logs(SHELL_LOGS)
        job = ShellJob(self, construct_id(name), name=name, shared=self._shared, props=props)
        self._add_to_graph(job, waits_for, started)
        return job

    @checked
    def add_streaming_job(self, name: str, **props: Unpack[StreamingJobProps]) -> StreamingJob:
        """Create a streaming job, with logs, a role and alarms like others, but without a trigger.

        Only `aws glue start-job-run` starts it, because a run does not end; an alarm reports
        when it does not run. One run at a time; it does not wait for a job among its arguments.

        Args:
            name: Glue job name in kebab case, unique in the app.
            props: what the job declares.

        Returns:
            The job.

        Raises:
            JobDefinitionError: the name is taken, or the job cannot be deployed.
        """
        check_tags(name, self._stage, props["options"])
        self._nodes.check_free("job", name)
        job = StreamingJob(self, construct_id(name), name=name, shared=self._shared, props=props)
        create_tables(self, job)
        self.streaming_jobs[name] = job
        self.monitoring.alarms.on_not_running(name)
        return job

    @checked
    def add_crawler(
        self,
        name: str,
        *,
        targets: Sequence[Target],
        database: Database,
        after: Predicate | Sequence[GlueJob | Crawler | Condition] = (),
        options: CrawlerOptions | None = None,
        role: iam.IRole | None = None,
    ) -> Crawler:
        """Create a crawler of this pipeline and its trigger.

        Args:
            name: name of the crawler in kebab case, unique in the app.
            targets: what it reads: datasets, `CrawledData` with exclusions, `CrawledTable`,
                `CrawledDatabase`, `CrawledOpenTables` or `CrawledDynamoDB`.
            database: the database of the Data Catalog that it writes, `lake.catalog_database`, or
                its name.
            after: as for `add_job`.
            options: how it treats tables that have changed, a prefix for their names, and so
                on.
            role: as for `add_job`.

        Returns:
            The crawler, for `after` of later jobs and crawlers.

        Raises:
            JobDefinitionError: the name is taken, a named node is not in this pipeline,
                or the crawler itself cannot be deployed.
        """
        check_tags(name, self._stage, options, of="crawler")
        waits_for = self._nodes.place("crawler", name, after)
        self.security.encrypt_logs(CRAWLER_LOGS)
        crawler = Crawler(
            self,
            construct_id(name),
            name=name,
            targets=targets,
            database=database,
            shared=self._shared,
            options=options,
            role=role,
        )
        self.crawlers[name] = crawler
        self._nodes.waits[name] = waits_for
        self.monitoring.alerts.on_failed_crawl()
        self._triggers.add(construct_id(name), crawler, waits_for)
        return crawler

    @checked
    def start_task(self, scope: Construct, id_: str, *, wait_seconds: int = 30) -> "sfn.Chain":
        """Return states of a state machine that run this pipeline, with the grants for it.

        The execution waits for the end of the workflow run, and fails with
        `Tidemark.WorkflowRunFailed` if a job of it did. Its input must be an object; the output
        has a member `WorkflowRun` with `RunId` and `Status`. A stop of the execution leaves the
        workflow run alone.

        Args:
            scope: the construct that owns the states.
            id_: the name of the first state; the others begin with it.
            wait_seconds: between two looks at the run, 1 to 99,999,999.

        Returns:
            The states as a chain: `.next(...)` continues after the run.

        Raises:
            JobDefinitionError: something else starts the pipeline, or wait_seconds is not allowed.

        Example:
            >>> from aws_cdk import Stack
            >>> from aws_cdk import aws_stepfunctions as sfn
            >>> stack = Stack.of(pipeline)
            >>> machine = sfn.StateMachine(
            ...     stack,
            ...     "Nightly",
            ...     definition_body=sfn.DefinitionBody.from_chainable(
            ...         pipeline.start_task(stack, "Load")
            ...     ),
            ... )
        """
        if any(start != ByStateMachine() for start in self._starts):
            raise JobDefinitionError(
                f"pipeline '{self.name}' has start_task, and is also started by "
                f"{' and by '.join(map(described, self._starts))}; allowed: one of the two; "
                "declare starts=[ByStateMachine()]"
            )
        if not 1 <= wait_seconds <= MAX_WAIT_SECONDS:
            allowed = f"an integer from 1 to {MAX_WAIT_SECONDS:,}"
            raise wrong("start_task", "wait_seconds", wait_seconds, allowed, "pass one")
        from tidemark.constructs.starts.start_task import start_task  # a large module of the CDK

        self._is_started.is_started = True
        return start_task(scope, id_, workflow=self.name, wait_seconds=wait_seconds)
