"""`tidemark run show ID`: all that is known of one job run, here and on AWS."""

from tidemark.cli.progress import print_output
from tidemark.cli.target import open_target
from tidemark.cli.views.run_details import RunDetails, details_json, details_parts
from tidemark.cli.where import Where
from tidemark.model.messages import known_run
from tidemark.operate.app_jobs import job_of
from tidemark.operate.job_runs import Run
from tidemark.operate.target import Target
from tidemark.report.costs import dpu_seconds_of, is_flex, usd_of

LOG_LINES = 10


def show(run_id: str, where: Where, output: str) -> None:
    with open_target(where) as target:
        known = sorted(target.runs(None), key=lambda run: run.started_at, reverse=True)
        jobs = {run.run_id: run.job for run in known}
        lists = f"`tidemark runs{target.option}` lists them"
        meant = known_run(run_id, jobs, f"in {target.where}", lists, jobs)
        run = next(run for run in known if run.run_id == meant)
        dpu_seconds, price = _cost(target, run)
        details = RunDetails(
            run=run,
            checkpoint=target.checkpoint(run),
            where=target.where,
            dpu_seconds=dpu_seconds,
            usd=price,
            notes=target.notes(run, LOG_LINES),
        )
    print_output(output, details_json(details), details_parts(details))


def _cost(target: Target, run: Run) -> tuple[float | None, float | None]:
    """Return the DPU-seconds and USD of a run, or what they would be on AWS, if known."""
    definition = target.definition(run.job)
    job = job_of(run.job, definition) if definition else None
    dpu_seconds = dpu_seconds_of(job, run) if job else None
    if job is None or dpu_seconds is None:
        return None, None
    return dpu_seconds, usd_of(job, dpu_seconds, flex=is_flex(job, run))
