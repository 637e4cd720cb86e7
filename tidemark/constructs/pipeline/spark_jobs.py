"""Adds Spark jobs to a pipeline."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_iam as iam

from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.crawlers.crawler import Crawler
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.action_options import ActionOptions
from tidemark.constructs.jobs.conditions import Condition
from tidemark.constructs.jobs.connections import Connection
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.constructs.jobs.incremental_job import BookmarkOption, IncrementalJob
from tidemark.constructs.jobs.job_checks import check_name
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.job_uses import Argument, JobUses, RunProperties
from tidemark.constructs.jobs.secrets import Secret
from tidemark.constructs.pipeline.checks import check_age, check_tags
from tidemark.constructs.pipeline.workflow import Workflow
from tidemark.constructs.predicates import Predicate
from tidemark.model.stage.runtime import JobRuntime


class SparkJobs(Workflow):
    """A workflow that Spark jobs can be added to."""

    def add_job(
        self,
        name: str,
        *,
        script: str,
        bookmark: BookmarkOption,
        after: Predicate | Sequence[GlueJob | Crawler | Condition] = (),
        watermark: bool = False,
        skip_if_nothing_new: bool = False,
        reads: Sequence[Dataset] = (),
        writes: Sequence[Dataset] = (),
        arguments: Mapping[str, Argument] | None = None,
        runtime: JobRuntime | None = None,
        tables: Sequence[str | TableUse] = (),
        temp: Dataset | None = None,
        python_modules: Sequence[str] = (),
        connections: Sequence[Connection] | None = None,
        secrets: Sequence[Secret] = (),
        run_properties: RunProperties | None = None,
        max_watermark_age_hours: int | None = None,
        role: iam.IRole | None = None,
        glue_arguments: GlueArguments | None = None,
        options: JobOptions | None = None,
        started: ActionOptions | None = None,
    ) -> IncrementalJob:
        """Create a job of this pipeline and what starts it.

        Args:
            name: Glue job name in kebab case, unique in the app.
            script: the Python file that Glue runs, relative to the project.
            bookmark: whether Glue keeps a bookmark for the job.
            after: what must have happened first: a list of jobs and crawlers that must all have
                SUCCEEDED, `all_of(...)` or `any_of(...)`; empty: the job starts with the workflow.
            watermark: True gives the job its own rows of the watermark table, whose name the
                script gets as `watermark_table`.
            skip_if_nothing_new: True ends a run at once, as SUCCEEDED, where nothing has changed
                since the last commit: no object of the data that the job reads, no argument, no
                code. Right for a job that reads nothing beside its declared data, and whose runs
                without new files change nothing. The local Glue does not even start
                such a run; on AWS one call in the script ends it: docs/nothing-new.md.
            reads: data the job takes as its input, and may list and read.
            writes: data the job may list, read, write and replace. A job that merges into its
                target names that here only: a target in `reads` too would be its own input.
            arguments: argument name, without dashes, to what the script gets as text: a text, the
                URI of a dataset, or the URI of what a job of `after` writes. `NotSecret(text,
                reason)` is a text that would be refused as a secret in the open.
            runtime: what the job runs on instead of what the stage says.
            tables: tables of the Data Catalog, beside those of `reads` and `writes`: those that
                the job may read, each as `database.table`, or as a `TableUse`, which says more;
                their data is declared in `reads` or `writes`.
            temp: data the job may write while it runs; the script gets it as `TempDir`.
            python_modules: packages that Glue installs, each with its version,
                `pyarrow==21.0.0`, or wheels in S3, which the job may read.
            connections: Glue connections, by name or as constructs of the app; the job joins
                their network, and may read the secret that one made in the app names. None: those
                of the stage; an empty list: none, which a stage with `vpcOnly` refuses.
            secrets: secrets in Secrets Manager that the job may read: each by its name, by its
                ARN, or as a Secret of the app. The policy of a key of their own must allow the
                job's role to decrypt.
            run_properties: whether the job may read, or also put, those of the workflow.
            role: a role that is there already, which gets what the job needs if it may be changed;
                otherwise synthesis warns, and `tidemark grants` prints it. None makes a role for
                this job alone, which is the least that it can have.
            max_watermark_age_hours: raises an alarm when the newest data of a run is older; for
                watermarks that are times. None: no alarm.
            glue_arguments: Glue's own arguments: `GlueArguments(conf={...})`; what it does not
                name, the pipeline may.
            options: description, tags, log retention, concurrent runs and the like.
            started: what the trigger that starts the job adds to it, in runs of the workflow only.

        Returns:
            The job, to be named in `after` of later ones.

        Raises:
            JobDefinitionError: the name is taken, a job is named that is not in this pipeline or
                not waited for, or the job itself cannot be deployed.
        """
        check_name("job", name)
        check_age(name, max_watermark_age_hours, watermark=watermark)
        check_tags(name, self._stage, options)
        place = self._nodes.place("job", name, after, script, arguments, started)
        job = IncrementalJob(
            self,
            place.id_,
            name=name,
            script=self._root / script,
            shared=self._shared,
            runtime=self._stage.runtime if runtime is None else runtime,
            bookmark=bookmark,
            watermark=watermark,
            skip_if_nothing_new=skip_if_nothing_new,
            uses=JobUses(
                reads=reads,
                writes=writes,
                arguments=arguments,
                tables=tables,
                temp=temp,
                python_modules=python_modules,
                connections=connections,
                secrets=secrets,
                run_properties=run_properties,
                role=role,
                glue_arguments=glue_arguments,
                options=options,
            ),
        )
        self._add_to_graph(place, job, job.runtime.timeout_minutes, started, options)
        self.monitoring.watch(job, max_watermark_age_hours)
        return job
