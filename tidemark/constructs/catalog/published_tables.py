"""Creates the tables of datasets, each once per account and region.

The first job that writes the data creates the table, in its pipeline; for delivered data, the
first job that reads it. Synthesis refuses a table that no job creates: the rule
`table-not-created`.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from constructs import Construct, IConstruct

from tidemark.constructs.catalog.databases import resource_of
from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.projection import DateProjection
from tidemark.constructs.catalog.table import Column, Table
from tidemark.constructs.catalog.table_optimizers import TableOptimizers
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.errors import JobDefinitionError
from tidemark.model.clock import now


@dataclass
class _Tables:
    """The tables of an app by their full names, and the grants that wait for them."""

    declared: dict[str, Dataset] = field(default_factory=dict)  # with the data of each
    created: dict[str, glue.CfnTable] = field(default_factory=dict)  # all but those of Iceberg
    granted: dict[str, list[cdk.CfnResource]] = field(default_factory=lambda: defaultdict(list))


# By account and region: each has its own Data Catalog.
_TABLES_BY_APP: WeakKeyDictionary[IConstruct, dict[tuple[str, str], _Tables]] = WeakKeyDictionary()


def create_tables(scope: Construct, job: GlueJob) -> None:
    """Create the tables of data that a job writes, and of data that is delivered to it.

    Args:
        scope: the pipeline of the job.
        job: the job; it waits for the tables that it uses.

    Raises:
        JobDefinitionError: the table has another declaration in this account and region.
    """
    if not any(data.table for data in (*job.writes, *job.reads)) and not job.lake_formation:
        return
    stack = cdk.Stack.of(scope)
    of_app = _TABLES_BY_APP.setdefault(scope.node.root, {})
    tables = of_app.setdefault((stack.account, stack.region), _Tables())
    for data in (*job.writes, *job.reads):
        table = data.table
        if table is None:
            continue
        known = tables.declared.get(table.full_name)
        if known is not None:
            _check_same(data, known, job.name)
        elif isinstance(table, IcebergTable):
            tables.declared[table.full_name] = data
            if table.optimizers:
                TableOptimizers(scope, _free_id(scope, table, "Optimizers"), data=data, table=table)
        elif data in job.writes or data.delivered:
            resource = tables.created[table.full_name] = _create(scope, table, data.uri)
            tables.declared[table.full_name] = data
            job.resource.add_resource_dependency(resource)
            _warn_of_end(job, data, table)
    _let_grants_wait(job, tables)


def _warn_of_end(job: GlueJob, data: Dataset, table: Table) -> None:
    """Warn of data that a job writes, and whose new partitions Athena will never see."""
    keys = table.projection.keys if table.projection and data in job.writes else {}
    for key, projection in keys.items():
        if isinstance(projection, DateProjection) and projection.has_ended(now()):
            cdk.Annotations.of(job).add_warning_v2(
                "tidemark:projection-ended",
                f"job {job.name} writes the table {table.full_name}, whose projection of {key} "
                f"ended with {projection.end}: Athena finds no newer partition; let it end with "
                "NOW, or acknowledge this",
            )


def _let_grants_wait(job: GlueJob, tables: _Tables) -> None:
    """Make the grants of Lake Formation wait for their tables."""
    for grant, granted in job.lake_formation.items():
        match grant.resource:
            case (database, name):
                tables.granted[f"{database}.{name}"].append(granted)
    for full_name in tables.created.keys() & tables.granted.keys():
        for granted in tables.granted.pop(full_name):
            granted.add_resource_dependency(tables.created[full_name])


def _check_same(data: Dataset, other: Dataset, job: str) -> None:
    table = data.table
    if table is not None and (table != other.table or data.uri != other.uri):
        raise JobDefinitionError(
            f"job '{job}' declares the table '{table.full_name}' for {data.prefix!r} differently "
            f"than another job does for {other.prefix!r}; allowed: one declaration of a table; "
            "share the Dataset, or rename one of the tables"
        )


def _create(scope: Construct, table: Table, uri: str) -> glue.CfnTable:
    """Create a table, and its ruleset if it has one."""
    resource = glue.CfnTable(
        scope,
        _free_id(scope, table),
        catalog_id=cdk.Stack.of(scope).account,
        database_name=table.database_name,
        table_input=table_input(table, uri),
    )
    # Partitions that jobs have registered are in no template; a declaration can be created again.
    policy = cdk.RemovalPolicy.RETAIN if table.registers_partitions else cdk.RemovalPolicy.DESTROY
    resource.apply_removal_policy(policy)
    database = resource_of(table.database)
    if database is not None:
        resource.add_resource_dependency(database)
    if table.quality is not None:
        ruleset = glue.CfnDataQualityRuleset(
            scope,
            f"{resource.node.id}Quality",
            name=table.ruleset_name,
            description=table.quality.description or None,
            ruleset=table.quality.rules,
            target_table=glue.CfnDataQualityRuleset.DataQualityTargetTableProperty(
                database_name=table.database_name, table_name=table.name
            ),
        )
        ruleset.add_resource_dependency(resource)
    return resource


def _free_id(scope: Construct, table: Table | IcebergTable, end: str = "Table") -> str:
    """Return an id without the database, whose name includes the stage, if it is free."""
    id_ = f"{_camel(table.name)}{end}"
    return id_ if scope.node.try_find_child(id_) is None else f"{_camel(table.full_name)}{end}"


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in re.split("[._-]", name))


def table_input(table: Table, uri: str) -> glue.CfnTable.TableInputProperty:
    """Return a table in the form of Glue's CreateTable.

    Args:
        table: the table.
        uri: the location of its data, ending with a slash.
    """
    projection = table.projection.parameters(uri) if table.projection else {}
    return glue.CfnTable.TableInputProperty(
        name=table.name,
        description=table.description or None,
        table_type="EXTERNAL_TABLE",
        parameters={
            "EXTERNAL": "TRUE",
            "classification": table.format.name,
            **table.format.parameters,
            **projection,
            **table.parameters,
        },
        partition_keys=[_column(key) for key in table.partition_keys],  # Athena requires a list
        storage_descriptor=glue.CfnTable.StorageDescriptorProperty(
            columns=[_column(column) for column in table.columns],
            location=uri,
            input_format=table.format.input_format,
            output_format=table.format.output_format,
            serde_info=glue.CfnTable.SerdeInfoProperty(
                serialization_library=table.format.serde,
                parameters=dict(table.format.serde_parameters) or None,
            ),
        ),
    )


def _column(column: Column) -> glue.CfnTable.ColumnProperty:
    return glue.CfnTable.ColumnProperty(
        name=column.name, type=column.type, comment=column.comment or None
    )
