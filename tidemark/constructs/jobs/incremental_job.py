"""A Glue job that runs on Spark, and continues where its last run ended."""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from aws_cdk import aws_glue as glue
from constructs import Construct

from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs import permissions
from tidemark.constructs.jobs.glue_job import GlueJob, inputs_of
from tidemark.constructs.jobs.job_arguments import construct_arguments
from tidemark.constructs.jobs.job_checks import check_type
from tidemark.constructs.jobs.job_kind import JobKind
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.job_uses import JobUses, check_job
from tidemark.constructs.jobs.own_arguments import Cluster
from tidemark.constructs.jobs.shared_parts import SharedParts
from tidemark.constructs.references import asset_url
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_versions import GLUE_VERSIONS
from tidemark.model.stage.runtime import JobRuntime


class BookmarkOption(Enum):
    """What Glue does with the bookmark of a job; the values of `--job-bookmark-option`."""

    ENABLE = "job-bookmark-enable"
    DISABLE = "job-bookmark-disable"
    PAUSE = "job-bookmark-pause"


class IncrementalJob(GlueJob):
    """Creates a Glue job and a role that allows what the job declares, and nothing else.

    Attributes:
        name: the Glue job name, by which its bookmark and its watermarks are kept.
        role: the role the job runs with.
        logs: its log groups.
        resource: the job itself.
        runtime: what the job runs on.
        bookmark: whether Glue keeps a bookmark for the job.
        has_watermarks: whether the job keeps watermarks.
        reads: data the job reads.
        writes: data the job writes.
        skips_if_nothing_new: whether a run that would find nothing new ends at once.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        script: Path,
        shared: SharedParts,
        runtime: JobRuntime,
        bookmark: BookmarkOption,
        watermark: bool = False,
        skip_if_nothing_new: bool = False,
        uses: JobUses | None = None,
    ) -> None:
        """Declare the job.

        Args:
            scope: the construct that owns the job.
            id_: construct id; renaming it replaces the role, not the job.
            name: Glue job name in kebab case; renaming it loses bookmark and watermarks.
            script: the Python file that Glue runs.
            shared: what the job has in common with the others of its pipeline.
            runtime: Glue version, workers, timeout and retries.
            bookmark: whether Glue keeps a bookmark for the job.
            watermark: True gives the job its own rows of the watermark table, whose name the
                script gets as `watermark_table`.
            skip_if_nothing_new: True ends a run at once where nothing has changed that it reads, as
                `Pipeline.add_job` describes it.
            uses: data, arguments, tables and so on, as `Pipeline.add_job` describes them.

        Raises:
            JobDefinitionError: something of this cannot be deployed.
        """
        uses = uses or JobUses()
        check_job(name, script, uses)
        _check(name, bookmark, watermark=watermark)
        inputs = inputs_of(uses)
        if skip_if_nothing_new is not False:
            _check_skip(name, skip_if_nothing_new, bookmark, watermark=watermark, inputs=inputs)
        if watermark and shared.watermarks is None:
            raise JobDefinitionError(
                f"job '{name}' keeps a watermark, and its pipeline has no table for them; pass "
                "watermarks= to the pipeline"
            )
        check_type(name, "runtime", runtime, JobRuntime, "a JobRuntime")
        options = uses.options or JobOptions()
        options.check(
            name,
            timeout_minutes=runtime.timeout_minutes,
            bookmark=bookmark is not BookmarkOption.DISABLE,
            watermark=watermark,
        )
        reference = shared.watermarks.reference if shared.watermarks else None
        table = reference if watermark else None
        prefix = shared.security.prefix_of(name, role_is_given=uses.role is not None)
        self.runtime = runtime
        self.bookmark = bookmark
        self.has_watermarks = watermark
        self.skips_if_nothing_new = skip_if_nothing_new
        super().__init__(
            scope,
            id_,
            name=name,
            script=script,
            shared=shared,
            uses=uses,
            kind=JobKind(
                command=("glueetl", "3"),
                python=GLUE_VERSIONS[runtime.glue_version].python,
                logs=prefix,
                arguments=construct_arguments(
                    bookmark=bookmark.value,
                    libs_url=asset_url(shared.libs),
                    log_group_prefix=prefix,
                    auto_scaling=runtime.auto_scaling,
                    metrics=shared.metrics,
                    python_modules=uses.python_modules,
                    temp=uses.temp,
                    watermark_table=table,
                    skipped_by=inputs if skip_if_nothing_new else (),
                    skip_table=reference if skip_if_nothing_new else None,
                ),
                properties=_properties(runtime, options),
                statements=_own_statements(
                    name, shared, watermark=watermark, skips=skip_if_nothing_new
                ),
                metadata={"watermark": watermark},
                metrics=shared.metrics,
                cluster=Cluster(
                    runtime.glue_version,
                    runtime.worker_type,
                    runtime.dpus_of_worker,
                    runtime.number_of_workers,
                ),
            ),
        )


def _properties(runtime: JobRuntime, options: JobOptions) -> dict[str, Any]:
    return {
        "glue_version": runtime.glue_version,
        "execution_class": "FLEX" if runtime.flex else "STANDARD",
        # With a queue a second start waits; without one Glue refuses it.
        "job_run_queuing_enabled": runtime.queues,
        "max_retries": runtime.max_retries,
        # Glue tells EventBridge of a run that takes longer.
        "notification_property": glue.CfnJob.NotificationPropertyProperty(
            notify_delay_after=options.notify_after_minutes or max(1, runtime.timeout_minutes // 2)
        ),
        "timeout": runtime.timeout_minutes,
        "worker_type": runtime.worker_type,
        "number_of_workers": runtime.number_of_workers,
    }


def _own_statements(
    name: str, shared: SharedParts, *, watermark: bool, skips: bool
) -> list[permissions.Statement]:
    """Return the permission to keep the job's watermarks, or what its last run found, if any."""
    watermarks = shared.watermarks
    if watermarks is None or not (watermark or skips):
        return []
    arn = watermarks.table.table_arn
    return [
        *(permissions.use_watermarks(arn, name) if watermark else []),
        *(permissions.ask_for_last_run(shared.stack, arn, name) if skips else []),
        *(permissions.use_key(watermarks.key.key_arn) if watermarks.key else []),
    ]


def _check(name: str, bookmark: object, *, watermark: object) -> None:
    """Raise unless it is said what state the job keeps."""
    options = ", ".join(f"BookmarkOption.{option.name}" for option in BookmarkOption)
    check_type(name, "bookmark", bookmark, BookmarkOption, options)
    check_type(name, "watermark", watermark, bool, "True, False")


def _check_skip(
    name: str,
    skip: object,
    bookmark: BookmarkOption,
    *,
    watermark: bool,
    inputs: Sequence[Dataset],
) -> None:
    """Raise unless it can be known that a run would find nothing new."""
    check_type(name, "skip_if_nothing_new", skip, bool, "True, False")
    if watermark:
        wrong = "keeps a watermark, whose next window may have rows without a new file"
        remedy = "leave one of the two out"
    elif bookmark is not BookmarkOption.ENABLE:
        wrong = f"has the bookmark option {bookmark.value}, with which every run reads everything"
        remedy = "pass BookmarkOption.ENABLE, or leave it out"
    elif not inputs:
        wrong = "declares no data that it reads, so that nothing says whether they have changed"
        remedy = "name them in reads=, or leave it out"
    else:
        return
    raise JobDefinitionError(f"job '{name}' has skip_if_nothing_new and {wrong}; {remedy}")
