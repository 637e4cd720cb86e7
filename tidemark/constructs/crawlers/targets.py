"""Targets of a crawler: data, tables of the Data Catalog, or a database with a connection.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-glue-crawler-targets.html
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from aws_cdk import aws_glue as glue

from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.table_use import NAME
from tidemark.constructs.crawlers.other_targets import (
    CrawledDynamoDB,
    CrawledOpenTables,
    OpenFormat,
    check_exclusions,
)
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.connections import Connection, is_application, kind_of
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong

MAX_SAMPLED = 249
NO_DATABASES = ("KAFKA", "MONGODB", "NETWORK", "SFTP")
JDBC_PATH = re.compile(r"[^/\s][^/\n]*(/[^/\n]+){1,2}")


@checked
@dataclass(frozen=True)
class CrawledData:
    """Data that a crawler reads; a plain `Dataset` is read as a whole.

    Attributes:
        data: the data.
        exclusions: glob patterns, relative to it, of files to skip: `**.tmp`.
        sampled_files: how many files of each leaf folder to read. None reads all.
        connection: a network connection of Glue for access to S3. None: Glue's network.

    Raises:
        JobDefinitionError: a value has another type.

    Example:
        >>> CrawledData(Dataset(bucket, "landing/"), exclusions=["**.tmp"]).exclusions
        ['**.tmp']
    """

    data: Dataset
    exclusions: Sequence[str] = ()
    sampled_files: int | None = None
    connection: Connection | None = None

    def __post_init__(self) -> None:
        check_exclusions("CrawledData", self.exclusions)
        files = self.sampled_files
        if files is not None and not 1 <= files <= MAX_SAMPLED:
            allowed = f"an integer from 1 to {MAX_SAMPLED}, or None"
            raise wrong("CrawledData", "sampled_files", files, allowed, "pass one")


@checked
@dataclass(frozen=True)
class CrawledTable:
    """A table of the Data Catalog that a crawler updates from its data in S3.

    Attributes:
        table: its name, `database.table`.
        data: the location of its data, which the crawler reads.
        connection: a network connection of Glue for access to S3. None: Glue's network.

    Raises:
        JobDefinitionError: the table's name or the data is not valid.

    Example:
        >>> CrawledTable("lake.orders", Dataset(bucket, "orders/")).table
        'lake.orders'
    """

    table: str
    data: Dataset
    connection: Connection | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.table):
            allowed = "database.table, of lower case letters, digits, _ and -"
            raise wrong("CrawledTable", "table", self.table, allowed, "correct it")


@checked
@dataclass(frozen=True)
class CrawledDatabase:
    """Tables of a database that a crawler describes in the Data Catalog.

    Attributes:
        connection: a JDBC connection of Glue, by name or as a construct of the app.
        path: `database/schema/table` or `database/table`; `%` matches any string.
        exclusions: glob patterns, relative to it, of tables to skip.

    Raises:
        JobDefinitionError: the path or a pattern is not valid, or the connection is of another
            kind.
    """

    connection: Connection
    path: str
    exclusions: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not JDBC_PATH.fullmatch(self.path):
            raise JobDefinitionError(
                f"CrawledDatabase has path {self.path!r}; allowed: database/schema/table or "
                "database/table, % for any; write it like 'shop/public/%'"
            )
        check_exclusions("CrawledDatabase", self.exclusions)
        kind = kind_of(self.connection)
        if kind in NO_DATABASES or is_application(kind):
            raise JobDefinitionError(
                f"CrawledDatabase has a connection of the type {kind}, which is not to a database; "
                "allowed: a connection of the type JDBC; correct connection="
            )


Target: TypeAlias = (
    Dataset | CrawledData | CrawledTable | CrawledDatabase | CrawledOpenTables | CrawledDynamoDB
)
"""A target of a crawler."""


def check_targets(crawler: str, targets: Sequence[Target]) -> None:
    """Raise unless Glue allows the targets for one crawler.

    Raises:
        JobDefinitionError: there is no target, one is repeated, or two kinds exclude each other.
    """
    if not targets:
        raise JobDefinitionError(
            f"crawler '{crawler}' has targets []; allowed: a list of at least one; correct targets="
        )
    for target in targets:
        if targets.count(target) > 1:
            raise JobDefinitionError(
                f"crawler '{crawler}' has the target {target!r} twice; allowed: each once; remove "
                "one"
            )
        _check_table(crawler, target)
    tables = [target for target in targets if isinstance(target, CrawledTable)]
    if tables and len(tables) < len(targets):
        raise JobDefinitionError(
            f"crawler '{crawler}' has tables of the Data Catalog and other targets; Glue lets a "
            "crawler have one of the two; add a crawler for the others"
        )


def _check_table(crawler: str, target: Target) -> None:
    """Raise if a crawler would create a second table for data with a declared one."""
    if isinstance(target, CrawledDatabase | CrawledDynamoDB):
        return
    data = target if isinstance(target, Dataset) else target.data
    table = data.table
    if table is None:
        return
    if isinstance(table, IcebergTable):
        raise JobDefinitionError(
            f"crawler '{crawler}' crawls {data.prefix!r}, the data of the Iceberg table "
            f"'{table.full_name}', which its jobs describe with every commit; leave the target out"
        )
    named = f"CrawledTable({table.full_name!r}, data)"
    if not isinstance(target, CrawledTable):
        raise JobDefinitionError(
            f"crawler '{crawler}' crawls {data.prefix!r}, which has the declared table "
            f"'{table.full_name}', and would create a second table for it; allowed: {named}, which "
            "updates the declared one, or data without table=; write one of the two"
        )
    if target.table != table.full_name:
        raise JobDefinitionError(
            f"crawler '{crawler}' has the table '{target.table}' for {data.prefix!r}, whose "
            f"declared table is '{table.full_name}'; allowed: {named}; correct one of the two"
        )


def data_of(targets: Sequence[Target]) -> tuple[Dataset, ...]:
    """Return the data in S3 that targets read."""
    data = [
        target if isinstance(target, Dataset) else target.data
        for target in targets
        if not isinstance(target, CrawledDatabase | CrawledDynamoDB)
    ]
    return tuple(dict.fromkeys(data))


def tables_of(targets: Sequence[Target]) -> tuple[str, ...]:
    """Return the tables of the Data Catalog that targets name, each as `database.table`."""
    return tuple(target.table for target in targets if isinstance(target, CrawledTable))


def are_files(targets: Sequence[Target]) -> bool:
    """Return whether all targets are files outside tables with their own format."""
    return all(isinstance(target, Dataset | CrawledData | CrawledTable) for target in targets)


def connections_in(targets: Sequence[Target]) -> list[Connection | None]:
    """Return the connection of each target; None for one without."""
    return [None if isinstance(target, Dataset) else target.connection for target in targets]


def as_property(
    targets: Sequence[Target], connections: Sequence[str | None]
) -> glue.CfnCrawler.TargetsProperty:
    """Return targets in the form of CloudFormation.

    Args:
        targets: targets of the crawler.
        connections: the name of the connection of each; None for one without.
    """
    by_kind: defaultdict[str, list[Any]] = defaultdict(list)
    for target, connection in zip(targets, connections, strict=True):
        whole = CrawledData(target) if isinstance(target, Dataset) else target
        kind, written = _written(whole, connection)
        by_kind[kind].append(written)
    return glue.CfnCrawler.TargetsProperty(**by_kind)


def _written(
    target: CrawledData | CrawledTable | CrawledDatabase | CrawledOpenTables | CrawledDynamoDB,
    connection: str | None,
) -> tuple[str, object]:
    """Return the list in CloudFormation that a target belongs to, and its entry there."""
    if isinstance(target, CrawledDatabase):
        return "jdbc_targets", glue.CfnCrawler.JdbcTargetProperty(
            connection_name=connection, path=target.path, exclusions=list(target.exclusions) or None
        )
    if isinstance(target, CrawledTable):
        database, _, name = target.table.partition(".")
        return "catalog_targets", glue.CfnCrawler.CatalogTargetProperty(
            database_name=database, tables=[name], connection_name=connection
        )
    if isinstance(target, CrawledDynamoDB):
        return "dynamo_db_targets", glue.CfnCrawler.DynamoDBTargetProperty(
            path=target.table_name, scan_all=not target.sampled, scan_rate=target.scan_rate
        )
    if isinstance(target, CrawledOpenTables):
        return _open_tables(target, connection)
    return "s3_targets", glue.CfnCrawler.S3TargetProperty(
        path=target.data.uri,
        exclusions=list(target.exclusions) or None,
        sample_size=target.sampled_files,
        connection_name=connection,
    )


def _open_tables(target: CrawledOpenTables, connection: str | None) -> tuple[str, object]:
    if target.format is OpenFormat.DELTA:
        return "delta_targets", glue.CfnCrawler.DeltaTargetProperty(
            delta_tables=[target.data.uri],
            connection_name=connection,
            create_native_delta_table=True,
            write_manifest=False,
        )
    properties: dict[str, Any] = {
        "paths": [target.data.uri],
        "connection_name": connection,
        "exclusions": list(target.exclusions) or None,
        "maximum_traversal_depth": target.depth,
    }
    if target.format is OpenFormat.HUDI:
        return "hudi_targets", glue.CfnCrawler.HudiTargetProperty(**properties)
    return "iceberg_targets", glue.CfnCrawler.IcebergTargetProperty(**properties)
