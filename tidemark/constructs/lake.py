"""A lake: what must survive every deployment, in one construct."""

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from constructs import Construct

from tidemark.constructs.governance import apply_to_all
from tidemark.constructs.lake_bucket import AccessLogBucket, LakeBucket
from tidemark.constructs.security.security import StageKey
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.stage.config import StageConfig

REPLACED_DAYS = 90  # how long a delivery that was replaced or deleted can be had back


class Lake(Construct):
    """Creates the key, the watermark table, the buckets of a lake and its database; all are kept.

    Attributes:
        key: the KMS key of the stage.
        landing: what others deliver, as they deliver it; replaced files are kept for 90 days.
        raw: increments, as they were read.
        curated: one row per key, joined and corrected.
        mart: what people query.
        watermarks: the watermark table.
        database: the catalog database `<name prefix>_<stage>`.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: StageConfig,
        watermarks: WatermarkTable | None = None,
    ) -> None:
        """Declare it.

        Args:
            scope: the construct that owns the lake.
            id_: construct id.
            stage: names the key and the database.
            watermarks: a table that is there already; None makes `glue-watermarks`.
        """
        super().__init__(scope, id_)
        apply_to_all(self, stage)
        self.key = StageKey(self, "Key", stage=stage).key
        self._access_logs = AccessLogBucket(self, "AccessLogs")
        # No one here can make again what was delivered.
        self.landing = self._bucket("Landing", keep_replaced_days=REPLACED_DAYS)
        self.raw = self._bucket("Raw")
        self.curated = self._bucket("Curated")
        self.mart = self._bucket("Mart")
        self.watermarks = watermarks or WatermarkTable(self, "Watermarks")
        self.database = glue.CfnDatabase(
            self,
            "Database",
            catalog_id=cdk.Stack.of(self).account,
            database_input=glue.CfnDatabase.DatabaseInputProperty(
                name=stage.name_of().replace("-", "_"),
                description="Tables of the Tidemark pipelines",
            ),
        )
        self.database.apply_removal_policy(cdk.RemovalPolicy.RETAIN)

    @property
    def buckets(self) -> dict[str, LakeBucket]:
        """Return the four buckets of data, by what they are for: Landing, Raw, Curated, Mart."""
        names = ("Landing", "Raw", "Curated", "Mart")
        return dict(zip(names, (self.landing, self.raw, self.curated, self.mart), strict=True))

    def _bucket(self, id_: str, *, keep_replaced_days: int = 0) -> LakeBucket:
        return LakeBucket(
            self,
            id_,
            key=self.key,
            access_logs=self._access_logs,
            keep_replaced_days=keep_replaced_days,
        )
