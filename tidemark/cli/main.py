"""The command `tidemark`; `--help` needs neither Spark nor the CDK."""

import errno
import json
import os
import platform
import signal
import sys
from pathlib import Path
from typing import NoReturn, TextIO

import click
from rich.console import Console

from tidemark.cli.adopt import adopt
from tidemark.cli.backfill import COMMANDS as RANGE_COMMANDS
from tidemark.cli.bookmark import FORMAT, bookmark, explain
from tidemark.cli.catalog import catalog
from tidemark.cli.compare_versions import compare_versions
from tidemark.cli.event import event
from tidemark.cli.grants import grants
from tidemark.cli.lineage import lineage
from tidemark.cli.local import local
from tidemark.cli.prove import prove
from tidemark.cli.report import report
from tidemark.cli.rewind import rewind
from tidemark.cli.run import run
from tidemark.cli.runs import COMMANDS
from tidemark.cli.scaffold import init, new_job
from tidemark.cli.snapshot import snapshot
from tidemark.cli.state import state
from tidemark.cli.status import status
from tidemark.cli.submit import submit
from tidemark.cli.synth import APP_HELP, CONTEXT_HELP, assembly_folder
from tidemark.cli.watermark import watermark
from tidemark.errors import InputError, NotProvedError, TidemarkError, UsageError
from tidemark.extras import not_installed
from tidemark.local_state.home import DEFAULT_HOME
from tidemark.local_state.machine.disk import full_disk_line, has_room, is_full

FAILURE, USAGE, NOTHING_TRIED = 1, 2, 3
RUNNERS = ("run", "submit")
PIPE_WIDTH = 180  # a table outside a terminal is not folded
BOOKMARK_HELP = "The job-bookmark-option of the job that runs the scripts; enable if not given."


_nowhere: list[TextIO] = []  # in place of closed streams, until the process ends


class TidemarkGroup(click.Group):
    """A command group that turns our errors into one line and an exit code."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; exit 2 on wrong usage, 1 or 3 on failure, 130 when interrupted."""
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by the caller, as with `>&-`
                _nowhere.append(Path(os.devnull).open("w"))  # noqa: SIM115 (for good)
                setattr(sys, name, _nowhere[-1])
        try:
            return super().invoke(ctx)
        except (ModuleNotFoundError, OSError, TidemarkError, KeyboardInterrupt) as error:
            told = told_of(error, ctx.invoked_subcommand)
            if told is None:
                raise
            click.echo(told[0], err=True)
            _leave_unwritten()
            sys.exit(told[1])


def _leave_unwritten() -> None:
    """Leave output that a full disk refuses: Python would try again at its end, and exit 120."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def told_of(error: BaseException, command: str | None) -> tuple[str, int] | None:
    """Return the line and the exit code for an error of a command; None if it is not ours."""
    match error:
        case ModuleNotFoundError():
            missing = not_installed(error.name or "")
            return (f"error: {missing}", USAGE) if missing else None
        case UsageError() | InputError():
            return f"error: {error}", USAGE
        case NotProvedError():
            return f"error: {error}", NOTHING_TRIED
        case TidemarkError():
            return f"error: {error}", FAILURE
        case OSError(errno=errno.EPIPE):  # the reader of our output has left: click ends quietly
            return None
        case OSError():
            return f"error: {os_error_message(error)}", FAILURE
    continuation = f"; `tidemark {command}` continues from what was committed"
    return f"stopped{continuation if command in RUNNERS else ''}", 128 + signal.SIGINT


def os_error_message(error: OSError) -> str:
    """Return one line about a file that cannot be read or written, or a disk that is full."""
    home = os.environ.get("TIDEMARK_HOME") or DEFAULT_HOME
    named = [name for name in (error.filename2, error.filename) if isinstance(name, str)]
    folders = [Path(name).absolute().parent for name in named] + [Path(home).absolute()]
    if is_full(error):
        full = [folder for folder in folders if not has_room(folder)]
        if not full and not named:  # every disk of ours has room: it is what stdout leads to
            return "cannot write the output: its disk is full; make room, then run again"
        folder = full[0] if full else folders[0]
        return f"{full_disk_line(folder)}; make room, then run again"
    where = f" {named[-1]}" if named else ""
    return f"cannot use{where}: {error.strerror or error}; make it readable and writable"


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    """Print what runs here: this version, and the Python, the Spark and the Java of jobs."""
    if not is_asked or context.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    from tidemark.local_state.machine.java import find_java

    click.echo(f"tidemark {version('tidemark-glue')}, Python {platform.python_version()}")
    try:
        click.echo(f"Spark {version('pyspark')}")
    except PackageNotFoundError:
        click.echo("no Spark: pip install 'tidemark-glue[local]'")
    try:
        click.echo(str(find_java()))
    except UsageError as error:
        click.echo(f"no Java: {error}")
    context.exit()


@click.group(cls=TidemarkGroup)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version, and the Python, Spark and Java of jobs, and exit.",
)
def main() -> None:
    """Run incremental AWS Glue pipelines on this machine, and inspect their state.

    State, data and logs live in .tidemark, or where TIDEMARK_HOME says.
    """
    # A shell starts a command behind `&` with SIGINT ignored, and some service managers both.
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, _interrupt)


main.add_command(adopt)
main.add_command(bookmark)
main.add_command(catalog)
main.add_command(compare_versions)
main.add_command(event)
main.add_command(explain)
main.add_command(grants)
main.add_command(init)
main.add_command(lineage)
main.add_command(local)
main.add_command(prove)
main.add_command(report)
main.add_command(run)
main.add_command(snapshot)
main.add_command(state)
main.add_command(status)
main.add_command(submit)
main.add_command(watermark)
main.add_command(new_job)
main.add_command(rewind)
for command in (*COMMANDS, *RANGE_COMMANDS):
    main.add_command(command)


def _interrupt(signal_number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


@main.command()
@click.argument("scripts", nargs=-1, type=click.Path(path_type=Path), metavar="[SCRIPT.py]...")
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

    Without SCRIPT.py every job of the app is linted, with the arguments that its template passes.
    """
    from tidemark.cli.views.lint import count, lint_app, lint_json, lint_lines, lint_scripts

    if scripts:
        if app is not None or context:
            raise UsageError("scripts are linted without an app: leave out --app and --context")
        linted, refused = lint_scripts(scripts, bookmark)
    elif bookmark is not None:
        raise UsageError("the template defines which jobs have bookmarks: leave out --bookmark")
    else:
        linted, refused = lint_app(assembly_folder(Console(stderr=True), app, context)), []
    if output == "json":
        click.echo(json.dumps(lint_json(linted), indent=2))
    else:
        for line in lint_lines(linted):
            Console().print(line, highlight=False, soft_wrap=True)
    for error in refused:
        click.echo(f"error: {error}", err=True)
    is_failure = count(linted, "error") or (strict and count(linted, "warning"))
    sys.exit(USAGE if refused else FAILURE if is_failure else 0)
