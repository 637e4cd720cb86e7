"""The Glue of this machine for one command: the one that serves the home, or one of its own."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from tidemark.local_glue.commands import region
from tidemark.local_glue.home import Home
from tidemark.local_glue.port.engine import Engine
from tidemark.local_glue.port.http.resting import resting
from tidemark.local_glue.port.http.serving import Options, serving
from tidemark.local_glue.port.served import find_port
from tidemark.local_glue.runs.jvms.supply import jvms_of
from tidemark.operate.clients import Glue, of_port

POLL_S = 0.05


@contextmanager
def glue_here(*, starts_runs: bool) -> Iterator[Glue]:
    """Yield the Glue of the home.

    Args:
        starts_runs: whether runs are started. Where no command serves the home, this one does
            then, and waits for all runs; otherwise it only looks at what is recorded.

    Raises:
        UsageError: another command holds the home and serves no port, and runs are to be started.
    """
    home = Home.from_environment()
    served = find_port(home)
    with ExitStack() as stack:
        engine = None
        if served is not None:
            url = served.url
        elif starts_runs:
            jvms = stack.enter_context(jvms_of(home, say=_say))
            options = Options(jvms=jvms, is_of_command=True)
            url, engine = stack.enter_context(serving(home, options))
        else:
            url = stack.enter_context(resting(home))
        yield stack.enter_context(of_port(url, str(home.root), region()))
        if engine is not None:
            wait_for_runs(engine)


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)


def wait_for_runs(engine: Engine) -> None:
    """Wait until no run goes on: what a trigger has fired, and all that follows from it."""
    while engine.ask(lambda glue: glue.runner.has_runs):
        time.sleep(POLL_S)
