"""The commands about runs, here and on AWS: `runs`, `logs`, `stop`, `resume` and `trigger`."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from tidemark.cli.bookmark import FORMAT, JSON_HELP, console_for_tables
from tidemark.cli.known_names import JOB, RUN, WORKFLOW
from tidemark.cli.target import open_target
from tidemark.cli.where import Where, only_looks, start_options, where_options
from tidemark.errors import UsageError
from tidemark.model.clock import now, now_ms
from tidemark.model.messages import RETRY

if TYPE_CHECKING:
    from tidemark.cli.views.runs import Changes
    from tidemark.local_state.store.database import JobRun
    from tidemark.local_state.store.stored_warnings import ShowWarnings
    from tidemark.operate.clients import Glue
    from tidemark.operate.job_runs import Run
    from tidemark.operate.workflow_runs import WorkflowRun

INTERRUPTED = 130
WORKFLOW_HELP = "The workflow, named as its pipeline; needed if there are several."
RUN_HELP = "The id of the run, or a prefix; by default the last run."
STOP_HELP = "The id of a run, or a prefix; by default all in progress."
SINCE_HELP = "Leave out what started before: 30m, 12h, 7d, or a date in UTC."
RESUME_HELP = "Start at this job, even if it SUCCEEDED; may be given several times."
FOLLOW_HELP = "Print until the run ends; Ctrl-C ends the printing, not the run."
LINES_FORMAT = click.Choice(["text", "json"])
LINES_HELP = "Print the lines, or each as an object of JSON."
_format = click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)


@click.command()
@click.argument("job", type=JOB, required=False)
@click.option("--since", metavar="TIME", help=SINCE_HELP)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, metavar="N")
@where_options
@_format
@only_looks
def runs(job: str | None, since: str | None, limit: int, where: Where, output: str) -> None:
    """Show the job runs of JOB, or of every job, newest first."""
    from tidemark.cli.views.runs import (
        cause_lines,
        moment,
        run_json,
        runs_listing,
        since_of,
        warning_lines,
    )

    begin = since_of(since, now())
    with open_target(where) as target:
        jobs = [target.job(job)] if job is not None else target.names.jobs
        known = target.runs(jobs, begin, limit)
        found = sorted(known, key=lambda run: run.started_at, reverse=True)[:limit]
        warnings = target.warnings()
    if output == "json":
        shown = [run_json(run, has_rows=target.has_rows, warnings=warnings) for run in found]
        click.echo(json.dumps(shown, indent=2))
    elif found:
        console = console_for_tables()
        listing = runs_listing(found, console.width, has_rows=target.has_rows)
        console.print(listing, soft_wrap=True)
        for line in (*cause_lines(found), *warning_lines(found, warnings or ())):
            console.print(line, soft_wrap=True)
    else:
        whose = f"{job} has no run" if job else "no job has a run"
        when = f" that started since {moment(begin)}" if begin else ""
        click.echo(f"{whose} in {target.where}{when}")


@click.command()
@click.argument("job", type=JOB)
@click.option("--run", "run_id", metavar="ID", type=RUN, help=RUN_HELP)
@click.option("--follow", "-f", is_flag=True, help=FOLLOW_HELP)
@click.option("--errors", is_flag=True, help="What it wrote to stderr only.")
@click.option("--output", "outputs", is_flag=True, help="What it printed to stdout only.")
@where_options
@click.option("--format", "output", type=LINES_FORMAT, default="text", help=LINES_HELP)
@only_looks
def logs(
    job: str,
    run_id: str | None,
    follow: bool,
    errors: bool,
    outputs: bool,
    where: Where,
    output: str,
) -> None:
    """Print what a run of JOB wrote: stdout to stdout, and stderr to stderr.

    With --follow the exit code is 1 if the run does not succeed.
    """
    from tidemark.operate.job_runs import Run, find_run
    from tidemark.operate.logs import ERROR, OUTPUT, follow_lines, lines_of

    if errors and outputs:
        raise UsageError("--errors and --output together are all: leave both out")
    kinds = (ERROR,) if errors else (OUTPUT,) if outputs else (OUTPUT, ERROR)
    with open_target(where) as target, interruptible("stopped following; the run is not affected"):
        glue = target.glue
        run = find_run(glue, target.job(job), run_id)
        found = follow_lines(glue, run, kinds) if follow else lines_of(glue, run, kinds)
        for line in found:
            if isinstance(line, Run):
                click.echo(f"{line.run_id} {line.state}", err=True)
                sys.exit(0 if line.state == "SUCCEEDED" else 1)
            if output == "json":
                stream = "stderr" if line.kind == ERROR else "stdout"
                at = line.at.isoformat(timespec="milliseconds")
                click.echo(json.dumps({"at": at, "stream": stream, "text": line.text}))
            else:
                click.echo(line.text, err=line.kind == ERROR)


@click.command()
@click.argument("job", type=JOB, required=False)
@click.option("--run", "run_id", metavar="ID", type=RUN, help=STOP_HELP)
@click.option("--workflow", metavar="NAME", type=WORKFLOW, help=WORKFLOW_HELP)
@where_options
@_format
def stop(
    job: str | None, run_id: str | None, workflow: str | None, where: Where, output: str
) -> None:
    """Stop the active runs of JOB, or without JOB those of a workflow.

    What a run has committed stays. A run is STOPPING until it has ended: `tidemark runs` shows it.
    """
    from tidemark.cli.here import owner_of_runs
    from tidemark.operate.job_runs import ACTIVE_STATES, find_run, stop_runs
    from tidemark.operate.workflow_runs import stop_workflow

    if job is not None and workflow is not None:
        raise UsageError("stop the runs of a job or of a workflow: leave out JOB or --workflow")
    with open_target(where) as target:
        if job is None:
            name = target.names.workflow(workflow)
            asked = stop_workflow(target.glue, name, run_id)
        else:
            name = target.job(job)
            run = find_run(target.glue, name, run_id) if run_id else None
            owner = None if where.stage else owner_of_runs()
            if owner is None:
                asked = [run.run_id for run in stop_runs(target.glue, name, run)]
            else:
                going = [it for it in target.runs([name]) if it.state in ACTIVE_STATES]
                asked = [
                    it.run_id
                    for it in going
                    if it.started_at_ms >= owner.since_ms
                    and (run is None or it.run_id == run.run_id)
                ]
                if asked:
                    os.kill(owner.pid, signal.SIGTERM)  # as Ctrl-C there: it stops the run
    if output == "json":
        click.echo(json.dumps({"name": name, "stopping": asked}, indent=2))
        return
    for found in asked:
        click.echo(f"{name} {found} is being stopped")
    if not asked:
        click.echo(f"{name} has no run in progress in {target.where}: nothing to stop")


@click.command()
@click.option("--workflow", metavar="NAME", type=WORKFLOW, help=WORKFLOW_HELP)
@click.option("--run", "run_id", metavar="ID", type=RUN, help=RUN_HELP)
@click.option("--from", "begin", metavar="JOB", type=JOB, multiple=True, help=RESUME_HELP)
@start_options
@_format
def resume(
    workflow: str | None, run_id: str | None, begin: tuple[str, ...], where: Where, output: str
) -> None:
    """Run the unsuccessful jobs of a workflow run again, and what follows them.

    It is a new workflow run, in which the jobs that SUCCEEDED stand as they are. Ctrl-C stops it.
    """
    from tidemark.operate.workflow_runs import resume as resume_run
    from tidemark.operate.workflow_runs import to_resume

    def asked_of(glue: "Glue") -> tuple[str, str | None, list[str]]:
        return glue.names.workflow(workflow), run_id, [glue.names.job(job) for job in begin]

    if where.stage is None:
        with open_target(where) as target:  # synthesizes nothing, and may say that nothing is left
            to_resume(target.glue, *asked_of(target.glue), may_be_open=True)
    with open_target(where, ("workflow", workflow)) as target:
        glue = target.glue
        name, *_ = asked = asked_of(glue)
        new_id, chosen, resumed = resume_run(glue, *asked)
        click.echo(f"resuming {name} at {', '.join(chosen)}", err=True)
        code = watch(glue, name, new_id, where, output, resumed)
    sys.exit(code)


@click.command()
@click.argument("name", required=False)
@start_options
@_format
def trigger(name: str | None, where: Where, output: str) -> None:
    """Fire the ON_DEMAND trigger NAME, or activate one of another type; without NAME, list all.

    One that begins a workflow starts a run of it. The command does not wait for the runs, but
    where no `tidemark local up` serves this machine's home: then it runs them itself, shows them,
    and the exit code is 1 if one does not succeed.
    """
    from tidemark.cli.views.runs import trigger_json, triggers_listing
    from tidemark.operate.triggers import triggers_of

    if name is not None:
        sys.exit(_fire(name, where, output))
    with open_target(where) as target:
        found = triggers_of(target.glue)
    if output == "json":
        click.echo(json.dumps([trigger_json(one) for one in found], indent=2))
    elif found:
        console_for_tables().print(triggers_listing(found), soft_wrap=True)
    else:
        click.echo(f"there is no trigger in {target.where}")


def _fire(name: str, where: Where, output: str) -> int:
    """Fire a trigger, show the runs that this command has itself, and return the exit code."""
    from tidemark.cli.progress import JobProgress, RunConsole
    from tidemark.operate.triggers import find_trigger, start_trigger

    if where.stage is None and where.app is None and not where.context:
        with open_target(where) as target:  # starts no JVM, and may refuse the name
            find_trigger(target.glue, name)
    begin_ms = now_ms()
    last: dict[str, str] = {}  # the state of the last attempt
    progress = JobProgress(RunConsole(stderr=output == "json"))

    def observe(run: "JobRun | None") -> None:
        if run is not None and run.started_at_ms >= begin_ms:  # not what a dead engine has left
            last[run.run_id.partition(RETRY)[0]] = run.state
        progress.observe(run)

    with progress, open_target(where, ("trigger", name), observe) as target:
        state = start_trigger(target.glue, name)
        click.echo(f"trigger {name} {state}")
    return 0 if all(state == "SUCCEEDED" for state in last.values()) else 1


def watch(
    glue: "Glue",
    workflow: str,
    run_id: str,
    where: Where,
    output: str,
    resumed: "WorkflowRun | None" = None,
) -> int:
    """Show a workflow run until it has ended; return the exit code. Ctrl-C stops the run.

    Of a run that it resumes nothing is shown again.
    """
    from tidemark.cli.progress import RunConsole
    from tidemark.cli.views.runs import not_started_lines, workflow_run_json
    from tidemark.operate.workflow_runs import follow, stop_workflow

    console = RunConsole(stderr=output == "json")
    changes = changes_of(where, resumed.runs if resumed else ())
    try:
        for found in follow(glue, workflow, run_id):
            changes.show(console, found.runs)
    except KeyboardInterrupt:
        stop_workflow(glue, workflow, run_id)
        click.echo(f"{workflow} {run_id} is being stopped", err=True)
        raise
    for line in not_started_lines(found):
        console.print(line, soft_wrap=True)
    if output == "json":
        counted = replace(found, runs=tuple(map(changes.with_rows, found.runs)))
        shown = workflow_run_json(counted, has_rows=where.stage is None)
        click.echo(json.dumps(shown, indent=2))
    return 0 if found.is_success else 1


def changes_of(where: Where, seen: Sequence["Run"] = ()) -> "Changes":
    """Return what reports the changes of runs; of this machine's, with rows and warnings."""
    from tidemark.cli.views.runs import Changes

    if where.stage is not None:
        return Changes(where.option, seen)
    from tidemark.local_state.home import Home
    from tidemark.operate.home_runs import with_rows

    return Changes(where.option, seen, partial(with_rows, Home.from_environment()), unseen(where))


def unseen(where: Where) -> "Callable[[ShowWarnings], None]":
    """Return what shows the warnings of runs that another process has had for this command."""
    from tidemark.glue_service.served import find_port
    from tidemark.local_state.home import Home
    from tidemark.local_state.store.database import Store
    from tidemark.local_state.store.stored_warnings import show_unseen

    home = Home.from_environment()
    served = find_port(home) if where.stage is None else None
    if served is None or served.is_of_command:  # a command that runs jobs itself shows its own
        return lambda show: None

    def show_warnings(show: "ShowWarnings") -> None:
        with Store(home.database) as store:
            show_unseen(store, show)

    return show_warnings


@contextmanager
def interruptible(text: str) -> Iterator[None]:
    """Let Ctrl-C end only the output: print ``text``, and exit with 130."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(text, err=True)
        sys.exit(INTERRUPTED)
