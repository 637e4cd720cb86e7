"""The Glue of this machine for one command: the one that serves the home, or a temporary one."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

import click

from tidemark.glue_service.commands import region
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.http.short_ports import serving_read_only
from tidemark.glue_service.runs.jvms.supply import jvms_of
from tidemark.glue_service.served import deploy, find_port
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun
from tidemark.operate.clients import Glue, of_port

LOOK_S = 0.5  # the engine is asked all the same: it may have died

Deploy = Callable[[Path], object]
Observe = Callable[[JobRun | None], None]


@contextmanager
def glue_here(
    before_runs: Callable[[Home, Deploy | None], None] | None = None,
    observe: Observe = lambda _: None,
    tasks: Mapping[str, str] | None = None,
) -> Iterator[Glue]:
    """Yield the Glue of the home; a temporary one waits at the end for what runs in it.

    ``tasks`` are functions in the place of tasks of state machines, for a temporary one.

    ``observe`` gets, while it waits, each run there that has started or ended, and now and then
    None.
    """
    home = Home.from_environment()
    served = find_port(home)
    with ExitStack() as stack:
        engine = None
        changes: SimpleQueue[JobRun] = SimpleQueue()
        if served is not None:
            url = served.url
            if before_runs is not None:
                before_runs(home, None if served.is_of_command else partial(deploy, served))
        elif before_runs is not None:
            jvms = stack.enter_context(jvms_of(home, say=partial(click.echo, err=True)))
            options = Options(
                jvms=jvms,
                is_of_command=True,
                observe=changes.put,
                on_start=changes.put,
                tasks=tasks or {},
            )
            url, engine = stack.enter_context(serving(home, options))
            before_runs(home, lambda folder: engine.ask(lambda glue: deploy_on_port(glue, folder)))
        else:
            # What starts nothing needs no engine, and leaves the lock of the home to others.
            url = stack.enter_context(serving_read_only(home))
        key = access_key(home).arguments
        yield stack.enter_context(of_port(url, str(home.shown), region(), key))
        if engine is not None:
            wait_for_runs(engine, changes, observe)


class Owner(NamedTuple):
    """A command that holds a home without a port: what has started since then is its own."""

    pid: int
    since_ms: int


def owner_of_runs() -> Owner | None:
    """Return the command that holds the home and has no port, if any, such as `tidemark submit`."""
    home = Home.from_environment()
    pid = home.holder() if find_port(home) is None else None
    return None if pid is None else Owner(pid, home.held_since_ms())


def wait_for_runs(engine: Engine, changes: SimpleQueue[JobRun], observe: Observe) -> None:
    """Wait until no run is in progress: those of a fired trigger, and all downstream of them."""
    while engine.ask(lambda glue: glue.runner.has_runs or glue.runner.is_due):
        try:
            observe(changes.get(timeout=LOOK_S))
        except Empty:
            observe(None)
    while not changes.empty():
        observe(changes.get())
