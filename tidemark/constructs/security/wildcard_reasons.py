"""The reasons for wildcards in the resources of roles: for which action, on what, and why.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.constructs.crawlers import permissions as crawling
from tidemark.constructs.jobs import network, permissions


@dataclass(frozen=True)
class Wildcard:
    """A reason for a wildcard.

    Attributes:
        actions: actions that it covers.
        resource: the form of the resource, with functions of CloudFormation in angle brackets.
        why: the reason.
        condition: the required condition of the statement; None: any.
        is_bound: whether the statement must name a subnet, or must not; None: either.
    """

    actions: Sequence[str]
    resource: str
    why: str
    condition: Mapping[str, Any] | None = None
    is_bound: bool | None = None


_PLACE = r"(?:[\w-]+|<AWS::\w+>)"


def _arn(service: str, rest: str) -> str:
    """Return the form of an ARN in one region and account."""
    return rf"arn:{_PLACE}:{service}:{_PLACE}:{_PLACE}:{rest}"


def _shared(rest: str) -> str:
    """Return the form of the ARN of a part of a VPC, in any account."""
    return rf"arn:{_PLACE}:ec2:{_PLACE}:\*:{rest}"


_FOLDER = r"[^*]+/[^*]+/\*"  # a bucket, and at least one folder
_INTERFACES = _arn("ec2", r"network-interface/\*")
WILDCARDS = (
    Wildcard(
        ("s3:GetObject",),
        _FOLDER,
        "the objects below a folder that is declared, since their names are not known",
    ),
    Wildcard(
        permissions.WRITE_OBJECTS,
        _FOLDER,
        "the objects below a folder that the job is declared to write, since their names are not "
        "known",
    ),
    Wildcard(
        permissions.WRITE_LOGS,
        _arn("logs", r"log-group:/aws-glue/jobs/[^*]+/\*"),
        "the log groups of the Spark jobs of this pipeline, since their names end in that of the "
        "role, which its own policy cannot name",
    ),
    Wildcard(
        permissions.WRITE_LOGS,
        _arn("logs", r"log-group:/aws-glue/python-jobs/[^*]+-role/\*"),
        "the log groups of the Python shell jobs with this security configuration, since their "
        "names end in that of the role, which its own policy cannot name",
    ),
    Wildcard(
        permissions.WRITE_LOGS,
        _arn("logs", r"log-group:/aws-glue/crawlers-role/\*-[^*]+:\*"),
        "the log groups of the crawlers with this security configuration, since their names begin "
        "with that of the role, which its own policy cannot name",
    ),
    Wildcard(
        permissions.WRITE_LOGS,
        _arn("logs", r"log-group:/aws-glue/iceberg-[a-z-]+/logs:\*"),
        "the log streams of an optimizer of tables, which AWS names",
    ),
    Wildcard(
        ("cloudwatch:PutMetricData",),
        r"\*",
        "CloudWatch has no resource for it, and the condition allows the namespace Glue only",
        {"StringEquals": {"cloudwatch:namespace": "Glue"}},
    ),
    Wildcard(
        ("lakeformation:GetDataAccess",),
        r"\*",
        "Lake Formation has no resource for it, and decides by its own grants",
    ),
    Wildcard(network.DESCRIBE, r"\*", "EC2 has no resource for them, and they change nothing"),
    Wildcard(
        network.USE_SAAS,
        r"\*",
        "AWS documents no resource for what a connection to an application needs",
    ),
    Wildcard(
        ("ec2:DescribeVpcAttribute",),
        _shared(r"vpc/\*"),
        "a connection says its subnet, and not its VPC, and the action changes nothing",
    ),
    Wildcard(
        ("ec2:CreateNetworkInterface",),
        _INTERFACES,
        "a new network interface has no id yet, and the same statement names the subnets of the "
        "connections",
        is_bound=True,
    ),
    Wildcard(
        ("ec2:CreateNetworkInterface",),
        _INTERFACES,
        "a new network interface has no id yet",
        is_bound=False,
    ),
    Wildcard(
        ("ec2:CreateNetworkInterface",),
        _shared(r"subnet/\*"),
        "the app knows a connection by its name only, and not its subnet",
    ),
    Wildcard(
        ("ec2:CreateNetworkInterface",),
        _shared(r"security-group/\*"),
        "the app does not know the security groups of a connection",
    ),
    Wildcard(
        ("ec2:CreateNetworkInterface",),
        _shared(r"(subnet|security-group)/[^*]+"),
        "the id names one, and its account is the one that shares the VPC",
    ),
    Wildcard(
        ("ec2:DeleteNetworkInterface",),
        _INTERFACES,
        "network interfaces have no ids yet, and the condition allows those in the subnets of the "
        "connections only",
        is_bound=True,
    ),
    Wildcard(
        ("ec2:DeleteNetworkInterface",),
        _INTERFACES,
        "network interfaces have no ids yet, and the app knows a connection by its name only, and "
        "not its subnet",
        is_bound=False,
    ),
    Wildcard(
        ("ec2:CreateTags", "ec2:DeleteTags"),
        _INTERFACES,
        "network interfaces have no ids yet, and the condition allows the tag "
        "aws-glue-service-resource only",
        network.TAGGED,
    ),
    Wildcard(
        ("glue:GetUserDefinedFunctions",),
        _arn("glue", r"userDefinedFunction/[^*/]+/\*"),
        "the functions of a database whose tables the job declares, since Spark lists them",
    ),
    Wildcard(
        crawling.READ,
        _arn("glue", r"table/[^*/]+/[^*/]*\*"),
        "the tables of the crawler's database, whose names only a crawl knows",
    ),
    Wildcard(
        crawling.WRITE,
        _arn("glue", r"table/[^*/]+/[^*/]*\*"),
        "the tables of the crawler's database whose names start with its prefix, if it has one, "
        "since only a crawl knows the names",
    ),
    Wildcard(
        crawling.DELETE,
        _arn("glue", r"table/[^*/]+/[^*/]*\*"),
        "the tables of the crawler's database whose names start with its prefix, if it has one, "
        "since the crawler is declared to delete those whose data is gone",
    ),
    Wildcard(
        ("kafka-cluster:AlterGroup", "kafka-cluster:DescribeGroup"),
        r"[^*]+/[^*/]+\*",
        "the consumer groups whose names begin with the prefix of the declared source, since "
        "Spark makes up the rest",
    ),
)
