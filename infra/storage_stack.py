"""What must survive every deployment: watermarks, data and its catalog."""

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.config import StageConfig
from infra.explanations import skip_checkov
from infra.governance import apply_to_all
from infra.security import StageKey
from infra.watermark_table import WatermarkTable

ACCESS_LOG_DAYS = 365
REPLACED_DAYS = 90  # how long a delivery that was replaced or deleted can be had back
UNVERSIONED = (
    "jobs replace what they wrote, which can be made again from what was delivered; versions would "
    "keep every replaced file"
)


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
        self.key = StageKey(self, "Key", stage_name=stage.name).key
        self._access_logs = s3.Bucket(
            self,
            "AccessLogs",
            encryption=s3.BucketEncryption.S3_MANAGED,  # the only one that S3 writes its logs with
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[s3.LifecycleRule(expiration=cdk.Duration.days(ACCESS_LOG_DAYS))],
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        skip_checkov(
            self._access_logs,
            CKV_AWS_18="a log of the log would need a log",
            CKV_AWS_21="S3 only adds to it, and what is in it is deleted after a year",
        )
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
                name=f"tidemark_{stage.name}", description="Tables of the Tidemark pipelines"
            ),
        )
        self.database.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        table = self.watermarks.table
        self._export(table.table_name, table.table_arn)
        self.export_value(self.key.key_arn)
        cdk.CfnOutput(self, "WatermarkTableName", value=table.table_name)
        cdk.CfnOutput(self, "DatabaseName", value=self.database.ref)

    def _bucket(self, id_: str, *, keep_replaced_days: int = 0) -> s3.Bucket:
        """Return a private, encrypted, logged bucket and put its name into the outputs."""
        versions = s3.LifecycleRule(
            noncurrent_version_expiration=cdk.Duration.days(keep_replaced_days),
        )
        bucket = s3.Bucket(
            self,
            id_,
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self.key,
            bucket_key_enabled=True,  # a request to KMS per folder instead of one per object
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            server_access_logs_bucket=self._access_logs,
            server_access_logs_prefix=f"{id_.lower()}/",
            versioned=bool(keep_replaced_days),
            lifecycle_rules=[versions] if keep_replaced_days else None,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        if not keep_replaced_days:
            skip_checkov(bucket, CKV_AWS_21=UNVERSIONED)
        self._export(bucket.bucket_name, bucket.bucket_arn)
        cdk.CfnOutput(self, f"{id_}BucketName", value=bucket.bucket_name)
        return bucket

    def _export(self, name: str, arn: str) -> None:
        """Keep the exports that pipelines import, whoever imports them today."""
        self.export_value(name)
        self.export_value(arn)
