"""Permissions of a crawler: IAM statements derived from its targets, on plain ARNs and names.

Source: https://docs.aws.amazon.com/glue/latest/dg/crawler-prereqs.html (a scoped down version of
the managed policy AWSGlueServiceRole, and the data)
"""

from collections.abc import Sequence

import aws_cdk as cdk

from tidemark.constructs.jobs.permissions import Statement, allow

LOGS = "/aws-glue/crawlers-role"  # the prefix for crawlers with a security configuration
READ = [
    "glue:BatchGetPartition",
    "glue:GetDatabase",
    "glue:GetPartition",
    "glue:GetPartitions",
    "glue:GetTable",
    "glue:GetTables",
]
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
    catalog = stack.format_arn(service="glue", resource="catalog")
    parent = stack.format_arn(service="glue", resource="database", resource_name=database)

    def arn(table: str) -> str:
        return stack.format_arn(
            service="glue", resource="table", resource_name=f"{database}/{table}"
        )

    written = [*WRITE, *(DELETE if may_delete else [])]
    return [
        allow(READ, [catalog, parent, arn("*")]),
        allow(written, [catalog, parent, *map(arn, tables)]),
    ]


def locate_buckets(bucket_arns: Sequence[str]) -> list[Statement]:
    """Return the permission to get the location of buckets, as in the managed policy, if any."""
    return [allow(["s3:GetBucketLocation"], bucket_arns)] if bucket_arns else []


def scan_tables(stack: cdk.Stack, tables: Sequence[str]) -> list[Statement]:
    """Return the permission to read tables of DynamoDB, if any."""
    arns = [
        stack.format_arn(service="dynamodb", resource="table", resource_name=table)
        for table in tables
    ]
    return [allow(["dynamodb:DescribeTable", "dynamodb:Scan"], arns)] if arns else []
