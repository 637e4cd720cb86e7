"""The names that other projects use: adding one here is a promise, and taking one away breaks it.

A name of AWS's awsglue is checked by tests/tidemark/model/awsglue_api.
"""

import json
from pathlib import Path

import click
import pytest

import tidemark.constructs
import tidemark.errors
import tidemark.testing
import watermarks
from tidemark.cli.main import main
from tidemark.testing import fixtures, function_fixtures

LIST = Path(__file__).parent / "data" / "public_names.json"


def commands_of(group: click.Group, name: str = "tidemark") -> dict[str, list[str]]:
    """Return the options and arguments of each command below a group, by its whole name."""
    found = {}
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        if isinstance(command, click.Group):
            found |= commands_of(command, f"{name} {word}")
        names = [option for it in command.params for option in it.opts]
        found[f"{name} {word}"] = sorted(names)
    return found


def public_names() -> dict[str, object]:
    kind = type(pytest.fixture(lambda: None))
    modules = (fixtures, function_fixtures)
    return {
        "watermarks": sorted(watermarks.__all__),
        "tidemark.constructs": sorted(tidemark.constructs.__all__),
        "tidemark.errors": sorted(name for name in vars(tidemark.errors) if name[0].isupper()),
        "tidemark.testing": sorted(tidemark.testing.__all__),
        "fixtures of pytest": sorted(
            name
            for module in modules
            for name, value in vars(module).items()
            if isinstance(value, kind)
        ),
        "commands": commands_of(main),
    }


def test_the_public_names_are_those_of_the_list():
    assert public_names() == json.loads(LIST.read_text(encoding="utf-8"))
