"""The command `completion`: what a shell runs to complete commands and names."""

import click
from click.shell_completion import get_completion_class

PROGRAM = "tidemark"
VARIABLE = "_TIDEMARK_COMPLETE"


def completion(context: click.Context, shell: str) -> None:
    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 (click has each of the choices)
    command = context.find_root().command
    click.echo(made(command, {}, PROGRAM, VARIABLE).source())
