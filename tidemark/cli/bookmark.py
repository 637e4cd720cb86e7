"""The commands about job bookmarks: `bookmark show|reset|rewind`, `explain` and `submit`."""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from tidemark.cli.looking import only_looks
from tidemark.errors import EntityNotFoundError, UsageError

if TYPE_CHECKING:
    from tidemark.local_state.store.database import JobRun, Store

JSON_HELP = "Print a table for people, or JSON."
RUN_FORMS = "an id, the beginning of one, or a number # of `tidemark bookmark show`"
ISOLATED_HELP = "Start a JVM for each job run; borrow none that ran another before."
FORMAT = click.Choice(["table", "json"])


@click.group()
def bookmark() -> None:
    """Look at the bookmark of a job, reset it, or rewind it to an earlier run."""


@bookmark.command()
@click.argument("job")
@click.option("--run", metavar="ID", help=f"Show the bookmark as of the end of a run: {RUN_FORMS}.")
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def show(job: str, run: str | None, output: str) -> None:
    """Show the bookmark of JOB and the runs it can be rewound to."""
    from tidemark.cli.views.bookmarks import bookmark_tables
    from tidemark.local_state.bookmarks.api import get_job_bookmark
    from tidemark.local_state.bookmarks.versions import successful_runs
    from tidemark.local_state.home import Home
    from tidemark.local_state.store.database import Store

    with Store(Home.from_environment().database) as store:
        answer = get_job_bookmark(store, _request(store, job, run))
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
@click.option("--run", metavar="ID", help=f"The run: {RUN_FORMS}. Without it choose from a list.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def rewind(job: str, run: str | None, yes: bool) -> None:
    """Set JOB back to the end of an earlier run: its next run reads what came after that run."""
    _set_back(
        job,
        run or _chosen_run(job),
        yes,
        f"Let the next run of {job} read again all that came after it?",
    )


def _chosen_run(job: str) -> str:
    from tidemark.cli.views.bookmarks import runs_table
    from tidemark.local_state.bookmarks.versions import successful_runs
    from tidemark.local_state.home import Home
    from tidemark.local_state.store.database import Store
    from tidemark.local_state.store.known_jobs import why_no_bookmark

    with Store(Home.from_environment().database) as store:
        runs = successful_runs(store, job)
        why = "" if runs else why_no_bookmark(store, job)
    if not runs:
        raise UsageError(f"{why}, so there is no run to rewind to")
    console_for_tables().print(runs_table(runs), soft_wrap=True)
    if not sys.stdin.isatty():
        raise UsageError("choose one of these runs: --run ID")
    number = click.prompt("Rewind to the end of run number", type=click.IntRange(1, len(runs)))
    return str(runs[number - 1][0].run_id)


def _request(store: "Store", job: str, run: str | None) -> dict[str, str]:
    """Return the request of GetJobBookmark or ResetJobBookmark; the run is one of the job's."""
    from tidemark.local_state.bookmarks.versions import latest_bookmark
    from tidemark.local_state.store.known_jobs import known_jobs, why_no_bookmark
    from tidemark.local_state.store.run_ids import resolve_run

    if latest_bookmark(store, job) is None:
        is_known = job in known_jobs(store)
        raise (EntityNotFoundError if is_known else UsageError)(why_no_bookmark(store, job))
    return {"JobName": job, **({"RunId": resolve_run(store, job, run)} if run else {})}


def is_going(run: "JobRun", job: str) -> bool:
    """Return whether a run of a job has not ended."""
    from tidemark.local_state.store.database import FINAL_STATES

    return run.job_name == job and run.state not in FINAL_STATES


def _set_back(job: str, run: str | None, yes: bool, question: str) -> None:
    from tidemark.local_state.bookmarks.api import reset_job_bookmark
    from tidemark.local_state.home import Home
    from tidemark.local_state.store.database import Store

    home = Home.from_environment()
    with Store(home.database) as store:
        request = _request(store, job, run)
        if not yes:
            click.confirm(question, abort=True)
        entry = reset_job_bookmark(store, request, time.time_ns() // 1_000_000)["JobBookmarkEntry"]
        going = [run.run_id for run in store.all_job_runs() if is_going(run, job)]
    where = f"at the end of run {entry['RunId']}" if "RunId" in entry else "at the beginning"
    click.echo(f"the bookmark of {job} is {where} (version {entry['Version']})")
    click.echo("what was written to targets stays: repeated input is written again")
    if going and home.is_held():
        click.echo(
            f"warning: {', '.join(going)} of {job} has not ended: it has read by the earlier "
            "bookmark, and its commit will fail because the version has changed; end it with "
            f"`tidemark stop {job}`, or wait for its end; then run the job again",
            err=True,
        )


@click.command()
@click.argument("job")
@click.option("--file", "uri", metavar="S3_URI", help="Say why this file is read or skipped.")
@click.option("--run", metavar="ID", help=f"Explain an earlier run: {RUN_FORMS}.")
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def explain(job: str, uri: str | None, run: str | None, output: str) -> None:
    """Tell what the next run of JOB would read, without running it."""
    from tidemark.cli.views.explain import explain_job, explanation_json, explanation_tables
    from tidemark.local_state.home import Home

    run_id, explanations = explain_job(Home.from_environment(), job, run, uri)
    if output == "json":
        click.echo(json.dumps(explanation_json(job, run_id, explanations), indent=2))
        return
    console = console_for_tables()
    for part in explanation_tables(job, run_id, explanations):
        console.print(part, highlight=False, soft_wrap=True)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--isolated", is_flag=True, help=ISOLATED_HELP)
def submit(script: Path, arguments: tuple[str, ...], isolated: bool) -> None:
    """Run SCRIPT once as a job run, with any ARGUMENTS of Glue (--job-bookmark-option …).

    Buckets are the folders of the home's lake. The job is named as --JOB_NAME says, or after the
    script. What the script uses and this machine does not run is named before it starts.
    """
    from tidemark.checks.lint.linter import local_notes
    from tidemark.cli.progress import JobProgress, RunConsole
    from tidemark.cli.script_output import ScriptOutput
    from tidemark.glue_service.runs.jvms.supply import jvms_of
    from tidemark.glue_service.submit import read_submission
    from tidemark.glue_service.submit import submit as run_script
    from tidemark.local_state.home import Home

    submission = read_submission(script, arguments)
    for found in local_notes(script):
        click.echo(f"{found.file}:{found.place.line}: {found.text}", err=True)
    home = Home.from_environment()
    with JobProgress(RunConsole()) as progress:
        output = ScriptOutput(progress.stop_animation)

        def observe(run: "JobRun | None") -> None:
            if run is not None:
                output.end_line()
            progress.observe(run)

        with jvms_of(home, is_isolated=isolated, say=progress.say) as jvms:
            finished, _ = run_script(submission, home, observe, progress.warn, output.write, jvms)
    if finished.state != "SUCCEEDED":
        sys.exit(1)


def console_for_tables() -> Console:
    """Return a console whose tables are not folded where no one looks at them in a terminal."""
    return Console() if sys.stdout.isatty() else Console(width=180)
