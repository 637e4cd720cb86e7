"""Permissions of a crawler: IAM statements derived from its targets, on plain ARNs and names.

Source: https://docs.aws.amazon.com/glue/latest/dg/crawler-prereqs.html (a scoped down version of
the managed policy AWSGlueServiceRole, and the data)
"""

from collections.abc import Sequence
from functools import partial

import aws_cdk as cdk

from tidemark.constructs.catalog import permissions
from tidemark.constructs.jobs.permissions import Statement, allow
from tidemark.constructs.references import arn_of

LOGS = "/aws-glue/crawlers-role"  # the prefix for crawlers with a security configuration
READ = [*permissions.READ, "glue:GetTables"]
WRITE = [
    "glue:BatchCreatePartition",
    "glue:BatchUpdatePartition",
    "glue:CreatePartition",
    "glue:CreateTable",
    "glue:UpdatePartition",
    "glue:UpdateTable",
]
DELETE = ["glue:BatchDeletePartition", "glue:BatchDeleteTable"]
DELETE += ["glue:DeletePartition", "glue:DeleteTable"]


def groups_of(security: str) -> str:
    """Return the log groups of crawlers with a security configuration, for a policy.

    Glue names the group after the role, which the role's own policy cannot name, and ends the name
    with the security configuration. Each pipeline creates its own one. In policies a name ends
    in `:*`.
    Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_LogGroup.html
    """
    return f"{LOGS}/*-{security}:*"


def write_catalog(
    stack: cdk.Stack, database: str, tables: Sequence[str], *, may_delete: bool
) -> list[Statement]:
    """Return the permission to read one database, and to write some of its tables.

    Args:
        stack: account and region.
        database: its name.
        tables: names of tables; a `*` at the end matches any string.
        may_delete: whether it may delete tables and partitions whose data is gone.
    """
    arn = partial(arn_of, stack, "glue")
    around = [arn("catalog"), arn("database", database)]
    written = [*WRITE, *(DELETE if may_delete else [])]
    return [
        allow(READ, [*around, arn("table", f"{database}/*")]),
        allow(written, [*around, *(arn("table", f"{database}/{table}") for table in tables)]),
    ]


def locate_buckets(bucket_arns: Sequence[str]) -> list[Statement]:
    """Return the permission to get the location of buckets, as in the managed policy, if any."""
    return [allow(["s3:GetBucketLocation"], bucket_arns)] if bucket_arns else []


def scan_tables(stack: cdk.Stack, tables: Sequence[str]) -> list[Statement]:
    """Return the permission to read tables of DynamoDB, if any."""
    arns = [arn_of(stack, "dynamodb", "table", table) for table in tables]
    return [allow(["dynamodb:DescribeTable", "dynamodb:Scan"], arns)] if arns else []
