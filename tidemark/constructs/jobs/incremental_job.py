"""A Glue job that runs on Spark, and continues where its last run ended."""

from collections.abc import Sequence

from constructs import Construct

from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs import permissions
from tidemark.constructs.jobs.glue_job import GlueJob, inputs_of
from tidemark.constructs.jobs.job_arguments import SKIP, SKIP_TABLE, spark_arguments
from tidemark.constructs.jobs.job_props import BookmarkOption, SharedParts, SparkJobProps
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked
from tidemark.model.stage.runtime import JobRuntime


@checked
class IncrementalJob(GlueJob):
    """Creates a Glue job and a role that allows what the job declares, and nothing else.

    Attributes:
        name: the Glue job name, the key of its bookmark and its watermarks.
        role: the role the job runs with.
        logs: its log groups.
        resource: the job itself.
        runtime: what the job runs on.
        bookmark: whether Glue keeps a bookmark for the job.
        has_watermarks: whether the job keeps watermarks.
        reads: data that the job reads.
        writes: data that the job writes.
        skips_if_nothing_new: whether a run that would find nothing new ends at once.
    """

    runtime: JobRuntime

    def __init__(
        self, scope: Construct, id_: str, *, name: str, shared: SharedParts, props: SparkJobProps
    ) -> None:
        """Declare the job.

        Args:
            scope: the construct that owns the job.
            id_: construct id; renaming it replaces the role, not the job.
            name: Glue job name in kebab case; renaming it loses bookmark and watermarks.
            shared: the parts that the job shares with the others of its pipeline.
            props: what the job declares, as `Pipeline.add_job` describes it.

        Raises:
            JobDefinitionError: the job cannot be deployed.
        """
        self.runtime = runtime = props["runtime"] or shared.stage.runtime
        self.bookmark = bookmark = props["bookmark"]
        self.has_watermarks = watermark = props["watermark"]
        self.skips_if_nothing_new = skips = props["skip_if_nothing_new"]
        inputs = inputs_of(props)
        if skips:
            _check_skip(name, bookmark, watermark=watermark, inputs=inputs)
        if watermark and shared.watermarks is None:
            raise JobDefinitionError(
                f"job '{name}' keeps a watermark, but its pipeline has no table for them; pass "
                "watermarks= to the pipeline"
            )
        table = shared.watermarks.reference if shared.watermarks else ""
        prefix = shared.security.prefix_of(name, role_is_given=props["role"] is not None)
        arguments = spark_arguments(
            shared, props, runtime, bookmark=bookmark, logs=prefix, metrics=shared.stage.metrics
        )
        if watermark:
            arguments["--watermark_table"] = table
        if skips:
            arguments[SKIP] = ",".join(data.uri for data in inputs)
            arguments |= {SKIP_TABLE: table} if table else {}
        super().__init__(
            scope,
            id_,
            name=name,
            shared=shared,
            props=props,
            command="glueetl",
            logs=prefix,
            arguments=arguments,
            statements=_own_statements(name, shared, watermark=watermark, skips=skips),
            bookmark=bookmark is not BookmarkOption.DISABLE,
            temp=props["temp"],
            run_properties=props["run_properties"],
        )
        self._create(
            "3",
            glue_version=str(runtime.glue_version),
            worker_type=runtime.worker_type,
            number_of_workers=runtime.number_of_workers,
            execution_class="FLEX" if runtime.flex else "STANDARD",
            # With a queue a second start waits; without one Glue refuses it.
            job_run_queuing_enabled=runtime.queues,
            notification_property=self._notification(runtime.timeout_minutes),
        )


def _own_statements(
    name: str, shared: SharedParts, *, watermark: bool, skips: bool
) -> list[permissions.Statement]:
    """Return the permission to keep watermarks, or to read the last run's record, if any."""
    watermarks = shared.watermarks
    if watermarks is None or not (watermark or skips):
        return []
    arn = watermarks.table.table_arn
    return [
        *(permissions.use_watermarks(arn, name) if watermark else []),
        *(permissions.ask_for_last_run(shared.stack, arn, name) if skips else []),
        *(permissions.use_key(watermarks.key.key_arn) if watermarks.key else []),
    ]


def _check_skip(
    name: str, bookmark: BookmarkOption, *, watermark: bool, inputs: Sequence[Dataset]
) -> None:
    """Raise unless it is possible to know that a run would find nothing new."""
    if watermark:
        wrong = "keeps a watermark, whose next window may have rows without a new file"
        remedy = "leave one of the two out"
    elif bookmark is not BookmarkOption.ENABLE:
        wrong = f"has the bookmark option {bookmark.value}, with which every run reads everything"
        remedy = "pass BookmarkOption.ENABLE, or leave it out"
    elif not inputs:
        wrong = "declares no data that it reads, so that nothing shows whether it has changed"
        remedy = "name them in reads=, or leave it out"
    else:
        return
    raise JobDefinitionError(f"job '{name}' has skip_if_nothing_new and {wrong}; {remedy}")
