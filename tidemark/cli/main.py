"""The command `tidemark`; `--help` needs neither Spark nor the CDK."""

import platform
import signal
from typing import NoReturn

import click

from tidemark.cli.group import Commands
from tidemark.errors import UsageError

SECTIONS = {  # by the last word of a heading: the module of `commands` that declares them
    "Begin": "init new-job adopt",
    "Run": "submit run trigger resume stop event notebook",
    "Look": "status runs logs explain schema report lineage",
    "Repair": "bookmark watermark rewind backfill gaps",
    "Prove": "lint prove diff compare-versions snapshot state grants",
    "Deploy": "deploy destroy",
    "This machine": "doctor serve env home bucket table secret catalog engine mcp completion",
}
OLD = {"local": "tidemark.cli.commands.machine"}  # groups that are no more, by their modules


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


@click.group(cls=Commands, sections=SECTIONS, old=OLD)
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
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup sets it
        signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(signal_number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
