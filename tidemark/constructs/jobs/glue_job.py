"""What every Glue job has, whatever runs it: a script, a role, logs, data, arguments, metadata."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from tidemark.constructs.catalog.table_use import table_uses, uses_of_data
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.conditions import Condition, JobState
from tidemark.constructs.jobs.connections import connections_of, installer_arguments
from tidemark.constructs.jobs.data_grants import grant_in_lake_formation
from tidemark.constructs.jobs.glue_arguments import base_of, merged
from tidemark.constructs.jobs.job_arguments import fixed_arguments, render_arguments, with_own
from tidemark.constructs.jobs.job_checks import check_are_here, check_reason, check_script
from tidemark.constructs.jobs.job_kind import JobKind
from tidemark.constructs.jobs.job_metadata import metadata_of
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.job_role import role_of
from tidemark.constructs.jobs.job_statements import statements_of
from tidemark.constructs.jobs.job_uses import Argument, JobUses
from tidemark.constructs.jobs.own_arguments import own_arguments
from tidemark.constructs.jobs.shared_parts import SharedParts
from tidemark.constructs.overrides import declare, granting
from tidemark.constructs.references import asset_url
from tidemark.constructs.security.explanations import EXISTING, explain
from tidemark.constructs.security.security import JobLogs
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.resources import METADATA, MISSING_GRANTS
from tidemark.model.plain_secrets import check_open_texts, reasons


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
        databases = [one.table.database for one in (*uses.reads, *uses.writes) if one.table]
        check_are_here(name, shared.stack, uses.connections or (), databases)
        uses = replace(uses, secrets=tuple(dict.fromkeys((*uses.secrets, *joined.secrets))))
        super().__init__(scope, id_)
        self.name = name
        self._connections = joined.names
        self.reads = inputs_of(uses)
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
            _with_outputs(opened),
            (*self.reads, *self.writes),
            default_arguments,
        )
        asset = shared.scripts.get(script)
        if asset is None:
            asset = shared.scripts[script] = assets.Asset(self, "Script", path=str(script))
        statements = statements_of(
            joined,
            asset,
            shared,
            replace(uses, reads=self.reads, writes=self.writes),
            self.tables,
            kind,
            own,
        )
        found = role_of(self, name, statements, uses.role, shared.stack)
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
        not_secret = reasons({f"--{key}": value for key, value in arguments.items()})
        self.resource.add_metadata(
            METADATA,
            metadata_of(
                name, self.reads, self.writes, self.tables, kind, not_secret | own.not_secret
            ),
        )
        self.lake_formation = grant_in_lake_formation(self, self.role, self.tables, self.writes)
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
            JobDefinitionError: the rule does not exist, or the reason is missing.
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

    def run_arguments(self, arguments: Mapping[str, Argument]) -> dict[str, str]:
        """Return what a trigger passes to a run of this job, dashed name to text.

        Raises:
            JobDefinitionError: an argument is none that the job itself may have, or data that it
                neither reads nor writes.
        """
        for name in arguments:
            if f"--{name}" in self._fixed:
                raise JobDefinitionError(
                    f"job '{self.name}' is started with the argument {name!r}, which is in "
                    "non_overridable of its options; allowed: others; take it out of one of the two"
                )
        opened = check_open_texts(f"job '{self.name}' is started with the argument", arguments)
        return render_arguments(
            self.name,
            _with_outputs(opened),
            (*self.reads, *self.writes),
            self._taken,
        )

    @property
    def _table_names(self) -> list[str]:
        """The tables of the account's own catalog that the job uses, each as `database.table`."""
        return list(dict.fromkeys(use.table for use in self.tables if not use.catalog_id))

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
        self._fixed = frozenset(fixed)  # no trigger can change them
        properties = {
            "execution_property": glue.CfnJob.ExecutionPropertyProperty(
                max_concurrent_runs=options.max_concurrent_runs
            ),
            **kind.properties,
        }
        location, configuration = asset_url(script), shared.security.configuration_name
        connections = list(self._connections)
        resource = glue.CfnJob(
            self,
            "Resource",
            name=self.name,
            role=self.role.role_arn,
            command=glue.CfnJob.JobCommandProperty(
                name=command, python_version=python_version, script_location=location
            ),
            default_arguments={k: v for k, v in arguments.items() if k not in fixed},
            non_overridable_arguments=fixed or None,
            description=options.description,
            connections=(
                glue.CfnJob.ConnectionsListProperty(connections=connections)
                if connections
                else None
            ),
            security_configuration=configuration,
            **properties,
        )
        declare(
            resource,
            {
                "Role": self.role.role_arn,
                "SecurityConfiguration": configuration,
                "Command": {"ScriptLocation": location},
                "DefaultArguments": granting(arguments),
                **({"Connections": {"Connections": connections}} if connections else {}),
            },
        )
        for group in self.logs.groups:  # a run would make them
            resource.add_resource_dependency(group)
        return resource


def inputs_of(uses: JobUses) -> tuple[Dataset, ...]:
    """Return the data that a job reads: what it declares, and what jobs write that it is given."""
    given = (uses.arguments or {}).values()
    taken_over = [job.output for job in given if isinstance(job, GlueJob)]
    return tuple(dict.fromkeys((*uses.reads, *taken_over)))


def _with_outputs(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return arguments with what jobs write instead of the jobs."""
    return {
        key: value.output if isinstance(value, GlueJob) else value
        for key, value in arguments.items()
    }
