"""The commands about watermarks: `watermark show|history|rewind`, here and in an account."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from itertools import chain
from typing import Any

import click

from tidemark.cli.bookmark import BEGINNING
from tidemark.cli.progress import print_output
from tidemark.cli.target import open_target
from tidemark.cli.terminal import print_json
from tidemark.cli.views.watermarks import (
    current_json,
    current_tables,
    history_json,
    history_table,
    states_of,
    what_changes,
)
from tidemark.cli.where import Where
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.model.assembly.definitions import BOOKMARK_OPTION, ENABLE, WATERMARK_TABLE
from tidemark.model.messages import known, known_run
from tidemark.operate.target import Target, arguments_of
from watermarks import WatermarkAdmin, WatermarksError, WatermarkTableError

TABLE = "glue-watermarks"


def show(job: str, table: str | None, where: Where, output: str) -> None:
    with opened(where, job, table) as (watermarks, check_job):
        states = states_of(watermarks, job)
        has_sources, is_without = len(states) > 1, states[""] == (None, [])
        if is_without and not has_sources:
            check_job()
    of_sources = {source: current_json(*state) for source, state in states.items() if source}
    document = {"job": job, **current_json(*states[""]), "sources": of_sources}
    if is_without and has_sources:
        del states[""]
    tables = (current_tables(job, source, *state) for source, state in states.items())
    print_output(output, document, chain.from_iterable(tables), value_json)


def history(
    job: str, table: str | None, where: Where, source: str, limit: int, output: str
) -> None:
    with opened(where, job, table) as (watermarks, check_job):
        entries = list(watermarks.history(job, limit, source=source))
        if not entries:
            check_job()
    print_output(output, history_json(entries), [history_table(job, entries)], value_json)


def rewind(
    job: str,
    table: str | None,
    where: Where,
    source: str,
    run: str | None,
    reason: str,
    actor: str,
    yes: bool,
    output: str,
) -> None:
    if run is None:
        raise UsageError(
            "say where to: --to ID, a run of `tidemark watermark history`, or --to beginning"
        )

    is_json = output == "json"
    with opened(where, job, table) as (watermarks, check_job):
        if run == BEGINNING:
            run = None
        else:
            run = _run_meant(watermarks, job, source, run, where, check_job)
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
        print_json({"job": job, "source": source, **current_json(latest, [])}, value_json)
        return
    click.echo(f"rewound: version {latest.version}")
    click.echo("data in targets is not changed: repeated input is written again")


@contextmanager
def opened(
    where: Where, job: str, table: str | None
) -> Iterator[tuple[WatermarkAdmin, Callable[[], None]]]:
    """Yield the watermarks in a table, and what refuses a job that never had any there."""
    # A job that has only not run yet is not refused.

    with open_target(where) as target:
        arguments = arguments_of(target.definition(job))
        name = table or table_of(target, job)
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
                f"--deployed is meant; `tidemark table {name}` creates it on this machine"
            ) from error
        except (WatermarksError, ValueError) as error:
            raise UsageError(str(error)) from error


def _run_meant(
    watermarks: WatermarkAdmin,
    job: str,
    source: str,
    text: str,
    where: Where,
    check_job: Callable[[], None],
) -> str:
    try:
        ids = [entry.run_id for entry in watermarks.history(job, source=source) if entry.run_id]
    except WatermarksError:  # to rewind is what fixes a corrupt row
        return text
    if not ids:
        check_job()
    lists = f"`tidemark watermark history {job}{where.option}` lists the runs to rewind to"
    return known_run(text, ids, f"of job {job}", lists)


def table_of(target: Target, job: str) -> str:
    """Return the table of watermarks that a job names, or the usual one."""
    return arguments_of(target.definition(job)).get(WATERMARK_TABLE) or TABLE


def value_json(value: Any) -> str:
    """Return a date or a number of a watermark as a string of JSON."""
    return value.isoformat() if isinstance(value, date) else str(value)
