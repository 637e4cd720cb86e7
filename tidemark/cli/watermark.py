"""The commands about watermarks: `watermark show|history|rewind`, here and in an account."""

import getpass
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.bookmark import CHANGED_HELP, FORMAT, JSON_HELP, console_for_tables
from tidemark.cli.group import Verbs
from tidemark.cli.known_names import JOB
from tidemark.cli.target import open_target
from tidemark.cli.where import Where, only_looks, where_options
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.model.messages import known, known_run

if TYPE_CHECKING:
    from watermarks import WatermarkAdmin

TABLE = "glue-watermarks"
TABLE_HELP = f"The DynamoDB table; that of --watermark_table of JOB if not given, else {TABLE}."
RUN_HELP = "The run whose watermarks are to hold again; a prefix of its id is enough."
SOURCE_HELP = "Of a job with several sources: which one."


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what every command here takes: the job, and where its watermarks are."""
    with_table = click.option("--table", help=TABLE_HELP)(where_options(command))
    return click.argument("job", type=JOB)(with_table)


@click.group(cls=Verbs)
def watermark() -> None:
    """Look at the watermarks of a job, or rewind them to an earlier run."""


@watermark.command()
@_options
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def show(job: str, table: str | None, where: Where, output: str) -> None:
    """Show the watermarks of JOB and the windows that runs have open."""
    from tidemark.cli.views.watermarks import current_json, current_tables

    with _opened(where, job, table) as (watermarks, check_job):
        sources = watermarks.sources(job)
        found = {
            source: (
                watermarks.latest(job, source=source),
                watermarks.open_windows(job, source=source),
            )
            for source in ["", *sources]
        }
        if found[""] == (None, []) and not sources:
            check_job()
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
def history(
    job: str, table: str | None, where: Where, source: str, limit: int, output: str
) -> None:
    """Show what was done to the watermarks of JOB, newest first, and the runs to rewind to."""
    from tidemark.cli.views.watermarks import history_json, history_table

    with _opened(where, job, table) as (watermarks, check_job):
        found = list(watermarks.history(job, limit, source=source))
        if not found:
            check_job()
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
@click.option("--format", "output", type=FORMAT, default="table", help=CHANGED_HELP)
def rewind(
    job: str,
    table: str | None,
    where: Where,
    source: str,
    run: str | None,
    to_beginning: bool,
    reason: str,
    actor: str,
    yes: bool,
    output: str,
) -> None:
    """Make the watermarks of an earlier run of JOB hold again, and record who asked and why.

    Open windows are discarded, and runs in flight can no longer commit.
    """
    if (run is None) != to_beginning:
        raise UsageError(
            "say where to: either --run ID, one of `tidemark watermark history`, or --to-beginning"
        )
    from tidemark.cli.views.watermarks import current_json, what_changes

    is_json = output == "json"
    with _opened(where, job, table) as (watermarks, check_job):
        run = run and _run_meant(watermarks, job, source, run, where, check_job)
        if run is None and not source and watermarks.latest(job) is None:
            check_job()
        now, then = what_changes(watermarks, job, run, source)
        whose = f"{job}, source {source}" if source else job
        click.echo(f"watermarks of {whose}: now {now}", err=is_json)
        click.echo(f"after the rewind: {then}", err=is_json)
        if not yes:
            question = f"Let the next run of {whose} read from there?"
            click.confirm(question, abort=True, err=is_json)
        latest = watermarks.rewind(job, to_run=run, reason=reason, actor=actor, source=source)
    if is_json:
        _print_json({"job": job, "source": source, **current_json(latest, [])})
        return
    click.echo(f"rewound: version {latest.version}")
    click.echo("data in targets is not changed: repeated input is written again")


@contextmanager
def _opened(
    where: Where, job: str, table: str | None
) -> Iterator[tuple["WatermarkAdmin", Callable[[], None]]]:
    """Yield the watermarks in a table, and what refuses a job that never had any there."""
    # A job that has only not run yet is not refused.
    from tidemark.model.assembly.definitions import BOOKMARK_OPTION, ENABLE, WATERMARK_TABLE
    from tidemark.operate.target import arguments_of
    from watermarks import WatermarksError, WatermarkTableError

    with open_target(where) as target:
        arguments = arguments_of(target.definition(job))
        name = table or arguments.get(WATERMARK_TABLE) or TABLE
        keeps_bookmark = (
            arguments.get(BOOKMARK_OPTION) == ENABLE and WATERMARK_TABLE not in arguments
        )

        def check_job() -> None:
            if next(iter(watermarks.history(job, 1)), None) is not None:
                return
            if target.bookmark(job) is not None or keeps_bookmark:
                raise EntityNotFoundError(
                    f"job {job} has no watermarks in the table {name}, it keeps a job bookmark: "
                    f"`tidemark bookmark show {job}{target.option}`"
                )
            known("job", job, target.known_jobs)

        try:
            with target.watermarks(name) as watermarks:
                yield watermarks, check_job
        except WatermarkTableError as error:
            if error.reason != "not_found":
                raise UsageError(str(error)) from error
            if table is None:
                known("job", job, target.known_jobs)
            raise UsageError(
                f"there is no table {name!r} in {target.where}: check --table, and whether "
                f"--deployed is meant; `tidemark local table {name}` creates it on this machine"
            ) from error
        except (WatermarksError, ValueError) as error:
            raise UsageError(str(error)) from error


def _run_meant(
    watermarks: "WatermarkAdmin",
    job: str,
    source: str,
    text: str,
    where: Where,
    check_job: Callable[[], None],
) -> str:
    """Return the id that begins so, or the string as it is where the history is not readable."""
    from watermarks import WatermarksError

    try:
        ids = [entry.run_id for entry in watermarks.history(job, source=source) if entry.run_id]
    except WatermarksError:  # to rewind is what fixes a corrupt row
        return text
    if not ids:
        check_job()
    lists = f"`tidemark watermark history {job}{where.option}` lists the runs to rewind to"
    return known_run(text, ids, f"of job {job}", lists)


def _print_json(answer: Any) -> None:
    click.echo(json.dumps(answer, indent=2, default=_json_value))


def _json_value(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
