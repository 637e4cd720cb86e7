"""What a job of any kind declares to use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeAlias

from aws_cdk import aws_iam as iam

from tidemark.constructs.catalog.table_use import TableUse, table_uses
from tidemark.constructs.dataset import Dataset, check_no_table
from tidemark.constructs.jobs.connections import Connection
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.constructs.jobs.job_checks import check_list, check_modules, check_name, check_type
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.secrets import Secret, check_secrets
from tidemark.model.plain_secrets import NotSecret


class HasOutput(Protocol):
    """A job, as an argument of another one: it stands for the one dataset that it writes."""

    @property
    def output(self) -> Dataset:
        """What it writes."""


Argument: TypeAlias = str | NotSecret | Dataset | HasOutput
"""What an argument of a job may be; a job (`HasOutput`) stands for what it writes."""


class RunProperties(Enum):
    """What a job may do with the run properties of its workflow."""

    READ = "read"
    READ_AND_PUT = "read and put"


@dataclass(frozen=True)
class JobUses:
    """What a job of any kind declares to use; its role allows this, and nothing else.

    `Pipeline.add_job` says what each of them means.
    """

    reads: Sequence[Dataset] = ()
    writes: Sequence[Dataset] = ()
    arguments: Mapping[str, Argument] | None = None
    tables: Sequence[str | TableUse] = ()
    temp: Dataset | None = None
    python_modules: Sequence[str] = ()
    connections: Sequence[Connection] | None = None
    secrets: Sequence[Secret] = ()
    run_properties: RunProperties | None = None
    role: iam.IRole | None = None
    glue_arguments: GlueArguments | None = None
    options: JobOptions | None = None


def check_job(name: str, script: object, uses: JobUses) -> None:
    """Raise unless a job can be known by its name, and what it declares is of the right kinds.

    For every kind of job to call before anything else.

    Raises:
        JobDefinitionError: something is of another kind.
    """
    check_name("job", name)
    check_type(name, "script", script, Path, "the path of a Python file in the project")
    check_list(name, "reads", uses.reads, Dataset, "Dataset")
    check_list(name, "writes", uses.writes, Dataset, "Dataset")
    check_type(name, "arguments", uses.arguments or {}, Mapping, "a dict of names to values")
    check_type(name, "temp", uses.temp, Dataset | None, "a Dataset")
    check_no_table(f"job '{name}'", "temp", uses.temp)
    permitted = ", ".join(f"RunProperties.{option.name}" for option in RunProperties)
    check_type(name, "glue_arguments", uses.glue_arguments, GlueArguments | None, "GlueArguments")
    check_type(name, "options", uses.options, JobOptions | None, "JobOptions")
    check_type(name, "run_properties", uses.run_properties, RunProperties | None, permitted)
    table_uses(name, uses.tables)
    check_modules(name, uses.python_modules)
    check_secrets(name, uses.secrets)
