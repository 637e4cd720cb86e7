"""The commands about state that a change of the app could lose: `state check|write|carry-over`."""

import json
import sys
from pathlib import Path

import click

from tidemark.cli.bookmark import FORMAT
from tidemark.cli.group import Verbs
from tidemark.cli.synth import APP_HELP, CONTEXT_HELP, assembly_folder
from tidemark.cli.terminal import Terminal

DEPLOYED_HELP = "Rename in the AWS account and region of your credentials instead of locally."
SINCE_HELP = "Also compare with the manifest of this commit or branch, as CI does with a request."
APP = click.option(
    "--app", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help=APP_HELP
)
CONTEXT = click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)


@click.group(cls=Verbs)
def state() -> None:
    """Guard bookmarks and watermarks against changes of the app that would lose them."""


@state.command()
@APP
@CONTEXT
@click.option("--since", metavar="REVISION", help=SINCE_HELP)
@click.option("--format", "output", type=FORMAT, default="table", help="Print lines, or JSON.")
def check(app: Path | None, context: tuple[str, ...], since: str | None, output: str) -> None:
    """Tell what the app would lose of what state-manifest.json records; exit 1 if anything."""
    from tidemark.checks.state.project import review_project, review_since
    from tidemark.cli.views.state import review_json, review_lines, since_lines

    project, assembly = Path.cwd(), assembly_folder(Terminal(stderr=True), app, context)
    found = review_project(project, assembly)
    before = review_since(project, assembly, since) if since else None
    if output == "json":
        document = review_json(found) | ({"since": review_json(before)} if before else {})
        click.echo(json.dumps(document, indent=2))
    else:
        for line in review_lines(found):
            click.echo(line)
        if before and since and found.is_safe:
            for line in since_lines(before, since):
                click.echo(line)
    is_safe = found.is_safe and found.is_current and (before is None or before.is_safe)
    sys.exit(0 if is_safe else 1)


@state.command()
@APP
@CONTEXT
def write(app: Path | None, context: tuple[str, ...]) -> None:
    """Record in state-manifest.json what the app keeps; refuse to drop what no one gave up."""
    from tidemark.checks.state.project import write_manifest

    click.echo(write_manifest(Path.cwd(), assembly_folder(Terminal(stderr=True), app, context)))


@state.command(name="carry-over")
@click.option("--dry-run", is_flag=True, help="Print the steps, and do nothing.")
@click.option("--deployed", is_flag=True, help=DEPLOYED_HELP)
@APP
@CONTEXT
def carry_over(dry_run: bool, deployed: bool, app: Path | None, context: tuple[str, ...]) -> None:
    """Carry out state-carry-over.json; doing it again changes nothing."""
    from tidemark.cli.carry_over import carry_out_locally, carry_out_on_aws, steps_of_project
    from tidemark.local_state.home import Home

    assembly = assembly_folder(Terminal(stderr=True), app, context)
    steps = steps_of_project(Path.cwd(), assembly, on_aws=deployed)
    if not steps:
        click.echo("nothing to do: there is no entry in state-carry-over.json")
    if dry_run:
        for step in steps:
            click.echo(f"{step.action.value}: {step.text}")
        return
    if deployed:
        outcomes = carry_out_on_aws(steps)
    else:
        outcomes = carry_out_locally(steps, Home.from_environment())
    for step, outcome in outcomes:
        click.echo(f"{step.action.value}: {step.text}" + (f": {outcome}" if outcome else ""))
