"""The command `tidemark`; `--help` needs neither Spark nor the CDK."""

import platform
import signal
from typing import NoReturn

import click

from tidemark.cli.group import Commands
from tidemark.errors import UsageError

CLI = "tidemark.cli"
SECTIONS = {
    "Begin": {
        "init": f"{CLI}.scaffold:init",
        "new-job": f"{CLI}.scaffold:new_job",
        "adopt": f"{CLI}.adopt:adopt",
    },
    "Run": {
        "submit": f"{CLI}.submit:submit",
        "run": f"{CLI}.run:run",
        "trigger": f"{CLI}.runs:trigger",
        "resume": f"{CLI}.runs:resume",
        "stop": f"{CLI}.runs:stop",
        "event": f"{CLI}.event:event",
    },
    "Look": {
        "status": f"{CLI}.status:status",
        "runs": f"{CLI}.runs:runs",
        "logs": f"{CLI}.runs:logs",
        "explain": f"{CLI}.bookmark:explain",
        "report": f"{CLI}.report:report",
        "lineage": f"{CLI}.lineage:lineage",
    },
    "Repair": {
        "bookmark": f"{CLI}.bookmark:bookmark",
        "watermark": f"{CLI}.watermark:watermark",
        "rewind": f"{CLI}.rewind:rewind",
        "backfill": f"{CLI}.backfill:backfill",
        "gaps": f"{CLI}.backfill:gaps",
    },
    "Prove": {
        "lint": f"{CLI}.lint:lint",
        "prove": f"{CLI}.prove:prove",
        "compare-versions": f"{CLI}.compare_versions:compare_versions",
        "snapshot": f"{CLI}.snapshot:snapshot",
        "state": f"{CLI}.state:state",
        "grants": f"{CLI}.grants:grants",
    },
    "This machine": {
        "doctor": f"{CLI}.doctor:doctor",
        "local": f"{CLI}.local:local",
        "catalog": f"{CLI}.catalog:catalog",
        "completion": f"{CLI}.completion:completion",
    },
}


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


@click.group(cls=Commands, sections=SECTIONS)
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
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup sets it
        signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(signal_number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
