"""One Glue job: its script, its role, its arguments."""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from infra import permissions
from infra.config import StageConfig
from infra.dataset import Dataset
from infra.errors import JobDefinitionError
from infra.watermark_table import WatermarkTable

GLUE_VERSION = "5.1"
JOB_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class BookmarkOption(Enum):
    """What Glue does with the bookmark of a job; the values of `--job-bookmark-option`."""

    ENABLE = "job-bookmark-enable"
    DISABLE = "job-bookmark-disable"
    PAUSE = "job-bookmark-pause"


class IncrementalJob(Construct):
    """Creates a Glue job and a role that allows what the job declares, and nothing else.

    Attributes:
        name: the Glue job name, by which its bookmark and its watermarks are kept.
        role: the role the job runs with.
        resource: the job itself.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        script: Path,
        libs: assets.Asset,
        stage: StageConfig,
        bookmark: BookmarkOption,
        reads: Sequence[Dataset] = (),
        writes: Sequence[Dataset] = (),
        arguments: Mapping[str, str] | None = None,
        watermarks: WatermarkTable | None = None,
        connection_name: str | None = None,
        secret_name: str | None = None,
        metrics: bool = False,
    ) -> None:
        """Declare the job.

        Args:
            scope: the construct that owns the job.
            id_: construct id; renaming it replaces the role, not the job.
            name: Glue job name in kebab case; renaming it loses bookmark and watermarks.
            script: the Python file that Glue runs.
            libs: the zip of shared packages put on the script's path.
            stage: worker type, number of workers and timeout.
            bookmark: whether Glue keeps a bookmark for the job.
            reads: data the job may list and read.
            writes: data the job may list, read, write and replace.
            arguments: argument name, without dashes, to the text the script gets.
            watermarks: the table in which the job keeps watermarks under its own name; the script
                gets its name as `watermark_table`. None: no access.
            connection_name: Glue connection whose network the job joins.
            secret_name: secret in Secrets Manager that the job may read.
            metrics: True publishes Glue's job metrics to CloudWatch.

        Raises:
            JobDefinitionError: name, script, bookmark or an argument name is not usable.
        """
        _check(name, script, bookmark)
        super().__init__(scope, id_)
        self.name = name
        script_asset = assets.Asset(self, "Script", path=str(script))
        default_arguments = {
            "--job-language": "python",
            "--job-bookmark-option": bookmark.value,
            "--extra-py-files": libs.s3_object_url,
            **({"--enable-metrics": "true"} if metrics else {}),
            **({"--watermark_table": watermarks.table.table_name} if watermarks else {}),
        }
        default_arguments |= _checked_arguments(name, arguments or {}, default_arguments)
        stack = cdk.Stack.of(self)
        statements = [
            *permissions.read_objects(
                [
                    asset.bucket.arn_for_objects(asset.s3_object_key)
                    for asset in (script_asset, libs)
                ]
            ),
            *permissions.write_logs(stack),
        ]
        for data in reads:
            statements += permissions.read_prefix(data.bucket.bucket_arn, data.prefix)
        for data in writes:
            statements += permissions.write_prefix(data.bucket.bucket_arn, data.prefix)
        if watermarks:
            statements += permissions.use_watermarks(watermarks.table.table_arn, name)
        if connection_name:
            statements += permissions.use_connection(stack, connection_name)
        if secret_name:
            statements += permissions.read_secret(stack, secret_name)
        if metrics:
            statements += permissions.put_metrics()
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("glue.amazonaws.com"),
            description=f"What the Glue job {name} may do",
            inline_policies={"job": iam.PolicyDocument(statements=statements)},
        )
        self.resource = glue.CfnJob(
            self,
            "Resource",
            name=name,
            role=self.role.role_arn,
            glue_version=GLUE_VERSION,
            command=glue.CfnJob.JobCommandProperty(
                name="glueetl", python_version="3", script_location=script_asset.s3_object_url
            ),
            default_arguments=default_arguments,
            connections=(
                glue.CfnJob.ConnectionsListProperty(connections=[connection_name])
                if connection_name
                else None
            ),
            execution_property=glue.CfnJob.ExecutionPropertyProperty(max_concurrent_runs=1),
            max_retries=0,
            timeout=stage.timeout_minutes,
            worker_type=stage.worker_type,
            number_of_workers=stage.number_of_workers,
        )


def _check(name: str, script: Path, bookmark: BookmarkOption) -> None:
    """Raise unless the job can be known by its name, run its script and keep its bookmark."""
    if not JOB_NAME.fullmatch(name):
        raise JobDefinitionError(
            f"job name {name!r} is not in kebab case; allowed: lower case letters, digits and "
            "single hyphens, a letter first; write it like 'ingest-orders'"
        )
    if not script.is_file():
        raise JobDefinitionError(
            f"job '{name}' has the script {str(script)!r}, which is not a file; "
            "create it, or correct the path in script="
        )
    if not isinstance(bookmark, BookmarkOption):
        raise JobDefinitionError(
            f"job '{name}' has bookmark {bookmark!r}; allowed: "
            f"{', '.join(f'BookmarkOption.{option.name}' for option in BookmarkOption)}; pass one"
        )


def _checked_arguments(
    name: str, arguments: Mapping[str, str], taken: Mapping[str, str]
) -> dict[str, str]:
    """Return the arguments as Glue wants them, or raise when one would replace our own."""
    dashed = {f"--{key}": value for key, value in arguments.items()}
    for key in dashed:
        if not re.fullmatch(r"--[A-Za-z]\w*", key) or key in taken:
            raise JobDefinitionError(
                f"job '{name}' has the argument {key[2:]!r}; allowed: letters, digits and _, a "
                "letter first, and none of the arguments the construct sets; rename it"
            )
    return dashed
