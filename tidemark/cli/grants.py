"""The command `grants`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tidemark.cli.synth import APP_HELP, CONTEXT_HELP, assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.errors import UsageError

GIVEN_HELP = "A policy that the roles already have, as JSON: print only what is missing."
TRUST_HELP = "Print whom the role must trust instead."


@click.command()
@click.argument("jobs", metavar="NAME...", nargs=-1, required=True)
@click.option("--trust", is_flag=True, help=TRUST_HELP)
@click.option(
    "--given", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help=GIVEN_HELP
)
@click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
def grants(
    jobs: tuple[str, ...],
    trust: bool,
    given: tuple[Path, ...],
    app: Path | None,
    context: tuple[str, ...],
) -> None:
    """Print the IAM policy that the roles of jobs and crawlers need, for whoever makes roles.

    It is what the jobs declare, and no more. What only a deployment knows stands in ${}. With
    --given it is what these policies do not allow of that; what is not sure counts as missing.
    """
    from tidemark.model.assembly.cloud_assembly import read_assembly
    from tidemark.model.assembly.grants import TRUST, grants_of, policy
    from tidemark.model.assembly.policies import missing

    if trust and given:
        raise UsageError("--trust prints whom to trust, and --given what is missing; leave out one")
    has = [statement for file in given for statement in _statements(file)]
    console = Terminal(stderr=True, soft_wrap=True, highlight=False)
    assembly = read_assembly(assembly_folder(console, app, context))
    templates = {stack.name: stack.template for stack in assembly.stacks}
    environments = {stack.name: stack.environment for stack in assembly.stacks}
    found = {job: grants_of(templates, job, environments) for job in dict.fromkeys(jobs)}
    for job, its in found.items():
        state = "not given by the app" if its.is_missing else "given by the app"
        console.print(f"{job} runs with {its.role}: {state}")
    statements = []
    for its in found.values():
        statements += [one for one in its.statements if one not in statements]
    if given:
        statements = missing(statements, has)
        if not statements:
            console.print("nothing is missing")
    unknown = sorted({name for its in found.values() for name in its.unknown})
    if unknown and not trust:
        named = ", ".join(f"${{{name}}}" for name in unknown)
        console.print(f"known after the deployment: {named}")
    click.echo(json.dumps(TRUST if trust else policy(tuple(statements)), indent=2))


def _statements(file: Path) -> list[Mapping[str, Any]]:
    """Return the statements of a policy in a file."""
    from tidemark.model.assembly.policies import statements_of

    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} is not a policy: {error}; write JSON with a Statement") from error
    if isinstance(document, dict) and isinstance(document.get("PolicyDocument"), dict):
        document = document["PolicyDocument"]  # as `aws iam get-role-policy` prints it
    found = statements_of(document) if isinstance(document, dict) else []
    if not found or not all(isinstance(one, dict) for one in found):
        raise UsageError(f"{file} is not a policy: it has no Statement; write one as IAM has it")
    return found
