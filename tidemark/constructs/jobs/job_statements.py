"""The permissions of a job's role: what it declares, and nothing else."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_s3_assets as assets

from tidemark.constructs.catalog.permissions import use_tables
from tidemark.constructs.catalog.schema_policy import Folder
from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs import permissions
from tidemark.constructs.jobs.connections import JobConnections
from tidemark.constructs.jobs.job_props import JobProps, RunProperties, SharedParts
from tidemark.constructs.jobs.network import use_connections
from tidemark.constructs.jobs.own_arguments import OwnArguments
from tidemark.constructs.jobs.secrets import keep_tokens, read_secrets
from tidemark.constructs.references import asset_key, bucket_arn, bucket_key_arn, object_arn


def statements_of(
    shared: SharedParts,
    props: JobProps,
    arguments: Mapping[str, str],
    *,
    script: assets.Asset,
    logs: str,
    kind: Sequence[permissions.Statement],
    reads: Sequence[Dataset],
    writes: Sequence[Folder],
    own: OwnArguments,
    tables: Sequence[TableUse],
    connections: JobConnections,
    run_properties: RunProperties | None,
) -> list[permissions.Statement]:
    """Return the statements for jobs of any kind, for this kind, and for the declaration."""
    stack = shared.stack
    may_put = run_properties is RunProperties.READ_AND_PUT
    shipped = [script, shared.libs] if "--extra-py-files" in arguments else [script]
    secrets = list(dict.fromkeys((*props["secrets"], *connections.secrets)))
    return [
        *permissions.read_objects([object_arn(stack, asset_key(asset)) for asset in shipped]),
        *permissions.write_logs(stack, shared.security.groups_below(logs)),
        *(statement for arn in shared.security.key_arns for statement in permissions.use_key(arn)),
        *kind,
        *_data(reads, writes, shared),
        *(permissions.read_objects(own.objects) if own.objects else []),
        *own.statements,
        *permissions.read_wheels(stack, props["python_modules"]),
        *(permissions.put_metrics() if "--enable-metrics" in arguments else []),
        *use_tables(stack, tables),
        *use_connections(
            stack, connections.names, connections.network, has_saas=connections.has_saas
        ),
        *keep_tokens(stack, connections.saas_secrets),
        *read_secrets(stack, secrets),
        *(
            permissions.use_run_properties(stack, shared.workflow_name, may_put=may_put)
            if run_properties
            else []
        ),
    ]


def _data(
    read: Sequence[Folder], written: Sequence[Folder], shared: SharedParts
) -> list[permissions.Statement]:
    statements = permissions.use_data(
        [(bucket_arn(data.bucket), data.prefix) for data in read],
        [(bucket_arn(data.bucket), data.prefix) for data in written],
    )
    for may_write, datasets in ((False, read), (True, written)):
        used = {arn for data in datasets if (arn := bucket_key_arn(data.bucket))}
        others = used - set(shared.security.key_arns)
        statements += permissions.use_data_keys(sorted(others), may_write=may_write)
    return statements
