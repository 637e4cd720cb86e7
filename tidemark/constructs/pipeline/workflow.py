"""The Glue workflow itself: what starts it, and the common parts of its nodes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_kms as kms
from constructs import Construct

from tidemark.constructs.catalog.published_tables import create_tables
from tidemark.constructs.governance import apply_to_all, protect_stack
from tidemark.constructs.graph_check import check_graph_at_synth
from tidemark.constructs.jobs.action_options import ActionOptions
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.jobs.incremental_job import IncrementalJob
from tidemark.constructs.jobs.job_checks import check_name
from tidemark.constructs.jobs.job_props import SharedParts
from tidemark.constructs.jobs.shell_job import ShellJob
from tidemark.constructs.libs import libs_asset
from tidemark.constructs.monitoring.alerting import Alerting
from tidemark.constructs.monitoring.monitoring import Monitoring
from tidemark.constructs.pipeline import checks
from tidemark.constructs.pipeline.nodes import Nodes, construct_id
from tidemark.constructs.pipeline.triggers import Triggers, trigger_extra
from tidemark.constructs.predicates import Predicate
from tidemark.constructs.security.security import (
    ExistingSecurity,
    JobSecurity,
    LogGroups,
    let_services_use,
)
from tidemark.constructs.shared_checks import check_free, check_no_alias
from tidemark.constructs.starts.event_start import EventStart
from tidemark.constructs.starts.events import Start, described, events_of, schedules_of, starts_of
from tidemark.constructs.starts.start_schedule import StartSchedule, group_name
from tidemark.constructs.starts.state_machine import ByStateMachine, IsStarted
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.resources import METADATA, PIPELINE_TAG
from tidemark.model.checked import checked
from tidemark.model.plain_secrets import NotSecret, reasons
from tidemark.model.stage.config import StageConfig


@checked
class Workflow(Construct):
    """Creates a workflow without nodes; the base of `Pipeline`, which adds them."""

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
            root: folder of the project; scripts are named relative to it. Packages in its folder
                `libs`, if it exists, ship to the jobs, and so does the watermark library.
            stage: schedule, and default runtime of the jobs.
            watermarks: the table for jobs that keep watermarks; None if none does.
            key: KMS key for data, bookmarks, logs and alerts. The policy of a key of the app
                is completed; that of an imported one must already let the services in.
            run_properties: initial run properties of every run of the workflow.
            alerts: an existing topic, and recipients besides the stage's `alert_email`.
            security: an existing security configuration; None creates one.
            log_groups: EXISTING declares no log groups: the names are taken, or others create them
                and set how long logs are kept. Glue creates a missing group itself, without expiry.
                MADE is for roles that the pipeline creates, and for given ones whose groups do not
                exist yet.
            glue_arguments: Glue's own arguments of every job, as far as jobs of its kind have
                them; a job's own values win.
            starts: any number of `Schedule`, `OnObjects` and `OnEvent`, or `ByStateMachine` alone;
                an empty list: runs are started by hand only; None: by the schedule of the stage,
                if it has one.
                Changing between a list with events and one without needs a manual step:
                docs/start-a-pipeline.md.

        Raises:
            JobDefinitionError: the name cannot be part of others, the project is not a folder, a
                run property is not a string or shows a secret, or the stack is a nested one.
        """
        check_name("pipeline", name)
        checks.check_root(name, Path(root))
        check_no_alias(f"pipeline '{name}'", key)
        checks.check_alerts(name, alerts, stage)
        begun_by = starts_of(name, starts, stage)
        check_free(scope, id_, f"pipeline '{name}'")
        super().__init__(scope, id_)
        stack = cdk.Stack.of(self)
        if stack.nested_stack_parent is not None:
            raise JobDefinitionError(
                f"pipeline '{name}' is in the nested stack '{stack.node.path}', whose "
                "template no validation sees; put it into a stack of the app or of a Stage"
            )
        checks.check_places(name, stack, key, watermarks, alerts, begun_by, stage, security)
        apply_to_all(self, stage)
        protect_stack(self, stage)  # its jobs hold bookmarks
        let_services_use(self, key)
        self.name = name
        self._root = Path(root)
        self._stage = stage
        self._nodes = Nodes(self.node)
        self.jobs = self._nodes.jobs
        self.crawlers = self._nodes.crawlers
        self.streaming_jobs = self._nodes.streaming_jobs
        properties = checks.check_run_properties(name, run_properties or {})
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
            stage=stage,
            glue_arguments=glue_arguments,
        )
        events = events_of(begun_by)
        batch = events[0].batch if events else None
        self._triggers = Triggers(
            self,
            workflow=self.workflow,
            name=name,
            batch=batch,
            started_by=lambda trigger: self._start_by(begun_by, trigger),
        )
        self.monitoring = Monitoring(
            self,
            "Operations",  # as deployed: another id would replace its resources
            pipeline_name=name,
            stage=stage,
            key=key,
            alerting=alerts or Alerting(),
            nodes=self._nodes,
            starts=[described(start) for start in begun_by],
        )
        if starts:  # starts of a workflow without jobs are refused at synthesis
            _ = self._triggers.start
        self._starts, self._is_started = begun_by, IsStarted(name)
        if ByStateMachine() in begun_by:
            self.node.add_validation(self._is_started)
        cdk.Tags.of(self).add(PIPELINE_TAG, name)
        check_graph_at_synth(self)

    def _start_by(self, starts: Sequence[Start], trigger: glue.CfnTrigger) -> None:
        """Create what starts the workflow."""
        name = self._stage.name_of(self.name)
        events, schedules = events_of(starts), schedules_of(starts)
        waiting: list[cdk.CfnResource] = []
        if schedules:
            group = group_name(name)
            timer = StartSchedule(
                self,
                "Start-Schedule",  # no job has a dash in its id
                group=group,
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
        # No run starts in an incomplete graph.
        for resource in waiting:
            resource.add_resource_dependency(trigger)

    def _add_to_graph(
        self, job: IncrementalJob | ShellJob, after: Predicate | None, started: ActionOptions | None
    ) -> None:
        """Create a job that the workflow starts, with the tables that it creates."""
        create_tables(self, job)
        self.jobs[job.name] = job
        self._nodes.waits[job.name] = after
        self._triggers.add(construct_id(job.name), job, after, trigger_extra(job, started))
