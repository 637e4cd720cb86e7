"""Gathers the records of an app's jobs at a target: for the page, and for freshness."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tidemark.errors import UsageError
from tidemark.model.assembly.definitions import is_filling
from tidemark.model.checkpoints.checkpoint import NOTHING_COMMITTED, Checkpoint
from tidemark.operate.app_jobs import PipelineJob
from tidemark.operate.job_runs import Run
from tidemark.operate.rewind.cleared import Cleared
from tidemark.operate.statuses import jobs_with_input_left_out
from tidemark.operate.target import Target
from tidemark.report.commits import PipelineRun, commits_of, last_runs
from tidemark.report.costs import dpu_seconds_of, is_flex
from tidemark.report.freshness import Freshness, freshness_of
from tidemark.report.model import Report, Warned, with_datasets
from tidemark.report.windows import windows_of


@dataclass(frozen=True)
class Recorded:
    """Runs, newest first job by job, their checkpoints, what is not known, what was deleted."""

    runs: Sequence[Run]
    checkpoints: Sequence[Checkpoint]
    unknown: Sequence[str] = ()
    cleared: Sequence[Cleared] = ()


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
    recorded = read_recorded(target, jobs, limit)
    windows, unread = windows_of([job for job in jobs if job.watermark_table], target.watermarks)
    names = {job.name for job in jobs}
    warnings = target.warnings()
    untold = () if warnings is not None else ("Warnings of runs are not kept there.",)
    return Report(
        where=target.where,
        made_at_ms=now_ms,
        jobs=tuple(jobs),
        runs=tuple(pipeline_runs(jobs, recorded.runs)),
        checkpoints=tuple(recorded.checkpoints),
        windows=windows,
        warnings=tuple(
            Warned(warning.job_name, warning.run_id, warning.started_at_ms, warning.text)
            for warning in warnings or ()
            if warning.job_name in names
        ),
        unknown=(*unread, *recorded.unknown, *untold),
        limit=limit,
        cleared=tuple(recorded.cleared),
        left_out=jobs_with_input_left_out(warnings or ()),
        option=target.option,
    )


def freshness_at(
    jobs: Sequence[PipelineJob], recorded: Recorded, now_ms: int, left_out: Collection[str] = ()
) -> list[Freshness]:
    """Return how fresh each published dataset of an app is; see `freshness_of`."""
    runs = pipeline_runs(jobs, recorded.runs)
    jobs = with_datasets(jobs, recorded.checkpoints)
    commits = commits_of(runs, recorded.checkpoints, recorded.cleared)
    return freshness_of(jobs, commits, last_runs(runs), now_ms, recorded.cleared, left_out)


def pipeline_runs(jobs: Sequence[PipelineJob], runs: Sequence[Run]) -> list[PipelineRun]:
    """Return runs as the report counts them, oldest first."""
    known = {job.name: job for job in jobs}
    reported = [
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
            workflow_run_id=run.workflow_run_id,
        )
        for run in runs
    ]
    return sorted(reported, key=lambda run: run.started_at_ms)
