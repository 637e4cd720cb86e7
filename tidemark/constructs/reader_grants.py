"""The permission of a role that is of no job to read data, and to find its table."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.permissions import use_tables
from tidemark.constructs.catalog.table import Table
from tidemark.constructs.catalog.table_use import uses_of_data
from tidemark.constructs.jobs.permissions import Statement, use_data, use_data_keys
from tidemark.constructs.references import bucket_arn, bucket_key_arn
from tidemark.errors import JobDefinitionError


def grant_read(
    role: iam.IRole, bucket: s3.IBucket, prefix: str, table: Table | IcebergTable | None
) -> None:
    """Let a role read a folder and find its table.

    Raises:
        JobDefinitionError: Lake Formation grants the table, or the app may not change the role.
    """
    if isinstance(table, Table) and table.lake_formation:
        raise JobDefinitionError(
            f"the role {role.role_name} is granted the table '{table.full_name}', which Lake "
            "Formation governs; grant it there"
        )
    for statement in _statements(cdk.Stack.of(role), bucket, prefix, table):
        granted = role.add_to_principal_policy(iam.PolicyStatement.from_json(statement))
        # A role that the CDK must not change reports success, and names no policy.
        if not isinstance(role, iam.Role) and not isinstance(granted.policy_dependable, iam.Policy):
            raise JobDefinitionError(
                f"the role {role.role_arn} is granted {prefix!r}, and the app may not change it; "
                "allowed: a role of the app, or an imported one of the account; for another "
                "account, let its role and policies of the bucket, the key and the Data Catalog "
                "allow it"
            )


def _statements(
    stack: cdk.Stack, bucket: s3.IBucket, prefix: str, table: Table | IcebergTable | None
) -> list[Statement]:
    key = bucket_key_arn(bucket)
    return [
        *use_data([(bucket_arn(bucket), prefix)], []),
        *use_data_keys([key] if key else [], may_write=False),
        *(use_tables(stack, uses_of_data([table], [])) if table else []),
    ]
