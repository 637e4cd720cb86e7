"""Permissions of a job in the Data Catalog: IAM statements derived from the tables that it uses.

Glue requires permission for an action on a table, its database and the catalog.
Sources: https://docs.aws.amazon.com/glue/latest/dg/glue-specifying-resource-arns.html,
https://docs.aws.amazon.com/glue/latest/dg/data-quality-authorization.html,
https://docs.aws.amazon.com/lake-formation/latest/dg/lf-permissions-reference.html
"""

from collections.abc import Sequence

import aws_cdk as cdk

from tidemark.constructs.catalog.table_use import IcebergUse, TableUse
from tidemark.constructs.jobs.permissions import Statement, allow, get_lake_formation_data
from tidemark.constructs.references import arn_of

READ = [
    "glue:BatchGetPartition",
    "glue:GetDatabase",
    "glue:GetPartition",
    "glue:GetPartitions",
    "glue:GetTable",
]
# Spark's insertInto, through AWS's Hive client, registers partitions in batches, removes those that
# it registered before a failure, updates or drops a partition that is overwritten, and updates the
# table with its statistics. A sink of Glue with enableUpdateCatalog also registers single ones.
# Source: https://github.com/awslabs/aws-glue-data-catalog-client-for-apache-hive-metastore, in
# DefaultAWSGlueMetastore and BatchDeletePartitionsHelper;
# https://docs.aws.amazon.com/glue/latest/dg/update-from-job.html
WRITE = [
    "glue:BatchCreatePartition",
    "glue:BatchDeletePartition",
    "glue:CreatePartition",
    "glue:DeletePartition",
    "glue:UpdatePartition",
    "glue:UpdateTable",
]
CREATE = ["glue:CreateTable"]
# Iceberg keeps partitions in its own metadata; a commit changes the table's metadata_location.
# Source: https://github.com/apache/iceberg/tree/apache-iceberg-1.10.0/aws (GlueTableOperations)
READ_ICEBERG = ["glue:GetDatabase", "glue:GetTable"]
COMMIT_ICEBERG = ["glue:UpdateTable"]
EVALUATE = ["glue:GetDataQualityRuleset", "glue:PublishDataQuality"]


def use_tables(stack: cdk.Stack, uses: Sequence[TableUse]) -> list[Statement]:
    """Return the permission to use tables of Data Catalogs as declared, if any.

    Args:
        stack: region, and default account of the tables.
        uses: tables, and how they are used.
    """
    statements: list[Statement] = []
    for catalog in dict.fromkeys(use.catalog_id for use in uses):
        of_catalog = [use for use in uses if use.catalog_id == catalog]
        iceberg = [use for use in of_catalog if isinstance(use, IcebergUse)]
        others = [use for use in of_catalog if not isinstance(use, IcebergUse)]
        for actions, used in (
            (READ, others),
            (WRITE, [use for use in others if use.write]),
            (READ_ICEBERG, iceberg),
            (COMMIT_ICEBERG, [use for use in iceberg if use.write]),
            (CREATE, [use for use in of_catalog if use.create]),
        ):
            if used:
                statements.append(allow(actions, table_arns(stack, used)))
    if rulesets := sorted({use.ruleset for use in uses if use.ruleset}):
        arns = [arn_of(stack, "glue", "dataQualityRuleset", name) for name in rulesets]
        statements.append(allow(EVALUATE, arns))
    if any(use.lake_formation for use in uses):
        statements += get_lake_formation_data()
    return statements


def table_arns(stack: cdk.Stack, uses: Sequence[TableUse]) -> list[str]:
    """Return the ARNs of tables of one catalog, after those of the catalog and the databases."""
    account = uses[0].catalog_id or None
    databases = sorted({use.database for use in uses})
    names = dict.fromkeys(f"{use.database}/{use.name}" for use in uses)
    return [
        arn_of(stack, "glue", "catalog", account=account),
        *(arn_of(stack, "glue", "database", name, account) for name in databases),
        *(arn_of(stack, "glue", "table", name, account) for name in names),
    ]
