"""The common parts of all Glue jobs: script, role, logs, data, arguments, metadata."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from tidemark.constructs.catalog.lake_formation import grant_in_lake_formation
from tidemark.constructs.catalog.table_use import table_uses, uses_of_data
from tidemark.constructs.dataset import Dataset, check_no_table
from tidemark.constructs.jobs import job_checks
from tidemark.constructs.jobs.audits import check_audited, with_audits
from tidemark.constructs.jobs.conditions import Condition, JobState
from tidemark.constructs.jobs.connections import connections_of, installer_arguments
from tidemark.constructs.jobs.contracts import held_by, quarantines_of, with_contracts
from tidemark.constructs.jobs.glue_arguments import merged, pipeline_arguments
from tidemark.constructs.jobs.iceberg_settings import with_iceberg
from tidemark.constructs.jobs.job_arguments import fixed_arguments, merge_own, render_arguments
from tidemark.constructs.jobs.job_metadata import data_of, repeats_of, tables_of
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.job_props import (
    Argument,
    HasOutput,
    JobProps,
    RunProperties,
    SharedParts,
)
from tidemark.constructs.jobs.job_role import role_of
from tidemark.constructs.jobs.job_statements import statements_of
from tidemark.constructs.jobs.own_arguments import Cluster, own_arguments
from tidemark.constructs.jobs.permissions import Statement
from tidemark.constructs.jobs.secrets import check_secrets, warn_of_secrets
from tidemark.constructs.jobs.wheels import check_wheels
from tidemark.constructs.overrides import declare, granting
from tidemark.constructs.references import arn_of, asset_url, job_ref, role_arn
from tidemark.constructs.security.explanations import EXISTING, explain
from tidemark.constructs.security.security import JobLogs
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_versions import AUTO, GLUE_VERSIONS, version_of_run
from tidemark.model.assembly.resources import METADATA
from tidemark.model.checked import checked
from tidemark.model.plain_secrets import check_open_strings, reasons
from tidemark.model.stage.runtime import PYTHON, ShellRuntime

START_RUNS = ("glue:BatchStopJobRun", "glue:GetJobRun", "glue:GetJobRuns", "glue:StartJobRun")


@jsii.implements(iam.IGrantable)
@checked
class GlueJob(Construct):
    """Creates a Glue job and a role that allows what the job declares, and nothing else.

    The base of every kind of job, which creates the resource; not for direct use. It stands for its
    role wherever the CDK takes a grantee: `topic.grant_publish(job)`.

    Attributes:
        name: the Glue job name.
        role: the role the job runs with.
        logs: its log groups.
        resource: the job itself.
        runtime: what it runs on.
        options: its options; `JobOptions()` if none are given.
        reads: data that the job reads.
        writes: data that the job writes.
        tables: how the job may use tables of the Data Catalog.
        lake_formation: the job's grants in Lake Formation.
        has_watermarks: whether the job keeps watermarks.
    """

    has_watermarks: bool = False
    resource: glue.CfnJob
    runtime: Cluster | ShellRuntime

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        shared: SharedParts,
        props: JobProps,
        command: str,
        logs: str,
        arguments: Mapping[str, str],
        statements: Sequence[Statement] = (),
        bookmark: bool = False,
        temp: Dataset | None = None,
        keeps: Sequence[Dataset] = (),
        run_properties: RunProperties | None = None,
    ) -> None:
        """Create everything that the resource of a job needs.

        Args:
            scope: the construct that owns the job.
            id_: construct id; renaming it replaces the role, not the job.
            name: Glue job name in kebab case.
            shared: the parts that the job shares with the others of its pipeline.
            props: what the job declares.
            command: Glue's command that runs it, `glueetl`.
            logs: prefix of its log groups.
            arguments: arguments that the kind of job sets, dashed name to value.
            statements: permissions of the kind, in addition to the job's own.
            bookmark: whether Glue keeps a bookmark for it.
            temp: data that the job may write while it runs.
            keeps: data in which the job keeps its state, which no other job may write.
            run_properties: whether the job may read, or also put, those of the workflow.

        Raises:
            JobDefinitionError: the job cannot be deployed.
        """
        self.name = name
        self.reads, self.writes = inputs_of(props), tuple(props["writes"])
        self._shared, self._command = shared, command
        self.options = props["options"] or JobOptions()
        self.options.check(
            name,
            timeout_minutes=self.runtime.timeout_minutes,
            bookmark=bookmark,
            watermark=self.has_watermarks,
        )
        cluster = None if isinstance(self.runtime, ShellRuntime) else self.runtime
        version = cluster.glue_version if cluster else None
        python = GLUE_VERSIONS[version_of_run(version)].python if version else PYTHON
        of, modules, declared = f"job '{name}'", props["python_modules"], props["arguments"] or {}
        opened = check_open_strings(f"{of} has the argument", declared)
        script = shared.root / props["script"]
        job_checks.check_script(name, shared.root, script, python)
        check_no_table(of, "temp", temp)
        job_checks.check_modules(name, modules)
        check_secrets(name, props["secrets"])
        joined = connections_of(name, props["connections"], shared.stage)
        data = self._data = (*self.reads, *self.writes)
        databases = [dataset.table.database for dataset in data if dataset.table]
        own_connections = props["connections"] or ()
        job_checks.check_are_here(
            of, shared.stack, own_connections, databases, data, joined.secrets
        )
        self._text = script.read_text(encoding="utf-8", errors="replace")
        self._connections = list(joined.names)
        self.tables = (
            *table_uses(name, props["tables"]),
            *uses_of_data(
                [data.table for data in self.reads if data.table],
                [data.table for data in self.writes if data.table],
            ),
        )
        usual = pipeline_arguments(shared.glue_arguments, command)
        given = merged(usual, props["glue_arguments"])
        given = with_iceberg(name, given, self.reads, self.writes, script, version)
        check_wheels(name, python, [*modules, *map(str, given.extra_py_files or ())])
        super().__init__(scope, id_)
        warn_of_secrets(self, name, props["secrets"])
        tables = list(dict.fromkeys(use.table for use in self.tables if not use.catalog_id))
        own = own_arguments(self, name, given, shared.root, command, cluster, tables)
        installs = own.texts.get("--python-modules-installer-option")
        self._taken = merge_own(name, arguments, own)
        self._taken |= installer_arguments(name, modules, shared.stage, installs)
        self._arguments = self._taken | self._rendered(opened)
        quarantines = quarantines_of(
            name, self.reads, self.writes, _with_outputs(opened), has_spark=cluster is not None
        )
        check_audited(name, self.writes, _with_outputs(opened), self._text)
        self._fixed = fixed_arguments(name, self.options.non_overridable, self._arguments)
        asset = shared.scripts.get(script)
        if asset is None:
            asset = shared.scripts[script] = assets.Asset(self, "Script", path=str(script))
        self._script = asset_url(asset)
        allowed = statements_of(
            shared,
            props,
            arguments,
            script=asset,
            logs=logs,
            kind=statements,
            reads=[*self.reads, *own.read],
            writes=[*self.writes, *([temp] if temp else []), *keeps, *own.written, *quarantines],
            own=own,
            tables=self.tables,
            connections=joined,
            run_properties=run_properties,
        )
        self._granted = role_of(self, name, allowed, props["role"], shared.stack)
        self.role = self._granted.role
        self.logs = JobLogs(
            self,
            "Logs",
            security=shared.security,
            role_name=self.role.role_name,
            prefix=logs,
            retention_days=self.options.log_retention_days,
        )
        excused = reasons({f"--{key}": value for key, value in declared.items()}) | own.not_secret
        self._metadata = {
            "name": name,
            **data_of(self.reads, self.writes, keeps, quarantines),
            **tables_of(self.tables),
            "watermark": self.has_watermarks,
            **({"notSecret": excused} if excused else {}),
            **repeats_of(self._text, self._arguments, self.writes),
        }
        if version == AUTO:
            job_checks.warn_of_auto(self, name, script)

    @checked
    def on(self, state: JobState) -> Condition:
        """Return the condition that this job has ended in a state."""
        return Condition(self, state)

    @checked
    def acknowledge(self, rule: str, reason: str) -> None:
        """Accept a finding of a graph rule at this job: it is not reported, and stops nothing.

        Args:
            rule: its name or id in the finding, such as `two-writers`.
            reason: why it is acceptable here, for readers of the validation report.

        Raises:
            JobDefinitionError: the rule does not exist, or the reason is missing.
        """
        job_checks.acknowledge(self, f"job '{self.name}'", rule, reason)

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Return the role of the job, for grants of the CDK's constructs."""
        return self.role.grant_principal

    @property
    def job_arn(self) -> str:
        """Return the ARN of the job."""
        return arn_of(cdk.Stack.of(self), "glue", "job", job_ref(self.resource))

    @checked
    def grant_start_run(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a role or a function start, watch and stop runs of this job; return the grant.

        A run that is started so is not a part of a run of the workflow: no trigger follows it.
        """
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=list(START_RUNS), resource_arns=[self.job_arn]
        )

    def metric(self, name: str, kind: glue.MetricType, **options: Any) -> cloudwatch.Metric:
        """Return a metric of the job by Glue, such as `glue.ALL.s3.filesystem.read_bytes`.

        Args:
            name: its name; the job publishes it if the stage has `metrics`.
            kind: gauge or count.
            options: those of `cloudwatch.Metric`: statistic, period, label.

        Source: https://docs.aws.amazon.com/glue/latest/dg/monitoring-awsglue-with-cloudwatch-metrics.html
        """
        return self._as_cdk_job.metric(name, kind, **options)

    def metric_success(self, **options: Any) -> cloudwatch.Metric:
        """Return how many runs have SUCCEEDED, counted by a rule of EventBridge.

        Args:
            options: those of `cloudwatch.Metric`: statistic, period, label.
        """
        return self._as_cdk_job.metric_success(**options)

    def metric_failure(self, **options: Any) -> cloudwatch.Metric:
        """Return how many runs have FAILED, as `metric_success` does."""
        return self._as_cdk_job.metric_failure(**options)

    def metric_timeout(self, **options: Any) -> cloudwatch.Metric:
        """Return how many runs have ended with TIMEOUT, as `metric_success` does."""
        return self._as_cdk_job.metric_timeout(**options)

    @cached_property
    def _as_cdk_job(self) -> glue.IJob:
        return glue.Job.from_job_attributes(
            self, "Job", job_name=job_ref(self.resource), role=self.role
        )

    @property
    def output(self) -> Dataset:
        """Return the one dataset that the job writes.

        Raises:
            JobDefinitionError: it writes no dataset, or several.
        """
        if len(self.writes) != 1:
            raise JobDefinitionError(
                f"job '{self.name}' writes {len(self.writes)} datasets, so its output is not one; "
                "pass the dataset that you mean instead of the job"
            )
        return self.writes[0]

    def run_arguments(self, arguments: Mapping[str, Argument]) -> dict[str, str]:
        """Return the arguments of a trigger for a run of this job, dashed name to value.

        Raises:
            JobDefinitionError: the job cannot have an argument, or its value is data that the job
                neither reads nor writes.
        """
        for name in arguments:
            if f"--{name}" in self._fixed:
                raise JobDefinitionError(
                    f"job '{self.name}' is started with the argument {name!r}, which is in "
                    "non_overridable of its options; allowed: others; take it out of one of the two"
                )
        opened = check_open_strings(f"job '{self.name}' is started with the argument", arguments)
        return self._rendered(opened)

    def _rendered(self, arguments: Mapping[str, object]) -> dict[str, str]:
        """Return arguments in Glue's form: outputs of jobs, contracts and audits of data."""
        held = held_by(self.reads, self.writes)
        told = with_contracts(_with_outputs(arguments), held, self._text)
        told = with_audits(told, self.writes)
        return render_arguments(self.name, told, self._data, self._taken)

    def _notification(self, timeout_minutes: int) -> glue.CfnJob.NotificationPropertyProperty:
        """Make Glue emit an event for a run that takes longer."""
        return glue.CfnJob.NotificationPropertyProperty(
            notify_delay_after=self.options.notify_after_minutes or max(1, timeout_minutes // 2)
        )

    def _create(self, python_version: str, **own: Any) -> None:
        """Create the resource, of what jobs of every kind have and the properties of this kind."""
        names = self._connections
        resource = glue.CfnJob(
            self,
            "Resource",
            name=self.name,
            description=self.options.description,
            role=role_arn(self.role),
            command=glue.CfnJob.JobCommandProperty(
                name=self._command, python_version=python_version, script_location=self._script
            ),
            default_arguments={k: v for k, v in self._arguments.items() if k not in self._fixed},
            non_overridable_arguments=self._fixed or None,
            connections=glue.CfnJob.ConnectionsListProperty(connections=names) if names else None,
            security_configuration=self._shared.security.configuration_name,
            execution_property=glue.CfnJob.ExecutionPropertyProperty(
                max_concurrent_runs=self.options.max_concurrent_runs
            ),
            max_retries=self.runtime.max_retries,
            timeout=self.runtime.timeout_minutes,
            **own,
        )
        self._complete(resource)

    def _complete(self, resource: glue.CfnJob) -> None:
        """Add to the resource everything outside its properties, and its dependents."""
        self.resource = resource
        security, names = self._shared.security, self._connections
        declare(
            self._shared.stack,
            resource,
            {
                "Role": role_arn(self.role),
                "SecurityConfiguration": security.configuration_name,
                "Command": {"ScriptLocation": self._script},
                "DefaultArguments": granting(self._arguments),
                **({"Connections": {"Connections": names}} if names else {}),
            },
        )
        for group in self.logs.groups:  # a run would create them
            resource.add_resource_dependency(group)
        for rule in () if security.is_made else ("AwsSolutions-GL1", "AwsSolutions-GL3"):
            explain(resource, rule, EXISTING)
        self._granted.attach(resource)
        resource.add_metadata(METADATA, self._metadata)
        self.lake_formation = grant_in_lake_formation(self, self.role, self.tables, self.writes)
        for granted in self.lake_formation.values():
            resource.add_resource_dependency(granted)
        for tag, value in self.options.tags.items():
            cdk.Tags.of(self).add(tag, value)


def inputs_of(props: JobProps) -> tuple[Dataset, ...]:
    """Return the data that a job reads: declared data, and outputs of jobs in its arguments."""
    given = (props["arguments"] or {}).values()
    taken_over = [job.output for job in given if isinstance(job, GlueJob)]
    return tuple(dict.fromkeys((*props["reads"], *taken_over)))


def _with_outputs(arguments: Mapping[str, object]) -> dict[str, str | Dataset]:
    """Return arguments with jobs replaced by their outputs."""
    return {
        key: value if isinstance(value, str | Dataset) else cast(HasOutput, value).output
        for key, value in arguments.items()
    }
