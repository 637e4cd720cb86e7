"""What every Glue job has, whatever runs it: a script, a role, logs, data, arguments, metadata."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from tidemark.assembly.resources import METADATA, MISSING_GRANTS
from tidemark.checks.plain_secrets import NotSecret, check_open_texts, reasons
from tidemark.constructs.catalog import lake_formation
from tidemark.constructs.catalog.permissions import use_tables
from tidemark.constructs.catalog.table_use import TableUse, table_uses, uses_of_data
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs import permissions
from tidemark.constructs.jobs.conditions import Condition, JobState
from tidemark.constructs.jobs.connections import (
    Connection,
    connections_of,
    installer_arguments,
)
from tidemark.constructs.jobs.glue_arguments import GlueArguments, base_of, merged
from tidemark.constructs.jobs.job_arguments import fixed_arguments, render_arguments, with_own
from tidemark.constructs.jobs.job_checks import (
    check_list,
    check_name,
    check_reason,
    check_script,
    check_type,
    check_uses,
)
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.job_role import role_of
from tidemark.constructs.jobs.own_arguments import Cluster, OwnArguments, own_arguments
from tidemark.constructs.jobs.shared_parts import SharedParts
from tidemark.constructs.references import (
    asset_place,
    asset_url,
    bucket_arn,
    bucket_key_arn,
    object_arn,
)
from tidemark.constructs.security.explanations import EXISTING, explain
from tidemark.constructs.security.security import JobLogs
from tidemark.errors import JobDefinitionError


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
    arguments: "Mapping[str, Argument] | None" = None
    tables: Sequence[str | TableUse] = ()
    temp: Dataset | None = None
    python_modules: Sequence[str] = ()
    connections: Sequence[Connection] | None = None
    secrets: Sequence[str] = ()
    run_properties: RunProperties | None = None
    role: iam.IRole | None = None
    glue_arguments: GlueArguments | None = None
    options: JobOptions | None = None


@dataclass(frozen=True)
class JobKind:
    """What tells one kind of job from another.

    Attributes:
        command: the command of Glue that runs it, `glueetl`, and how it names the Python.
        python: the Python that runs the script.
        logs: how the names of its log groups begin.
        arguments: what the kind sets, dashed name to text.
        properties: of the job resource, as the CDK names them.
        statements: what the kind may do beside what the job declares.
        metadata: what the constructs know of the job, and Glue does not.
        ships_libs: whether the zip of shared packages is put on the script's path.
        metrics: whether Glue publishes metrics of the job.
        cluster: what Spark runs on; None where the kind has no workers.
        keeps: data in which the job keeps its state, and which no other may write.
    """

    command: tuple[str, str]
    python: tuple[int, int]
    logs: str
    arguments: Mapping[str, str]
    properties: Mapping[str, Any]
    statements: Sequence[permissions.Statement] = ()
    metadata: Mapping[str, object] | None = None
    ships_libs: bool = True
    metrics: bool = False
    cluster: Cluster | None = None
    keeps: Sequence[Dataset] = ()


class GlueJob(Construct):
    """Creates a Glue job and a role that allows what the job declares, and nothing else.

    The base of every kind of job; not to be used by itself.

    Attributes:
        name: the Glue job name.
        role: the role the job runs with.
        logs: its log groups.
        resource: the job itself.
        reads: data the job reads.
        writes: data the job writes.
        tables: what the job may do with tables of the Data Catalog.
        lake_formation: what the job is granted in Lake Formation.
        has_watermarks: whether the job keeps watermarks.
    """

    has_watermarks: bool = False

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        script: Path,
        shared: SharedParts,
        uses: JobUses,
        kind: JobKind,
    ) -> None:
        """Declare the job.

        Args:
            scope: the construct that owns the job.
            id_: construct id; renaming it replaces the role, not the job.
            name: Glue job name in kebab case.
            script: the Python file that Glue runs.
            shared: what the job has in common with the others of its pipeline.
            uses: what the job declares, checked by `check_job`.
            kind: what runs it.

        Raises:
            JobDefinitionError: something of this cannot be deployed.
        """
        arguments = uses.arguments or {}
        opened = check_open_texts(f"job '{name}' has the argument", arguments)
        check_script(name, shared.root, script, kind.python)
        joined = connections_of(name, uses.connections, shared.network)
        uses = replace(uses, secrets=tuple(dict.fromkeys((*uses.secrets, *joined.secrets))))
        super().__init__(scope, id_)
        self.name = name
        self._connections = joined.names
        taken_over = [job.output for job in arguments.values() if isinstance(job, GlueJob)]
        self.reads = tuple(dict.fromkeys((*uses.reads, *taken_over)))
        self.writes = tuple(uses.writes)
        self.tables = (
            *table_uses(name, uses.tables),
            *uses_of_data(
                [data.table for data in self.reads if data.table],
                [data.table for data in self.writes if data.table],
            ),
        )
        options = uses.options or JobOptions()
        own = own_arguments(
            self,
            name,
            merged(base_of(shared.glue_arguments, kind.command[0]), uses.glue_arguments),
            root=shared.root,
            command=kind.command[0],
            cluster=kind.cluster,
            tables=self._table_names,
        )
        default_arguments = with_own(name, kind.arguments, own)
        default_arguments |= installer_arguments(
            name,
            uses.python_modules,
            shared.network,
            own.texts.get("--python-modules-installer-option"),
        )
        self._taken = dict(default_arguments)
        default_arguments |= render_arguments(
            name,
            {
                key: value.output if isinstance(value, GlueJob) else value
                for key, value in opened.items()
            },
            (*self.reads, *self.writes),
            default_arguments,
        )
        asset = shared.scripts.get(script)
        if asset is None:
            asset = shared.scripts[script] = assets.Asset(self, "Script", path=str(script))
        found = role_of(
            self, name, self._statements(asset, shared, uses, kind, own), uses.role, shared.stack
        )
        self.role = found.role
        self.logs = JobLogs(
            self,
            "Logs",
            security=shared.security,
            role_name=self.role.role_name,
            prefix=kind.logs,
            retention_days=options.log_retention_days,
        )
        self.resource = self._resource(
            asset, shared, replace(uses, options=options), kind, default_arguments
        )
        for rule in () if shared.security.is_made else ("AwsSolutions-GL1", "AwsSolutions-GL3"):
            explain(self.resource, rule, EXISTING)
        if found.missing:
            self.resource.add_metadata(MISSING_GRANTS, list(found.missing))
        if found.policies:
            self.resource.node.add_dependency(*found.policies)
        self._add_metadata(kind, uses, reasons(_dashed(arguments)) | own.not_secret)
        self.lake_formation = lake_formation.grant(
            self,
            self.role.role_arn,
            lake_formation.grants_of(self.tables, [_location(data) for data in self.writes]),
        )
        for granted in self.lake_formation.values():
            self.resource.add_resource_dependency(granted)
        for tag, value in options.tags.items():
            cdk.Tags.of(self).add(tag, value)

    def on(self, state: JobState) -> Condition:
        """Return that this job has ended in a state, for `all_of` and `any_of`."""
        return Condition(self, state)

    def acknowledge(self, rule: str, reason: str) -> None:
        """Accept what a rule of the graph finds at this job: it is not told, and stops nothing.

        Args:
            rule: its name as the finding shows it, such as `two-writers`.
            reason: why it is right here, for whoever reads the validation report.

        Raises:
            JobDefinitionError: there is no such rule, or no reason.
        """
        check_reason(self.name, rule, reason)
        cdk.Validations.of(self).acknowledge(
            cdk.Acknowledgment(id=f"tidemark::{rule}", reason=reason)
        )

    @property
    def output(self) -> Dataset:
        """Return the one dataset that the job writes.

        Raises:
            JobDefinitionError: it writes none, or several.
        """
        if len(self.writes) != 1:
            raise JobDefinitionError(
                f"job '{self.name}' writes {len(self.writes)} datasets, so its output is not one; "
                "pass the dataset that you mean instead of the job"
            )
        return self.writes[0]

    def run_arguments(self, arguments: "Mapping[str, Argument]") -> dict[str, str]:
        """Return what a trigger passes to a run of this job, dashed name to text.

        Raises:
            JobDefinitionError: an argument is none that the job itself may have, or data that it
                neither reads nor writes.
        """
        opened = check_open_texts(f"job '{self.name}' is started with the argument", arguments)
        return render_arguments(
            self.name,
            {
                key: value.output if isinstance(value, GlueJob) else value
                for key, value in opened.items()
            },
            (*self.reads, *self.writes),
            self._taken,
        )

    @property
    def _table_names(self) -> list[str]:
        """The tables of the account's own catalog that the job uses, each as `database.table`."""
        return list(dict.fromkeys(use.table for use in self.tables if not use.catalog_id))

    def _statements(
        self,
        script: assets.Asset,
        shared: SharedParts,
        uses: JobUses,
        kind: JobKind,
        own: OwnArguments,
    ) -> list[permissions.Statement]:
        """Return what a job of any kind needs, what its kind needs, and what it declares."""
        stack = shared.stack
        shipped = [script, shared.libs] if kind.ships_libs else [script]
        may_put = uses.run_properties is RunProperties.READ_AND_PUT
        return [
            *permissions.read_objects([object_arn(stack, asset_place(asset)) for asset in shipped]),
            *permissions.write_logs(stack, kind.logs),
            *(
                statement
                for arn in shared.security.key_arns
                for statement in permissions.use_key(arn)
            ),
            *kind.statements,
            *self._data(
                [*self.reads, *own.read],
                [*self.writes, *([uses.temp] if uses.temp else []), *kind.keeps, *own.written],
                shared,
            ),
            *(permissions.read_objects(own.objects) if own.objects else []),
            *own.statements,
            *permissions.read_wheels(stack, uses.python_modules),
            *(permissions.put_metrics() if kind.metrics else []),
            *use_tables(stack, self.tables),
            *permissions.use_connections(stack, self._connections),
            *permissions.read_secrets(stack, uses.secrets),
            *(
                permissions.use_run_properties(stack, shared.workflow_name, may_put=may_put)
                if uses.run_properties
                else []
            ),
        ]

    @staticmethod
    def _data(
        read: Sequence[Dataset], written: Sequence[Dataset], shared: SharedParts
    ) -> list[permissions.Statement]:
        statements = permissions.use_data(
            [(bucket_arn(data.bucket), data.prefix) for data in read],
            [(bucket_arn(data.bucket), data.prefix) for data in written],
        )
        for may_write, datasets in ((False, read), (True, written)):
            used = {arn for data in datasets if (arn := bucket_key_arn(data.bucket))}
            others = used - set(shared.security.key_arns)
            statements += permissions.use_data_keys(sorted(others), may_write=may_write)
        return statements

    def _resource(
        self,
        script: assets.Asset,
        shared: SharedParts,
        uses: JobUses,
        kind: JobKind,
        arguments: Mapping[str, str],
    ) -> glue.CfnJob:
        command, python_version = kind.command
        options = uses.options or JobOptions()
        fixed = fixed_arguments(self.name, options.non_overridable, arguments)
        self._taken |= fixed  # no trigger can change them
        properties = {
            "execution_property": glue.CfnJob.ExecutionPropertyProperty(
                max_concurrent_runs=options.max_concurrent_runs
            ),
            **kind.properties,
        }
        resource = glue.CfnJob(
            self,
            "Resource",
            name=self.name,
            role=self.role.role_arn,
            command=glue.CfnJob.JobCommandProperty(
                name=command, python_version=python_version, script_location=asset_url(script)
            ),
            default_arguments={k: v for k, v in arguments.items() if k not in fixed},
            non_overridable_arguments=fixed or None,
            description=options.description,
            connections=(
                glue.CfnJob.ConnectionsListProperty(connections=list(self._connections))
                if self._connections
                else None
            ),
            security_configuration=shared.security.configuration_name,
            **properties,
        )
        for group in self.logs.groups:  # a run would make them
            resource.add_resource_dependency(group)
        return resource

    def _add_metadata(self, kind: JobKind, uses: JobUses, not_secret: Mapping[str, str]) -> None:
        """Tell in the template what the constructs know of the job, and Glue does not."""
        self.resource.add_metadata(
            METADATA,
            {
                "reads": [
                    {"uri": d.uri, **({"delivered": True} if d.delivered else {}), **_table(d)}
                    for d in self.reads
                ],
                "writes": [
                    {"uri": d.uri, **({"published": True} if d.published else {}), **_table(d)}
                    for d in self.writes
                ]
                + [{"uri": d.uri, "published": True} for d in kind.keeps],  # none reads it
                **({"tables": tables} if (tables := self._table_names) else {}),
                **(kind.metadata or {}),
                **({"notSecret": not_secret} if not_secret else {}),
            },
        )


def _table(data: Dataset) -> dict[str, str]:
    return {"table": data.table.full_name} if data.table else {}


def _location(data: Dataset) -> lake_formation.Location:
    """Return where data are, as Lake Formation wants it."""
    arn = f"{bucket_arn(data.bucket)}/{data.prefix.rstrip('/')}"
    return lake_formation.Location(f"{data.bucket.node.id}/{data.prefix}", arn)


def _dashed(arguments: Mapping[str, object]) -> dict[str, object]:
    return {f"--{name}": value for name, value in arguments.items()}


Argument: TypeAlias = str | NotSecret | Dataset | GlueJob
"""What an argument of a job may be; a job stands for what it writes."""


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
    permitted = ", ".join(f"RunProperties.{option.name}" for option in RunProperties)
    check_type(name, "glue_arguments", uses.glue_arguments, GlueArguments | None, "GlueArguments")
    check_type(name, "options", uses.options, JobOptions | None, "JobOptions")
    check_type(name, "run_properties", uses.run_properties, RunProperties | None, permitted)
    table_uses(name, uses.tables)
    check_uses(
        name,
        python_modules=uses.python_modules,
        secrets=uses.secrets,
    )
