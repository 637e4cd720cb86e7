"""Names the stacks that `make destroy` removes: `python -m tidemark.cli.pipeline_stacks`.

Those of the app that hold a Glue workflow or job, and nothing that keeps data or state. The
assembly is that of CDK_APP, if it names a folder, as for the CDK; else the app is synthesized.
"""

import sys
from collections.abc import Mapping

import click

from tidemark.cli.commands.options import CONTEXT_HELP
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.errors import TidemarkError, UsageError
from tidemark.model.assembly.cloud_assembly import NESTED_STACK, read_assembly

PIPELINE_TYPES = {"AWS::Glue::Workflow", "AWS::Glue::Job"}
KEEPS_DATA = """
    DynamoDB::Table DynamoDB::GlobalTable Glue::Database KMS::Key KMS::ReplicaKey
    SecretsManager::Secret S3::Bucket S3Express::DirectoryBucket S3Tables::TableBucket
    S3Tables::Namespace S3Tables::Table S3Vectors::VectorBucket RDS::DBInstance RDS::DBCluster
    RDS::GlobalCluster DSQL::Cluster DocDB::DBCluster DocDBElastic::Cluster Neptune::DBCluster
    NeptuneGraph::Graph QLDB::Ledger Redshift::Cluster RedshiftServerless::Namespace
    Timestream::Database Timestream::Table Timestream::InfluxDBInstance Cassandra::Keyspace
    Cassandra::Table MemoryDB::Cluster ElastiCache::CacheCluster ElastiCache::ReplicationGroup
    ElastiCache::ServerlessCache OpenSearchService::Domain OpenSearchServerless::Collection
    Elasticsearch::Domain EFS::FileSystem FSx::FileSystem FSx::Volume EC2::Volume
    Kinesis::Stream MSK::Cluster MSK::ServerlessCluster Backup::BackupVault Cognito::UserPool
    ECR::Repository
"""
KEEPERS = {f"AWS::{name}" for name in KEEPS_DATA.split()} | {NESTED_STACK}  # that may hold any


def stacks_to_destroy(types: Mapping[str, set[str]]) -> list[str]:
    """Return the stacks that are pipelines only."""
    pipelines = {stack for stack, kinds in types.items() if kinds & PIPELINE_TYPES}
    for stack in sorted(pipelines):
        if keepers := sorted(types[stack] & KEEPERS):
            raise UsageError(
                f"the stack {stack} holds jobs and also {', '.join(keepers)}, which `make destroy` "
                "never removes; move one of the two to a stack of its own, or remove this one "
                f"yourself: npx cdk destroy {stack}"
            )
    if not pipelines:
        raise UsageError("the app has no stack with a Glue workflow or job; nothing to destroy")
    return sorted(pipelines)


@click.command()
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
def main(context: tuple[str, ...]) -> None:
    """Print the names of the stacks on one line."""
    try:
        stacks = read_assembly(assembly_folder(Terminal(stderr=True), None, context)).stacks
        types = {stack.display_name: stack.resource_types() for stack in stacks}
        click.echo(" ".join(stacks_to_destroy(types)))
    except TidemarkError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
