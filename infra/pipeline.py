"""A Glue workflow and its jobs: one call per job."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from infra.config import StageConfig
from infra.dataset import Dataset
from infra.errors import JobDefinitionError
from infra.incremental_job import BookmarkOption, IncrementalJob
from infra.watermark_table import WatermarkTable

# What stands beside the code must not change the zip.
NOT_SHIPPED = ["**/__pycache__", "**/*.pyc", "**/*.egg-info", "**/.DS_Store", "**/*.md"]


class Pipeline(Construct):
    """Creates a workflow, the zip of shared packages, and a job with its trigger per `add_job`.

    Jobs without `after` start together; the others start when all the jobs they name have
    SUCCEEDED. A job can only name jobs added before it, so the graph has no cycle. The triggers
    are created one after the other, since Glue refuses concurrent changes of one workflow, and
    the start trigger last, so that no run begins in half a graph.

    Attributes:
        workflow: the Glue workflow.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        root: Path,
        stage: StageConfig,
        watermarks: WatermarkTable,
    ) -> None:
        """Declare the workflow.

        Args:
            scope: the construct that owns the pipeline.
            id_: construct id.
            name: Glue workflow name.
            root: folder of the project: scripts are named relative to it, `libs/` is in it.
            stage: schedule, and the size and timeout of the jobs.
            watermarks: the table for jobs that keep watermarks.

        Raises:
            JobDefinitionError: there is no folder `libs` in the project.
        """
        super().__init__(scope, id_)
        self._root = root
        self._stage = stage
        self._watermarks = watermarks
        self._jobs: dict[str, IncrementalJob] = {}
        self._last_trigger: glue.CfnTrigger | None = None
        libs = root / "libs"
        if not libs.is_dir():
            raise JobDefinitionError(
                f"pipeline '{name}' ships {str(libs)!r}, which is not a folder; "
                "create it, or correct root="
            )
        self._libs = assets.Asset(self, "Libs", path=str(libs), exclude=NOT_SHIPPED)
        self.workflow = glue.CfnWorkflow(self, "Workflow", name=name, max_concurrent_runs=1)
        self._start_actions: list[cdk.IResolvable | glue.CfnTrigger.ActionProperty] = []
        self._start = glue.CfnTrigger(
            self,
            "Start",
            type="SCHEDULED" if stage.schedule else "ON_DEMAND",
            schedule=stage.schedule,
            start_on_creation=True if stage.schedule else None,
            workflow_name=self.workflow.ref,
            actions=self._start_actions,
        )

    def add_job(
        self,
        name: str,
        *,
        script: str,
        bookmark: BookmarkOption,
        reads: Sequence[Dataset] = (),
        writes: Sequence[Dataset] = (),
        arguments: Mapping[str, str] | None = None,
        after: Sequence[IncrementalJob] = (),
        watermark: bool = False,
        connection_name: str | None = None,
        secret_name: str | None = None,
        metrics: bool = False,
    ) -> IncrementalJob:
        """Create a job of this pipeline and what starts it.

        Args:
            name: Glue job name in kebab case, unique in the pipeline.
            script: the Python file that Glue runs, relative to the project.
            bookmark: whether Glue keeps a bookmark for the job.
            reads: data the job may list and read.
            writes: data the job may list, read, write and replace.
            arguments: argument name, without dashes, to the text the script gets.
            after: jobs of this pipeline that must all have SUCCEEDED first; empty: the job
                starts with the workflow.
            watermark: True gives the job its own rows of the watermark table, whose name the
                script gets as `watermark_table`.
            connection_name: Glue connection whose network the job joins.
            secret_name: secret in Secrets Manager that the job may read.
            metrics: True publishes Glue's job metrics to CloudWatch.

        Returns:
            The job, to be named in `after` of later ones.

        Raises:
            JobDefinitionError: the name is taken, `after` names a job that is not in this
                pipeline, or the job itself cannot be deployed.
        """
        self._check_place(name, after)
        id_ = "".join(word.capitalize() for word in name.split("-"))
        job = IncrementalJob(
            self,
            id_,
            name=name,
            script=self._root / script,
            libs=self._libs,
            stage=self._stage,
            bookmark=bookmark,
            reads=reads,
            writes=writes,
            arguments=arguments,
            watermarks=self._watermarks if watermark else None,
            connection_name=connection_name,
            secret_name=secret_name,
            metrics=metrics,
        )
        self._jobs[name] = job
        action = glue.CfnTrigger.ActionProperty(job_name=job.resource.ref)
        if after:
            self._add_trigger(f"{id_}Trigger", action, after)
        else:
            self._start_actions.append(action)
            self._start.actions = self._start_actions
        return job

    def _check_place(self, name: str, after: Sequence[IncrementalJob]) -> None:
        """Raise unless the name is free and every job to wait for is in this pipeline."""
        if name in self._jobs:
            raise JobDefinitionError(
                f"job '{name}' is in the pipeline already; names must be unique; rename one of the "
                "two"
            )
        for job in after:
            if job not in self._jobs.values():
                raise JobDefinitionError(
                    f"job '{name}' waits for {getattr(job, 'name', job)!r}, which is not a job of "
                    f"this pipeline; allowed: {', '.join(self._jobs) or 'none yet'}; pass what "
                    "add_job returned, of a job added before this one"
                )

    def _add_trigger(
        self, id_: str, action: glue.CfnTrigger.ActionProperty, after: Sequence[IncrementalJob]
    ) -> None:
        """Create a trigger that fires when all the jobs it watches have SUCCEEDED."""
        trigger = glue.CfnTrigger(
            self,
            id_,
            type="CONDITIONAL",
            start_on_creation=True,
            workflow_name=self.workflow.ref,
            predicate=glue.CfnTrigger.PredicateProperty(
                logical="AND",
                conditions=[
                    glue.CfnTrigger.ConditionProperty(
                        job_name=job.resource.ref, logical_operator="EQUALS", state="SUCCEEDED"
                    )
                    for job in after
                ],
            ),
            actions=[action],
        )
        if self._last_trigger is not None:
            trigger.add_resource_dependency(self._last_trigger)
            self._start.remove_resource_dependency(self._last_trigger)
        self._start.add_resource_dependency(trigger)
        self._last_trigger = trigger
