"""Grants a job in Lake Formation what it does with tables, where they ask for it."""

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
    """Return the grants of a role, each with the resource that makes it: none where no table asks.

    Args:
        scope: the construct that owns them.
        role: who is granted.
        tables: what is done with tables.
        writes: data that the tables may be in.
    """
    if not any(use.lake_formation for use in tables):
        return {}
    locations = [_location(data) for data in writes]
    return lake_formation.grant(scope, role.role_arn, lake_formation.grants_of(tables, locations))


def _location(data: Dataset) -> lake_formation.Location:
    """Return where data are, as Lake Formation wants it."""
    arn = f"{bucket_arn(data.bucket)}/{data.prefix.rstrip('/')}"
    return lake_formation.Location(f"{data.bucket.node.id}/{data.prefix}", arn)
