"""One Glue crawler: its targets, its role, the database it writes."""

import re
from collections.abc import Sequence
from functools import reduce
from operator import or_

import aws_cdk as cdk
import jsii
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from constructs import Construct

from tidemark.constructs.catalog.databases import ALLOWED, Database, reference_of
from tidemark.constructs.crawlers.options import CrawlerOptions, MissingData
from tidemark.constructs.crawlers.other_targets import CrawledDynamoDB
from tidemark.constructs.crawlers.permissions import (
    LOGS,
    groups_of,
    locate_buckets,
    scan_tables,
    write_catalog,
)
from tidemark.constructs.crawlers.targets import (
    Target,
    are_files,
    as_property,
    check_targets,
    connections_in,
    data_of,
    tables_of,
)
from tidemark.constructs.jobs import permissions
from tidemark.constructs.jobs.conditions import Condition, CrawlState
from tidemark.constructs.jobs.connections import Connection, JobConnections, connections_of
from tidemark.constructs.jobs.job_checks import acknowledge, check_are_here
from tidemark.constructs.jobs.job_props import SharedParts
from tidemark.constructs.jobs.job_role import role_of
from tidemark.constructs.jobs.network import use_connections
from tidemark.constructs.jobs.secrets import read_secrets
from tidemark.constructs.overrides import declare
from tidemark.constructs.references import role_arn
from tidemark.constructs.security.security import LogGroups, log_group
from tidemark.constructs.shared_checks import check_here
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.resources import METADATA
from tidemark.model.checked import checked
from tidemark.model.stage.config import StageConfig

DATABASE = re.compile(r"[a-z0-9_-]{1,255}")


