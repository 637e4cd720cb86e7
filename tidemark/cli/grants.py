"""The command `grants`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal, print_json
from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import read_assembly
from tidemark.model.assembly.grants import TRUST, grants_of, policy
from tidemark.model.assembly.policies import missing, statements_of


def grants(
    jobs: tuple[str, ...],
    trust: bool,
    given: tuple[Path, ...],
    app: Path | None,
    context: tuple[str, ...],
) -> None:
    if trust and given:
        raise UsageError("--trust prints whom to trust, and --given what is missing; leave out one")
    has = [statement for file in given for statement in _statements(file)]
    console = Terminal(stderr=True)
    assembly = read_assembly(assembly_folder(console, app, context))
    templates = {stack.name: stack.template for stack in assembly.stacks}
    environments = {stack.name: stack.environment for stack in assembly.stacks}
    grants_by_job = {job: grants_of(templates, job, environments) for job in dict.fromkeys(jobs)}
    for job, grant in grants_by_job.items():
        state = "not given by the app" if grant.is_missing else "given by the app"
        console.print(f"{job} runs with {grant.role}: {state}")
    statements = []
    for grant in grants_by_job.values():
        statements += [statement for statement in grant.statements if statement not in statements]
    if given:
        statements = missing(statements, has)
        if not statements:
            console.print("nothing is missing")
    unknown = sorted({name for grant in grants_by_job.values() for name in grant.unknown})
    if unknown and not trust:
        named = ", ".join(f"${{{name}}}" for name in unknown)
        console.print(f"known after the deployment: {named}")
    print_json(TRUST if trust else policy(tuple(statements)))


def _statements(file: Path) -> list[Mapping[str, Any]]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} is not a policy: {error}; write JSON with a Statement") from error
    if isinstance(document, dict) and isinstance(document.get("PolicyDocument"), dict):
        document = document["PolicyDocument"]  # as `aws iam get-role-policy` prints it
    statements = statements_of(document) if isinstance(document, dict) else []
    if not statements or not all(isinstance(statement, dict) for statement in statements):
        raise UsageError(f"{file} is not a policy: it has no Statement; write one as IAM has it")
    return statements
