"""The parts that the jobs of one pipeline share."""

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
    """The parts that the jobs of one pipeline share.

    Attributes:
        root: folder of the project with the scripts.
        stack: the stack of the pipeline.
        libs: the zip of shared packages on a script's path.
        security: encryption of logs, bookmarks and data, and the names of logs.
        watermarks: the table for jobs that keep watermarks; None if none does.
        workflow_name: the Glue workflow that starts the jobs.
        runtime: the stage's default runtime of jobs.
        metrics: True publishes Glue's job metrics to CloudWatch.
        network: default connections of jobs, and the stage's rules for them.
        glue_arguments: Glue's own arguments of every job, unless the job has others.
        scripts: scripts of the jobs so far, by path; a script of several jobs is one asset.
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
