"""The command `submit`: one script as a job run, whose output is passed on as it is written."""

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from tidemark.cli.environment import with_executors
from tidemark.cli.script_or_app import refuse_own_options
from tidemark.cli.submit_output import say_notes, shown
from tidemark.errors import UsageError
from tidemark.glue_job.cluster.asked import asked_for
from tidemark.glue_job.process.lake_fs.semantics import VARIABLE
from tidemark.glue_service.served import ServedPort, find_port
from tidemark.glue_service.submission import read_submission
from tidemark.glue_service.submit_served import submit_to
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.local_state.store.database import JobRun


def submit(
    script: Path,
    arguments: tuple[str, ...],
    engine: str | None,
    isolated: bool,
    timeout: int | None,
    output: str,
    executors: str | None,
    master: str | None,
) -> None:
    version = engine or own_glue_version()
    with with_executors(executors, master):
        submission = replace(
            read_submission(script, arguments), glue_version=version, timeout_minutes=timeout
        )
        refuse_own_options(script, arguments)
        home = Home.from_environment()
        served = find_port(home)
        if served is None or served.is_of_command:
            from tidemark.cli.submit_here import submit_here  # slow, and a Glue that serves runs it

            run = submit_here(submission, home, output, isolated=isolated)
        else:
            _check_served(served, home, isolated=isolated)
            click.echo(f"process {served.pid} serves {home.root}, and runs this", err=True)
            with shown(submission, output) as (progress, observe, write):
                warn, say = progress.warn, partial(say_notes, submission)
                run = submit_to(served, submission, home, observe, warn, write, say)
    if output == "json":
        _print_run(run)
    if run.state != "SUCCEEDED":
        sys.exit(1)


def _print_run(record: JobRun) -> None:
    from tidemark.cli.target import open_target
    from tidemark.cli.terminal import print_json
    from tidemark.cli.views.runs import run_json
    from tidemark.cli.where import Where

    with open_target(Where(None)) as target:
        run = next(run for run in target.runs([record.job_name]) if run.run_id == record.run_id)
        document = run_json(run, has_rows=True, warnings=target.warnings())
    print_json(document)


def _check_served(served: ServedPort, home: Home, *, isolated: bool) -> None:
    if isolated or asked_for(os.environ) or os.environ.get(VARIABLE):
        raise UsageError(
            f"process {served.pid} serves {home.root}, and runs the script: leave out --executors, "
            "--isolated, --master and --s3-semantics, or stop that process first"
        )
