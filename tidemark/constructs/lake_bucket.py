"""The buckets of a lake: private, encrypted, logged, kept when their stack is deleted."""

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from tidemark.constructs.security.explanations import explain_to_standards, skip_checkov
from tidemark.constructs.shared_checks import KEY_PLACES, check_here, check_no_alias
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong

LOGS_BY_POLICY = "@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy"
ACCESS_LOG_DAYS = 365
MAX_DAYS = 36_500  # a century
# Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html
ONLY_OWN_KEYS = (
    "S3 delivers access logs to no bucket whose default encryption is by KMS; it encrypts them "
    "with its own keys"
)
ONLY_ADDED = "S3 only adds to it, and what is in it is deleted after a year"
LOGS_IN_ONE_REGION = (
    "access logs are a help for a year; where they are evidence, the trail of the organization "
    "holds data events of S3 in an account of its own"
)
MADE_AGAIN = (
    "jobs make again what is in it from what was delivered; who keeps it as the record of a source "
    "that forgets passes a bucket with versions and replication, ExistingBuckets(raw=...)"
)
DELIVERED_IN_ONE_REGION = (
    "what was delivered is kept in three zones, and for a while what was replaced; a copy in "
    "another Region is a decision on where data may be: who wants one passes a bucket with "
    "replication, ExistingBuckets(landing=...)"
)
UNVERSIONED = (
    "jobs replace what they wrote, which can be made again from what was delivered; versions would "
    "keep every replaced file"
)


class AccessLogBucket(s3.Bucket):
    """Creates the bucket for the access logs of others; a log is deleted after a year."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(
            scope,
            id_,
            encryption=s3.BucketEncryption.S3_MANAGED,  # the only one that S3 supports for its logs
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[s3.LifecycleRule(expiration=cdk.Duration.days(ACCESS_LOG_DAYS))],
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        skip_checkov(self, CKV_AWS_18="a log of the log would need a log", CKV_AWS_21=ONLY_ADDED)
        explain_to_standards(
            cdk.Stack.of(self),
            self,
            S3BucketReplicationEnabled=LOGS_IN_ONE_REGION,
            S3BucketVersioningEnabled=ONLY_ADDED,
            S3DefaultEncryptionKMS=ONLY_OWN_KEYS,
        )


@checked
class LakeBucket(s3.Bucket):
    """Creates a bucket for datasets: private, encrypted with one key, logged, kept."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        key: kms.IKey,
        access_logs: s3.IBucket,
        keep_replaced_days: int = 0,
    ) -> None:
        """Declare it.

        Args:
            scope: the construct that owns the bucket.
            id_: construct id; in lower case also the prefix of its access logs.
            key: the key that encrypts its objects.
            access_logs: the bucket for its access logs.
            keep_replaced_days: how long a replaced or deleted object can be restored;
                0 keeps none. Useful for data that cannot be created again here.

        Raises:
            JobDefinitionError: an argument is not valid.
        """
        of = f"the bucket {id_!r}"
        check_no_alias(of, key)
        check_here(of, cdk.Stack.of(scope), "key", key, kinds=KEY_PLACES)
        if not 0 <= keep_replaced_days <= MAX_DAYS:
            allowed = f"an integer from 0 to {MAX_DAYS}"
            raise wrong(of, "keep_replaced_days", keep_replaced_days, allowed, "pass one")
        if not cdk.FeatureFlags.of(scope).is_enabled(LOGS_BY_POLICY):
            raise JobDefinitionError(
                f"{of} lets S3 write its access logs by a policy, but the app has not set the "
                f"feature flag {LOGS_BY_POLICY}; allowed: true, as `cdk init` has it; set it in "
                "the context of cdk.json"
            )
        kept = s3.LifecycleRule(noncurrent_version_expiration=cdk.Duration.days(keep_replaced_days))
        super().__init__(
            scope,
            id_,
            encryption=s3.BucketEncryption.KMS,
            encryption_key=key,
            bucket_key_enabled=True,  # a request to KMS per folder instead of one per object
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            server_access_logs_bucket=access_logs,
            server_access_logs_prefix=f"{id_.lower()}/",
            versioned=bool(keep_replaced_days),
            lifecycle_rules=[kept] if keep_replaced_days else None,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        reasons = {"S3BucketReplicationEnabled": DELIVERED_IN_ONE_REGION}
        if not keep_replaced_days:
            skip_checkov(self, CKV_AWS_21=UNVERSIONED)
            reasons = {
                "S3BucketReplicationEnabled": MADE_AGAIN,
                "S3BucketVersioningEnabled": UNVERSIONED,
            }
        explain_to_standards(cdk.Stack.of(self), self, **reasons)
