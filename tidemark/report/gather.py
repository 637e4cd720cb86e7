"""Gathers the records of an app's jobs at a target: for the page, and for freshness."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tidemark.errors import UsageError
from tidemark.model.assembly.definitions import STREAMING, is_filling
from tidemark.model.checkpoints.checkpoint import NOTHING_COMMITTED, Checkpoint
from tidemark.operate.job_runs import Run
from tidemark.operate.rewind.cleared import Cleared
from tidemark.operate.statuses import jobs_with_input_left_out
from tidemark.operate.target import Target
from tidemark.report.commits import PipelineRun, commits_of, last_runs
from tidemark.report.costs import dpu_seconds_of, is_flex
from tidemark.report.freshness import Freshness, freshness_of
from tidemark.report.jobs import PipelineJob, job_of, read_jobs
from tidemark.report.model import Report, Warned, with_datasets
from tidemark.report.windows import windows_of


@dataclass(frozen=True)
class Recorded:
    """Runs, newest first job by job, their checkpoints, what is not known, what was deleted."""

    runs: Sequence[Run]
    checkpoints: Sequence[Checkpoint]
    unknown: Sequence[str] = ()
    cleared: Sequence[Cleared] = ()


def jobs_of(target: Target) -> tuple[PipelineJob, ...]:
    """Return the jobs of the app that run at a target; without an app the submitted scripts."""
    found = app_jobs_of(target)
    return tuple(job for job in found if target.has_streaming or job.kind != STREAMING)


def app_jobs_of(target: Target) -> tuple[PipelineJob, ...]:
    """Return the jobs of the app, also those that do not run at a target."""
    if not target.assembly.stacks:
        if target.submitted:
            return submitted_of(target)
        raise UsageError(
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


def read_recorded(target: Target, jobs: Sequence[PipelineJob], limit: int) -> Recorded:
    """Return the records of the newest runs of jobs."""
    checkpoints: list[Checkpoint] = []
    unknown: list[str] = []
    for job in jobs:
        try:
            checkpoints += target.checkpoints(job.name)
        except UsageError:  # of its table, which may not be there before the first run
            unknown.append(f"The checkpoints of {job.name} cannot be read.")
    runs = target.runs([job.name for job in jobs], limit=limit)
    return Recorded(runs, checkpoints, unknown, target.cleared())


def report_of(target: Target, jobs: Sequence[PipelineJob], limit: int, now_ms: int) -> Report:
    """Return everything that the page shows except the gaps; changes nothing."""
    found = read_recorded(target, jobs, limit)
    windows, unread = windows_of([job for job in jobs if job.watermark_table], target.watermarks)
    names = {job.name for job in jobs}
    warnings = target.warnings()
    untold = () if warnings is not None else ("Warnings of runs are not kept there.",)
    return Report(
        where=target.where,
        made_at_ms=now_ms,
        jobs=tuple(jobs),
        runs=tuple(pipeline_runs(jobs, found.runs)),
        checkpoints=tuple(found.checkpoints),
        windows=windows,
        warnings=tuple(
            Warned(it.job_name, it.run_id, it.started_at_ms, it.text)
            for it in warnings or ()
            if it.job_name in names
        ),
        unknown=(*unread, *found.unknown, *untold),
        limit=limit,
        cleared=tuple(found.cleared),
        left_out=jobs_with_input_left_out(warnings or ()),
    )


def freshness_at(
    jobs: Sequence[PipelineJob],
    found: Recorded,
    now_ms: int,
    left_out: Collection[str] = (),
) -> list[Freshness]:
    """Return how fresh each published dataset of an app is; see `freshness_of`."""
    runs = pipeline_runs(jobs, found.runs)
    jobs = with_datasets(jobs, found.checkpoints)
    commits = commits_of(runs, found.checkpoints, found.cleared)
    return freshness_of(jobs, commits, last_runs(runs), now_ms, found.cleared, left_out)


def pipeline_runs(jobs: Sequence[PipelineJob], runs: Sequence[Run]) -> list[PipelineRun]:
    """Return runs as the report counts them, oldest first."""
    known = {job.name: job for job in jobs}
    found = [
        PipelineRun(
            job=run.job,
            run_id=run.run_id,
            state=run.state,
            started_at_ms=run.started_at_ms,
            ended_at_ms=run.ended_at_ms,
            message=run.message,
            rows_read=run.rows_read,
            rows_written=run.rows_written,
            dpu_seconds=dpu_seconds_of(known[run.job], run),
            is_estimate=run.billed is None,
            flex=is_flex(known[run.job], run),
            is_filling=is_filling(run.arguments),
            is_read_again=run.detail == NOTHING_COMMITTED,
        )
        for run in runs
    ]
    return sorted(found, key=lambda run: run.started_at_ms)
