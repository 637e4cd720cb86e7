"""What a deployed stage tells of the runs of its jobs, through boto3."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.model.checkpoints.filling import is_filling
from tidemark.operate.checkpoints import checkpoints_of_stage
from tidemark.operate.clients import NOT_FOUND, Glue
from tidemark.operate.job_runs import PAGE, run_of
from tidemark.operate.names import JOB
from tidemark.report.commits import PipelineRun, commits_of, last_runs
from tidemark.report.costs import MIN_BILLED_S
from tidemark.report.freshness import RUNS_OF_FRESHNESS, Freshness, freshness_of
from tidemark.report.jobs import PipelineJob, dpu_of
from tidemark.report.model import Report, with_datasets
from tidemark.report.windows import windows_of

MS_PER_S = 1000
AT_ONCE = 8  # jobs that AWS is asked about


def report_of_stage(glue: Glue, jobs: Sequence[PipelineJob], limit: int, now_ms: int) -> Report:
    """Return what AWS knows of the jobs of a stage."""
    keeping = [job for job in jobs if job.watermark_table]
    dynamodb = glue.client("dynamodb")
    windows, unknown = windows_of(keeping, dynamodb)
    checkpoints, unreadable = _checkpoints(glue, keeping)
    return Report(
        where=glue.where,
        made_at_ms=now_ms,
        jobs=tuple(jobs),
        runs=tuple(runs_of_stage(glue, jobs, limit)),
        checkpoints=checkpoints,
        windows=windows,
        unknown=(
            *unknown,
            *unreadable,
            "Warnings of runs are known on the machine that ran them only.",
        ),
        limit=limit,
    )


def freshness_of_stage(glue: Glue, jobs: Sequence[PipelineJob], now_ms: int) -> list[Freshness]:
    """Return how fresh each published dataset of a stage is."""
    runs = runs_of_stage(glue, jobs, RUNS_OF_FRESHNESS)
    checkpoints, _ = _checkpoints(glue, [job for job in jobs if job.watermark_table])
    jobs = with_datasets(jobs, checkpoints)
    return freshness_of(jobs, commits_of(runs, checkpoints), last_runs(runs), now_ms)


def _checkpoints(
    glue: Glue, jobs: Sequence[PipelineJob]
) -> tuple[tuple[Checkpoint, ...], tuple[str, ...]]:
    """Return the checkpoints of jobs, and a sentence for each job whose cannot be read."""
    found: list[Checkpoint] = []
    unknown: list[str] = []
    for job in jobs:
        try:
            found += checkpoints_of_stage(glue, [job.name])
        except UsageError:  # of its table, which may not be there before the first run
            unknown.append(f"The checkpoints of {job.name} cannot be read.")
    return tuple(found), tuple(unknown)


def runs_of_stage(glue: Glue, jobs: Sequence[PipelineJob], limit: int) -> list[PipelineRun]:
    """Return the newest runs of each job, oldest first; a job that is not deployed has none."""
    for job in jobs[:1]:
        glue.check_stage(JOB, job.name)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = [run for runs in pool.map(partial(_runs, glue, limit), jobs) for run in runs]
    return sorted(found, key=lambda run: run.started_at_ms)


def _runs(glue: Glue, limit: int, job: PipelineJob) -> list[PipelineRun]:
    return [_run(job, member) for member in islice(_members(glue, job.name, limit), limit)]


def _members(glue: Glue, job: str, limit: int) -> Iterator[Mapping[str, Any]]:
    from botocore.exceptions import ClientError

    request: dict[str, Any] = {"JobName": job, "MaxResults": min(limit, PAGE)}
    while True:
        try:
            answer = glue.glue.get_job_runs(**request)
        except ClientError as error:
            if error.response["Error"]["Code"] in NOT_FOUND:
                return
            raise
        yield from answer["JobRuns"]
        if not answer.get("NextToken"):
            return
        request["NextToken"] = answer["NextToken"]


def _run(job: PipelineJob, member: Mapping[str, Any]) -> PipelineRun:
    run = run_of(member)
    return PipelineRun(
        job=run.job,
        run_id=run.run_id,
        state=run.state,
        started_at_ms=_ms(run.started_at),
        ended_at_ms=None if run.ended_at is None else _ms(run.ended_at),
        message=run.message,
        dpu_seconds=dpu_seconds_of(job, member) if run.is_final else None,
        flex=member.get("ExecutionClass") == "FLEX",
        is_filling=is_filling(member.get("Arguments") or {}),
    )


def dpu_seconds_of(job: PipelineJob, member: Mapping[str, Any]) -> float:
    """Return the DPU-seconds that AWS bills for a run that has ended.

    AWS tells them for runs of the flexible class and with auto scaling; for others they are the
    seconds, at least a minute, of all workers.

    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-runs.html
    """
    told = member.get("DPUSeconds")
    if told is not None:
        return float(told)
    seconds = float(member.get("ExecutionTime", 0))
    dpu = dpu_of(job.kind, str(member.get("WorkerType", job.worker_type)), member)
    return max(seconds, MIN_BILLED_S) * dpu if seconds else 0.0


def _ms(at: datetime) -> int:
    return round(at.astimezone(UTC).timestamp() * MS_PER_S)
