"""The command `lint`: what loses bookmarks or fails runs, found without running a script."""

import json
import sys
from pathlib import Path

import click

from tidemark.cli.bookmark import FORMAT
from tidemark.cli.error_lines import FAILURE, USAGE
from tidemark.cli.synth import APP_HELP, CONTEXT_HELP, assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.errors import UsageError

BOOKMARK_HELP = "The job-bookmark-option of the job that runs the scripts; enable if not given."


@click.command()
@click.argument(
    "scripts", nargs=-1, type=click.Path(path_type=Path), metavar="[SCRIPT.py|FOLDER]..."
)
@click.option("--bookmark", type=click.Choice(["enable", "disable", "pause"]), help=BOOKMARK_HELP)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option("--format", "output", type=FORMAT, default="table", help="Print lines, or JSON.")
@click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
def lint(
    scripts: tuple[Path, ...],
    bookmark: str | None,
    strict: bool,
    output: str,
    app: Path | None,
    context: tuple[str, ...],
) -> None:
    """Find what loses bookmarks or fails runs in Glue job scripts, without running them.

    Without a script or a folder every job of the app is linted, with the arguments that its
    template passes.
    """
    from tidemark.cli.views.lint import count, lint_app, lint_json, lint_lines, lint_scripts

    if scripts:
        if app is not None or context:
            raise UsageError("scripts are linted without an app: leave out --app and --context")
        linted, refused = lint_scripts(scripts, bookmark)
    elif bookmark is not None:
        raise UsageError("the template defines which jobs have bookmarks: leave out --bookmark")
    else:
        linted, refused = lint_app(assembly_folder(Terminal(stderr=True), app, context)), []
    if output == "json":
        click.echo(json.dumps(lint_json(linted), indent=2))
    elif linted or not refused:
        for line in lint_lines(linted):
            Terminal().print(line, highlight=False, soft_wrap=True)
    for error in refused:
        click.echo(f"error: {error}", err=True)
    is_failure = count(linted, "error") or (strict and count(linted, "warning"))
    sys.exit(USAGE if refused else FAILURE if is_failure else 0)
