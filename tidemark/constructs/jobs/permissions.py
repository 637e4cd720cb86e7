"""Permissions of a job: IAM statements derived from its declaration, on plain ARNs and names."""

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

import aws_cdk as cdk

from tidemark.constructs.references import arn_of, log_group_arn, object_arn

# One statement of an IAM policy, as in JSON.
Statement: TypeAlias = dict[str, object]
# The conditions of a statement: operator to key to value.
Conditions: TypeAlias = dict[str, dict[str, object]]
# The ARN of a bucket, and a folder in it, ending with a slash.
BucketFolder: TypeAlias = tuple[str, str]


WRITE_OBJECTS = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject"]
WRITE_LOGS = [
    "logs:AssociateKmsKey",
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:PutLogEvents",
]


def read_objects(object_arns: Sequence[str]) -> list[Statement]:
    """Return the permission to read exactly these objects."""
    return [allow(["s3:GetObject"], object_arns)]


def use_data(read: Sequence[BucketFolder], written: Sequence[BucketFolder]) -> list[Statement]:
    """Return the permission to list and read data, and to write and replace some of it.

    Args:
        read: places that are read only.
        written: places that are read and written.
    """
    places = list(dict.fromkeys((*read, *written)))
    prefixes: dict[str, list[str]] = {}
    for bucket_arn, prefix in places:
        prefixes.setdefault(bucket_arn, []).extend((prefix.rstrip("/"), f"{prefix}*"))
    # A reader first asks whether an object named like the folder exists, with a HEAD request, which
    # carries no `s3:prefix`. S3 answers such a request about a missing object with "not found" only
    # to principals that may list; hence IfExists, and the folder's own name among the objects. No
    # condition key tells this request from a list without a prefix, which is therefore allowed too.
    statements = [
        allow(["s3:ListBucket"], [bucket_arn], {"StringLikeIfExists": {"s3:prefix": listed}})
        for bucket_arn, listed in prefixes.items()
    ]
    if places:
        objects = [
            f"{bucket_arn}/{name}"
            for bucket_arn, prefix in places
            for name in (prefix.rstrip("/"), f"{prefix}*")
        ]
        statements.append(allow(["s3:GetObject"], objects))
    # Spark lists and reads its target, and aborts its uploaded parts when a task fails.
    return [*statements, *write_objects(written)]


def write_objects(written: Sequence[BucketFolder]) -> list[Statement]:
    """Return the permission to write and replace the objects of places, if any."""
    arns = list(dict.fromkeys(f"{bucket_arn}/{prefix}*" for bucket_arn, prefix in written))
    return [allow(WRITE_OBJECTS, arns)] if arns else []


def use_watermarks(table_arn: str, job_name: str) -> list[Statement]:
    """Return the permission to read and advance the watermarks of one job only.

    Args:
        table_arn: the watermark table.
        job_name: the partition key of the job's items.
    """
    return [
        allow(["dynamodb:DescribeTable"], [table_arn]),
        _use_rows(
            ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"],
            table_arn,
            job_name,
        ),
    ]


def ask_for_last_run(stack: cdk.Stack, table_arn: str, job_name: str) -> list[Statement]:
    """Return the permission to ask what the last run of one job found, and whether it committed.

    Args:
        stack: account and region.
        table_arn: the watermark table.
        job_name: the partition key of the job's items.
    """
    job = arn_of(stack, "glue", "job", job_name)
    return [
        allow(["glue:GetJobBookmark", "glue:GetJobRun"], [job]),
        _use_rows(["dynamodb:GetItem", "dynamodb:PutItem"], table_arn, job_name),
    ]


def _use_rows(actions: Sequence[str], table_arn: str, job_name: str) -> Statement:
    own: Conditions = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [job_name]}}
    return allow(actions, [table_arn], own)


def write_logs(stack: cdk.Stack, groups: str) -> list[Statement]:
    """Return the permission to write the log groups of a pipeline.

    Args:
        stack: account and region.
        groups: their names, in which a `*` matches any string.
    """
    # Their names contain the job's role, which its own policy cannot name. Glue associates the key
    # with a group that does not exist yet.
    return [allow(WRITE_LOGS, [log_group_arn(stack, groups)])]


