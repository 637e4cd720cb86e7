"""What the jobs of one pipeline share."""

from dataclasses import dataclass, field
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_s3_assets as assets

from tidemark.constructs.jobs.connections import StageNetwork
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.security.security import JobSecurity
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.model.stage.runtime import JobRuntime


@dataclass(frozen=True)
class SharedParts:
    """What the jobs of one pipeline share.

    Attributes:
        root: folder of the project, which the scripts are in.
        stack: the stack of the pipeline.
        libs: the zip of shared packages put on a script's path.
        security: how logs, bookmarks and data are encrypted, and where logs go.
        watermarks: the table for jobs that keep watermarks, or None if none does.
        workflow_name: the Glue workflow that starts the jobs.
        runtime: what the stage says that jobs run on.
        metrics: True publishes Glue's job metrics to CloudWatch.
        network: connections that jobs have by default, and what the stage allows them.
        glue_arguments: Glue's own arguments of every job, unless the job has others.
        scripts: of the jobs so far, by path; one script of many jobs is one asset.
    """

    root: Path
    stack: cdk.Stack
    libs: assets.Asset
    security: JobSecurity
    watermarks: WatermarkTable | None
    workflow_name: str
    runtime: JobRuntime
    metrics: bool = False
    network: StageNetwork = field(default_factory=StageNetwork)
    glue_arguments: GlueArguments | None = None
    scripts: dict[Path, assets.Asset] = field(default_factory=dict)
