"""State machines on the command line: `run`, `runs` and `stop` with `--machine`."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from tidemark.cli.engines import prepare_sparks
from tidemark.cli.here import glue_here
from tidemark.cli.progress import RunConsole
from tidemark.cli.synth import assembly_folder
from tidemark.cli.target import glue_of_stage, open_target
from tidemark.cli.terminal import print_json, print_lines
from tidemark.cli.where import Where
from tidemark.errors import UsageError
from tidemark.glue_service.commands import load_app
from tidemark.glue_service.deployments import versions_of_runs
from tidemark.glue_service.served import find_port
from tidemark.glue_service.state_machines.stand_ins import read_tasks
from tidemark.local_state.home import Home
from tidemark.operate.clients import Glue
from tidemark.operate.executions import (
    DONE,
    RUNNING,
    SUCCEEDED,
    ExecutionOfMachine,
    Step,
    executions_of,
    find_machine,
    follow_execution,
    redrive_execution,
    start_execution,
    stop_executions,
)

FAILURE = 1


def run_machine(
    where: Where, name: str, given: str | None, tasks: Sequence[str], output: str
) -> int:
    """Run a state machine of the app to its end; return the exit code."""
    text = _input_of(given)
    stand_ins = read_tasks(tasks)
    with ExitStack() as stack:
        if where.stage is not None:
            if stand_ins:
                raise UsageError("--task is for this machine: leave it out, or --deployed")
            glue = stack.enter_context(glue_of_stage(where))
        else:
            glue = _glue_with_app(stack, where, stand_ins)
        return _watch(glue, name, start_execution(glue, find_machine(glue, name), text), output)


def resume_machine(where: Where, name: str, execution: str | None, output: str) -> int:
    """Let an execution that did not succeed go on, to its end; return the exit code."""
    with ExitStack() as stack:
        if where.stage is not None:
            glue = stack.enter_context(glue_of_stage(where))
        else:
            glue = _glue_with_app(stack, where, {})
        before = redrive_execution(glue, find_machine(glue, name), execution)
        return _watch(glue, name, before.arn, output, before.steps)


def _glue_with_app(stack: ExitStack, where: Where, stand_ins: dict[str, str]) -> Glue:
    home = Home.from_environment()
    if stand_ins and (port := find_port(home)):
        raise UsageError(
            f"process {port.pid} serves {home.root}; give --task to that one, or set "
            "TIDEMARK_HOME to another folder"
        )
    folder = assembly_folder(RunConsole(stderr=True), where.app, where.context)
    app = load_app(folder)
    prepare_sparks(versions_of_runs(app, home))

    def deploy_app(_: Home, deploy: Any) -> None:
        if deploy is None:
            raise UsageError("another command runs jobs in this home: wait until it has ended")
        text = str(deploy(folder))
        if "cannot be deployed" in text:  # the machine that is to run may be one of these
            click.echo(text, err=True)

    return stack.enter_context(glue_here(deploy_app, tasks=stand_ins))


def _watch(glue: Glue, name: str, arn: str, output: str, before: Sequence[Step] = ()) -> int:
    is_of_json = output == "json"
    # The places of steps: of branches, a later one may end first. Those that were done are known.
    shown = {place for place, step in enumerate(before) if step.state in DONE}
    try:
        for execution in follow_execution(glue, arn):
            for place, step in enumerate(execution.steps):
                if step.ended_at is not None and place not in shown:
                    click.echo(step_line(step), err=is_of_json)
                    shown.add(place)
    except KeyboardInterrupt:
        stop_executions(glue, find_machine(glue, name), arn.rpartition(":")[2])
        click.echo(f"{name} {arn.rpartition(':')[2]} is being stopped", err=True)
        raise
    if is_of_json:
        print_json(execution_json(execution))
    else:
        click.echo(execution_line(name, execution))
    return 0 if execution.status == SUCCEEDED else FAILURE


def _input_of(given: str | None) -> str:
    text = "{}" if given is None else given
    if text.startswith("@"):
        text = Path(text[1:]).read_text(encoding="utf-8")
    try:
        json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"--input is not JSON ({error}); allowed: a JSON value, or @FILE with one"
        ) from error
    return text


def show_executions(where: Where, name: str, limit: int, output: str) -> None:
    """Show the last executions of a machine with their steps."""
    with open_target(where) as target:
        executions = executions_of(target.glue, find_machine(target.glue, name), limit)
    lines = [
        line
        for execution in executions
        for line in (
            execution_line(name, execution),
            *(f"  {step_line(step)}" for step in execution.steps),
        )
    ]
    document = list(map(execution_json, executions))
    print_lines(output, document, lines or [f"{name} has no execution"])


def stop_machine(where: Where, name: str, execution: str | None, output: str) -> None:
    """Stop the executions of a machine that run, with the job runs that they wait for."""
    with open_target(where) as target:
        stopped = stop_executions(target.glue, find_machine(target.glue, name), execution)
    lines = [f"{name} {execution_name} is stopped" for execution_name in stopped]
    nothing = [f"{name} has no execution that runs: nothing to stop"]
    print_lines(output, {"name": name, "stopping": stopped}, lines or nothing)


def step_line(step: Step) -> str:
    """Return a step in one line."""
    if step.ended_at is None:
        return f"{step.name} {RUNNING}"
    seconds = (step.ended_at - step.started_at).total_seconds()
    why = f": {step.error}" if step.error else ""
    return f"{step.name} {step.state} in {seconds:.1f} s{why}"


def execution_line(machine: str, execution: ExecutionOfMachine) -> str:
    """Return an execution in one line, with its error and its cause."""
    whys = [text for text in (execution.error, execution.cause) if text]
    why = f": {' '.join(whys)}" if whys else ""
    started = f"{execution.started_at:%Y-%m-%d %H:%M:%S}"
    return f"{machine} {execution.name} {execution.status}, started {started}{why}"


def execution_json(execution: ExecutionOfMachine) -> dict[str, Any]:
    """Return an execution as plain data, times in ISO 8601."""
    output = json.loads(execution.output) if execution.output else None
    members = {**asdict(execution), "output": output}
    plain: dict[str, Any] = json.loads(json.dumps(members, default=datetime.isoformat))
    return plain
