"""Refuses invalid declarations of a job before anything is created."""

import re
import sys
import tokenize
from collections.abc import Sequence
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from constructs import Construct, IConstruct

from tidemark.checks.graph.rules import RULES
from tidemark.checks.script.appends import appends_in
from tidemark.constructs.catalog.databases import Database, check_database
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.overrides import RULE as OVERRIDDEN
from tidemark.constructs.shared_checks import check_catalog, check_here, no_file_of
from tidemark.errors import JobDefinitionError
from tidemark.model.advice import advice_of, name_of
from tidemark.model.assembly.glue_versions import AUTO
from tidemark.model.programs import program_of

# Glue's limits, less room for the stage in names.
MAX_CHARACTERS = {"job": 255, "crawler": 255, "pipeline": 64}
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# An address becomes part of an ARN, where * and ? are wildcards, and of a comma-separated list.
PINNED_MODULE = re.compile(
    r"[A-Za-z0-9][\w.-]*(\[[\w,-]+\])?==[\w.+!-]+|s3://[\w.-]{1,63}/[\w.+=!/-]+\.whl", re.ASCII
)


def check_name(of: str, name: str) -> None:
    """Raise unless the name of a `job`, `crawler` or `pipeline` is valid.

    Raises:
        JobDefinitionError: it is too long or not in kebab case.
    """
    most = MAX_CHARACTERS[of]
    if not NAME.fullmatch(name) or len(name) > most:
        raise JobDefinitionError(
            f"{of} name {name!r} is not in kebab case; allowed: up to {most} lower case letters, "
            "digits and single hyphens, a letter first; write it like 'ingest-orders'"
        )


def check_are_here(
    of: str,
    stack: cdk.Stack,
    connections: Sequence[object],
    databases: Sequence[Database],
    data: Sequence[Dataset],
    secrets: Sequence[str],
) -> None:
    """Raise if something that a job or crawler uses is known to be where Glue does not look.

    Glue looks for connections and databases in the account and region of the job, and for the
    secrets of connections in the region; buckets may be of others, in the same partition.

    Args:
        of: the job or crawler, at the start of an error.
        stack: its stack.
        connections: connections, or their names.
        databases: databases of its tables, or their names.
        data: data that it reads or writes.
        secrets: secrets that its connections name.

    Raises:
        JobDefinitionError: one is elsewhere.
    """
    for connection in connections:
        if not isinstance(connection, str):
            check_here(of, stack, "a connection", connection)
        if isinstance(connection, glue.CfnConnection):
            check_catalog(of, stack, "a connection", connection.catalog_id)
    for database in databases:
        check_database(of, stack, database)
    for bucket in dict.fromkeys(dataset.bucket for dataset in data):
        check_here(of, stack, "data in a bucket", bucket, kinds=("partition",))
    for secret in secrets:
        check_here(of, stack, "a connection with a secret", secret, kinds=("partition", "region"))


def acknowledge(owner: IConstruct, what: str, rule: str, reason: str) -> None:
    """Accept a finding of a graph rule at a construct, such as the job 'orders'.

    Raises:
        JobDefinitionError: the rule does not exist, or the reason is missing.
    """
    known = [*RULES, OVERRIDDEN]
    rule = name_of({**RULES, OVERRIDDEN: advice_of("resources")[OVERRIDDEN]}, rule)
    if rule not in known:
        raise JobDefinitionError(
            f"{what} acknowledges the rule {rule!r}; allowed: {', '.join(known)}; copy the "
            "name or the id from the finding"
        )
    if not reason.strip():
        raise JobDefinitionError(
            f"{what} acknowledges '{rule}' with the reason {reason!r}; allowed: a string; say why "
            "it is acceptable here"
        )
    cdk.Validations.of(owner).acknowledge(cdk.Acknowledgment(id=f"tidemark::{rule}", reason=reason))


