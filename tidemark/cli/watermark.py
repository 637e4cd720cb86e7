"""The commands about watermarks: `watermark show|history|rewind`, here and in an account."""

import getpass
import json
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.bookmark import FORMAT, JSON_HELP, console_for_tables
from tidemark.cli.looking import only_looks
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.home import Home
from tidemark.local_state.store.run_ids import pick_run

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from watermarks import WatermarkAdmin

TABLE = "glue-watermarks"
RUN_HELP = "The run whose watermarks are to hold again; the beginning of its id is enough."
SOURCE_HELP = "Of a job with several sources: which one."
DEPLOYED_HELP = "In the AWS account and region of your credentials instead of this machine."


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what every command here takes: the job, and where its watermarks are."""
    for option in (
        click.option("--deployed", is_flag=True, help=DEPLOYED_HELP),
        click.option("--table", default=TABLE, show_default=True, help="The DynamoDB table."),
        click.argument("job"),
    ):
        command = option(command)
    return command


@click.group()
def watermark() -> None:
    """Look at the watermarks of a job, or rewind them to an earlier run."""


@watermark.command()
@_options
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def show(job: str, table: str, deployed: bool, output: str) -> None:
    """Show the watermarks of JOB and the windows that runs have open."""
    from tidemark.cli.views.watermarks import current_json, current_tables

    with _opened(table, deployed) as watermarks:
        sources = watermarks.sources(job)
        found = {
            source: (
                watermarks.latest(job, source=source),
                watermarks.open_windows(job, source=source),
            )
            for source in ["", *sources]
        }
        if found[""] == (None, []) and not sources:
            _check_job(watermarks, job, table, deployed)
    if output == "json":
        of_sources = {source: current_json(*found[source]) for source in sources}
        _print_json({"job": job, **current_json(*found[""]), "sources": of_sources})
        return
    if sources and found[""] == (None, []):
        del found[""]
    for source, (latest, windows) in found.items():
        for part in current_tables(job, source, latest, windows):
            console_for_tables().print(part, soft_wrap=True)


@watermark.command()
@_options
@click.option("--source", default="", help=SOURCE_HELP)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, metavar="N")
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def history(job: str, table: str, deployed: bool, source: str, limit: int, output: str) -> None:
    """Show the history of the watermarks of JOB, newest first, and the runs to rewind to."""
    from tidemark.cli.views.watermarks import history_json, history_table

    with _opened(table, deployed) as watermarks:
        found = list(watermarks.history(job, limit, source=source))
        if not found:
            _check_job(watermarks, job, table, deployed)
    if output == "json":
        _print_json(history_json(found))
    else:
        console_for_tables().print(history_table(job, found), soft_wrap=True)


@watermark.command()
@_options
@click.option("--source", default="", help=SOURCE_HELP)
@click.option(
    "--run",
    metavar="ID",
    help=RUN_HELP,
)
@click.option("--to-beginning", is_flag=True, help="Let the next run load everything.")
@click.option("--reason", required=True, help="Reason, for the record.")
@click.option("--actor", default=getpass.getuser, help="Who asks; your user name if not given.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def rewind(
    job: str,
    table: str,
    deployed: bool,
    source: str,
    run: str | None,
    to_beginning: bool,
    reason: str,
    actor: str,
    yes: bool,
) -> None:
    """Make the watermarks of an earlier run of JOB hold again, and record who asked and why.

    Open windows are discarded, and runs in flight can no longer commit.
    """
    from tidemark.cli.views.watermarks import render_changes

    if (run is None) != to_beginning:
        raise UsageError(
            "say where to: either --run ID, one of `tidemark watermark history`, or --to-beginning"
        )
    with _opened(table, deployed) as watermarks:
        run = _run_meant(watermarks, job, source, run)
        if run is None and not source and watermarks.latest(job) is None:
            _check_job(watermarks, job, table, deployed)
        now, then = render_changes(watermarks, job, run, source)
        whose = f"{job}, source {source}" if source else job
        click.echo(f"watermarks of {whose}: now {now}")
        click.echo(f"after the rewind: {then}")
        if not yes:
            click.confirm(f"Let the next run of {whose} read from there?", abort=True)
        latest = watermarks.rewind(job, to_run=run, reason=reason, actor=actor, source=source)
    click.echo(f"rewound: version {latest.version}")
    click.echo("data in targets is not changed: repeated input is written again")


def _opened(table: str, deployed: bool) -> "AbstractContextManager[WatermarkAdmin]":
    from tidemark.cli.views.watermarks import open_watermarks

    return open_watermarks(None if deployed else Home.from_environment(), table)


def _run_meant(watermarks: "WatermarkAdmin", job: str, source: str, run: str | None) -> str | None:
    """Return the id with this beginning; the string itself if the history has no such run."""
    from tidemark.cli.views.watermarks import WatermarksError

    if run is None:
        return None
    try:
        known = [entry.run_id for entry in watermarks.history(job, source=source) if entry.run_id]
        return pick_run(run, (), known, f"job {job}", "")
    except (EntityNotFoundError, WatermarksError):  # to rewind is what fixes a corrupt row
        return run


def _check_job(watermarks: "WatermarkAdmin", job: str, table: str, deployed: bool) -> None:
    """Refuse a job that never had watermarks, unless it is one that has only not run yet."""
    from tidemark.local_state.store.database import Store
    from tidemark.local_state.store.known_jobs import has_bookmark_job, known_jobs, name_hint

    if next(iter(watermarks.history(job, 1)), None) is not None:
        return
    if deployed:
        raise EntityNotFoundError(
            f"the table {table} has no watermarks of job {job}: check the name; if it is right, "
            "its first run loads everything"
        )
    with Store(Home.from_environment().database) as store:
        names = known_jobs(store)
        keeps_bookmark = has_bookmark_job(store, job)
    if keeps_bookmark:
        raise EntityNotFoundError(
            f"job {job} has no watermarks, it keeps a job bookmark: `tidemark bookmark show {job}`"
        )
    if job not in names:
        raise UsageError(f"job {job} has no watermarks and never ran here: {name_hint(job, names)}")


def _print_json(answer: Any) -> None:
    click.echo(json.dumps(answer, indent=2, default=_json_value))


def _json_value(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
