"""The jobs of an app at a target, with the datasets between them, read from its templates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import Assembly, deployable
from tidemark.model.assembly.definitions import (
    CRAWLER,
    FROM,
    SHELL,
    SPARK,
    STREAMING,
    WATERMARK_TABLE,
)
from tidemark.model.assembly.glue_versions import DEFAULT_GLUE_VERSION, version_of_job
from tidemark.model.assembly.resources import METADATA
from tidemark.model.assembly.template import resolve_stacks, stack_resources
from tidemark.operate.target import Target, arguments_of

JOB, TRIGGER = "AWS::Glue::Job", "AWS::Glue::Trigger"
# Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html
WORKER_DPU = {
    "Standard": 1.0,
    "G.025X": 0.25,
    **{f"G.{size}X": float(size) for size in (1, 2, 4, 8, 12, 16)},
    **{f"R.{size}X": float(size) for size in (1, 2, 4, 8)},
    "Z.2X": 2.0,
}
SHELL_DPU, DPU_OF_SPARK = 0.0625, 10.0  # of a job that states none


@dataclass(frozen=True)
class PipelineJob:
    """One Glue job of the templates.

    Attributes:
        name: of the job.
        kind: its command: `glueetl`, `pythonshell` or `gluestreaming`.
        workflow: whose trigger starts it; empty if none does.
        after: the jobs that it waits for.
        reads: URIs of its input datasets, as far as the template has them.
        writes: URIs of those that it writes.
        published: URIs of those that others than the app's jobs read.
        tables: `database.table` of the Data Catalog, by URI.
        worker_type: such as `G.1X`; empty if the job states none.
        dpu: the billed size of a run, all workers together.
        is_flex: whether it has the flexible execution class.
        glue_version: such as `5.1`.
        watermark_table: its table of watermarks; empty if it keeps none.
        has_ranges: whether a run can be told a range to load.
    """

    name: str
    kind: str = SPARK
    workflow: str = ""
    after: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    worker_type: str = ""
    dpu: float = DPU_OF_SPARK
    is_flex: bool = False
    glue_version: str = DEFAULT_GLUE_VERSION
    watermark_table: str = ""
    has_ranges: bool = False


class NothingHereError(UsageError):
    """A folder has no app yet, and its home no script: there is nothing to look at."""


def jobs_of(target: Target) -> tuple[PipelineJob, ...]:
    """Return the jobs of the app that run at a target; without an app the submitted scripts."""
    return tuple(
        job for job in app_jobs_of(target) if target.has_streaming or job.kind != STREAMING
    )


def app_jobs_of(target: Target) -> tuple[PipelineJob, ...]:
    """Return the jobs of the app, also those that do not run at a target."""
    if not target.assembly.stacks:
        if target.submitted:
            return submitted_of(target)
        raise NothingHereError(
            "no app was synthesized in this folder (there is no cdk.out), and no script was "
            f"submitted in {target.where}: `tidemark run` runs an app, `tidemark submit SCRIPT.py` "
            "a script, and --app names the assembly of an app"
        )
    return read_jobs(target.assembly, target.region)


def submitted_of(target: Target) -> tuple[PipelineJob, ...]:
    """Return the scripts that were submitted, as the jobs that they would be on AWS."""
    return tuple(job_of(name, target.definition(name) or {}) for name in target.submitted)


def with_submitted(target: Target, jobs: Sequence[PipelineJob]) -> tuple[PipelineJob, ...]:
    """Return jobs of an app, and then the submitted scripts that are none of them."""
    names = {job.name for job in jobs}
    return (*jobs, *(job for job in submitted_of(target) if job.name not in names))


def read_jobs(assembly: Assembly, region: str) -> tuple[PipelineJob, ...]:
    """Return the jobs of an app in the order of its templates."""
    jobs: dict[str, PipelineJob] = {}
    triggers: list[Mapping[str, Any]] = []
    with deployable():
        for stack, scope in resolve_stacks(assembly, region, may_guess=True):
            resources = stack.template.get("Resources", {})
            for id_, kind, name, properties in stack_resources(stack, scope):
                if kind == JOB:
                    metadata = resources[id_].get("Metadata", {}).get(METADATA, {})
                    jobs[name] = job_of(name, properties, scope.resolve(metadata))
                elif kind == TRIGGER:
                    triggers.append(properties)
        after = _after(triggers)
        workflows = _workflows(triggers)
    if not jobs:
        raise UsageError(
            "the app has no Glue job; add one with pipeline.add_job(...) and synthesize again"
        )
    return tuple(
        replace(job, after=tuple(after.get(name, ())), workflow=workflows.get(name, ""))
        for name, job in jobs.items()
    )


def job_of(
    name: str, properties: Mapping[str, Any], known: Mapping[str, Any] | None = None
) -> PipelineJob:
    """Return a job."""
    known = known or {}
    kind = properties.get("Command", {}).get("Name", SPARK)
    worker_type = str(properties.get("WorkerType", ""))
    writes = known.get("writes", [])
    arguments = arguments_of(properties)
    return PipelineJob(
        name=name,
        kind=kind,
        reads=_uris(known.get("reads", [])),
        writes=_uris(writes),
        published=_uris([write for write in writes if write.get("published") or "table" in write]),
        tables={
            str(write["uri"]): str(write["table"])
            for write in (*known.get("reads", []), *writes)
            if "table" in write
        },
        worker_type=worker_type,
        dpu=dpu_of(kind, worker_type, properties),
        is_flex=properties.get("ExecutionClass") == "FLEX",
        glue_version=version_of_job(properties),
        watermark_table=str(arguments.get(WATERMARK_TABLE, "")),
        has_ranges=FROM in arguments,
    )


def dpu_of(kind: str, worker_type: str, stated: Mapping[str, Any]) -> float:
    """Return the DPUs of a job or run."""
    if worker_type in WORKER_DPU and stated.get("NumberOfWorkers"):
        return WORKER_DPU[worker_type] * int(stated["NumberOfWorkers"])
    otherwise = SHELL_DPU if kind == SHELL else DPU_OF_SPARK
    return float(stated.get("MaxCapacity") or stated.get("AllocatedCapacity") or otherwise)


def _uris(items: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(item["uri"]) for item in items))


def _after(triggers: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    # A crawler between two jobs is passed through.
    waits: dict[str, list[str]] = {}
    for trigger in triggers:
        conditions = (trigger.get("Predicate") or {}).get("Conditions", [])
        watched = [name for condition in conditions if (name := _node(condition))]
        for name in _started(trigger):
            waits.setdefault(name, []).extend(watched)
    return {
        name: list(dict.fromkeys(_jobs_before(name, waits, set())))
        for name in waits
        if not name.startswith(CRAWLER)
    }


def _jobs_before(name: str, waits: Mapping[str, Sequence[str]], seen: set[str]) -> Iterator[str]:
    for before in waits.get(name, ()):
        if not before.startswith(CRAWLER):
            yield before
        elif before not in seen:
            yield from _jobs_before(before, waits, seen | {before})


def _workflows(triggers: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {
        name: str(trigger["WorkflowName"])
        for trigger in triggers
        if trigger.get("WorkflowName")
        for name in _started(trigger)
    }


def _started(trigger: Mapping[str, Any]) -> list[str]:
    return [name for action in trigger.get("Actions", []) if (name := _node(action))]


def _node(item: Mapping[str, Any]) -> str:
    if crawler := item.get("CrawlerName"):
        return f"{CRAWLER}{crawler}"
    return str(item.get("JobName", ""))
