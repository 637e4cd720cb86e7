"""The command `adopt`."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.errors import UsageError
from tidemark.model.messages import plural

if TYPE_CHECKING:
    from tidemark.adopt.model import Adoption, Found

NAME = re.compile(r"(?=.{1,64}\Z)[a-z][a-z0-9]*(-[a-z0-9]+)*")
WORKFLOW_HELP = "Adopt this workflow with all its jobs."
ACCOUNT_HELP = "Read the AWS account and region of your credentials."
TEMPLATE_HELP = (
    "Read a CloudFormation template instead, JSON or YAML, or the folder cdk.out of a CDK app."
)
PARAMETER_HELP = (
    "A parameter of the template, AWS::Region, AWS::AccountId, or the name that a deployment gave "
    "to a resource, by its logical id; may be repeated."
)
PROFILE_HELP = "Profile of your AWS configuration; by default the AWS CLI's."
REGION_HELP = "AWS region; by default the AWS CLI's."
NAME_HELP = "Name of the new pipeline; by default derived from the workflow or the first job."
OUT_HELP = "Folder of the project to write into; the current one by default."
ROLES_HELP = "Let jobs and crawlers keep their roles, which get a policy more each."
FORMAT_HELP = "Write the plan as Markdown, or as JSON."


def refuse_terraform(context: click.Context, option: click.Parameter, file: str | None) -> None:
    """Say what reads the jobs of a state file of Terraform since it is no source any more."""
    if file is not None:
        raise UsageError(
            "--terraform is gone: a state file shows less of the jobs than the account that it is "
            "of; read them there: --from-account --profile PROFILE --region REGION"
        )


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@click.option("--workflow", metavar="NAME", help=WORKFLOW_HELP)
@click.option("--from-account", is_flag=True, help=ACCOUNT_HELP)
@click.option("--profile", metavar="NAME", help=PROFILE_HELP)
@click.option("--region", metavar="REGION", help=REGION_HELP)
@click.option("--terraform", hidden=True, expose_value=False, callback=refuse_terraform)
@click.option("--template", type=click.Path(path_type=Path), metavar="PATH", help=TEMPLATE_HELP)
@click.option("--parameter", "parameters", multiple=True, metavar="KEY=VALUE", help=PARAMETER_HELP)
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
    template: Path | None,
    parameters: tuple[str, ...],
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

    source = Source(from_account, profile, region, template, parameters)
    _check(jobs, workflow, source, name)
    found = _found(jobs, workflow, source, keep_roles)
    kept = jobs_in(out) if name else ()  # without a name the clash is refused
    adoption = make_pipeline(found, name, keep_roles=keep_roles, kept_jobs=kept)
    _write(adoption, found, out, output)


@dataclass(frozen=True)
class Source:
    """Where to read: an account, or a template."""

    from_account: bool
    profile: str | None
    region: str | None
    template: Path | None
    parameters: tuple[str, ...]

    def check(self) -> None:
        """Raise unless the options name one source, and belong to it."""
        if self.from_account == (self.template is not None):
            raise UsageError("say where to read: either --from-account, or --template PATH")
        if self.template is not None and (self.profile or self.region):
            raise UsageError("a file has no account: leave out --profile and --region")
        if self.parameters and self.template is None:
            raise UsageError("--parameter is for --template; leave it out")

    def given(self) -> dict[str, str]:
        """Return the parameters by name."""
        found: dict[str, str] = {}
        for text in self.parameters:
            key, is_pair, value = text.partition("=")
            if not (key and is_pair):
                allowed = "KEY=VALUE, such as --parameter Stage=prod"
                raise UsageError(f"--parameter {text!r} is not a pair; allowed: {allowed}")
            if key in found:
                raise UsageError(f"--parameter {key} is given twice; give it once")
            found[key] = value
        return found


def _check(jobs: tuple[str, ...], workflow: str | None, source: Source, name: str | None) -> None:
    if bool(jobs) == bool(workflow):
        raise UsageError("say what to adopt: either names of jobs, or --workflow NAME")
    source.check()
    if len(set(jobs)) < len(jobs):
        raise UsageError(f"a job is named twice: {', '.join(jobs)}; name each once")
    if name is not None and not NAME.fullmatch(name):
        raise UsageError(
            f"--name {name!r} is not in kebab case; allowed: up to 64 lower case letters, digits "
            "and single hyphens, a letter first; write it like nightly-orders"
        )


def _found(
    jobs: tuple[str, ...], workflow: str | None, source: Source, with_roles: bool
) -> "Found":
    if source.template is not None:
        from tidemark.adopt.sources.cloudformation import read_templates
        from tidemark.adopt.sources.contents import found_in

        contents = read_templates(source.template, source.given())
        return found_in(contents, jobs, workflow, with_roles=with_roles)
    import boto3
    from botocore.exceptions import BotoCoreError

    from tidemark.adopt.sources.account import read_account

    try:
        session = boto3.Session(profile_name=source.profile, region_name=source.region)
    except BotoCoreError as error:
        raise UsageError(f"{error}; correct --profile and --region") from error
    return read_account(session, jobs, workflow, with_roles=with_roles)


def _write(adoption: "Adoption", found: "Found", out: Path, output: str) -> None:
    from tidemark.adopt.plan.code import stack_of
    from tidemark.adopt.plan.migration import in_app, role_file, steps_of
    from tidemark.adopt.plan.output import formatted, write_new
    from tidemark.adopt.plan.report import as_json, as_markdown
    from tidemark.model.assembly.policies import policy_of

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
    jobs, guesses = plural(len(adoption.jobs), "job"), plural(len(adoption.guesses), "guess")
    click.echo(
        f"\n{jobs}, {guesses}, {plural(len(adoption.differences), 'difference')}. Next: read "
        f"{out / plan}, and in app.py:"
    )
    for line in in_app(adoption, stack):
        click.echo(f"  {line}")
