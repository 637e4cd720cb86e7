"""A streaming job: it runs until it is stopped, and no trigger starts it.

Source: https://docs.aws.amazon.com/glue/latest/dg/add-job-streaming.html
"""

from collections.abc import Sequence

import aws_cdk as cdk
from constructs import Construct

from tidemark.constructs.dataset import Dataset, check_no_table
from tidemark.constructs.jobs.conditions import Condition, JobState
from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.constructs.jobs.job_arguments import spark_arguments
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.job_props import BookmarkOption, SharedParts, StreamingJobProps
from tidemark.constructs.jobs.stream_sources import MskTopics
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked
from tidemark.model.stage.runtime import StreamingRuntime


@checked
class StreamingJob(GlueJob):
    """Creates a streaming job and a role that allows what the job declares, and nothing else.

    Glue keeps no bookmark for it: it continues from its checkpoint, which only this job may
    write. A second concurrent run fails.

    Attributes:
        name: the Glue job name.
        role: the role the job runs with.
        logs: its log groups.
        resource: the job itself.
        runtime: what the job runs on.
        checkpoint: its checkpoint location.
        reads: data the job reads.
        writes: data the job writes.
    """

    runtime: StreamingRuntime

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        shared: SharedParts,
        props: StreamingJobProps,
    ) -> None:
        """Declare the job.

        Args:
            scope: the construct that owns the job.
            id_: construct id; renaming it replaces the role, not the job.
            name: Glue job name in kebab case.
            shared: the parts that the job shares with others of its pipeline.
            props: what the job declares, as `Pipeline.add_streaming_job` describes it.

        Raises:
            JobDefinitionError: the job cannot be deployed.
        """
        self.runtime = runtime = props["runtime"] or StreamingRuntime()
        self.checkpoint = checkpoint = props["checkpoint"]
        check_no_table(f"job '{name}'", "checkpoint", checkpoint)
        _check_alone(name, checkpoint, [*props["reads"], *props["writes"]])
        _check_options(name, props["options"] or JobOptions())
        prefix = shared.security.prefix_of(name, role_is_given=props["role"] is not None)
        arguments = spark_arguments(
            shared,
            props,
            runtime,
            bookmark=BookmarkOption.DISABLE,
            logs=prefix,
            metrics=True,  # for the alarm on a job that does not run
        )
        super().__init__(
            scope,
            id_,
            name=name,
            shared=shared,
            props=props,
            command="gluestreaming",
            logs=prefix,
            arguments={**arguments, "--checkpoint": checkpoint.uri},
            statements=[line for source in props["sources"] for line in source.statements()],
            temp=props["temp"],
            keeps=[checkpoint],
        )
        topics = any(isinstance(source, MskTopics) for source in props["sources"])
        if topics and not self._connections:
            cdk.Annotations.of(self).add_warning_v2(
                "tidemark:msk-without-connection",
                f"job {name} reads MskTopics and has no connection, so that it is in no VPC: it "
                "reaches only the brokers of a cluster with public access; name a connection in "
                "connections=, or acknowledge this",
            )
        self._create(
            "3",
            glue_version=str(runtime.glue_version),
            worker_type=runtime.worker_type,
            number_of_workers=runtime.number_of_workers,
            maintenance_window=runtime.maintenance_window,
        )

    def on(self, state: JobState) -> Condition:
        """Refuse: a job that never ends cannot be waited for.

        Raises:
            JobDefinitionError: always.
        """
        raise JobDefinitionError(
            f"job '{self.name}' is a streaming job, which no trigger watches ({state!r}); let "
            "others read its output on their own schedule"
        )


def _check_options(job: str, options: JobOptions) -> None:
    """Raise for options that suit only jobs that end."""
    if options.max_concurrent_runs > 1:
        raise JobDefinitionError(
            f"job '{job}' has max_concurrent_runs {options.max_concurrent_runs} and one "
            "checkpoint, which two runs would both write; allowed: 1; set it to 1"
        )
    if options.notify_after_minutes is not None:
        raise JobDefinitionError(
            f"job '{job}' has notify_after_minutes {options.notify_after_minutes} and is a "
            "streaming job, whose run is long by nature: an alarm reports when it does not run; "
            "leave it out"
        )


def _check_alone(job: str, checkpoint: Dataset, data: Sequence[Dataset]) -> None:
    """Raise if a checkpoint is in the same place as data."""
    # A reader of the data would read it as data.
    for dataset in data:
        if dataset.uri.startswith(checkpoint.uri) or checkpoint.uri.startswith(dataset.uri):
            raise JobDefinitionError(
                f"job '{job}' has checkpoint {checkpoint.prefix!r} where it has the data "
                f"{dataset.prefix!r}; allowed: a folder that holds nothing else; correct "
                "checkpoint="
            )
