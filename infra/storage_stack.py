"""What must survive every deployment: watermarks, data and its catalog."""

import aws_cdk as cdk
from constructs import Construct

from tidemark.constructs import Lake, StageConfig


class StorageStack(cdk.Stack):
    """Creates the lake of the stage; it is kept when the stack goes.

    Names and ARNs are exported whether or not a pipeline uses them: CloudFormation refuses to
    drop an export that a deployed stack still imports, so a job could not be removed otherwise.

    Attributes:
        lake: the key, the watermark table, the buckets and the database.
    """

    def __init__(
        self, scope: Construct, id_: str, *, stage: StageConfig, env: cdk.Environment
    ) -> None:
        super().__init__(
            scope,
            id_,
            env=env,
            termination_protection=stage.termination_protection,
            description=f"Tidemark {stage.name}: watermarks and data, kept when the stack goes",
        )
        self.lake = lake = Lake(self, "Default", stage=stage)  # an id that is in no other id
        for name, bucket in lake.buckets.items():
            self._export(bucket.bucket_name, bucket.bucket_arn)
            cdk.CfnOutput(self, f"{name}BucketName", value=bucket.bucket_name)
        table = lake.watermarks.table
        self._export(table.table_name, table.table_arn)
        self.export_value(lake.key.key_arn)
        cdk.CfnOutput(self, "WatermarkTableName", value=table.table_name)
        cdk.CfnOutput(self, "DatabaseName", value=lake.database_name)

    def _export(self, name: str, arn: str) -> None:
        """Keep the exports that pipelines import, whoever imports them today."""
        self.export_value(name)
        self.export_value(arn)
