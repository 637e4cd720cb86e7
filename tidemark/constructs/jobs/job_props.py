"""The declarations of each kind of job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal, Protocol, Required, TypeAlias, TypedDict

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets

from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.connections import Connection
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.secrets import Secret
from tidemark.constructs.jobs.stream_sources import StreamSource
from tidemark.constructs.security.security import JobSecurity
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.model.plain_secrets import NotSecret
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.runtime import JobRuntime, ShellRuntime, StreamingRuntime


class HasOutput(Protocol):
    """A job as an argument of another one: it stands for the one dataset that it writes."""

    @property
    def output(self) -> Dataset:
        """The dataset that it writes."""


Argument: TypeAlias = str | NotSecret | Dataset | HasOutput
"""The value of a job's argument; a job (`HasOutput`) stands for its output."""


class BookmarkOption(Enum):
    """What Glue does with the bookmark of a job; the values of `--job-bookmark-option`."""

    ENABLE = "job-bookmark-enable"
    DISABLE = "job-bookmark-disable"
    PAUSE = "job-bookmark-pause"


class RunProperties(Enum):
    """A job's permissions on the run properties of its workflow."""

    READ = "read"
    READ_AND_PUT = "read and put"


class JobProps(TypedDict, total=False):
    """The declaration of a job of any kind; its role allows this, and nothing else.

    Attributes:
        script: the Python file that Glue runs, relative to the project.
        reads: data the job takes as its input, and may list and read.
        writes: data the job may list, read, write and replace. A job that merges into its target
            names it here only: a target in `reads` too would be its own input.
        arguments: argument name, without dashes, to the script's value: a string, the URI of a
            dataset, or the URI of the output of a job in `after`. `NotSecret(text, reason)` is a
            string that would be refused as a plain-text secret.
        tables: tables of the Data Catalog, in addition to those of `reads` and `writes`: tables
            that the job may read, each as `database.table`, or as a `TableUse` with more
            permissions; declare their data in `reads` or `writes`.
        python_modules: packages that Glue installs, each with its version, `pyarrow==21.0.0`, or
            wheels in S3, which the job may read.
        connections: Glue connections, by name or as constructs of the app; the job joins their
            network, and may read the secret of a connection of the app. None: those of the stage;
            an empty list: none, which a stage with `vpcOnly` refuses.
        secrets: secrets in Secrets Manager that the job may read: each by its name, by its ARN, or
            as a Secret of the app. If a secret has its own key, the key's policy must let the role
            decrypt.
        role: an existing role, which gets the job's permissions if it may be changed; otherwise
            synthesis warns, and `tidemark grants` prints them. None creates a role for this job
            alone, with the least permissions.
        glue_arguments: Glue's own arguments for this kind of job: `GlueArguments(conf={...})`;
            arguments that it does not set come from the pipeline.
        options: description, tags, log retention, concurrent runs and the like.
    """

    script: Required[str]
    reads: Sequence[Dataset]
    writes: Sequence[Dataset]
    arguments: Mapping[str, Argument] | None
    tables: Sequence[str | TableUse]
    python_modules: Sequence[str]
    connections: Sequence[Connection] | None
    secrets: Sequence[Secret]
    role: iam.IRole | None
    glue_arguments: GlueArguments | None
    options: JobOptions | None


class SparkJobProps(JobProps, total=False):
    """The declaration of a Spark job.

    Attributes:
        bookmark: whether Glue keeps a bookmark for the job.
        watermark: True gives the job its own rows of the watermark table; the script gets its name
            as `watermark_table`.
        skip_if_nothing_new: True ends a run at once, as SUCCEEDED, if nothing has changed since the
            last commit: no object of the data that the job reads, no argument, no code. Use it for
            a job that reads only its declared data, and whose runs without new files change
            nothing. The local Glue does not even start such a run; on AWS one call in the script
            ends it: docs/nothing-new.md.
        runtime: workers, timeout and retries, instead of the stage's.
        temp: data the job may write while it runs; the script gets it as `TempDir`.
        run_properties: whether the job may read, or also put, those of the workflow.
    """

    bookmark: Required[BookmarkOption]
    watermark: bool
    skip_if_nothing_new: bool
    runtime: JobRuntime | None
    temp: Dataset | None
    run_properties: RunProperties | None


class StreamingJobProps(JobProps, total=False):
    """The declaration of a streaming job.

    Attributes:
        checkpoint: checkpoint location, used by this job only; the script gets its URI as
            `checkpoint`.
        sources: the streams that the job reads; `connections` for those of a Kafka cluster.
        runtime: workers, and when Glue may restart a run.
        temp: data the job may write while it runs; the script gets it as `TempDir`.
    """

    checkpoint: Required[Dataset]
    sources: Sequence[StreamSource]
    runtime: StreamingRuntime | None
    temp: Dataset | None


class ShellJobProps(JobProps, total=False):
    """The declaration of a Python shell job.

    Attributes:
        watermark: False; the watermark library needs a newer Python.
        runtime: capacity, timeout and retries; None takes the smallest capacity, and the timeout
            and the retries of the stage.
        run_properties: whether the job may read, or also put, those of the workflow.
    """

    watermark: Literal[False]
    runtime: ShellRuntime | None
    run_properties: RunProperties | None


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
        stage: default runtime and connections of jobs, their metrics, and rules for networks.
        glue_arguments: Glue's own arguments of every job, unless the job has others.
        scripts: scripts of the jobs so far, by path; a script of several jobs is one asset.
    """

    root: Path
    stack: cdk.Stack
    libs: assets.Asset
    security: JobSecurity
    watermarks: WatermarkTable | None
    workflow_name: str
    stage: StageConfig
    glue_arguments: GlueArguments | None = None
    scripts: dict[Path, assets.Asset] = field(default_factory=dict)
