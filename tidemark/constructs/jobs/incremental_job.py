"""One Glue job: its script, its role, its arguments."""

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeAlias

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from tidemark.assembly.glue_versions import GLUE_VERSIONS
from tidemark.assembly.resources import METADATA
from tidemark.checks.plain_secrets import NotSecret, check_open_texts, reasons
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs import permissions
from tidemark.constructs.jobs.conditions import Condition, JobState
from tidemark.constructs.jobs.connections import (
    Connection,
    connections_of,
    installer_options,
)
from tidemark.constructs.jobs.job_arguments import construct_arguments, render_arguments
from tidemark.constructs.jobs.job_checks import (
    check_list,
    check_name,
    check_reason,
    check_script,
    check_type,
    check_uses,
)
from tidemark.constructs.jobs.job_role import make_role
from tidemark.constructs.jobs.shared_parts import SharedParts
from tidemark.constructs.security.security import JobLogs
from tidemark.errors import JobDefinitionError
from tidemark.stage.runtime import JobRuntime


class BookmarkOption(Enum):
    """What Glue does with the bookmark of a job; the values of `--job-bookmark-option`."""

    ENABLE = "job-bookmark-enable"
    DISABLE = "job-bookmark-disable"
    PAUSE = "job-bookmark-pause"


class RunProperties(Enum):
    """What a job may do with the run properties of its workflow."""

    READ = "read"
    READ_AND_PUT = "read and put"


