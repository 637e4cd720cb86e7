"""The command `completion`: what a shell runs to complete commands and names."""

import click
from click.shell_completion import get_completion_class

PROGRAM = "tidemark"
VARIABLE = "_TIDEMARK_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what lets SHELL complete commands, options, jobs, runs, workflows and stages.

    In bash, put `eval "$(tidemark completion bash)"` into ~/.bashrc; in zsh, the same with zsh into
    ~/.zshrc; for fish, save the output as ~/.config/fish/completions/tidemark.fish.
    """
    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 (click has each of the choices)
    command = context.find_root().command
    click.echo(made(command, {}, PROGRAM, VARIABLE).source())
