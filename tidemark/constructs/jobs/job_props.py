"""What a job of each kind declares."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Literal, Protocol, Required, TypeAlias, TypedDict

from aws_cdk import aws_iam as iam

from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.connections import Connection
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.secrets import Secret
from tidemark.constructs.jobs.stream_sources import StreamSource
from tidemark.model.plain_secrets import NotSecret
from tidemark.model.stage.runtime import JobRuntime
from tidemark.model.stage.shell_runtime import ShellRuntime
from tidemark.model.stage.streaming_runtime import StreamingRuntime


class HasOutput(Protocol):
    """A job, as an argument of another one: it stands for the one dataset that it writes."""

    @property
    def output(self) -> Dataset:
        """What it writes."""


Argument: TypeAlias = str | NotSecret | Dataset | HasOutput
"""What an argument of a job may be; a job (`HasOutput`) stands for what it writes."""


class BookmarkOption(Enum):
    """What Glue does with the bookmark of a job; the values of `--job-bookmark-option`."""

    ENABLE = "job-bookmark-enable"
    DISABLE = "job-bookmark-disable"
    PAUSE = "job-bookmark-pause"


class RunProperties(Enum):
    """What a job may do with the run properties of its workflow."""

    READ = "read"
    READ_AND_PUT = "read and put"


class JobProps(TypedDict, total=False):
    """What a job of any kind declares; its role allows this, and nothing else."""

    script: Required[str]
    """the Python file that Glue runs, relative to the project."""
    reads: Sequence[Dataset]
    """data the job takes as its input, and may list and read."""
    writes: Sequence[Dataset]
    """data the job may list, read, write and replace. A job that merges into its target names
    that here only: a target in `reads` too would be its own input."""
    arguments: Mapping[str, Argument] | None
    """argument name, without dashes, to what the script gets as text: a text, the URI of a
    dataset, or the URI of what a job of `after` writes. `NotSecret(text, reason)` is a text that
    would be refused as a secret in the open."""
    tables: Sequence[str | TableUse]
    """tables of the Data Catalog, beside those of `reads` and `writes`: those that the job may
    read, each as `database.table`, or as a `TableUse`, which says more; their data is declared in
    `reads` or `writes`."""
    python_modules: Sequence[str]
    """packages that Glue installs, each with its version, `pyarrow==21.0.0`, or wheels in S3,
    which the job may read."""
    connections: Sequence[Connection] | None
    """Glue connections, by name or as constructs of the app; the job joins their network, and may
    read the secret that one made in the app names. None: those of the stage; an empty list: none,
    which a stage with `vpcOnly` refuses."""
    secrets: Sequence[Secret]
    """secrets in Secrets Manager that the job may read: each by its name, by its ARN, or as a
    Secret of the app. The policy of a key of their own must allow the job's role to decrypt."""
    role: iam.IRole | None
    """a role that is there already, which gets what the job needs if it may be changed; otherwise
    synthesis warns, and `tidemark grants` prints it. None makes a role for this job alone, which
    is the least that it can have."""
    glue_arguments: GlueArguments | None
    """Glue's own arguments that jobs of the kind have: `GlueArguments(conf={...})`; what it does
    not name, the pipeline may."""
    options: JobOptions | None
    """description, tags, log retention, concurrent runs and the like."""


class SparkJobProps(JobProps, total=False):
    """What a Spark job declares."""

    bookmark: Required[BookmarkOption]
    """whether Glue keeps a bookmark for the job."""
    watermark: bool
    """True gives the job its own rows of the watermark table, whose name the script gets as
    `watermark_table`."""
    skip_if_nothing_new: bool
    """True ends a run at once, as SUCCEEDED, where nothing has changed since the last commit: no
    object of the data that the job reads, no argument, no code. Right for a job that reads nothing
    beside its declared data, and whose runs without new files change nothing. The local Glue does
    not even start such a run; on AWS one call in the script ends it: docs/nothing-new.md."""
    runtime: JobRuntime | None
    """what the job runs on instead of what the stage says."""
    temp: Dataset | None
    """data the job may write while it runs; the script gets it as `TempDir`."""
    run_properties: RunProperties | None
    """whether the job may read, or also put, those of the workflow."""


class StreamingJobProps(JobProps, total=False):
    """What a streaming job declares."""

    checkpoint: Required[Dataset]
    """where the job keeps how far it has come, and no other writes; the script gets its URI as
    `checkpoint`."""
    sources: Sequence[StreamSource]
    """the streams that the job reads; `connections` for those of a Kafka cluster."""
    runtime: StreamingRuntime | None
    """workers, and when Glue may start a run again."""
    temp: Dataset | None
    """data the job may write while it runs; the script gets it as `TempDir`."""


class ShellJobProps(JobProps, total=False):
    """What a Python shell job declares."""

    watermark: Literal[False]
    """False; the watermark library needs a newer Python."""
    runtime: ShellRuntime | None
    """capacity, timeout and retries; None takes the smallest capacity, and the timeout and the
    retries of the stage."""
    run_properties: RunProperties | None
    """whether the job may read, or also put, those of the workflow."""
