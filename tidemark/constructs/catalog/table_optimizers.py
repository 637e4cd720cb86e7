"""Creates the optimizers of a table of Iceberg, with one role for them.

Sources: https://docs.aws.amazon.com/glue/latest/dg/optimization-prerequisites.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-glue-tableoptimizer.html
"""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from constructs import Construct

from tidemark.constructs.catalog.databases import resource_of
from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.optimizers import (
    Compaction,
    Optimizer,
    OrphanFileDeletion,
    SnapshotRetention,
)
from tidemark.constructs.catalog.permissions import table_arns
from tidemark.constructs.catalog.table_use import IcebergUse
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.job_role import make_role
from tidemark.constructs.jobs.permissions import Statement, allow, use_data, use_data_keys
from tidemark.constructs.references import bucket_arn, bucket_key_arn, log_group_arn

# Of AWS::Glue::TableOptimizer; the log groups have these names too, with hyphens.
TYPES: dict[type[Optimizer], str] = {
    Compaction: "compaction",
    SnapshotRetention: "retention",
    OrphanFileDeletion: "orphan_file_deletion",
}
Made = glue.CfnTableOptimizer


class TableOptimizers(Construct):
    """Creates the optimizers of a table that exists.

    For one that does not AWS answers EntityNotFoundException, and the deployment fails.
    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateTableOptimizer.html
    """

    def __init__(self, scope: Construct, id_: str, *, data: Dataset, table: IcebergTable) -> None:
        """Declare them.

        Args:
            scope: the construct that owns them.
            id_: construct id.
            data: the data of the table.
            table: the table.
        """
        super().__init__(scope, id_)
        stack = cdk.Stack.of(self)
        statements = optimizer_statements(stack, data, table)
        role = make_role(self, table.full_name, statements, stack, "optimizer of the table")
        database = resource_of(table.database)
        for optimizer in table.optimizers:
            made = Made(
                self,
                type(optimizer).__name__,
                catalog_id=stack.account,
                database_name=table.database_name,
                table_name=table.name,
                type=TYPES[type(optimizer)],
                table_optimizer_configuration=Made.TableOptimizerConfigurationProperty(
                    enabled=True, role_arn=role.role_arn, **_settings(optimizer)
                ),
            )
            made.node.add_dependency(role)
            if database is not None:
                made.add_resource_dependency(database)


def optimizer_statements(stack: cdk.Stack, data: Dataset, table: IcebergTable) -> list[Statement]:
    """Return the permissions of the optimizers of a table: on it, its folder and their logs."""
    # "The orphan file deletion optimizer doesn't require the glue:updateTable or s3:putObject
    # permissions."
    writes = any(not isinstance(optimizer, OrphanFileDeletion) for optimizer in table.optimizers)
    place = (bucket_arn(data.bucket), data.prefix)
    files = use_data([], [place]) if writes else use_data([place], [])
    deletes = [] if writes else [allow(["s3:DeleteObject"], [f"{place[0]}/{place[1]}*"])]
    key = bucket_key_arn(data.bucket)
    kinds = [TYPES[type(optimizer)].replace("_", "-") for optimizer in table.optimizers]
    return [
        *files,
        *deletes,
        *use_data_keys([key] if key else [], may_write=writes),
        allow(
            ["glue:GetTable", *(["glue:UpdateTable"] if writes else [])],
            table_arns(stack, [IcebergUse(table.full_name)]),
        ),
        allow(
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
            [log_group_arn(stack, f"/aws-glue/iceberg-{kind}/logs:*") for kind in kinds],
        ),
    ]


def _settings(optimizer: Optimizer) -> dict[str, Any]:
    """Return the settings that differ from AWS's, in the form of CloudFormation."""
    values = {name: value for name, value in vars(optimizer).items() if value is not None}
    if not values:
        return {}
    match optimizer:
        case Compaction():
            settings = Made.IcebergCompactionConfigurationProperty(**values)
            configuration: Any = Made.CompactionConfigurationProperty(
                iceberg_configuration=settings
            )
            return {"compaction_configuration": configuration}
        case SnapshotRetention(days=days, snapshots=snapshots, clean_expired_files=cleans):
            kept = Made.IcebergRetentionConfigurationProperty(
                snapshot_retention_period_in_days=days,
                number_of_snapshots_to_retain=snapshots,
                clean_expired_files=cleans,
            )
            configuration = Made.RetentionConfigurationProperty(iceberg_configuration=kept)
            return {"retention_configuration": configuration}
    orphans = Made.IcebergConfigurationProperty(orphan_file_retention_period_in_days=optimizer.days)
    configuration = Made.OrphanFileDeletionConfigurationProperty(iceberg_configuration=orphans)
    return {"orphan_file_deletion_configuration": configuration}
