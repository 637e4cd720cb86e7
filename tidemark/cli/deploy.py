"""`tidemark deploy` and `tidemark destroy`: the CDK's own, behind the guard of the state."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from tidemark.checks.state.project import review_project
from tidemark.cli.state import review_lines
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.errors import UsageError
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
                f"the stack {stack} holds jobs and also {', '.join(keepers)}, which is never "
                "removed with them; move one of the two to a stack of its own, or remove this one "
                f"yourself: npx cdk destroy {stack}"
            )
    if not pipelines:
        raise UsageError("the app has no stack with a Glue workflow or job; nothing to destroy")
    return sorted(pipelines)


def deploy(stage: str, dry_run: bool, words: tuple[str, ...]) -> None:
    context = [f"stage={stage}"]
    review = review_project(Path.cwd(), assembly_folder(Terminal(stderr=True), None, context))
    for line in review_lines(review):
        click.echo(line, err=True)
    if not (review.is_safe and review.is_current):
        sys.exit(1)
    command = ["diff", "--method=template"] if dry_run else ["deploy", "--all"]
    sys.exit(_cdk(*command, *words, "-c", *context))


def destroy(stage: str, dry_run: bool, words: tuple[str, ...]) -> None:
    context = [f"stage={stage}"]
    stacks = read_assembly(assembly_folder(Terminal(stderr=True), None, context)).stacks
    names = stacks_to_destroy({stack.display_name: stack.resource_types() for stack in stacks})
    if dry_run:
        click.echo(" ".join(names))
        return
    sys.exit(_cdk("destroy", *names, "--exclusively", *words, "-c", *context))


def _cdk(*words: str) -> int:
    """Run the CDK's command line of the project; return its exit code."""
    own = Path("node_modules", ".bin", "cdk")
    program = str(own.absolute()) if own.is_file() else shutil.which("cdk")
    if program is None:
        raise UsageError(
            "the command line of the CDK is neither in node_modules of this folder nor on the "
            "PATH: npm install"
        )
    return subprocess.run([program, *words], check=False).returncode  # noqa: S603 (the CDK)
