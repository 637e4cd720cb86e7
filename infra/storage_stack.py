"""What must survive every deployment: watermarks, data and its catalog."""

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3 as s3
from constructs import Construct

from tidemark.constructs.governance import apply_to_all
from tidemark.constructs.lake_bucket import AccessLogBucket, LakeBucket
from tidemark.constructs.security.security import StageKey
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.stage.config import StageConfig

REPLACED_DAYS = 90  # how long a delivery that was replaced or deleted can be had back


class StorageStack(cdk.Stack):
    """Creates the key, the watermark table, the buckets of the lake and its database; all are kept.

    Names and ARNs are exported whether or not a pipeline uses them: CloudFormation refuses to
    drop an export that a deployed stack still imports, so a job could not be removed otherwise.

    Attributes:
        key: the KMS key of the stage.
        landing: what others deliver, as they deliver it; replaced files are kept for 90 days.
        raw: increments, as they were read.
        curated: one row per key, joined and corrected.
        mart: what people query.
        watermarks: the watermark table.
        database: the catalog database `tidemark_<stage>`.
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
        apply_to_all(self, stage)
        self.key = StageKey(self, "Key", stage=stage).key
        self._access_logs = AccessLogBucket(self, "AccessLogs")
        # Nobody here can make again what was delivered.
        self.landing = self._bucket("Landing", keep_replaced_days=REPLACED_DAYS)
        self.raw = self._bucket("Raw")
        self.curated = self._bucket("Curated")
        self.mart = self._bucket("Mart")
        self.watermarks = WatermarkTable(self, "Watermarks")
        self.database = glue.CfnDatabase(
            self,
            "Database",
            catalog_id=self.account,
            database_input=glue.CfnDatabase.DatabaseInputProperty(
                name=stage.name_of().replace("-", "_"),
                description="Tables of the Tidemark pipelines",
            ),
        )
        self.database.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        table = self.watermarks.table
        self._export(table.table_name, table.table_arn)
        self.export_value(self.key.key_arn)
        cdk.CfnOutput(self, "WatermarkTableName", value=table.table_name)
        cdk.CfnOutput(self, "DatabaseName", value=self.database.ref)

    def _bucket(self, id_: str, *, keep_replaced_days: int = 0) -> s3.Bucket:
        """Return a bucket of the lake and put its name into the outputs."""
        bucket = LakeBucket(
            self,
            id_,
            key=self.key,
            access_logs=self._access_logs,
            keep_replaced_days=keep_replaced_days,
        )
        self._export(bucket.bucket_name, bucket.bucket_arn)
        cdk.CfnOutput(self, f"{id_}BucketName", value=bucket.bucket_name)
        return bucket

    def _export(self, name: str, arn: str) -> None:
        """Keep the exports that pipelines import, whoever imports them today."""
        self.export_value(name)
        self.export_value(arn)
