"""The command `adopt`."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import click

from tidemark.adopt.adoption import adopt as make_pipeline
from tidemark.adopt.model import Adoption, Existing
from tidemark.adopt.plan.code import stack_of
from tidemark.adopt.plan.migration import in_app, role_file, steps_of
from tidemark.adopt.plan.report import as_json, as_markdown
from tidemark.adopt.sources.account import read_account
from tidemark.adopt.sources.cloudformation import read_templates
from tidemark.adopt.sources.contents import found_in
from tidemark.errors import UsageError
from tidemark.model.assembly.policies import policy_of
from tidemark.model.messages import plural
from tidemark.scaffold.files import formatted, write_files

NAME = re.compile(r"(?=.{1,64}\Z)[a-z][a-z0-9]*(-[a-z0-9]+)*")


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
    source = Source(from_account, profile, region, template, parameters)
    _check(jobs, workflow, source, name)
    resources = _resources(jobs, workflow, source, keep_roles)
    # Without a name the clash with a script that exists is refused.
    scripts = (out / "glue_jobs").glob("*.py") if name else ()
    jobs_there = {script.stem.replace("_", "-") for script in scripts}
    adoption = make_pipeline(resources, name, keep_roles=keep_roles, kept_jobs=jobs_there)
    _write(adoption, resources, out, output)


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
        parameters: dict[str, str] = {}
        for text in self.parameters:
            key, is_pair, value = text.partition("=")
            if not (key and is_pair):
                allowed = "KEY=VALUE, such as --parameter Stage=prod"
                raise UsageError(f"--parameter {text!r} is not a pair; allowed: {allowed}")
            if key in parameters:
                raise UsageError(f"--parameter {key} is given twice; give it once")
            parameters[key] = value
        return parameters


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


def _resources(
    jobs: tuple[str, ...], workflow: str | None, source: Source, with_roles: bool
) -> Existing:
    if source.template is not None:
        contents = read_templates(source.template, source.given())
        return found_in(contents, jobs, workflow, with_roles=with_roles)
    import boto3
    from botocore.exceptions import BotoCoreError

    try:
        session = boto3.Session(profile_name=source.profile, region_name=source.region)
    except BotoCoreError as error:
        raise UsageError(f"{error}; correct --profile and --region") from error
    return read_account(session, jobs, workflow, with_roles=with_roles)


def _write(adoption: Adoption, resources: Existing, out: Path, output: str) -> None:
    stack = f"infra/{adoption.name.replace('-', '_')}_stack.py"
    plan = f"{adoption.name}-migration.{'md' if output == 'markdown' else 'json'}"
    steps = steps_of(adoption, resources, stack)
    text = (
        as_markdown(adoption, resources, steps)
        if output == "markdown"
        else json.dumps(as_json(adoption, resources, steps), indent=2) + "\n"
    )
    files = {stack: formatted(out, stack, stack_of(adoption, plan, resources.bucket_keys))}
    read = [job for job in adoption.jobs if job.old in resources.scripts]
    files |= {job.script: resources.scripts[job.old] for job in read}
    files |= {
        role_file(adoption, arn): json.dumps(policy_of(policy.documents), indent=2) + "\n"
        for arn, policy in adoption.policies.items()
    }
    files[plan] = text
    for path in files:
        if (out / path).exists():
            raise UsageError(
                f"{out / path} exists already and is not changed; nothing was written; take "
                "another --out or --name"
            )
    write_files(out, files)
    for path in files:
        click.echo(f"wrote {out / path}")
    for job in adoption.jobs:
        if job not in read:
            click.echo(f"not read: the script of {job.old}; step 1 of the plan fetches it")
    for omission in adoption.left_out:
        click.echo(f"not adopted: {omission.job}: {omission.why}")
    jobs, guesses = plural(len(adoption.jobs), "job"), plural(len(adoption.guesses), "guess")
    click.echo(
        f"\n{jobs}, {guesses}, {plural(len(adoption.differences), 'difference')}. Next: read "
        f"{out / plan}, and in app.py:"
    )
    for line in in_app(adoption, stack):
        click.echo(f"  {line}")