def use_key(key_arn: str) -> list[Statement]:
    """Return the permission to encrypt and decrypt data and bookmarks with one key."""
    return [allow(["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"], [key_arn])]


def use_data_keys(key_arns: Sequence[str], *, may_write: bool) -> list[Statement]:
    """Return the permission to decrypt, and on request encrypt, data of other keys, if any."""
    encrypt = ["kms:GenerateDataKey"] if may_write else []
    return [allow(["kms:Decrypt", *encrypt], key_arns)] if key_arns else []


def read_wheels(stack: cdk.Stack, modules: Sequence[str]) -> list[Statement]:
    """Return the permission to read the Python modules that are objects of S3, if any.

    Args:
        stack: partition.
        modules: `name==version` or `s3://bucket/key.whl`.
    """
    wheels = [module for module in modules if module.startswith("s3://")]
    arns = [object_arn(stack, wheel.removeprefix("s3://")) for wheel in wheels]
    return read_objects(arns) if arns else []


def use_run_properties(stack: cdk.Stack, workflow_name: str, *, may_put: bool) -> list[Statement]:
    """Return the permission to read, and on request put, the run properties of one workflow."""
    arn = arn_of(stack, "glue", "workflow", workflow_name)
    put = ["glue:PutWorkflowRunProperties"] if may_put else []
    return [allow(["glue:GetWorkflowRunProperties", *put], [arn])]


def put_metrics() -> list[Statement]:
    """Return the permission to publish metrics in the namespace of Glue."""
    # PutMetricData has no resources, so the namespace is its only limit.
    return [
        allow(
            ["cloudwatch:PutMetricData"], ["*"], {"StringEquals": {"cloudwatch:namespace": "Glue"}}
        )
    ]


def get_lake_formation_data() -> list[Statement]:
    """Return the permission to get data from Lake Formation, which decides by its own grants."""
    # GetDataAccess has no resources.
    # Source: https://docs.aws.amazon.com/glue/latest/dg/security-lf-enable.html
    return [allow(["lakeformation:GetDataAccess"], ["*"])]


def use_as_metastore(stack: cdk.Stack, tables: Sequence[str]) -> list[Statement]:
    """Return the permission to find tables of the Data Catalog by Spark SQL.

    Reading the tables themselves needs another permission.

    Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-data-catalog-hive.html,
    https://docs.aws.amazon.com/glue/latest/dg/getting-started-min-privs-job.html

    Args:
        stack: account and region.
        tables: each as `database.table`.
    """
    arn = partial(arn_of, stack, "glue")
    databases = sorted({table.partition(".")[0] for table in tables})
    listed = [
        allow(
            ["glue:GetDatabases", "glue:GetTables", "glue:GetUserDefinedFunctions"],
            [
                arn("catalog"),
                *(arn("database", name) for name in databases),
                *(arn("table", table.replace(".", "/")) for table in tables),
            ],
        ),
        allow(
            ["glue:GetUserDefinedFunctions"],
            [arn("userDefinedFunction", f"{name}/*") for name in databases],
        ),
    ]
    # A Hive metastore has a database `default`, which Spark looks up, and creates if it is missing;
    # it looks up `global_temp` too.
    return [
        allow(
            ["glue:GetDatabase"],
            [arn("catalog"), arn("database", "default"), arn("database", "global_temp")],
        ),
        allow(["glue:CreateDatabase"], [arn("catalog"), arn("database", "default")]),
        *(listed if tables else []),
    ]


def allow(
    actions: Sequence[str], resources: Sequence[str], conditions: Conditions | None = None
) -> Statement:
    """Return a statement that allows actions on resources, under conditions if any."""
    statement: Statement = {"Effect": "Allow", "Action": list(actions), "Resource": list(resources)}
    return statement | ({"Condition": conditions} if conditions else {})