@jsii.implements(iam.IGrantable)
@checked
class Crawler(Construct):
    """Creates a Glue crawler and a role that reads its targets and writes one database.

    It stands for its role wherever the CDK takes a grantee: `key.grant_decrypt(crawler)`.

    Attributes:
        name: the name of the crawler.
        role: the role it runs with.
        log_group: name of the log group it writes.
        resource: the crawler itself.
        reads: the data in S3 that it reads.
        database: the name of the database of the Data Catalog that it writes.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        targets: Sequence[Target],
        database: Database,
        shared: SharedParts,
        options: CrawlerOptions | None = None,
        role: iam.IRole | None = None,
    ) -> None:
        """Declare the crawler.

        Args:
            scope: the construct that owns it.
            id_: construct id.
            name: name of the crawler in kebab case.
            targets: what it reads.
            database: the database of the Data Catalog that it writes, or its name.
            shared: the parts that it shares with the jobs of its pipeline.
            options: how it treats tables that have changed.
            role: an existing role; None creates one.

        Raises:
            JobDefinitionError: the crawler cannot be deployed.
        """
        options = options or CrawlerOptions()
        of = f"crawler '{name}'"
        _check(name, targets, database)
        connections = connections_in(targets)
        if options.recrawl.name == "NEW_FOLDERS_ONLY" and not are_files(targets):
            raise JobDefinitionError(
                f"crawler '{name}' has recrawl Recrawl.NEW_FOLDERS_ONLY and targets that are not "
                "data in S3; allowed: Dataset, CrawledData; crawl everything, or add a crawler"
            )
        if tables_of(targets):
            options.check_for_tables(name)
        each = [_connection(name, connection, shared.stage) for connection in connections]
        joined = reduce(or_, each, JobConnections())
        given = [connection for connection in connections if connection is not None]
        check_are_here(of, shared.stack, given, [database], data_of(targets), joined.secrets)
        scanned = [target for target in targets if isinstance(target, CrawledDynamoDB)]
        for target in scanned:
            check_here(of, shared.stack, "a table of DynamoDB", target.table)
        super().__init__(scope, id_)
        self.name = name
        self.database: str = reference_of(database)
        self.reads = data_of(targets)
        statements = self._statements(shared, tables_of(targets), options, joined)
        statements += scan_tables(shared.stack, [target.table_name for target in scanned])
        owned = role_of(self, name, statements, role, shared.stack, of="crawler")
        self.role = owned.role
        self.log_group = f"{LOGS}/{self.role.role_name}-{shared.security.name}"
        self.resource = glue.CfnCrawler(
            self,
            "Resource",
            name=name,
            role=role_arn(self.role),
            targets=as_property(targets, [next(iter(of.names), None) for of in each]),
            database_name=self.database,
            table_prefix=options.table_prefix or None,
            schema_change_policy=glue.CfnCrawler.SchemaChangePolicyProperty(
                update_behavior=options.on_change.value, delete_behavior=options.on_missing.value
            ),
            recrawl_policy=glue.CfnCrawler.RecrawlPolicyProperty(
                recrawl_behavior=options.recrawl.value
            ),
            classifiers=list(options.classifiers) or None,
            description=options.description,
            crawler_security_configuration=shared.security.configuration_name,
        )
        encrypted = {"CrawlerSecurityConfiguration": shared.security.configuration_name}
        declare(shared.stack, self.resource, {"Role": role_arn(self.role), **encrypted})
        if shared.security.log_groups is LogGroups.MADE:
            # Glue would create it itself, without expiry.
            group = log_group(self, "Log", shared.security, self.log_group)
            self.resource.add_resource_dependency(group)
        read = [
            {"uri": data.uri, **({"delivered": True} if data.delivered else {})}
            for data in self.reads
        ]
        self.resource.add_metadata(METADATA, {"reads": read})
        owned.attach(self.resource)
        for key, value in options.tags.items():
            cdk.Tags.of(self.resource).add(key, value)

    def on(self, state: CrawlState) -> Condition:
        """Return the condition that this crawler has ended in a state."""
        return Condition(self, state)

    @checked
    def acknowledge(self, rule: str, reason: str) -> None:
        """Accept a finding of a graph rule at this crawler: it is not reported.

        Args:
            rule: its name or id in the finding, such as `reads-without-waiting`.
            reason: why it is acceptable here, for readers of the validation report.

        Raises:
            JobDefinitionError: the rule does not exist, or the reason is missing.
        """
        acknowledge(self, f"crawler '{self.name}'", rule, reason)

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Return the role of the crawler, for grants of the CDK's constructs."""
        return self.role.grant_principal

    def _statements(
        self,
        shared: SharedParts,
        tables: Sequence[str],
        options: CrawlerOptions,
        joined: JobConnections,
    ) -> list[permissions.Statement]:
        """Return the permissions that the crawler needs: for its targets, its tables, its log."""
        stack = shared.stack
        used = [data.bucket.encryption_key for data in self.reads]
        others = {key.key_arn for key in used if key} - set(shared.security.key_arns)
        names: dict[str, list[str]] = {}  # of the tables it writes, by database
        for table in tables:
            names.setdefault(table.partition(".")[0], []).append(table.partition(".")[2])
        if not tables:
            names[self.database] = [f"{options.table_prefix}*"]
        return [
            *permissions.use_data(
                [(data.bucket.bucket_arn, data.prefix) for data in self.reads], []
            ),
            *locate_buckets(sorted({data.bucket.bucket_arn for data in self.reads})),
            *permissions.use_data_keys(sorted(others), may_write=False),
            *(
                statement
                for database, written in names.items()
                for statement in write_catalog(
                    stack, database, written, may_delete=options.on_missing is MissingData.DELETE
                )
            ),
            *permissions.write_logs(stack, groups_of(shared.security.name)),
            *(
                statement
                for arn in shared.security.key_arns
                for statement in permissions.use_key(arn)
            ),
            *use_connections(stack, joined.names, joined.network),
            *read_secrets(stack, joined.secrets),
        ]


def _connection(crawler: str, connection: Connection | None, stage: StageConfig) -> JobConnections:
    """Return the connection of one target, if it has one."""
    if connection is not None:
        return connections_of(crawler, [connection], stage)
    if stage.vpc_only:
        raise JobDefinitionError(
            f"crawler '{crawler}' has a target without a connection, and the stage says vpcOnly; a "
            "crawler is in a VPC by the connections of its targets; write CrawledData(data, "
            "connection=...)"
        )
    return JobConnections()


def _check(name: str, targets: Sequence[Target], database: Database) -> None:
    """Raise unless the crawler reads something and writes a database."""
    check_targets(name, targets)
    if isinstance(database, str) and not (
        cdk.Token.is_unresolved(database) or DATABASE.fullmatch(database)
    ):
        raise JobDefinitionError(
            f"crawler '{name}' has database {database!r}; allowed: {ALLOWED}, of up to 255 lower "
            "case letters, digits, _ and -; correct database="
        )
