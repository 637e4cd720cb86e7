"""The commands about job bookmarks: `bookmark show|reset|rewind` and `explain`."""

import json
import sys
from typing import TYPE_CHECKING

import click
from rich.console import Console

from tidemark.cli.group import Verbs
from tidemark.cli.known_names import JOB, RUN
from tidemark.cli.target import open_target
from tidemark.cli.where import Where, only_looks, where_options
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.model.messages import known, known_run, plural

if TYPE_CHECKING:
    from tidemark.operate.target import Target

CHANGED_HELP = "Print what was done in lines for people, or as JSON."
JSON_HELP = "Print a table for people, or JSON."
RUN_FORMS = "an id, a prefix of one, or a number # of `tidemark bookmark show`"
MAX_NUMBER_LENGTH = 7  # digits; one more, and they are what lists show of an id
FORMAT = click.Choice(["table", "json"])
REPEATED = "data in targets is not changed: repeated input is written again"


@click.group(cls=Verbs)
def bookmark() -> None:
    """Look at the bookmark of a job, reset it, or rewind it to an earlier run."""


@bookmark.command()
@click.argument("job", type=JOB)
@click.option(
    "--run", metavar="ID", type=RUN, help=f"Show the bookmark as of the end of a run: {RUN_FORMS}."
)
@where_options
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def show(job: str, run: str | None, where: Where, output: str) -> None:
    """Show the bookmark of JOB and the runs it can be rewound to."""
    from tidemark.cli.views.bookmarks import bookmark_tables

    with open_target(where) as target:
        run_id = _run_meant(target, job, run)
        entry = target.bookmark_entry(job, run_id)
        runs = target.committed_runs(job)
    if entry is None:
        raise EntityNotFoundError(f"job {job} had no bookmark when run {run_id} ended")
    if output == "json":
        click.echo(json.dumps({"JobBookmarkEntry": entry}, indent=2))
        return
    console = console_for_tables()
    for table in bookmark_tables(entry, runs):
        console.print(table, soft_wrap=True)


@bookmark.command()
@click.argument("job", type=JOB)
@click.option("--yes", is_flag=True, help="Do not ask.")
@where_options
@click.option("--format", "output", type=FORMAT, default="table", help=CHANGED_HELP)
def reset(job: str, yes: bool, where: Where, output: str) -> None:
    """Forget what JOB has read: its next run reads everything again."""
    with open_target(where) as target:
        _run_meant(target, job, None)
        question = f"Let the next run of {job} read everything again?"
        _set_back(target, job, None, yes, question, output)


