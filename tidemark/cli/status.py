"""`tidemark status`: last run, bookmark and watermark of each job, and how fresh datasets are."""

import json
import sys
import time
from pathlib import Path

import click
from rich.console import Console

from tidemark.cli.bookmark import FORMAT, JSON_HELP
from tidemark.cli.looking import only_looks
from tidemark.cli.synth import APP_HELP
from tidemark.cli.where import CONTEXT_HELP, DEPLOYED_HELP, Where
from tidemark.errors import UsageError

PIPE_WIDTH = 180  # a table that no one looks at in a terminal is not folded
MS = 1000


@click.command()
@click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
@click.option("--deployed", metavar="STAGE", help=DEPLOYED_HELP)
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def status(app: Path | None, context: tuple[str, ...], deployed: str | None, output: str) -> None:
    """Show every job's last run, bookmark and watermark, and how fresh published datasets are.

    On this machine also rows, and how far a bookmark has read: AWS does not tell these.
    """
    if deployed is not None:
        from tidemark.cli.deployed import status_deployed

        status_deployed(Where(deployed, app, context), output)
        return
    if context:
        raise UsageError("--context goes with --deployed STAGE: leave it out")
    from tidemark.cli.progress import print_killed, print_warnings
    from tidemark.cli.views.freshness import freshness_listing
    from tidemark.cli.views.status import (
        read_watermarks,
        schedule_lines,
        status_json,
        status_table,
    )
    from tidemark.glue_service.commands import job_statuses, load_app, region, show_earlier_warnings
    from tidemark.glue_service.workflows.recovery import KILLED
    from tidemark.local_state.home import Home
    from tidemark.local_state.store.database import Store
    from tidemark.local_state.store.stored_warnings import open_warnings, without_those
    from tidemark.report.here import freshness_here
    from tidemark.report.jobs import read_jobs

    loaded = load_app(app or Path("cdk.out"))
    deployment = loaded.deployment
    home = Home.from_environment()
    statuses = job_statuses(deployment, home)
    watermarks = read_watermarks(deployment, home)
    now_ms = time.time_ns() // 1_000_000
    fresh = freshness_here(home, read_jobs(loaded.assembly, region()), now_ms)
    with Store(home.database) as store:
        warnings = [it for it in open_warnings(store) if it.job_name in deployment.jobs]
    if output == "json":
        found = [
            status_json(deployment, it, watermarks, fresh, now_ms, warnings) for it in statuses
        ]
        click.echo(json.dumps(found, indent=2))
        return
    console = Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)
    console.print(status_table(deployment, statuses, watermarks), soft_wrap=True)
    if fresh:
        console.print()
        console.print(freshness_listing(fresh, now_ms), soft_wrap=True)
    for line in schedule_lines(deployment):
        console.print(line, highlight=False, soft_wrap=True)
    runs = [status.last_run for status in statuses if status.last_run]
    print_killed(console, [run for run in runs if run.error_message == KILLED])
    print_warnings(console, warnings)
    show_earlier_warnings(
        home, lambda unseen: print_warnings(console, without_those(unseen, warnings))
    )
