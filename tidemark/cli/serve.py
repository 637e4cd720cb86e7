"""What `serve` does until it is interrupted: JVMs are kept warm, the port is served."""

import os
import queue
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import click

from tidemark.cli.code_on_disk import OldCode
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal, hanging
from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.access.gate import any_key_warning
from tidemark.glue_service.commands import region
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.http.forward import read_forwards
from tidemark.glue_service.http.pages import Pages
from tidemark.glue_service.http.routes import names_of_port
from tidemark.glue_service.http.serving import Options, is_private, serving
from tidemark.glue_service.runs.jvms.supply import NO_JVMS
from tidemark.glue_service.runs.jvms.warm_up import Over, keep_warm, pool_for_home
from tidemark.glue_service.runs.pythons import Pythons
from tidemark.glue_service.served import ServedPort, deploy, find_port
from tidemark.glue_service.state_machines.stand_ins import read_tasks
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.local_state.machine.loopback import LOOPBACK_NAMES
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import texts_of_run
from tidemark.report.lineage.emitter import lineage_to


def up(
    size: int | None,
    port: int | None,
    host: str,
    allow_host: tuple[str, ...],
    any_user: bool,
    any_key: bool,
    on_event: str | None,
    max_parallel: int | None,
    forward: tuple[str, ...],
    task: tuple[str, ...],
    lineage: str | None,
    app: Path | None,
    context: tuple[str, ...],
) -> None:
    is_at_host = host != "127.0.0.1" or bool(allow_host) or any_user or any_key
    of_port = (app is not None, context, is_at_host, on_event is not None, forward, task, lineage)
    if port is None and (max_parallel is not None or any(of_port)):
        raise UsageError(
            "--app, --context, --host, --allow-host, --any-user, --any-key, --on-event, "
            "--max-parallel, --forward, --task and --lineage are for a port: give --port NUMBER too"
        )
    names = names_of_port(host, allow_host)
    forwards, tasks = read_forwards(forward), read_tasks(task)
    home = Home.from_environment()
    count = (os.cpu_count() or 1) if size is None else size
    if port is None:
        if count == 0:
            raise UsageError("--jvms 0 keeps nothing: give at least 1, or --port NUMBER")
        warm_until_interrupted(home, count)
        return
    assembly = None
    if app is not None or context:
        assembly = assembly_folder(Terminal(stderr=True), app, context)
    options = Options(
        host,
        port,
        names,
        any_user,
        any_key,
        on_event=on_event,
        max_parallel=max_parallel,
        forwards=forwards,
        tasks=tasks,
    )
    serve_until_interrupted(home, count, options, assembly, lineage)


def port_of(home: Home) -> ServedPort:
    """Return the port that serves a home; raise a UsageError without any."""
    port = find_port(home)
    if port is None:
        raise UsageError(
            f"no command serves {home.root}: `tidemark serve --port 4566` serves it, until "
            "Ctrl-C; or set TIDEMARK_HOME to the home of the port"
        )
    return port


def env() -> None:
    home = Home.from_environment()
    port = port_of(home)
    print_variables(home, port.url, port.region)


def warm_until_interrupted(home: Home, count: int) -> None:
    """Keep a pool of JVMs."""
    with pool_for_home(home, count) as jvms:
        click.echo(f"commands that use {home.root} borrow JVMs from this one; Ctrl-C ends it")
        try:
            keep_warm(home, jvms, count, click.echo, queue.SimpleQueue())
        except KeyboardInterrupt:
            click.echo("stopped")


def serve_until_interrupted(
    home: Home, count: int, options: Options, assembly: Path | None, lineage: str | None = None
) -> None:
    """Serve the local Glue, with ``count`` warm JVMs and what an assembly defines, if any.

    Events of job runs go to the file or URL ``lineage``, or where openlineage-python is told.

    Where a port serves the home already, the assembly is defined there, and that is all.
    """
    if port := find_port(home):
        _join(home, port, options, assembly, lineage)
        return
    with ExitStack() as stack:
        jvms = stack.enter_context(pool_for_home(home, count)) if count else NO_JVMS
        jvms = replace(jvms, pythons=stack.enter_context(closing(Pythons())))  # this one runs jobs
        over: Over = queue.SimpleQueue()
        report = stack.enter_context(lineage_to(lineage, home, click.echo))
        full = replace(
            options,
            jvms=jvms,
            observe=partial(_report_end, home),
            on_start=OldCode(home).report,
            say=click.echo,
            on_death=lambda error: over.put(_ended_by(error)),
            lineage=report,
            pages=_pages(home, assembly),
        )
        url, engine = stack.enter_context(serving(home, full))
        if assembly is not None:
            click.echo(engine.ask(lambda glue: deploy_on_port(glue, assembly)))
        _report_start(home, full, url)
        try:
            if count:
                keep_warm(home, jvms, count, click.echo, over)
            raise over.get()
        except KeyboardInterrupt:
            click.echo("stopped")