@bookmark.command()
@click.argument("job", type=JOB)
@click.option(
    "--run", metavar="ID", type=RUN, help=f"The run: {RUN_FORMS}. Without it choose from a list."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@where_options
@click.option("--format", "output", type=FORMAT, default="table", help=CHANGED_HELP)
def rewind(job: str, run: str | None, yes: bool, where: Where, output: str) -> None:
    """Set JOB back to the end of an earlier run: its next run reads what came after that run."""
    from tidemark.cli.views.bookmarks import runs_table

    with open_target(where) as target:
        if run:
            run_id = _run_meant(target, job, run)
        else:
            runs = target.committed_runs(job)
            if not runs:
                known("job", job, target.known_jobs)
                reason = target.no_bookmark_reason(job)
                raise UsageError(f"{reason}, so there is no run to rewind to")
            console_for_tables().print(runs_table(runs), soft_wrap=True)
            if not sys.stdin.isatty():
                raise UsageError("choose one of these runs: --run ID")
            numbers = click.IntRange(1, len(runs))
            number = click.prompt("Rewind to the end of run number", type=numbers)
            run_id = runs[number - 1].run_id
        question = f"Let the next run of {job} read again all that came after it?"
        _set_back(target, job, run_id, yes, question, output)


def _run_meant(target: "Target", job: str, text: str | None) -> str | None:
    """Return the id of the run of a job with a bookmark that a text means; None for none."""
    if target.bookmark(known("job", job, target.known_jobs)) is None:
        raise target.no_bookmark_reason(job)
    return None if text is None else _run_of(target, job, text)


def _run_of(target: "Target", job: str, text: str) -> str:
    """Return the id of the run that an id, its beginning or its number in the list means."""
    listed = [run.run_id for run in target.committed_runs(job)]
    ids = [*listed, *(run.run_id for run in target.runs([job]))]
    lists = f"`tidemark bookmark show {job}{target.option}` lists its runs"
    if text in ids or not text.isdecimal() or len(text) > MAX_NUMBER_LENGTH:
        return known_run(text, ids, f"of job {job}", lists)
    if not 1 <= int(text) <= len(listed):  # never the id that happens to start so
        numbers = f"the numbers are 1 to {len(listed)}" if listed else "its list is empty"
        raise UsageError(f"there is no run {text} of job {job}: {numbers}; {lists}")
    return listed[int(text) - 1]


def _consequence(target: "Target", job: str, run: str) -> str:
    """Return what becomes of data if the bookmark goes back to a run."""
    if (target.bookmark_entry(job) or {}).get("RunId") == run:
        return "it was there before: the next run reads only what is new"
    listed = [one.run_id for one in target.committed_runs(job)]
    later = listed.index(run) if run in listed else 0
    if not later:
        return REPEATED
    return (
        f"data in targets is not changed: what {plural(later, 'later run')} read is written again"
    )


def _set_back(
    target: "Target", job: str, run: str | None, yes: bool, question: str, output: str
) -> None:
    if not yes:
        click.confirm(question, abort=True, err=output == "json")
    consequence = _consequence(target, job, run) if run and output != "json" else REPEATED
    entry = target.reset_bookmark(job, run)
    going = [run.run_id for run in target.runs([job]) if not run.is_final]
    where = f"at the end of run {entry['RunId']}" if "RunId" in entry else "at the beginning"
    if output == "json":
        click.echo(json.dumps({"JobBookmarkEntry": entry}, indent=2))
    else:
        click.echo(f"the bookmark of {job} is {where} (version {entry['Version']})")
        click.echo(consequence)
    if going:
        click.echo(
            f"warning: {', '.join(going)} of {job} has not ended: it has read by the earlier "
            "bookmark, and its commit will fail because the version has changed; end it with "
            f"`tidemark stop {job}{target.option}`, or wait for its end; then run the job again",
            err=True,
        )


@click.command()
@click.argument("job", type=JOB)
@click.option("--file", "uri", metavar="S3_URI", help="Say why this file is read or skipped.")
@click.option("--run", metavar="ID", type=RUN, help=f"Explain an earlier run: {RUN_FORMS}.")
@where_options
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def explain(job: str, uri: str | None, run: str | None, where: Where, output: str) -> None:
    """Tell what the next run of JOB would read, without running it.

    Of tables of Iceberg that are read from snapshot to snapshot: the snapshots that came since the
    last window, their rows, and what would be refused. With --deployed what AWS tells: these, how
    far the bookmark of each source has come, the watermarks, and which objects of the sources that
    the app declares are newer than the bookmark.
    """
    from tidemark.cli.views.explain import explain_job, explanation_json, explanation_tables
    from tidemark.cli.views.listing import Sentence
    from tidemark.cli.views.snapshots import snapshot_lines
    from tidemark.cli.views.status import read_watermarks
    from tidemark.local_state.home import Home
    from tidemark.operate.snapshot_reads import snapshot_reads
    from tidemark.operate.statuses import statuses_of

    if where.stage is not None:
        if run is not None:
            raise UsageError(
                "AWS does not report what a run has read from S3: leave out --run; `tidemark run "
                f"show {run}{where.option}` shows what the run has recorded in its watermark table"
            )
        _explain_deployed(job, uri, where, output)
        return
    with open_target(where) as target:
        known("job", job, target.known_jobs)
        run_id = _run_of(target, job, run) if run else None
        statuses = [] if run_id or uri else statuses_of(target, [job], [])
        watermark = read_watermarks(target, statuses).get(job, "")
        snapshots = snapshot_reads(target, job) if watermark else []
    try:
        explanations = explain_job(Home.from_environment(), job, run_id, uri)
    except EntityNotFoundError:
        if not watermark:
            raise
        explanations = []
    if output == "json":
        document = explanation_json(job, run_id, explanations, snapshots, watermark)
        click.echo(json.dumps(document, indent=2))
        return
    console = console_for_tables()
    for part in (
        *explanation_tables(job, run_id, explanations),
        *([Sentence(f"watermark of {job}: {watermark}")] if watermark else []),
        *snapshot_lines(job, snapshots),
    ):
        console.print(part, highlight=False, soft_wrap=True)


def _explain_deployed(job: str, uri: str | None, where: Where, output: str) -> None:
    from tidemark.cli.views.deployed_input import deployed_input, input_json, input_lines
    from tidemark.local_state.bookmarks.files import with_one_scheme

    with open_target(where) as target:
        found = deployed_input(target, job, uri and with_one_scheme(uri))
    if output == "json":
        click.echo(json.dumps(input_json(found), indent=2))
        return
    for line in input_lines(found):
        console_for_tables().print(line, highlight=False, soft_wrap=True)


def console_for_tables() -> Console:
    """Return a console whose tables are not folded if the output is not a terminal.

    Where its reader leaves, such as `| head`, the command continues unseen.
    """
    from tidemark.cli.progress import RunConsole

    return RunConsole() if sys.stdout.isatty() else RunConsole(width=180)
