"""The command `adopt`."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.errors import UsageError

if TYPE_CHECKING:
    from tidemark.adopt.model import Adoption, Found

NAME = re.compile(r"(?=.{1,64}\Z)[a-z][a-z0-9]*(-[a-z0-9]+)*")
WORKFLOW_HELP = "Adopt this workflow with all its jobs."
ACCOUNT_HELP = "Read the AWS account and region of your credentials."
TERRAFORM_HELP = "Read a Terraform state file, version 4, instead: terraform state pull > FILE."
PROFILE_HELP = "Profile of your AWS configuration; otherwise what the AWS CLI takes."
REGION_HELP = "AWS region; otherwise what the AWS CLI takes."
NAME_HELP = "Name of the new pipeline; otherwise made of that of the workflow or the first job."
OUT_HELP = "Folder of the project to write into; the current one by default."
ROLES_HELP = "Let jobs and crawlers keep their roles, which get a policy more each."
FORMAT_HELP = "Write the plan as Markdown, or as JSON."


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@click.option("--workflow", metavar="NAME", help=WORKFLOW_HELP)
@click.option("--from-account", is_flag=True, help=ACCOUNT_HELP)
@click.option("--profile", metavar="NAME", help=PROFILE_HELP)
@click.option("--region", metavar="REGION", help=REGION_HELP)
@click.option("--terraform", type=click.Path(path_type=Path), metavar="FILE", help=TERRAFORM_HELP)
@click.option("--name", metavar="NAME", help=NAME_HELP)
@click.option("--keep-roles", is_flag=True, help=ROLES_HELP)
@click.option("--out", type=click.Path(path_type=Path), default=".", metavar="DIR", help=OUT_HELP)
@click.option(
    "--format",
    "output",
    type=click.Choice(["markdown", "json"]),
    default="markdown",
    help=FORMAT_HELP,
)
def adopt(
    jobs: tuple[str, ...],
    workflow: str | None,
    from_account: bool,
    profile: str | None,
    region: str | None,
    terraform: Path | None,
    name: str | None,
    keep_roles: bool,
    out: Path,
    output: str,
) -> None:
    """Write existing Glue jobs as a pipeline, and a plan to move to it without losing state.

    Reads the JOBs, or all of a workflow, with their triggers; changes nothing of them. Writes
    infra/NAME_stack.py, the scripts into glue_jobs/, and NAME-migration.md: the steps, what is
    guessed, and what is different. Nothing is overwritten.
    """
    from tidemark.adopt.adoption import adopt as make_pipeline
    from tidemark.adopt.plan.output import jobs_in

    _check(jobs, workflow, from_account, terraform, profile, region, name)
    found = _found(jobs, workflow, terraform, profile, region, keep_roles)
    kept = jobs_in(out) if name else ()  # without a name the clash is refused
    adoption = make_pipeline(found, name, keep_roles=keep_roles, kept_jobs=kept)
    _write(adoption, found, out, output)


def _check(
    jobs: tuple[str, ...],
    workflow: str | None,
    from_account: bool,
    terraform: Path | None,
    profile: str | None,
    region: str | None,
    name: str | None,
) -> None:
    if bool(jobs) == bool(workflow):
        raise UsageError("say what to adopt: either names of jobs, or --workflow NAME")
    if from_account == (terraform is not None):
        raise UsageError("say where to read: either --from-account, or --terraform FILE")
    if terraform is not None and (profile or region):
        raise UsageError("a state file has no account: leave out --profile and --region")
    if len(set(jobs)) < len(jobs):
        raise UsageError(f"a job is named twice: {', '.join(jobs)}; name each once")
    if name is not None and not NAME.fullmatch(name):
        raise UsageError(
            f"--name {name!r} is not in kebab case; allowed: up to 64 lower case letters, digits "
            "and single hyphens, a letter first; write it like nightly-orders"
        )


def _found(
    jobs: tuple[str, ...],
    workflow: str | None,
    terraform: Path | None,
    profile: str | None,
    region: str | None,
    with_roles: bool,
) -> "Found":
    if terraform is not None:
        from tidemark.adopt.sources.state_file import read_state_file

        return read_state_file(terraform, jobs, workflow, with_roles=with_roles)
    import boto3
    from botocore.exceptions import BotoCoreError

    from tidemark.adopt.sources.account import read_account

    try:
        session = boto3.Session(profile_name=profile, region_name=region)
    except BotoCoreError as error:
        raise UsageError(f"{error}; correct --profile and --region") from error
    return read_account(session, jobs, workflow, with_roles=with_roles)


def _write(adoption: "Adoption", found: "Found", out: Path, output: str) -> None:
    from tidemark.adopt.plan.code import stack_of
    from tidemark.adopt.plan.migration import in_app, role_file, steps_of
    from tidemark.adopt.plan.output import formatted, write_new
    from tidemark.adopt.plan.report import as_json, as_markdown
    from tidemark.assembly.policies import policy_of

    stack = f"infra/{adoption.name.replace('-', '_')}_stack.py"
    plan = f"{adoption.name}-migration.{'md' if output == 'markdown' else 'json'}"
    steps = steps_of(adoption, found, stack)
    text = (
        as_markdown(adoption, found, steps)
        if output == "markdown"
        else json.dumps(as_json(adoption, found, steps), indent=2) + "\n"
    )
    files = {stack: formatted(out, stack, stack_of(adoption, plan, found.bucket_keys))}
    read = [job for job in adoption.jobs if job.old in found.scripts]
    files |= {job.script: found.scripts[job.old] for job in read}
    files |= {
        role_file(adoption, arn): json.dumps(policy_of(one.documents), indent=2) + "\n"
        for arn, one in adoption.policies.items()
    }
    write_new(out, files | {plan: text})
    for path in (*files, plan):
        click.echo(f"wrote {out / path}")
    for job in adoption.jobs:
        if job not in read:
            click.echo(f"not read: the script of {job.old}; step 1 of the plan fetches it")
    for left in adoption.left_out:
        click.echo(f"not adopted: {left.job}: {left.why}")
    click.echo(
        f"\n{len(adoption.jobs)} jobs, {len(adoption.guesses)} guesses, "
        f"{len(adoption.differences)} differences. Next: read {out / plan}, and in app.py:"
    )
    for line in in_app(adoption, stack):
        click.echo(f"  {line}")
