"""The commands about runs, here and on AWS: `runs`, `logs`, `stop`, `resume` and `trigger`."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial

import click

from tidemark.cli.progress import JobProgress, RunConsole, console_for_tables, print_output
from tidemark.cli.target import open_target
from tidemark.cli.terminal import print_json, print_lines
from tidemark.cli.views.runs import (
    Changes,
    cause_lines,
    moment,
    not_started_lines,
    run_json,
    runs_listing,
    since_of,
    triggers_listing,
    warning_lines,
    workflow_run_json,
)
from tidemark.cli.where import Where, ask_on_aws
from tidemark.errors import UsageError
from tidemark.glue_service.served import find_port
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import ShowWarnings, show_unseen
from tidemark.model.clock import now, now_ms
from tidemark.model.messages import RETRY
from tidemark.operate.clients import Glue
from tidemark.operate.job_runs import ACTIVE_STATES, Run, find_run, stop_runs
from tidemark.operate.logs import ERROR, OUTPUT, follow_lines, lines_of
from tidemark.operate.triggers import find_trigger, start_trigger, triggers_of
from tidemark.operate.workflow_runs import WorkflowRun, follow, stop_workflow, to_resume
from tidemark.operate.workflow_runs import resume as resume_run

INTERRUPTED = 130


def runs(
    job: str | None, since: str | None, limit: int, machine: str | None, where: Where, output: str
) -> None:
    if machine is not None:
        if job is not None or since is not None:
            raise UsageError("--machine shows executions: leave out JOB and --since")
        from tidemark.cli.machines import show_executions

        show_executions(where, machine, limit, output)
        return
    begin = since_of(since, now())
    with open_target(where) as target:
        jobs = [target.job(job)] if job is not None else target.names.jobs
        known = target.runs(jobs, begin, limit)
        shown_runs = sorted(known, key=lambda run: run.started_at, reverse=True)[:limit]
        warnings = target.warnings()
    if output == "json":
        shown = [run_json(run, has_rows=target.has_rows, warnings=warnings) for run in shown_runs]
        print_json(shown)
    elif shown_runs:
        console = console_for_tables()
        console.print(runs_listing(shown_runs, console.width, has_rows=target.has_rows))
        for line in (*cause_lines(shown_runs), *warning_lines(shown_runs, warnings or ())):
            console.print(line)
    else:
        whose = f"{job} has no run" if job else "no job has a run"
        when = f" that started since {moment(begin)}" if begin else ""
        click.echo(f"{whose} in {target.where}{when}")


def logs(
    job: str,
    run_id: str | None,
    follow: bool,
    errors: bool,
    outputs: bool,
    where: Where,
    output: str,
) -> None:
    if errors and outputs:
        raise UsageError("--stderr and --stdout together are all: leave both out")
    kinds = (ERROR,) if errors else (OUTPUT,) if outputs else (OUTPUT, ERROR)
    with open_target(where) as target, interruptible("stopped following; the run is not affected"):
        glue = target.glue
        run = find_run(glue, target.job(job), run_id)
        lines = follow_lines(glue, run, kinds) if follow else lines_of(glue, run, kinds)
        for line in lines:
            if isinstance(line, Run):
                click.echo(f"{line.run_id} {line.state}", err=True)
                sys.exit(0 if line.state == "SUCCEEDED" else 1)
            if output == "json":
                stream = "stderr" if line.kind == ERROR else "stdout"
                at = line.at.isoformat(timespec="milliseconds")
                click.echo(json.dumps({"at": at, "stream": stream, "text": line.text}))
            else:
                click.echo(line.text, err=line.kind == ERROR)


def stop(
    job: str | None,
    run_id: str | None,
    workflow: str | None,
    machine: str | None,
    yes: bool,
    where: Where,
    output: str,
) -> None:
    ask_on_aws(where, f"Stop runs of {job or machine or workflow or 'the workflow'}", is_sure=yes)
    if machine is None:
        _stop_runs(job, run_id, workflow, where, output)
        return
    if job is not None or workflow is not None:
        raise UsageError("stop executions of --machine, or runs: leave out JOB and --workflow")
    from tidemark.cli.machines import stop_machine

    stop_machine(where, machine, run_id, output)


def _stop_runs(
    job: str | None, run_id: str | None, workflow: str | None, where: Where, output: str
) -> None:
    from tidemark.cli.here import owner_of_runs  # an engine, which no other command here needs

    if job is not None and workflow is not None:
        raise UsageError("stop the runs of a job or of a workflow: leave out JOB or --workflow")
    with open_target(where) as target:
        if job is None:
            name = target.names.workflow(workflow)
            run_ids = stop_workflow(target.glue, name, run_id)
        else:
            name = target.job(job)
            run = find_run(target.glue, name, run_id) if run_id else None
            owner = None if where.stage else owner_of_runs()
            if owner is None:
                run_ids = [run.run_id for run in stop_runs(target.glue, name, run)]
            else:
                going = [run for run in target.runs([name]) if run.state in ACTIVE_STATES]
                run_ids = [
                    active.run_id
                    for active in going
                    if active.started_at_ms >= owner.since_ms
                    and (run is None or active.run_id == run.run_id)
                ]
                if run_ids:
                    os.kill(owner.pid, signal.SIGTERM)  # as Ctrl-C there: it stops the run
    lines = [f"{name} {stopping} is being stopped" for stopping in run_ids]
    nothing = [f"{name} has no run in progress in {target.where}: nothing to stop"]
    print_lines(output, {"name": name, "stopping": run_ids}, lines or nothing)


def resume(
    workflow: str | None,
    run_id: str | None,
    begin: tuple[str, ...],
    machine: str | None,
    yes: bool,
    where: Where,
    output: str,
) -> None:
    ask_on_aws(where, f"Resume {machine or workflow or 'the workflow'}", is_sure=yes)
    if machine is not None:
        if workflow is not None or begin:
            raise UsageError("--machine resumes an execution: leave out --workflow and --from")
        from tidemark.cli.machines import resume_machine

        sys.exit(resume_machine(where, machine, run_id, output))

    def asked_of(glue: Glue) -> tuple[str, str | None, list[str]]:
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


def trigger(name: str | None, yes: bool, where: Where, output: str) -> None:
    if name is not None:
        ask_on_aws(where, f"Start the trigger {name}", is_sure=yes)
        sys.exit(_fire(name, where, output))
    with open_target(where) as target:
        triggers = triggers_of(target.glue)
    shown = triggers_listing(triggers) if triggers else f"there is no trigger in {target.where}"
    print_output(output, list(map(asdict, triggers)), [shown])


def _fire(name: str, where: Where, output: str) -> int:
    if where.stage is None and where.app is None and not where.context:
        with open_target(where) as target:  # starts no JVM, and may refuse the name
            find_trigger(target.glue, name)
    begin_ms = now_ms()
    last: dict[str, str] = {}  # the state of the last attempt
    progress = JobProgress(RunConsole(stderr=output == "json"))

    def observe(run: JobRun | None) -> None:
        if run is not None and run.started_at_ms >= begin_ms:  # not what a dead engine has left
            last[run.run_id.partition(RETRY)[0]] = run.state
        progress.observe(run)

    with progress, open_target(where, ("trigger", name), observe) as target:
        state = start_trigger(target.glue, name)
        click.echo(f"trigger {name} {state}")
    return 0 if all(state == "SUCCEEDED" for state in last.values()) else 1


def watch(
    glue: Glue,
    workflow: str,
    run_id: str,
    where: Where,
    output: str,
    resumed: WorkflowRun | None = None,
) -> int:
    """Show a workflow run until it has ended; return the exit code. Ctrl-C stops the run.

    Of a run that it resumes nothing is shown again.
    """
    console = RunConsole(stderr=output == "json")
    changes = changes_of(where, resumed.runs if resumed else ())
    try:
        for workflow_run in follow(glue, workflow, run_id):
            changes.show(console, workflow_run.runs)
    except KeyboardInterrupt:
        stop_workflow(glue, workflow, run_id)
        click.echo(f"{workflow} {run_id} is being stopped", err=True)
        raise
    for line in not_started_lines(workflow_run):
        console.print(line)
    if output == "json":
        counted = replace(workflow_run, runs=tuple(map(changes.with_rows, workflow_run.runs)))
        print_json(workflow_run_json(counted, has_rows=where.stage is None))
    return 0 if workflow_run.is_success else 1


def changes_of(where: Where, seen: Sequence[Run] = ()) -> Changes:
    """Return what reports the changes of runs; of this machine's, with rows and warnings."""
    if where.stage is not None:
        return Changes(where.option, seen)
    from tidemark.operate.home_runs import with_rows

    return Changes(where.option, seen, partial(with_rows, Home.from_environment()), unseen(where))


def unseen(where: Where) -> Callable[[ShowWarnings], None]:
    """Return what shows the warnings of runs that another process has had for this command."""
    home = Home.from_environment()
    served = find_port(home) if where.stage is None else None
    if served is None or served.is_of_command:  # a command that runs jobs itself shows its own
        return lambda show: None

    def show_warnings(show: ShowWarnings) -> None:
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
