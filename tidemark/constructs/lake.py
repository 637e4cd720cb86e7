"""A lake: the resources that must survive every deployment, in one construct."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from tidemark.constructs import shared_checks
from tidemark.constructs.catalog.databases import ALLOWED, Database, check_database, reference_of
from tidemark.constructs.governance import apply_to_all, protect_stack
from tidemark.constructs.lake_bucket import LOGS_BY_POLICY, AccessLogBucket, LakeBucket
from tidemark.constructs.security.security import StageKey
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked
from tidemark.model.stage.config import StageConfig

DATABASE = re.compile(r"[a-z0-9_-]{1,255}")
REPLACED_DAYS = 90  # how long a replaced or deleted delivery can be restored


@checked
@dataclass(frozen=True)
class ExistingBuckets:
    """The existing buckets of a lake; the lake creates those that are None.

    Import a bucket together with its own KMS key, or jobs may not use the key:
    `s3.Bucket.from_bucket_attributes(..., encryption_key=key)`.

    Attributes:
        landing: files as others deliver them.
        raw: increments, as they were read.
        curated: one row per key.
        mart: data for queries.

    Raises:
        JobDefinitionError: one of them is not a bucket.
    """

    landing: s3.IBucket | None = None
    raw: s3.IBucket | None = None
    curated: s3.IBucket | None = None
    mart: s3.IBucket | None = None


@checked
class Lake(Construct):
    """Creates the key, the watermark table, the buckets of a lake and its database; all are kept.

    Pass existing resources to use them instead.

    Attributes:
        key: the KMS key of the stage.
        landing: files as others deliver them; replaced files are kept for 90 days.
        raw: increments, as they were read.
        curated: one row per key, joined and corrected.
        mart: data for queries.
        watermarks: the watermark table.
        database: the catalog database `<name prefix>_<stage>`; None if another one is used.
        database_name: its name, or that of the other one.
        catalog_database: the database for `Table(database=)` and `add_crawler(database=)`: the
            lake's own resource, so that tables and crawlers are created after it, or the other one.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: StageConfig,
        watermarks: WatermarkTable | None = None,
        key: kms.IKey | None = None,
        buckets: ExistingBuckets | None = None,
        database: Database | None = None,
    ) -> None:
        """Declare it.

        Args:
            scope: the construct that owns the lake.
            id_: construct id.
            stage: names the key and the database.
            watermarks: an existing table; None creates `glue-watermarks`.
            key: an existing key, for new buckets and for pipelines.
            buckets: existing buckets.
            database: an existing catalog database, or its name.

        Raises:
            JobDefinitionError: an argument is not valid.
        """
        shared_checks.check_no_alias("the lake", key)
        if isinstance(database, str) and not DATABASE.fullmatch(database):
            raise JobDefinitionError(
                f"the lake has database {database!r}; allowed: None, {ALLOWED}, of lower case "
                "letters, digits, _ -; correct database="
            )
        shared_checks.check_free(scope, id_, "the lake")
        stack = cdk.Stack.of(scope)
        shared_checks.check_stage_is_here("the lake", stack, stage)
        if key is not None:
            shared_checks.check_here("the lake", stack, "key", key, kinds=shared_checks.KEY_PLACES)
        if database is not None:
            check_database("the lake", stack, database)
        super().__init__(scope, id_)
        self.node.set_context(LOGS_BY_POLICY, True)
        apply_to_all(self, stage)
        protect_stack(self, stage)
        self.key: kms.IKey = key or StageKey(self, "Key", stage=stage).key
        there = buckets or ExistingBuckets()
        # Delivered files cannot be created again here.
        self.landing = there.landing or self._bucket("Landing", keep_replaced_days=REPLACED_DAYS)
        self.raw = there.raw or self._bucket("Raw")
        self.curated = there.curated or self._bucket("Curated")
        self.mart = there.mart or self._bucket("Mart")
        self.watermarks = watermarks or WatermarkTable(self, "Watermarks")
        self.database = self._database(stage) if database is None else None
        self.catalog_database: Database = database or cast(Database, self.database)
        self.database_name = reference_of(self.catalog_database)

    @property
    def buckets(self) -> dict[str, s3.IBucket]:
        """Return the four buckets of data by purpose: Landing, Raw, Curated, Mart."""
        names = ("Landing", "Raw", "Curated", "Mart")
        return dict(zip(names, (self.landing, self.raw, self.curated, self.mart), strict=True))

    @cached_property
    def _access_logs(self) -> AccessLogBucket:
        return AccessLogBucket(self, "AccessLogs")

    def _bucket(self, id_: str, *, keep_replaced_days: int = 0) -> LakeBucket:
        return LakeBucket(
            self,
            id_,
            key=self.key,
            access_logs=self._access_logs,
            keep_replaced_days=keep_replaced_days,
        )

    def _database(self, stage: StageConfig) -> glue.CfnDatabase:
        database = glue.CfnDatabase(
            self,
            "Database",
            catalog_id=cdk.Stack.of(self).account,
            database_input=glue.CfnDatabase.DatabaseInputProperty(
                name=stage.name_of().replace("-", "_"),
                description="Tables of the Tidemark pipelines",
            ),
        )
        database.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        return database
