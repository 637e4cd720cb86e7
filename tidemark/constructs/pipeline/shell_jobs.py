"""Adds Python shell jobs to a pipeline."""

from collections.abc import Mapping, Sequence
from typing import Literal

from aws_cdk import aws_iam as iam

from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.crawlers.crawler import Crawler
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.action_options import ActionOptions
from tidemark.constructs.jobs.conditions import Condition
from tidemark.constructs.jobs.connections import Connection
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.job_uses import Argument, JobUses, RunProperties
from tidemark.constructs.jobs.secrets import Secret
from tidemark.constructs.jobs.shell_job import LOGS, ShellJob, refuse_watermark
from tidemark.constructs.pipeline.checks import check_tags
from tidemark.constructs.pipeline.workflow import Workflow
from tidemark.constructs.predicates import Predicate
from tidemark.model.stage.shell_runtime import ShellRuntime


class ShellJobs(Workflow):
    """A workflow that Python shell jobs can be added to."""

    def add_shell_job(
        self,
        name: str,
        *,
        script: str,
        after: Predicate | Sequence[GlueJob | Crawler | Condition] = (),
        watermark: Literal[False] = False,
        reads: Sequence[Dataset] = (),
        writes: Sequence[Dataset] = (),
        arguments: Mapping[str, Argument] | None = None,
        runtime: ShellRuntime | None = None,
        tables: Sequence[str | TableUse] = (),
        python_modules: Sequence[str] = (),
        connections: Sequence[Connection] | None = None,
        secrets: Sequence[Secret] = (),
        run_properties: RunProperties | None = None,
        glue_arguments: GlueArguments | None = None,
        options: JobOptions | None = None,
        role: iam.IRole | None = None,
        started: ActionOptions | None = None,
    ) -> ShellJob:
        """Create a Python shell job of this pipeline and what starts it: a script without Spark.

        It keeps no bookmark, and packages in `libs/` do not ship to it.

        Args:
            name: Glue job name in kebab case, unique in the app.
            script: the Python file that Glue runs, of Python 3.9, relative to the project.
            after: as for `add_job`.
            watermark: False; the watermark library needs a newer Python.
            reads: as for `add_job`, and so are the others that are not said here.
            writes: as for `add_job`.
            arguments: as for `add_job`.
            runtime: capacity, timeout and retries; None takes the smallest capacity, and the
                timeout and the retries of the stage.
            tables: as for `add_job`.
            python_modules: as for `add_job`; wheels in S3 are how code of one's own ships.
            connections: as for `add_job`.
            secrets: as for `add_job`.
            run_properties: as for `add_job`.
            glue_arguments: as for `add_job`; those that Python shell jobs have.
            options: as for `add_job`.
            role: as for `add_job`.
            started: as for `add_job`.

        Returns:
            The job, to be named in `after` of later ones.

        Raises:
            JobDefinitionError: as for `add_job`, or it is to keep a watermark.
        """
        refuse_watermark(name, watermark)
        check_tags(name, self._stage, options)
        place = self._nodes.place("job", name, after, script, arguments, started)
        self.security.encrypt_logs(LOGS)
        stage = self._stage.runtime
        limits = ShellRuntime(timeout_minutes=stage.timeout_minutes, max_retries=stage.max_retries)
        job = ShellJob(
            self,
            place.id_,
            name=name,
            script=self._root / script,
            shared=self._shared,
            runtime=limits if runtime is None else runtime,
            uses=JobUses(
                reads=reads,
                writes=writes,
                arguments=arguments,
                tables=tables,
                python_modules=python_modules,
                connections=connections,
                secrets=secrets,
                run_properties=run_properties,
                glue_arguments=glue_arguments,
                options=options,
                role=role,
            ),
        )
        self._add_to_graph(place, job, job.runtime.timeout_minutes, started, options)
        return job