class IncrementalJob(Construct):
    """Creates a Glue job and a role that allows what the job declares, and nothing else.

    Attributes:
        name: the Glue job name, by which its bookmark and its watermarks are kept.
        role: the role the job runs with.
        logs: its log groups.
        resource: the job itself.
        runtime: what the job runs on.
        bookmark: whether Glue keeps a bookmark for the job.
        has_watermarks: whether the job keeps watermarks.
        reads: data the job reads.
        writes: data the job writes.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        script: Path,
        shared: SharedParts,
        runtime: JobRuntime,
        bookmark: BookmarkOption,
        watermark: bool = False,
        reads: Sequence[Dataset] = (),
        writes: Sequence[Dataset] = (),
        arguments: "Mapping[str, Argument] | None" = None,
        tables: Sequence[str] = (),
        temp: Dataset | None = None,
        python_modules: Sequence[str] = (),
        connections: Sequence[Connection] | None = None,
        secrets: Sequence[str] = (),
        run_properties: RunProperties | None = None,
    ) -> None:
        """Declare the job.

        Args:
            scope: the construct that owns the job.
            id_: construct id; renaming it replaces the role, not the job.
            name: Glue job name in kebab case; renaming it loses bookmark and watermarks.
            script: the Python file that Glue runs.
            shared: what the job has in common with the others of its pipeline.
            runtime: Glue version, workers, timeout and retries.
            bookmark: whether Glue keeps a bookmark for the job.
            watermark: True gives the job its own rows of the watermark table, whose name the
                script gets as `watermark_table`.
            reads: data the job takes as its input, and may list and read.
            writes: data the job may list, read, write and replace. A job that merges into its
                target names that here only: a target in `reads` too would be its own input.
            arguments: argument name, without dashes, to what the script gets as text: a text, the
                URI of a dataset, or the URI of what another job writes. `NotSecret(text, reason)`
                is a text that would be refused as a secret in the open.
            tables: tables of the Data Catalog that the job may read, each as `database.table`;
                their data is declared in `reads`.
            temp: data the job may write while it runs; the script gets it as `TempDir`.
            python_modules: packages that Glue installs, each with its version,
                `pyarrow==21.0.0`, or wheels in S3, which the job may read.
            connections: Glue connections, by name or as constructs of the app; the job joins
                their network, and may read the secret that one made in the app names. None: those
                of the stage; an empty list: none, which a stage with `vpcOnly` refuses.
            secrets: names of secrets in Secrets Manager that the job may read. The policy of a
                key of their own must allow the job's role to decrypt.
            run_properties: whether the job may read, or also put, those of its workflow.

        Raises:
            JobDefinitionError: something of this cannot be deployed.
        """
        _check(name, script, bookmark, watermark=watermark)
        if watermark and shared.watermarks is None:
            raise JobDefinitionError(
                f"job '{name}' keeps a watermark, and its pipeline has no table for them; pass "
                "watermarks= to the pipeline"
            )
        check_list(name, "reads", reads, Dataset, "Dataset")
        check_list(name, "writes", writes, Dataset, "Dataset")
        check_type(name, "arguments", arguments or {}, Mapping, "a dict of names to values")
        opened = check_open_texts(f"job '{name}' has the argument", arguments or {})
        check_type(name, "runtime", runtime, JobRuntime, "a JobRuntime")
        check_script(name, shared.root, script, GLUE_VERSIONS[runtime.glue_version].python)
        check_type(name, "temp", temp, Dataset | None, "a Dataset")
        permitted = ", ".join(f"RunProperties.{option.name}" for option in RunProperties)
        check_type(name, "run_properties", run_properties, RunProperties | None, permitted)
        check_uses(
            name,
            tables=tables,
            python_modules=python_modules,
            secrets=secrets,
        )
        joined = connections_of(name, connections, shared.network)
        secrets = tuple(dict.fromkeys((*secrets, *joined.secrets)))
        super().__init__(scope, id_)
        self.name = name
        self.runtime = runtime
        self.bookmark = bookmark
        self.has_watermarks = watermark
        opened = {
            key: value.output if isinstance(value, IncrementalJob) else value
            for key, value in opened.items()
        }
        taken_over = [
            job.output for job in (arguments or {}).values() if isinstance(job, IncrementalJob)
        ]
        self.reads = tuple(dict.fromkeys((*reads, *taken_over)))
        self.writes = tuple(writes)
        table = shared.watermarks.table if watermark and shared.watermarks else None
        script_asset = assets.Asset(self, "Script", path=str(script))
        default_arguments = construct_arguments(
            bookmark=bookmark.value,
            libs_url=shared.libs.s3_object_url,
            log_group_prefix=shared.security.log_group_prefix,
            auto_scaling=runtime.auto_scaling,
            metrics=shared.metrics,
            python_modules=python_modules,
            temp=temp,
            watermark_table=table.table_name if table else None,
            installer_options=installer_options(name, python_modules, shared.network),
        )
        default_arguments |= render_arguments(
            name, opened, (*self.reads, *self.writes), default_arguments
        )
        may_put = run_properties is RunProperties.READ_AND_PUT
        stack = cdk.Stack.of(self)
        self.role = make_role(
            self,
            name,
            [
                *self._common(script_asset, shared),
                *self._data([*self.writes, temp] if temp else self.writes, shared),
                *permissions.read_wheels(stack, python_modules),
                *(permissions.put_metrics() if shared.metrics else []),
                *permissions.read_tables(stack, tables),
                *permissions.use_connections(stack, joined.names),
                *permissions.read_secrets(stack, secrets),
                *(
                    permissions.use_run_properties(stack, shared.workflow_name, may_put=may_put)
                    if run_properties
                    else []
                ),
            ],
        )
        self.logs = JobLogs(self, "Logs", security=shared.security, role_name=self.role.role_name)
        self.resource = self._resource(
            script_asset,
            shared,
            default_arguments,
            joined.names,
            reasons({f"--{key}": value for key, value in (arguments or {}).items()}),
        )

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

    def _common(self, script: assets.Asset, shared: SharedParts) -> list[permissions.Statement]:
        """Return what a job needs whatever it declares, and its own watermarks."""
        watermarks = shared.watermarks if self.has_watermarks else None
        return [
            *permissions.read_objects(
                [a.bucket.arn_for_objects(a.s3_object_key) for a in (script, shared.libs)]
            ),
            *permissions.write_logs(cdk.Stack.of(self), shared.security.log_group_prefix),
            *permissions.use_key(shared.security.key_arn),
            *(
                permissions.use_watermarks(watermarks.table.table_arn, self.name)
                if watermarks
                else []
            ),
            *(permissions.use_key(watermarks.key.key_arn) if watermarks and watermarks.key else []),
        ]

    def _data(self, written: Sequence[Dataset], shared: SharedParts) -> list[permissions.Statement]:
        statements = permissions.use_data(
            [(data.bucket.bucket_arn, data.prefix) for data in self.reads],
            [(data.bucket.bucket_arn, data.prefix) for data in written],
        )
        for may_write, datasets in ((False, self.reads), (True, written)):
            used = [data.bucket.encryption_key for data in datasets]
            others = {key.key_arn for key in used if key} - {shared.security.key_arn}
            statements += permissions.use_data_keys(sorted(others), may_write=may_write)
        return statements

    def _resource(
        self,
        script: assets.Asset,
        shared: SharedParts,
        default_arguments: Mapping[str, str],
        connections: Sequence[str],
        not_secret: Mapping[str, str],
    ) -> glue.CfnJob:
        runtime = self.runtime
        resource = glue.CfnJob(
            self,
            "Resource",
            name=self.name,
            role=self.role.role_arn,
            glue_version=runtime.glue_version,
            command=glue.CfnJob.JobCommandProperty(
                name="glueetl", python_version="3", script_location=script.s3_object_url
            ),
            default_arguments=default_arguments,
            connections=(
                glue.CfnJob.ConnectionsListProperty(connections=list(connections))
                if connections
                else None
            ),
            execution_class="FLEX" if runtime.flex else "STANDARD",
            execution_property=glue.CfnJob.ExecutionPropertyProperty(max_concurrent_runs=1),
            # With a queue a second start waits; without one Glue refuses it.
            job_run_queuing_enabled=runtime.queues,
            max_retries=runtime.max_retries,
            # Glue tells EventBridge of a run that takes longer.
            notification_property=glue.CfnJob.NotificationPropertyProperty(
                notify_delay_after=max(1, runtime.timeout_minutes // 2)
            ),
            security_configuration=shared.security.configuration_name,
            timeout=runtime.timeout_minutes,
            worker_type=runtime.worker_type,
            number_of_workers=runtime.number_of_workers,
        )
        for group in self.logs.groups:  # a run would make them
            resource.add_resource_dependency(group)
        resource.add_metadata(
            METADATA,
            {
                "reads": [
                    {"uri": d.uri, **({"delivered": True} if d.delivered else {})}
                    for d in self.reads
                ],
                "writes": [
                    {"uri": d.uri, **({"published": True} if d.published else {})}
                    for d in self.writes
                ],
                "watermark": self.has_watermarks,
                **({"notSecret": not_secret} if not_secret else {}),
            },
        )
        return resource


Argument: TypeAlias = str | NotSecret | Dataset | IncrementalJob


def _check(name: str, script: Path, bookmark: object, *, watermark: object) -> None:
    """Raise unless the job can be known by its name, run its script and keep its state."""
    check_name("job", name)
    check_type(name, "script", script, Path, "the path of a Python file in the project")
    options = ", ".join(f"BookmarkOption.{option.name}" for option in BookmarkOption)
    check_type(name, "bookmark", bookmark, BookmarkOption, options)
    check_type(name, "watermark", watermark, bool, "True, False")
