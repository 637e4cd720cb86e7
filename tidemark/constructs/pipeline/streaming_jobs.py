"""Adds streaming jobs to a pipeline."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_iam as iam

from tidemark.constructs.catalog.published_tables import create_tables
from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.connections import Connection
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.jobs.job_checks import check_name, check_type
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.job_uses import Argument, JobUses
from tidemark.constructs.jobs.secrets import Secret
from tidemark.constructs.jobs.stream_sources import StreamSource
from tidemark.constructs.jobs.streaming_job import StreamingJob
from tidemark.constructs.pipeline.checks import check_tags
from tidemark.constructs.pipeline.nodes import construct_id
from tidemark.constructs.pipeline.workflow import Workflow
from tidemark.model.stage.streaming_runtime import StreamingRuntime


class StreamingJobs(Workflow):
    """A workflow beside which streaming jobs can be kept."""

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
        secrets: Sequence[Secret] = (),
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
        self._nodes.check_free("job", name, id_)
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
