"""The commands about state that a change of the app could lose: `state check|write|carry-over`."""

import sys
from pathlib import Path

import click

from tidemark.checks.state.project import review_project, review_since, write_manifest
from tidemark.cli.carry_over import carry_out_locally, carry_out_on_aws, steps_of_project
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal, print_json
from tidemark.cli.views.state import review_json, review_lines, since_lines
from tidemark.local_state.home import Home


def check(app: Path | None, context: tuple[str, ...], since: str | None, output: str) -> None:
    project, assembly = Path.cwd(), assembly_folder(Terminal(stderr=True), app, context)
    review = review_project(project, assembly)
    before = review_since(project, assembly, since) if since else None
    if output == "json":
        document = review_json(review) | ({"since": review_json(before)} if before else {})
        print_json(document)
    else:
        for line in review_lines(review):
            click.echo(line)
        if before and since and review.is_safe:
            for line in since_lines(before, since):
                click.echo(line)
    is_safe = review.is_safe and review.is_current and (before is None or before.is_safe)
    sys.exit(0 if is_safe else 1)


def write(app: Path | None, context: tuple[str, ...]) -> None:
    click.echo(write_manifest(Path.cwd(), assembly_folder(Terminal(stderr=True), app, context)))


def carry_over(dry_run: bool, deployed: bool, app: Path | None, context: tuple[str, ...]) -> None:
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
