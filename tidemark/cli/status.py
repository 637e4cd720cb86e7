"""`tidemark status`: last run, bookmark and watermark of each job, and how fresh datasets are."""

import json

import click

from tidemark.cli.bookmark import FORMAT, JSON_HELP, console_for_tables
from tidemark.cli.target import open_target
from tidemark.cli.where import Where, app_options, only_looks
from tidemark.model.clock import now_ms


@click.command()
@app_options
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def status(where: Where, output: str) -> None:
    """Show every job's last run, bookmark and watermark, and how fresh published datasets are.

    On this machine also rows, and how far a bookmark has read: AWS does not report these.
    """
    from tidemark.cli.progress import print_killed, print_warnings
    from tidemark.cli.views.freshness import freshness_listing
    from tidemark.cli.views.status import read_watermarks, status_json, status_table
    from tidemark.local_state.store.stored_warnings import without_those
    from tidemark.operate.statuses import jobs_with_input_left_out, statuses_of
    from tidemark.report.freshness import FRESHNESS_RUNS
    from tidemark.report.gather import freshness_at, jobs_of, read_recorded, with_submitted

    at_ms = now_ms()
    with open_target(where) as target:
        jobs = with_submitted(target, jobs_of(target))
        found = read_recorded(target, jobs, FRESHNESS_RUNS)
        statuses = statuses_of(target, [job.name for job in jobs], found.runs)
        watermarks = read_watermarks(target, statuses)
        warnings = target.warnings()
        fresh = freshness_at(jobs, found, at_ms, jobs_with_input_left_out(warnings or ()))
        if output == "json":
            shown = [
                status_json(it, watermarks, fresh, at_ms, warnings, has_rows=target.has_rows)
                for it in statuses
            ]
            click.echo(json.dumps(shown, indent=2))
            return
        console = console_for_tables()
        table = status_table(statuses, watermarks, at_ms, has_rows=target.has_rows)
        console.print(table, soft_wrap=True)
        if fresh:
            console.print()
            console.print(freshness_listing(fresh, at_ms), soft_wrap=True)
        if unknown := next((it.unknown for it in statuses if it.unknown and it.has_bookmark), None):
            console.print(f"note: {unknown}", highlight=False, soft_wrap=True)
        for line in target.starts():
            console.print(line, highlight=False, soft_wrap=True)
        print_killed(console, [it.last_run for it in statuses if it.last_run])
        names = {job.name for job in jobs}
        own = [it for it in warnings or () if it.job_name in names]
        print_warnings(console, own)
        target.show_unseen(lambda unseen: print_warnings(console, without_those(unseen, own)))
