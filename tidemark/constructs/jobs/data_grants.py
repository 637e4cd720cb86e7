"""Grants a job its permissions on tables in Lake Formation, if they ask for it."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from tidemark.constructs.catalog import lake_formation
from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.references import bucket_arn


def grant_in_lake_formation(
    scope: Construct, role: iam.IRole, tables: Sequence[TableUse], writes: Sequence[Dataset]
) -> dict[lake_formation.Grant, cdk.CfnResource]:
    """Return the grants of a role, each with its resource; empty if no table asks for them.

    Args:
        scope: the construct that owns them.
        role: the grantee.
        tables: how tables are used.
        writes: data that may hold the tables.
    """
    if not any(use.lake_formation for use in tables):
        return {}
    locations = [_location(data) for data in writes]
    return lake_formation.grant(scope, role.role_arn, lake_formation.grants_of(tables, locations))


def _location(data: Dataset) -> lake_formation.Location:
    """Return the location of data in the form of Lake Formation."""
    arn = f"{bucket_arn(data.bucket)}/{data.prefix.rstrip('/')}"
    return lake_formation.Location(f"{data.bucket.node.id}/{data.prefix}", arn)
