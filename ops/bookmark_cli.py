"""The commands about job bookmarks: `bookmark show|reset|rewind`, `explain` and `submit`."""

import json
import sys
import time
from pathlib import Path

import click
from rich.console import Console

from local_glue.errors import UsageError

JSON_HELP = "Print a table for people, or JSON."
FORMAT = click.Choice(["table", "json"])


@click.group()
def bookmark() -> None:
    """Look at the bookmark of a job, reset it, or rewind it to an earlier run."""


@bookmark.command()
@click.argument("job")
@click.option("--run", metavar="ID", help="Show the bookmark as it was when this run ended.")
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
def show(job: str, run: str | None, output: str) -> None:
    """Show the bookmark of JOB and the runs it can be rewound to."""
    from local_glue.bookmarks.api import get_job_bookmark
    from local_glue.bookmarks.versions import successful_runs
    from local_glue.home import Home
    from local_glue.store import Store
    from ops.bookmarks import bookmark_tables

    with Store(Home.from_environment().database) as store:
        answer = get_job_bookmark(store, {"JobName": job, **({"RunId": run} if run else {})})
        runs = successful_runs(store, job)
    if output == "json":
        click.echo(json.dumps(answer, indent=2))
        return
    console = console_for_tables()
    for table in bookmark_tables(answer["JobBookmarkEntry"], runs):
        console.print(table, soft_wrap=True)


@bookmark.command()
@click.argument("job")
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(job: str, yes: bool) -> None:
    """Forget what JOB has read: its next run reads everything again."""
    _set_back(job, None, yes, f"Let the next run of {job} read everything again?")


@bookmark.command()
@click.argument("job")
@click.option("--run", metavar="ID", help="The run; without it the runs are listed to choose from.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def rewind(job: str, run: str | None, yes: bool) -> None:
    """Set JOB back to the end of an earlier run: its next run reads what came after that run."""
    run_id = run or _chosen_run(job)
    _set_back(job, run_id, yes, f"Let the next run of {job} read again all that came after it?")


def _chosen_run(job: str) -> str:
    from local_glue.bookmarks.versions import successful_runs
    from local_glue.home import Home
    from local_glue.store import Store
    from ops.bookmarks import runs_table

    with Store(Home.from_environment().database) as store:
        runs = successful_runs(store, job)
    if not runs:
        raise UsageError(f"job {job} has no run to rewind to: none has committed a bookmark")
    console_for_tables().print(runs_table(runs), soft_wrap=True)
    if not sys.stdin.isatty():
        raise UsageError("choose one of these runs: --run ID")
    number = click.prompt("Rewind to the end of run number", type=click.IntRange(1, len(runs)))
    return str(runs[number - 1][0].run_id)


def _set_back(job: str, run_id: str | None, yes: bool, question: str) -> None:
    from local_glue.bookmarks.api import reset_job_bookmark
    from local_glue.home import Home
    from local_glue.store import Store

    if not yes:
        click.confirm(question, abort=True)
    request = {"JobName": job, **({"RunId": run_id} if run_id else {})}
    with Store(Home.from_environment().database) as store:
        entry = reset_job_bookmark(store, request, time.time_ns() // 1_000_000)["JobBookmarkEntry"]
    where = f"at the end of run {entry['RunId']}" if "RunId" in entry else "at the beginning"
    click.echo(f"the bookmark of {job} is {where} (version {entry['Version']})")
    click.echo("what was written to targets stays: repeated input is written again")


@click.command()
@click.argument("job")
@click.option("--file", "uri", metavar="S3_URI", help="Say why this file is read or skipped.")
@click.option("--run", metavar="ID", help="Explain an earlier run instead of the next one.")
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
def explain(job: str, uri: str | None, run: str | None, output: str) -> None:
    """Tell what the next run of JOB would read, without running it."""
    from local_glue.home import Home
    from ops.explain import explain_job, explanation_json, explanation_tables

    explanations = explain_job(Home.from_environment(), job, run, uri)
    if output == "json":
        click.echo(json.dumps(explanation_json(job, run, explanations), indent=2))
        return
    console = console_for_tables()
    for part in explanation_tables(job, run, explanations):
        console.print(part, highlight=False, soft_wrap=True)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def submit(script: Path, arguments: tuple[str, ...]) -> None:
    """Run SCRIPT once as a job run, with any ARGUMENTS of Glue (--job-bookmark-option …).

    Buckets are the folders of the home's lake. The job is named as --JOB_NAME says, or after the
    script.
    """
    from local_glue.advice import warnings_of
    from local_glue.home import Home
    from local_glue.store import Store
    from local_glue.submit import read_submission
    from local_glue.submit import submit as run_script
    from ops.progress import JobProgress, print_failed_run, print_warnings

    submission = read_submission(script, arguments)
    home = Home.from_environment()
    console = Console()
    with JobProgress(console) as progress:
        run, job = run_script(submission, home, progress.observe)
    with Store(home.database) as store:
        warnings = warnings_of(store, run, job)
    output = Path(run.log_path).with_name("stdout.log")
    click.echo(output.read_text(encoding="utf-8", errors="replace"), nl=False)
    print_warnings(console, run.job_name, warnings)
    if run.state != "SUCCEEDED":
        print_failed_run(console, run)
        sys.exit(1)


def console_for_tables() -> Console:
    """Return a console whose tables are not folded where nobody looks at them in a terminal."""
    return Console() if sys.stdout.isatty() else Console(width=180)
