"""The options that say where the executors of the job runs of one command are."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from tidemark.glue_job.cluster.asked import EXECUTORS_VARIABLE, MASTER_VARIABLE, asked_for

EXECUTORS_HELP = (
    "Run each job on so many processes of this machine, as on a cluster. Without, the process of "
    "the driver does all."
)
MASTER_HELP = "Run each job on a cluster that exists, such as spark://host:7077."
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def executors_options(function: Decorated) -> Decorated:
    """Add the options --executors and --master, whose values `asking` takes."""
    executors = click.option("--executors", metavar="N", help=EXECUTORS_HELP)
    return executors(click.option("--master", metavar="URL", help=MASTER_HELP)(function))


@contextmanager
def asking(executors: str | None, master: str | None) -> Iterator[None]:
    """Let the runs of the body have what the options say, by the variables of this process."""
    given = {EXECUTORS_VARIABLE: executors, MASTER_VARIABLE: master}
    wanted = {name: value for name, value in given.items() if value is not None}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        asked_for(os.environ)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
