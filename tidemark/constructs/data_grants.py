"""The permission of what is not a job of the app to use data, and to find its table."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import IConstruct

from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.permissions import use_tables
from tidemark.constructs.catalog.table import Table
from tidemark.constructs.catalog.table_use import uses_of_data
from tidemark.constructs.jobs.permissions import use_data, use_data_keys, write_objects
from tidemark.constructs.references import bucket_arn, bucket_key_arn
from tidemark.errors import JobDefinitionError

CHANGED = (iam.Role, iam.LazyRole)  # what the app may always change


def grant(
    grantee: iam.IGrantable,
    bucket: s3.IBucket,
    prefix: str,
    table: Table | IcebergTable | None,
    *,
    read: bool,
    write: bool,
) -> None:
    """Let a grantee read or write a folder, or both, and find its table.

    Raises:
        JobDefinitionError: Lake Formation grants the table, or the app may not change the grantee.
    """
    principal = grantee.grant_principal
    if isinstance(table, Table) and table.lake_formation:
        raise JobDefinitionError(
            f"{_shown(grantee)} is granted the table '{table.full_name}', which Lake Formation "
            "governs; grant it there"
        )
    stack = cdk.Stack.of(cast(IConstruct, principal if hasattr(principal, "node") else bucket))
    place, key = (bucket_arn(bucket), prefix), bucket_key_arn(bucket)
    tables = [table] if table else []
    uses = uses_of_data(tables if read else [], tables if write else [])
    if not read:
        objects = write_objects([place])
    else:
        objects = use_data([], [place]) if write else use_data([place], [])
    keys = use_data_keys([key] if key else [], may_write=write)
    for statement in (*objects, *keys, *use_tables(stack, uses)):
        granted = principal.add_to_principal_policy(iam.PolicyStatement.from_json(statement))
        # A role that the CDK must not change reports success, and names no policy.
        is_changed = isinstance(principal, CHANGED) or isinstance(
            granted.policy_dependable, iam.Policy
        )
        if not (granted.statement_added and is_changed):
            raise JobDefinitionError(
                f"{_shown(grantee)} is granted {prefix!r}, and the app may not change it; "
                "allowed: a role, user, group or function of the app, or an imported role of the "
                "account; for another account, let its role and policies of the bucket, the key "
                "and the Data Catalog allow it"
            )


def _shown(grantee: iam.IGrantable) -> str:
    """Return a grantee for an error: its ARN, its path in the app, or its kind."""
    arn = getattr(grantee, "role_arn", None)
    if arn:
        return f"the role {arn}"
    node = getattr(grantee, "node", None)
    return f"'{node.path}'" if node else f"the {type(grantee).__name__}"
