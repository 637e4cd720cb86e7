"""What is declared of a command, and its act, which is imported when it is called."""

import importlib
import inspect
import subprocess
import sys

import click
import pytest

from tidemark.cli.group import explain_options
from tidemark.cli.main import main

WHERE = {"deployed", "app", "context", "as_deployed"}


def commands(group, context):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield command
        if isinstance(command, click.Group):
            yield from commands(command, context)


ACTS = [
    (vars(command.callback)["act"], command)
    for command in commands(main, click.Context(main))
    if "act" in vars(command.callback)
]


@pytest.mark.parametrize(("act", "command"), ACTS, ids=[act for act, _ in ACTS])
def test_an_act_takes_what_its_command_declares(act, command):
    module, name = act.split(".")
    signature = inspect.signature(getattr(importlib.import_module(f"tidemark.cli.{module}"), name))
    names = {
        param.name
        for param in command.params
        if param.expose_value and not param.name.startswith("old_")
    }
    if "where" in signature.parameters:
        names = (names - WHERE) | {"where"}

    assert signature.bind(**dict.fromkeys(names))


def test_help_imports_no_act():
    program = (
        "import sys; from tidemark.cli.main import main; main(['--help'], standalone_mode=False);"
        "print([m for m in sys.modules if m.startswith(('tidemark.operate', 'tidemark.report'))])"
    )

    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert shown.stdout.splitlines()[-1] == "[]", shown.stderr


def test_the_docstring_of_a_command_explains_its_options_and_no_other():
    shown = [command for command in commands(main, click.Context(main)) if not command.hidden]
    options = [
        (command.name, option)
        for command in shown
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    ]

    assert [(name, option.opts) for name, option in options if not option.help] == []
    assert [command.name for command in shown if "Args:" in (command.help or "")] == []


def test_a_docstring_that_explains_no_option_of_its_command_is_refused():
    command = click.Command("one", help="Do it.\n\nArgs:\n    other: Another option.\n")

    with pytest.raises(LookupError, match="one has no option other"):
        explain_options(command)
