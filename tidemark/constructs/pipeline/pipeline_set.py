"""Many pipelines: each in a separate stack, so that none changes when another one grows."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_kms as kms

from tidemark.constructs.governance import apply_to_all
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.jobs.job_checks import check_name
from tidemark.constructs.monitoring.alerting import Alerting
from tidemark.constructs.pipeline.nodes import construct_id
from tidemark.constructs.pipeline.pipeline import Pipeline
from tidemark.constructs.security.security import ExistingSecurity, LogGroups
from tidemark.constructs.shared_checks import check_no_alias
from tidemark.constructs.starts.events import Start
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked
from tidemark.model.stage.config import StageConfig


@checked
class PipelineSet:
    """Creates a stack per pipeline, `<name prefix>-<stage>-<name>`.

    A new job changes only its own stack. A workflow has at most 100 jobs and triggers. A job makes
    five resources, up to five alarms, and a policy for every 25 datasets above forty: 45 jobs fit
    into the 500 resources of a stack unless they are that wide; synthesis refuses a stack
    with more, and a template of more than 1,000,000 bytes, which many tags cause.

    Attributes:
        pipelines: the added pipelines, by name.
    """

    def __init__(
        self,
        app: cdk.App | cdk.Stage,
        *,
        stage: StageConfig,
        watermarks: WatermarkTable | None,
        key: kms.IKey,
        root: Path | str,
        env: cdk.Environment,
    ) -> None:
        """Keep the shared parts of the pipelines.

        Args:
            app: the app.
            stage: stage of all pipelines.
            watermarks: the table for jobs that keep watermarks; None if none does.
            key: KMS key for data, bookmarks, logs and alerts.
            root: folder of the project.
            env: account and region.

        Raises:
            JobDefinitionError: an argument is not valid.
        """
        check_no_alias("the PipelineSet", key)
        self.pipelines: dict[str, Pipeline] = {}
        self._app = app
        self._stage = stage
        self._env = env
        self._make = partial(Pipeline, root=root, stage=stage, watermarks=watermarks, key=key)

    @checked
    def add(
        self,
        name: str,
        *,
        alerts: Alerting | None = None,
        security: ExistingSecurity | None = None,
        log_groups: LogGroups = LogGroups.MADE,
        glue_arguments: GlueArguments | None = None,
        starts: Sequence[Start] | None = None,
    ) -> Pipeline:
        """Return a new, empty pipeline in a separate stack.

        Args:
            name: Glue workflow name in kebab case; a part of the stack's name.
            alerts: as for a `Pipeline`.
            security: likewise.
            log_groups: likewise.
            glue_arguments: likewise.
            starts: likewise.

        Raises:
            JobDefinitionError: the name is not in kebab case, or another stack has it.
        """
        check_name("pipeline", name)
        stack_name = self._stage.name_of(name)
        if self._app.node.try_find_child(stack_name):
            raise JobDefinitionError(
                f"pipeline '{name}' would have the stack '{stack_name}', which the app has; give "
                "it another name"
            )
        stack = cdk.Stack(
            self._app,
            stack_name,
            env=self._env,
            description=f"Tidemark {self._stage.name}: the pipeline {name}",
        )
        apply_to_all(stack, self._stage)
        pipeline = self._make(
            stack,
            construct_id(name),
            name=name,
            alerts=alerts,
            security=security,
            log_groups=log_groups,
            glue_arguments=glue_arguments,
            starts=starts,
        )
        self.pipelines[name] = pipeline
        return pipeline
