"""Names the stacks that `make destroy` removes: `python -m tidemark.cli.pipeline_stacks`.

Those of the app that hold a Glue workflow or job, and nothing that keeps data or state. The
assembly is that of CDK_APP, if it names a folder, as for the CDK; else the app is synthesized.
"""

import sys
from collections.abc import Mapping

import click

from tidemark.cli.synth import CONTEXT_HELP, assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.errors import TidemarkError, UsageError
from tidemark.model.assembly.cloud_assembly import NESTED_STACK, read_assembly

PIPELINE_TYPES = {"AWS::Glue::Workflow", "AWS::Glue::Job"}
KEEPS_DATA = {
    "AWS::DynamoDB::Table",
    "AWS::DynamoDB::GlobalTable",
    "AWS::Glue::Database",
    "AWS::KMS::Key",
    "AWS::KMS::ReplicaKey",
    "AWS::SecretsManager::Secret",
    "AWS::S3::Bucket",
    "AWS::S3Express::DirectoryBucket",
    "AWS::S3Tables::TableBucket",
    "AWS::S3Tables::Namespace",
    "AWS::S3Tables::Table",
    "AWS::S3Vectors::VectorBucket",
    "AWS::RDS::DBInstance",
    "AWS::RDS::DBCluster",
    "AWS::RDS::GlobalCluster",
    "AWS::DSQL::Cluster",
    "AWS::DocDB::DBCluster",
    "AWS::DocDBElastic::Cluster",
    "AWS::Neptune::DBCluster",
    "AWS::NeptuneGraph::Graph",
    "AWS::QLDB::Ledger",
    "AWS::Redshift::Cluster",
    "AWS::RedshiftServerless::Namespace",
    "AWS::Timestream::Database",
    "AWS::Timestream::Table",
    "AWS::Timestream::InfluxDBInstance",
    "AWS::Cassandra::Keyspace",
    "AWS::Cassandra::Table",
    "AWS::MemoryDB::Cluster",
    "AWS::ElastiCache::CacheCluster",
    "AWS::ElastiCache::ReplicationGroup",
    "AWS::ElastiCache::ServerlessCache",
    "AWS::OpenSearchService::Domain",
    "AWS::OpenSearchServerless::Collection",
    "AWS::Elasticsearch::Domain",
    "AWS::EFS::FileSystem",
    "AWS::FSx::FileSystem",
    "AWS::FSx::Volume",
    "AWS::EC2::Volume",
    "AWS::Kinesis::Stream",
    "AWS::MSK::Cluster",
    "AWS::MSK::ServerlessCluster",
    "AWS::Backup::BackupVault",
    "AWS::Cognito::UserPool",
    "AWS::ECR::Repository",
    NESTED_STACK,  # one whose template cannot be looked into
}


def stacks_to_destroy(types: Mapping[str, set[str]]) -> list[str]:
    """Return the stacks that are pipelines only."""
    pipelines = {stack for stack, found in types.items() if found & PIPELINE_TYPES}
    for stack in sorted(pipelines):
        if kept := sorted(types[stack] & KEEPS_DATA):
            raise UsageError(
                f"the stack {stack} holds jobs and also {', '.join(kept)}, which `make destroy` "
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
        assembly = assembly_folder(Terminal(stderr=True), None, context)
        stacks = read_assembly(assembly).stacks
        types = {stack.display_name: stack.resource_types() for stack in stacks}
        click.echo(" ".join(stacks_to_destroy(types)))
    except TidemarkError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
