"""`tidemark doctor`: what is missing on this machine, and which command cures it."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.text import Text

from tidemark.cli.bookmark import FORMAT, JSON_HELP, console_for_tables

FAILURE = 1
MARKS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "missing": ("✗", "bold red")}


@click.command()
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
def doctor(output: str) -> None:
    """Say what is missing on this machine, and which command cures it.

    It looks at Python, Spark, the libraries that AWS has in the version of Glue, Java, the DynamoDB
    engine, Node, the CDK, what draws reports, the state folder and its disk, memory, and whether
    editors find awsglue. The exit code is 1 if something is missing that runs on this machine need,
    or the app in this folder. Nothing is changed.
    """
    from tidemark.cli.checkup import findings, is_healthy

    found = list(findings(Path.cwd()))
    if output == "json":
        click.echo(json.dumps([asdict(one) for one in found], indent=2))
    else:
        console = console_for_tables()
        for one in found:
            line = Text.assemble(MARKS[one.state], f" {one.name}: {one.found}")
            console.print(line, soft_wrap=True)
            if one.cure:
                console.print(Text(f"    {one.cure}"), soft_wrap=True)
    if not is_healthy(found):
        sys.exit(FAILURE)
