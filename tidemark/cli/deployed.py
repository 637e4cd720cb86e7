"""What `run` and `status` do with --deployed: the same through boto3, on a deployed stage."""

import json
import time
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.bookmark import console_for_tables
from tidemark.cli.where import Where, assembly_of_stage, glue_of_stage
from tidemark.errors import UsageError

if TYPE_CHECKING:
    from tidemark.operate.clients import Glue


def run_deployed(
    where: Where, workflow: str | None, only: str | None, begin: str | None, output: str
) -> int:
    """Start a workflow of a stage, or one of its jobs, and watch it; return the exit code."""
    from tidemark.cli.runs import watch
    from tidemark.operate.workflow_runs import start_workflow_run

    if begin is not None:
        raise UsageError(
            "on AWS a workflow run begins at a job only by resuming an earlier run: `tidemark "
            f"resume --from {begin}{where.option}`"
        )
    with glue_of_stage(where) as glue:
        name = glue.names.workflow(workflow)
        if only is not None:
            return run_job(glue, name, glue.names.job(only), where, output)
        return watch(glue, name, start_workflow_run(glue, name), where, output)


def run_job(glue: "Glue", workflow: str, job: str, where: Where, output: str) -> int:
    """Run one job with the arguments of its trigger, and watch it; return the exit code."""
    from tidemark.cli.views.runs import Changes, run_json
    from tidemark.operate.job_runs import follow_run, start_run, stop_runs
    from tidemark.operate.workflow_runs import arguments_in

    console = console_for_tables()
    changes = Changes(where.option)
    run = start_run(glue, job, arguments_in(glue, workflow, job))
    try:
        for now in follow_run(glue, run):
            run = now
            for line in changes.lines([run]) if output != "json" else ():
                console.print(line, soft_wrap=True)
    except KeyboardInterrupt:
        stop_runs(glue, job, run)
        click.echo(f"{job} {run.run_id} is being stopped", err=True)
        raise
    if output == "json":
        click.echo(json.dumps(run_json(run), indent=2))
    return 0 if run.state == "SUCCEEDED" else 1


def status_deployed(where: Where, output: str) -> None:
    """Show last run, bookmark and watermark of each job of a stage, and how fresh datasets are."""
    from tidemark.cli.views.deployed_status import deployed_listing, status_json, watermarks_of
    from tidemark.cli.views.freshness import freshness_listing
    from tidemark.operate.statuses import statuses_of
    from tidemark.report.deployed import freshness_of_stage
    from tidemark.report.jobs import read_jobs

    assembly = assembly_of_stage(where)
    now_ms = time.time_ns() // 1_000_000
    with glue_of_stage(where, assembly) as glue:
        statuses = statuses_of(glue)
        region = glue.glue.meta.region_name
        watermarks = watermarks_of(statuses, region)
        fresh = freshness_of_stage(glue, read_jobs(assembly, region), now_ms)
    if output == "json":
        found: list[dict[str, Any]] = [
            status_json(it, watermarks.get(it.job), fresh, now_ms) for it in statuses
        ]
        click.echo(json.dumps(found, indent=2))
        return
    console = console_for_tables()
    console.print(deployed_listing(statuses, watermarks), soft_wrap=True)
    if fresh:
        console.print()
        console.print(freshness_listing(fresh, now_ms), soft_wrap=True)