def check_script(job: str, root: Path, script: Path, python: tuple[int, int]) -> None:
    """Raise unless a script is a Python program of the project that Glue can start.

    Args:
        job: the job.
        root: folder of the project.
        script: the file.
        python: the Python that runs it; a newer one than ours may know more syntax.

    Raises:
        JobDefinitionError: it is missing, is not Python, or does nothing.
    """
    wrong: str | None = no_file_of(root, script)
    if not wrong and script.suffix != ".py":
        wrong = "is not a Python file, which ends in .py; write the job in Python"
    wrong = wrong or _find_problem(script, python)
    if wrong:
        raise JobDefinitionError(
            f"job '{job}' has the script {str(script)!r}, which {wrong}, or correct the path in "
            "script="
        )


def _find_problem(script: Path, python: tuple[int, int]) -> str | None:
    """Return why Python cannot run a file, and the remedy; None if it can."""
    try:
        with tokenize.open(script) as file:
            older = python if python < sys.version_info[:2] else None
            program = program_of(file.read(), str(script), older)
    except (SyntaxError, ValueError) as error:
        if sys.version_info[:2] < python:
            return None
        where = f"in line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else error
        return f"is not Python {python[0]}.{python[1]} ({where}); correct it"
    except RecursionError:
        return "is nested too deeply for Python; split it"
    except OSError as error:
        return f"cannot be read ({error.strerror}); allow it"
    return None if program.body else "is empty; write the job"


def check_modules(name: str, python_modules: Sequence[str]) -> None:
    """Raise unless the packages of a job are named so that every build gets the same ones.

    Raises:
        JobDefinitionError: one has another form, or is repeated.
    """
    for module in python_modules:
        if not PINNED_MODULE.fullmatch(module) and not cdk.Token.is_unresolved(module):
            raise JobDefinitionError(
                f"job '{name}' has {module!r} in python_modules; allowed: each name==version, "
                "since builds must be repeatable, or the s3:// address of a wheel; correct it"
            )
        if cdk.Token.is_unresolved(module) and not module.startswith("s3://"):
            raise JobDefinitionError(
                f"job '{name}' has {module!r} in python_modules, known at deployment only; "
                "allowed: name==version, or an address that begins with s3://, to which the job's "
                "role can get access; correct it"
            )
    named: dict[str, str] = {}  # pip would refuse two versions of a package
    for module in python_modules:
        package = re.split(r"\[|==", module)[0]
        if module.startswith("s3://"):
            package = module.rpartition("/")[2].partition("-")[0]
        package = re.sub(r"[-_.]+", "-", package).lower()
        if package in named:
            raise JobDefinitionError(
                f"job '{name}' has {named[package]!r} and {module!r} in python_modules; allowed: "
                "each package once; remove one"
            )
        named[package] = module


def warn_of_auto(scope: Construct, job: str, script: Path) -> None:
    """Warn that CloudFormation may refuse a job with `auto`, and where it may add rows twice.

    The pattern of GlueVersion in its published schema of AWS::Glue::Job allows numbers with dots;
    that of Glue's own API has `|auto` too. AWS describes the console and the CLI only.
    Sources: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-turning-on-auto-upgrade-with-the-console-or-aws-cli.html,
    https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-managing-auto-upgrade.html
    """
    warnings = cdk.Annotations.of(scope)
    warnings.add_warning_v2(
        "tidemark:auto-by-cloudformation",
        f"job {job} has GlueVersion {AUTO}, which CloudFormation's published schema of "
        "AWS::Glue::Job does not allow, so that a deployment may be refused: deploy it to a "
        "test account first, or name a version here and turn auto upgrade on with the console "
        "(docs/automatic-upgrades.md); acknowledge this once a deployment has passed",
    )
    if appends := appends_in(script.read_text(encoding="utf-8")):
        places = ", ".join(f"{append.name} on line {append.place.line}" for append in appends)
        warnings.add_warning_v2(
            "tidemark:retry-appends",
            f"job {job} has GlueVersion {AUTO} and adds rows ({script.name}: {places}): a retry "
            "after a failed upgrade can add its rows twice; write with write_window, merge_window "
            "or upsert_jdbc, or overwrite partitions (docs/automatic-upgrades.md), or acknowledge "
            "this",
        )
