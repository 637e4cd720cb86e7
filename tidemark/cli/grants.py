"""The command `grants`."""

import json
from pathlib import Path

import click
from rich.console import Console

from tidemark.cli.synth import APP_HELP, CONTEXT_HELP, assembly_folder

TRUST_HELP = "Print whom the role must trust instead."


@click.command()
@click.argument("jobs", metavar="NAME...", nargs=-1, required=True)
@click.option("--trust", is_flag=True, help=TRUST_HELP)
@click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
def grants(jobs: tuple[str, ...], trust: bool, app: Path | None, context: tuple[str, ...]) -> None:
    """Print the IAM policy that the roles of jobs and crawlers need, for whoever makes roles.

    It is what the jobs declare, and no more. What only a deployment knows stands in ${}.
    """
    from tidemark.assembly.cloud_assembly import read_assembly
    from tidemark.assembly.grants import TRUST, grants_of, policy

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    assembly = read_assembly(assembly_folder(console, app, context))
    templates = {stack.name: stack.template for stack in assembly.stacks}
    environments = {stack.name: stack.environment for stack in assembly.stacks}
    found = {job: grants_of(templates, job, environments) for job in dict.fromkeys(jobs)}
    for job, its in found.items():
        state = "not given by the app" if its.is_missing else "given by the app"
        console.print(f"{job} runs with {its.role}: {state}", markup=False)
    statements = []
    for its in found.values():
        statements += [one for one in its.statements if one not in statements]
    unknown = sorted({name for its in found.values() for name in its.unknown})
    if unknown and not trust:
        named = ", ".join(f"${{{name}}}" for name in unknown)
        console.print(f"known after the deployment: {named}", markup=False)
    click.echo(json.dumps(TRUST if trust else policy(tuple(statements)), indent=2))
