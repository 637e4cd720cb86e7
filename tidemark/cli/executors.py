"""The options that say where the executors of the job runs of one command are."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from tidemark.glue_job.cluster.asked import EXECUTORS_VARIABLE, MASTER_VARIABLE

EXECUTORS_HELP = (
    "Run each job on so many processes of this machine, as on a cluster. Without, the process of "
    "the driver does all."
)
MASTER_HELP = "Run each job on a cluster that exists, such as spark://host:7077."
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def executors_options(function: Decorated) -> Decorated:
    """Add the options, which set the variables of the command as long as it works."""
    executors = click.option(
        "--executors",
        metavar="N",
        callback=_set(EXECUTORS_VARIABLE),
        expose_value=False,
        help=EXECUTORS_HELP,
    )
    master = click.option(
        "--master",
        metavar="URL",
        callback=_set(MASTER_VARIABLE),
        expose_value=False,
        help=MASTER_HELP,
    )
    return executors(master(function))


def _set(variable: str) -> Callable[[click.Context, click.Parameter, str | None], None]:
    def put(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
        if value is None:
            return
        before = os.environ.get(variable)
        os.environ[variable] = value
        ctx.call_on_close(lambda: _restore(variable, before))

    return put


def _restore(variable: str, before: str | None) -> None:
    if before is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = before
