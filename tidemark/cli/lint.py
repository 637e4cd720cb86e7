"""The command `lint`: what loses bookmarks or fails runs, found without running a script."""

import sys
from pathlib import Path

import click

from tidemark.cli.error_lines import FAILURE, USAGE
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal, print_json
from tidemark.cli.views.lint import count, lint_app, lint_json, lint_lines, lint_scripts
from tidemark.errors import UsageError


def lint(
    scripts: tuple[Path, ...],
    bookmark: str | None,
    strict: bool,
    output: str,
    app: Path | None,
    context: tuple[str, ...],
) -> None:
    if scripts:
        if app is not None or context:
            raise UsageError("scripts are linted without an app: leave out --app and --context")
        linted, refused = lint_scripts(scripts, bookmark)
    elif bookmark is not None:
        raise UsageError("the template defines which jobs have bookmarks: leave out --bookmark")
    else:
        linted, refused = lint_app(assembly_folder(Terminal(stderr=True), app, context)), []
    if output == "json":
        print_json(lint_json(linted))
    elif linted or not refused:
        for line in lint_lines(linted):
            Terminal().print(line)
    for error in refused:
        click.echo(f"error: {error}", err=True)
    is_failure = count(linted, "error") or (strict and count(linted, "warning"))
    sys.exit(USAGE if refused else FAILURE if is_failure else 0)
