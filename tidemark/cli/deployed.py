"""What `run` does with --deployed: the same through boto3, on a deployed stage."""

import json
from typing import TYPE_CHECKING

import click

from tidemark.cli.bookmark import console_for_tables
from tidemark.cli.target import glue_of_stage
from tidemark.cli.where import Where
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
