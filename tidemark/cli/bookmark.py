"""The commands about job bookmarks: `bookmark show|reset|rewind`."""

import sys

import click

from tidemark.cli.progress import console_for_tables, print_output
from tidemark.cli.target import open_target
from tidemark.cli.terminal import print_json
from tidemark.cli.views.bookmarks import bookmark_tables, runs_table
from tidemark.cli.where import Where
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.model.messages import known, known_run, plural
from tidemark.operate.target import Target

MAX_NUMBER_LENGTH = 7  # digits; one more, and they are what lists show of an id
BEGINNING = "beginning"  # where `--to` leads before the first run
REPEATED = "data in targets is not changed: repeated input is written again"


def show(job: str, run: str | None, where: Where, output: str) -> None:
    with open_target(where) as target:
        run_id = _run_meant(target, job, run)
        entry = target.bookmark_entry(job, run_id)
        runs = target.committed_runs(job)
    if entry is None:
        raise EntityNotFoundError(f"job {job} had no bookmark when run {run_id} ended")
    print_output(output, {"JobBookmarkEntry": entry}, bookmark_tables(entry, runs))


def reset(job: str, yes: bool, where: Where, output: str) -> None:
    with open_target(where) as target:
        _run_meant(target, job, None)
        question = f"Let the next run of {job} read everything again?"
        _set_back(target, job, None, yes, question, output)


def rewind(job: str, run: str | None, yes: bool, where: Where, output: str) -> None:
    if run == BEGINNING:
        reset(job, yes, where, output)
        return
    with open_target(where) as target:
        if run:
            run_id = _run_meant(target, job, run)
        else:
            runs = target.committed_runs(job)
            if not runs:
                known("job", job, target.known_jobs)
                reason = target.no_bookmark_reason(job)
                raise UsageError(f"{reason}, so there is no run to rewind to")
            console_for_tables().print(runs_table(runs))
            if not sys.stdin.isatty():
                raise UsageError("choose one of these runs: --to ID")
            numbers = click.IntRange(1, len(runs))
            number = click.prompt("Rewind to the end of run number", type=numbers)
            run_id = runs[number - 1].run_id
        question = f"Let the next run of {job} read again all that came after it?"
        _set_back(target, job, run_id, yes, question, output)


def _run_meant(target: Target, job: str, text: str | None) -> str | None:
    """Return the id of the run of a job with a bookmark that a text means; None for none."""
    if target.bookmark(known("job", job, target.known_jobs)) is None:
        raise target.no_bookmark_reason(job)
    return None if text is None else run_of(target, job, text)


def run_of(target: Target, job: str, text: str) -> str:
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


def _consequence(target: Target, job: str, run: str) -> str:
    if (target.bookmark_entry(job) or {}).get("RunId") == run:
        return "it was there before: the next run reads only what is new"
    listed = [run.run_id for run in target.committed_runs(job)]
    later = listed.index(run) if run in listed else 0
    if not later:
        return REPEATED
    return (
        f"data in targets is not changed: what {plural(later, 'later run')} read is written again"
    )


def _set_back(
    target: Target, job: str, run: str | None, yes: bool, question: str, output: str
) -> None:
    if not yes:
        click.confirm(question, abort=True, err=output == "json")
    consequence = _consequence(target, job, run) if run and output != "json" else REPEATED
    entry = target.reset_bookmark(job, run)
    going = [run.run_id for run in target.runs([job]) if not run.is_final]
    where = f"at the end of run {entry['RunId']}" if "RunId" in entry else "at the beginning"
    if output == "json":
        print_json({"JobBookmarkEntry": entry})
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
