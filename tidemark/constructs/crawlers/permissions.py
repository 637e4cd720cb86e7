"""What a crawler may do: IAM statements derived from its targets, on plain ARNs and names.

Source: https://docs.aws.amazon.com/glue/latest/dg/crawler-prereqs.html (a scoped down version of
the managed policy AWSGlueServiceRole, and the data)
"""

from collections.abc import Sequence

import aws_cdk as cdk

from tidemark.constructs.jobs.permissions import Statement, allow

LOGS = "/aws-glue/crawlers-role"  # where crawlers with a security configuration write
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
    """Return the log groups of the crawlers with a security configuration, as a policy names them.

    Glue names the group by the role, which the policy of the role cannot name, and ends the name
    with that of the security configuration; each pipeline makes one of its own. What stands behind
    a name is `:*` in policies.
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
        tables: names of tables; a `*` at the end stands for any text.
        may_delete: whether tables and partitions whose data is gone may be deleted.
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
    """Return the permission to ask where buckets are, which the managed policy has too, if any."""
    return [allow(["s3:GetBucketLocation"], bucket_arns)] if bucket_arns else []


def scan_tables(stack: cdk.Stack, tables: Sequence[str]) -> list[Statement]:
    """Return the permission to read tables of DynamoDB, if any."""
    arns = [
        stack.format_arn(service="dynamodb", resource="table", resource_name=table)
        for table in tables
    ]
    return [allow(["dynamodb:DescribeTable", "dynamodb:Scan"], arns)] if arns else []
