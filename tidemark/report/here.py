"""What this machine's home knows of the runs of an app."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from tidemark.glue_service.commands import job_runs, region
from tidemark.glue_service.runs.run_requests import run_requests
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint, may_have_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import stored_checkpoints
from tidemark.local_state.store.database import FINAL_STATES, JobRun, Store
from tidemark.local_state.store.stored_warnings import open_warnings
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.model.checkpoints.filling import is_filling
from tidemark.report.commits import PipelineRun, commits_of, last_runs
from tidemark.report.costs import estimated_dpu_seconds
from tidemark.report.freshness import RUNS_OF_FRESHNESS, Freshness, freshness_of
from tidemark.report.jobs import PipelineJob
from tidemark.report.model import OpenWindow, Report, Warned, with_datasets
from tidemark.report.windows import windows_of


def report_here(home: Home, jobs: Sequence[PipelineJob], limit: int, now_ms: int) -> Report:
    """Return what is recorded of the jobs of an app; changes nothing."""
    with Store(home.database) as store:
        warnings = open_warnings(store)
    checkpoints = _checkpoints(home, jobs)
    names = {job.name for job in jobs}
    windows, unknown = _open_windows(home, jobs)
    return Report(
        where=f"this machine, {home.shown}",
        made_at_ms=now_ms,
        jobs=tuple(jobs),
        runs=tuple(runs_here(home, jobs, limit)),
        checkpoints=checkpoints,
        windows=windows,
        warnings=tuple(
            Warned(it.job_name, it.run_id, it.started_at_ms, it.text)
            for it in warnings
            if it.job_name in names
        ),
        unknown=unknown,
        limit=limit,
    )


def freshness_here(home: Home, jobs: Sequence[PipelineJob], now_ms: int) -> list[Freshness]:
    """Return how fresh each published dataset of an app is on this machine."""
    runs = runs_here(home, jobs, RUNS_OF_FRESHNESS)
    checkpoints = _checkpoints(home, jobs)
    jobs = with_datasets(jobs, checkpoints)
    return freshness_of(jobs, commits_of(runs, checkpoints), last_runs(runs), now_ms)


def _checkpoints(home: Home, jobs: Sequence[PipelineJob]) -> tuple[Checkpoint, ...]:
    names = {job.name for job in jobs}
    with Store(home.database) as store:
        return tuple(it for it in stored_checkpoints(store) if it.job_name in names)


def runs_here(home: Home, jobs: Sequence[PipelineJob], limit: int) -> list[PipelineRun]:
    """Return the newest runs of each job that are recorded, oldest first."""
    known = {job.name: job for job in jobs}
    by_job = sorted((it for it in job_runs(home) if it.job_name in known), key=_name)  # stable
    kept = [it for _, runs in groupby(by_job, key=_name) for it in list(runs)[-limit:]]
    with Store(home.database) as store:
        requests = run_requests(store, [it.run_id for it in kept])
    found = [_run(known[it.job_name], it, is_filling(requests[it.run_id].arguments)) for it in kept]
    return sorted(found, key=lambda run: run.started_at_ms)


def _name(run: JobRun) -> str:
    return run.job_name


def _run(job: PipelineJob, run: JobRun, fills_range: bool) -> PipelineRun:
    is_final = run.state in FINAL_STATES
    end_ms = run.completed_at_ms if is_final else None
    seconds = None if end_ms is None else (end_ms - run.started_at_ms) / 1000
    return PipelineRun(
        job=run.job_name,
        run_id=run.run_id,
        state=run.state,
        started_at_ms=run.started_at_ms,
        ended_at_ms=end_ms,
        message=run.error_message or "",
        rows_read=run.rows_read,
        rows_written=run.rows_written,
        dpu_seconds=None if seconds is None else estimated_dpu_seconds(seconds, job.dpu),
        is_estimate=True,
        flex=job.is_flex,
        is_filling=fills_range,
    )


def _open_windows(
    home: Home, jobs: Iterable[PipelineJob]
) -> tuple[tuple[OpenWindow, ...], tuple[str, ...]]:
    keeping = [job for job in jobs if job.watermark_table]
    if not keeping or not may_have_tables(home):
        return (), ()
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, region()) as dynamodb:
        return windows_of(keeping, dynamodb)
