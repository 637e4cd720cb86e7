"""Every command that a message or a docstring of the product names can be given as it stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tidemark.cli.main import main

PACKAGE = Path(__file__).parents[3] / "tidemark"
NAMED = re.compile(r"`(tidemark [^`]+)`")
FILES = sorted(PACKAGE.rglob("*.py"))


def texts(file: Path) -> Iterator[str]:
    """Yield the strings of a file that names commands, with X for what is filled in."""
    source = file.read_text(encoding="utf-8")
    if "`tidemark" not in source:
        return
    tree = ast.parse(source)
    inner = {
        id(part) for it in ast.walk(tree) if isinstance(it, ast.JoinedStr) for part in it.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
            )
        elif isinstance(node, ast.Constant) and id(node) not in inner:
            yield str(node.value)


def fault_of(text: str) -> str:
    """Return what of a command line the command line does not know; empty if it knows all."""
    command: click.Command = main
    words = text.split()[1:]
    context = click.Context(main)
    while (
        words
        and isinstance(command, click.Group)
        and (below := command.get_command(context, words[0]))
    ):
        command, words = below, words[1:]
    is_name = words and re.fullmatch(r"[a-z-]+", words[0])
    if isinstance(command, click.Group) and is_name and not command.invoke_without_command:
        return f"{words[0]} is not a command of {command.name}"
    if command.name == "submit":  # the arguments of Glue
        return ""
    known = {name for it in command.params for name in (*it.opts, *it.secondary_opts)} | {"--help"}
    given = (
        word.rstrip(".,;:…'").partition("=")[0] for word in words if re.match(r"--?[a-z]", word)
    )
    return next((f"{command.name} has no {name}" for name in given if name not in known), "")


def test_a_wrong_command_would_be_found() -> None:
    assert fault_of("tidemark bookmark show X --nothing") != ""
    assert fault_of("tidemark local nothing") != ""
    assert fault_of("tidemark resume --from X") == ""


@pytest.mark.parametrize("folder", sorted({file.relative_to(PACKAGE).parts[0] for file in FILES}))
def test_every_command_that_is_named_exists_with_its_options(folder: str) -> None:
    files = [file for file in FILES if file.relative_to(PACKAGE).parts[0] == folder]
    named = {
        (file.name, " ".join(found.split()))
        for file in files
        for text in texts(file)
        for found in NAMED.findall(text)
    }

    assert [(*it, fault) for it in sorted(named) if (fault := fault_of(it[1]))] == []
