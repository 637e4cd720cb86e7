"""The Glue connections of a job: those of its stage, or its own, by name or as objects."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_secretsmanager as secretsmanager

from tidemark.constructs.jobs.network import Network, made_by_app, network_of
from tidemark.constructs.jobs.secrets import is_secret
from tidemark.errors import JobDefinitionError
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.settings import CONNECTION

Connection: TypeAlias = str | glue.CfnConnection | glue.IConnection
ALLOWED = "names of Glue connections (no * ? : /), a CfnConnection or a glue.Connection"
# Connections to networks, databases, streams and stores; every other type is an application, whose
# tokens Glue refreshes in the connection's secret.
# Source: https://docs.aws.amazon.com/glue/latest/webapi/API_ConnectionInput.html
NO_SAAS = """
JDBC SFTP MONGODB KAFKA NETWORK MARKETPLACE CUSTOM VIEW_VALIDATION_REDSHIFT VIEW_VALIDATION_ATHENA
AZURECOSMOS AZURESQL BIGQUERY CLOUDERAHIVE CLOUDERAIMPALA CLOUDWATCH CLOUDWATCHMETRICS CMDB
DATALAKEGEN2 DB2 DB2AS400 DOCUMENTDB DYNAMODB GOOGLECLOUDSTORAGE HBASE MYSQL OPENSEARCH ORACLE
POSTGRESQL REDSHIFT SAPHANA SNOWFLAKE SQLSERVER SYNAPSE TERADATA TERADATANOS TIMESTREAM TPCDS
VERTICA
"""
INDEX = {"--index-url", "-i"}
PUBLIC = re.compile(r"--extra-index-url|pypi\.org|pythonhosted\.org", re.IGNORECASE)


@dataclass(frozen=True)
class JobConnections:
    """The connections of one job.

    Attributes:
        names: their names, for the job and its policy; known at deployment for objects.
        secrets: the secrets with their user and password, as far as the app names them.
        network: the subnets and security groups of all of them.
        saas_secrets: those of them in which Glue keeps the tokens of an application.
        has_saas: whether one of them is a connection to an application, such as Salesforce.
    """

    names: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    network: Network = field(default_factory=Network)
    saas_secrets: tuple[str, ...] = ()
    has_saas: bool = False

    def __or__(self, other: "JobConnections") -> "JobConnections":
        """Return the connections of both, each once."""
        return JobConnections(
            tuple(dict.fromkeys((*self.names, *other.names))),
            tuple(dict.fromkeys((*self.secrets, *other.secrets))),
            self.network | other.network,
            tuple(dict.fromkeys((*self.saas_secrets, *other.saas_secrets))),
            self.has_saas or other.has_saas,
        )


def connections_of(
    job: str, declared: Sequence[Connection] | None, stage: StageConfig
) -> JobConnections:
    """Return the connections that a job declares, or by default those of its stage.

    Args:
        job: the job.
        declared: None takes those of the stage; an empty list means none.
        stage: the stage.

    Raises:
        JobDefinitionError: a value is not a connection, or the job has none in a stage whose
            jobs must be in a VPC.
    """
    if declared is None:
        declared = stage.connections
    if stage.vpc_only and not declared:
        raise JobDefinitionError(
            f"job '{job}' has no connection, and the stage says vpcOnly; a job joins a VPC by a "
            "Glue connection; add connections= to the job, or connections to the stage"
        )
    joined = JobConnections()
    for connection in declared:
        name, secrets = _of(connection)
        if not (cdk.Token.is_unresolved(name) or CONNECTION.fullmatch(name)):
            raise JobDefinitionError(
                f"job '{job}' has connections {declared!r}; allowed: a list of {ALLOWED}; correct "
                "connections="
            )
        if wrong := [secret for secret in secrets if not is_secret(secret)]:
            raise JobDefinitionError(
                f"job '{job}' has a connection with the secret {wrong[0]!r}; allowed: the name "
                "of a secret in Secrets Manager, or its whole ARN; write that there"
            )
        is_saas = is_application(kind_of(connection))
        kept = secrets if is_saas else ()
        joined |= JobConnections((name,), secrets, network_of(connection), kept, is_saas)
    if stage.vpc_only and not joined.network.subnets:
        raise JobDefinitionError(
            f"job '{job}' has no connection with a subnet, and the stage says vpcOnly; a job is in "
            "a VPC by the physical_connection_requirements of a connection; add subnet_id and "
            "security_group_id_list to one of its connections"
        )
    return joined


def installer_arguments(
    job: str, python_modules: Sequence[str], stage: StageConfig, own_option: str | None
) -> dict[str, str]:
    """Return arguments that keep pip from public indexes, dashed name to value; may be empty.

    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html

    Args:
        job: the job.
        python_modules: modules that Glue installs for it.
        stage: the stage.
        own_option: the job's own pip options, if any.

    Raises:
        JobDefinitionError: a package would come from a public index.
    """
    if stage.public_packages or not python_modules:
        return {}
    # pip looks in the index for the dependencies of a wheel too; so a job must name all packages,
    # and pip looks for nothing else, unless the job names its own index.
    words = re.split(r"[ =]+", own_option or "")
    has_own_index = bool(INDEX & set(words)) and not any(PUBLIC.search(word) for word in words)
    if "--no-index" in words or has_own_index:
        public = [] if has_own_index and "--no-index" not in words else _names(python_modules)
        option = {}
    else:
        public = _names(python_modules) or ([own_option] if own_option else [])
        option = {"--python-modules-installer-option": "--no-index --no-deps"}
    if public:
        raise JobDefinitionError(
            f"job '{job}' has {public[0]!r}, with which Glue asks a public index of packages, and "
            "the stage has publicPackages false; allowed: wheels in S3, or an index of your own by "
            "--index-url in python_modules_installer_option; put the package and what it needs "
            "into S3, and name each in python_modules as s3://bucket/key.whl"
        )
    return option


def _names(python_modules: Sequence[str]) -> list[str]:
    return [module for module in python_modules if not module.startswith("s3://")]


def is_application(kind: str) -> bool:
    """Return whether a type of connection is an application, such as `SALESFORCE`."""
    return bool(kind) and kind not in NO_SAAS.split()


def kind_of(connection: Connection) -> str:
    """Return the type of a connection of the app, such as `JDBC`; empty if it is not known."""
    made = made_by_app(connection)
    kind = getattr(made.connection_input, "connection_type", "") if made else ""
    return kind if isinstance(kind, str) else ""


def _of(connection: Connection) -> tuple[str, tuple[str, ...]]:
    """Return the name of a connection and the secrets that it names, as far as known."""
    if isinstance(connection, str):
        return connection, ()
    made = made_by_app(connection)
    secrets = _find_secrets(made) if made else ()
    if isinstance(connection, glue.CfnConnection):
        return connection.ref, secrets
    return connection.connection_name, secrets


def _find_secrets(made: glue.CfnConnection) -> tuple[str, ...]:
    """Return the secrets of a connection of the app, in any of its forms."""
    given = made.connection_input
    if not isinstance(given, glue.CfnConnection.ConnectionInputProperty):
        return ()
    properties = given.connection_properties
    if not isinstance(properties, dict):  # of a glue.Connection, which reads them late
        late = made.stack.resolve(properties) or {}
        properties = {key: _raw(made.stack, value) for key, value in late.items()}
    authentication = given.authentication_configuration
    named = [
        *(properties.get(key) for key in ("SECRET_ID", "KAFKA_SASL_SCRAM_SECRETS_ARN")),
        _spark_secret(properties.get("SparkProperties")),
        _spark_secret(given.spark_properties),
        getattr(authentication, "secret_arn", None),
    ]
    return tuple(dict.fromkeys(name for name in named if name and isinstance(name, str)))


def _raw(stack: cdk.Stack, value: object) -> str:
    """Return a resolved value as a string; the ARN of a secret of the app as a reference to it."""
    if isinstance(value, str):
        return value
    made = (part for part in stack.node.find_all() if isinstance(part, secretsmanager.CfnSecret))
    refs = (secret.ref for secret in made if stack.resolve(secret.ref) == value)
    return next(refs, None) or cdk.Token.as_string(value)


def _spark_secret(settings: object) -> object:
    """Return the secret in settings of Spark, which may be JSON."""
    if isinstance(settings, str):
        try:
            settings = json.loads(settings)
        except ValueError:
            return None
    return settings.get("secretId") if isinstance(settings, dict) else None