def _ended_by(error: BaseException) -> TidemarkError:
    return TidemarkError(
        f"the local Glue ended by an error ({type(error).__name__}: {error}); start it again: what "
        "was recorded is kept, and runs continue"
    )


def _pages(home: Home, assembly: Path | None) -> Pages | None:
    if find_spec("jinja2") is None:
        click.echo(
            "pip install 'tidemark-glue[local]' gives the port a live page: jinja2 is not installed"
        )
        return None
    from tidemark.cli.live import live_pages

    return live_pages(home, assembly)


def _join(
    home: Home, port: ServedPort, options: Options, assembly: Path | None, lineage: str | None
) -> None:
    for option, is_given in (
        ("--on-event", options.on_event is not None),
        ("--max-parallel", options.max_parallel is not None),
        ("--forward", bool(options.forwards)),
        ("--task", bool(options.tasks)),
        ("--lineage", lineage is not None),
        ("--host", options.host not in LOOPBACK_NAMES),
        ("--any-user", options.any_user),
        ("--any-key", options.any_key),
    ):
        if is_given:
            raise UsageError(
                f"process {port.pid} serves {home.root}; give {option} to that one, or set "
                "TIDEMARK_HOME to another folder"
            )
    own_port = urlsplit(port.url).port
    if options.port not in (0, own_port):
        raise UsageError(
            f"process {port.pid} serves {home.root} on port {own_port}, so nothing else serves it "
            f"on port {options.port}: give --port {own_port}, or --port 0 for any; or stop that "
            "process first, or set TIDEMARK_HOME to another folder"
        )
    click.echo(f"process {port.pid} serves {home.root} already, and is used")
    if assembly is not None:
        click.echo(deploy(port, assembly))
    print_variables(home, port.url, port.region)


def warnings_of(options: Options) -> list[str]:
    """Return what to say of a port that others than programs of this user may reach."""
    key = "" if options.any_key else " who has the access key"
    warnings = []
    if options.host not in LOOPBACK_NAMES:
        warnings.append(
            f"warning: everybody{key} that reaches {options.host} can run code on this machine, "
            "and requests are not encrypted"
        )
    if options.any_user:
        warnings.append(f"warning: every user of this machine{key} can run code as you")
    if options.any_key:
        warnings.append(f"{any_key_warning()} (--any-key)")
    return warnings


def _report_start(home: Home, options: Options, url: str) -> None:
    for warning in warnings_of(options):
        click.echo(warning, err=True)
    if options.pages is not None and is_private(options):
        click.echo(
            f"{url}{options.pages.home} shows runs, logs and state in a browser, as they change"
        )
    click.echo(f"the Glue of {home.root} listens; Ctrl-C ends it. For its clients:")
    print_variables(home, url, region())


def print_variables(home: Home, url: str, region_of_port: str) -> None:
    """Print the lines that a shell needs for clients of AWS to find a port.

    The SDKs read AWS_REGION, and Python's and the AWS CLI read AWS_DEFAULT_REGION.
    """
    variables = {
        "AWS_ENDPOINT_URL": url,
        **access_key(home).variables,
        "AWS_REGION": region_of_port,
        "AWS_DEFAULT_REGION": region_of_port,
    }
    for name, value in variables.items():
        click.echo(f"export {name}={value}")


def _report_end(home: Home, run: JobRun) -> None:
    # The thread of the engine calls this: it must not wait.
    seconds = ((run.completed_at_ms or run.started_at_ms) - run.started_at_ms) / 1000
    why = f": {run.error_message}" if run.error_message else ""
    click.echo(hanging(f"{run.job_name} {run.run_id} {run.state} in {seconds:.1f} s{why}"))
    with Store(home.database) as store:
        for text in texts_of_run(store, run.run_id):
            click.echo(hanging(f"warning {run.job_name}: {text}"))
