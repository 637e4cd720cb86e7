"""Grants of Lake Formation: the permissions of a job on tables that Lake Formation governs.

Lake Formation requires a grant to the role in addition to its IAM policy. The deploying user must
be a data lake administrator, and the folders of the data must be registered there.
Sources: https://docs.aws.amazon.com/lake-formation/latest/dg/lf-permissions-reference.html,
https://docs.aws.amazon.com/lake-formation/latest/dg/granting-location-permissions-local.html
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lakeformation as lakeformation
from constructs import Construct

from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.references import bucket_arn

# CloudFormation replaces a grant whose permissions change, and revokes the old ones after it has
# granted the new: hence grants of one resource have no permission in common, and never change.
READ = ("DESCRIBE", "SELECT")
WRITE = ("ALTER", "DELETE", "INSERT")
DESCRIBE = ("DESCRIBE",)
CREATE = ("CREATE_TABLE",)
LOCATION = ("DATA_LOCATION_ACCESS",)
Permissions = lakeformation.CfnPrincipalPermissions


@dataclass(frozen=True)
class Location:
    """A folder of S3.

    Attributes:
        name: distinguishes it from other folders that a job writes.
        arn: its ARN.
    """

    name: str
    arn: str


@dataclass(frozen=True)
class Grant:
    """Permissions on one resource of Lake Formation.

    Attributes:
        permissions: as Lake Formation names them.
        resource: a folder, a database, or a table as database and name.
    """

    permissions: tuple[str, ...]
    resource: Location | str | tuple[str, str]

    @property
    def id(self) -> str:
        """The construct id of the grant: constant as long as the grant means the same."""
        match self.resource:
            case Location(name=name):
                parts = name
            case (database, table):
                parts = f"{'' if cdk.Token.is_unresolved(database) else database}/{table}"
            case database:
                parts = "Database" if cdk.Token.is_unresolved(database) else database
        words = [word.capitalize() for word in re.split(r"[^A-Za-z0-9]+", parts)]
        return f"LakeFormation{''.join(words)}{self.permissions[0].title().replace('_', '')}"


def grants_of(uses: Sequence[TableUse], locations: Sequence[Location]) -> list[Grant]:
    """Return the grants that a role needs for tables that Lake Formation governs.

    Args:
        uses: how the job uses tables; those without `lake_formation` get no grant.
        locations: folders that can hold tables and partitions that the job creates.
    """
    grants: list[Grant] = []
    for use in (use for use in uses if use.lake_formation):
        table = (use.database, use.name)
        grants.append(Grant(DESCRIBE, use.database))
        # The creator of a table has all permissions.
        grants.append(Grant(CREATE, use.database) if use.create else Grant(READ, table))
        if use.write and not use.create:
            grants.append(Grant(WRITE, table))
        if use.write:
            grants += [Grant(LOCATION, location) for location in locations]
    return list(dict.fromkeys(grants))


def grant_in_lake_formation(
    scope: Construct, role: iam.IRole, tables: Sequence[TableUse], writes: Sequence[Dataset]
) -> dict[Grant, cdk.CfnResource]:
    """Return the grants of a role, each with the resource that makes it: none where no table asks.

    Args:
        scope: the construct that owns them.
        role: who is granted.
        tables: what is done with tables.
        writes: data that the tables may be in.
    """
    if not any(use.lake_formation for use in tables):
        return {}
    account = cdk.Stack.of(scope).account
    to = Permissions.DataLakePrincipalProperty(data_lake_principal_identifier=role.role_arn)
    return {
        wanted: Permissions(
            scope,
            wanted.id,
            permissions=list(wanted.permissions),
            permissions_with_grant_option=[],
            principal=to,
            resource=_resource(account, wanted),
        )
        for wanted in grants_of(tables, [_location(data) for data in writes])
    }


def _resource(account: str, wanted: Grant) -> Permissions.ResourceProperty:
    match wanted.resource:
        case Location(arn=arn):
            location = Permissions.DataLocationResourceProperty(
                catalog_id=account, resource_arn=arn
            )
            return Permissions.ResourceProperty(data_location=location)
        case (database, table):
            of_table = Permissions.TableResourceProperty(
                catalog_id=account, database_name=database, name=table
            )
            return Permissions.ResourceProperty(table=of_table)
        case database:
            of_database = Permissions.DatabaseResourceProperty(catalog_id=account, name=database)
            return Permissions.ResourceProperty(database=of_database)


def _location(data: Dataset) -> Location:
    """Return where data are, as Lake Formation wants it."""
    arn = f"{bucket_arn(data.bucket)}/{data.prefix.rstrip('/')}"
    return Location(f"{data.bucket.node.id}/{data.prefix}", arn)
