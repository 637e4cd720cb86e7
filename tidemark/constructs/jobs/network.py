"""The networks that Glue connections join, and a role's permissions in them.

Sources: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html,
https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSGlueServiceRole.html
"""

from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_glue as glue

from tidemark.constructs.jobs.permissions import Conditions, Statement, allow
from tidemark.constructs.references import arn_of

DESCRIBE = [
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcEndpoints",
]
# Of connections to applications. AWS documents no resources for these actions.
# Source: https://docs.aws.amazon.com/glue/latest/dg/salesforce-configuring-iam-permissions.html
USE_SAAS = [
    "glue:DescribeConnectionType",
    "glue:DescribeEntity",
    "glue:ListConnectionTypes",
    "glue:ListEntities",
    "glue:RefreshOAuth2Tokens",
]
TAG = "aws-glue-service-resource"  # Glue's tag on its network interfaces
TAGGED: Conditions = {
    "ForAllValues:StringEquals": {"aws:TagKeys": [TAG]},
    "Null": {"aws:TagKeys": "false"},  # or a request without keys would be allowed
}
ANY = "*"


@dataclass(frozen=True)
class Network:
    """Where Glue creates the network interfaces of connections.

    Attributes:
        subnets: ids of the subnets; `*` if one is not known.
        groups: ids of the security groups; `*` if one is not known.
    """

    subnets: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def __or__(self, other: "Network") -> "Network":
        """Return the network of both."""
        return Network(_both(self.subnets, other.subnets), _both(self.groups, other.groups))


UNKNOWN = Network((ANY,), (ANY,))


def made_by_app(connection: object) -> glue.CfnConnection | None:
    """Return the resource of a connection of the app; None of another one."""
    if isinstance(connection, glue.Connection):
        connection = connection.node.default_child
    return connection if isinstance(connection, glue.CfnConnection) else None


def network_of(connection: object) -> Network:
    """Return the network of a connection, as far as the app defines it.

    Returns:
        The subnet and the security groups of a connection of the app; empty if it has no network;
        `UNKNOWN` for a connection that is only known by name.
    """
    made = made_by_app(connection)
    given = made.connection_input if made else None
    if not isinstance(given, glue.CfnConnection.ConnectionInputProperty):
        return UNKNOWN
    required = given.physical_connection_requirements
    if required is None:
        return Network()
    if not isinstance(required, glue.CfnConnection.PhysicalConnectionRequirementsProperty):
        return UNKNOWN
    groups = required.security_group_id_list
    is_known = bool(groups) and not cdk.Token.is_unresolved(groups)
    return Network(
        (required.subnet_id or ANY,),
        tuple(dict.fromkeys(groups)) if groups and is_known else (ANY,),
    )


def use_connections(
    stack: cdk.Stack, names: Sequence[str], network: Network, *, has_saas: bool = False
) -> list[Statement]:
    """Return the permission to use Glue connections and to join their networks, if any."""
    if not names:
        return []
    connections = [
        arn_of(stack, "glue", "catalog"),
        *(arn_of(stack, "glue", "connection", name) for name in names),
    ]
    return [
        allow(["glue:GetConnection"], connections),
        *([allow(USE_SAAS, ["*"])] if has_saas else []),
        allow(DESCRIBE, ["*"]),
        allow(["ec2:DescribeVpcAttribute"], _shared(stack, "vpc", [ANY])),
        *_join(stack, network),
    ]


def _join(stack: cdk.Stack, network: Network) -> list[Statement]:
    """Return the permission to create, tag and delete network interfaces."""
    if not network.subnets:
        return []
    # Glue creates a network interface in the connection's subnet on behalf of the job. New
    # interfaces have no known ids; deleting them is limited to the subnet.
    interfaces = [arn_of(stack, "ec2", "network-interface", ANY)]
    subnets = _shared(stack, "subnet", network.subnets)
    groups = _shared(stack, "security-group", network.groups)
    there: Conditions = {"ArnEquals": {"ec2:Subnet": subnets}}
    where = None if ANY in network.subnets else there
    return [
        allow(["ec2:CreateNetworkInterface"], [*interfaces, *subnets, *groups]),
        allow(["ec2:DeleteNetworkInterface"], interfaces, where),
        allow(["ec2:CreateTags", "ec2:DeleteTags"], interfaces, TAGGED),
    ]


def _shared(stack: cdk.Stack, resource: str, ids: Sequence[str]) -> list[str]:
    """Return the ARNs of parts of a VPC, which belong to the account that shares them."""
    # Source: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-sharing.html
    return [arn_of(stack, "ec2", resource, id_, account=ANY) for id_ in ids]


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ids of both, or `*` alone if one is unknown."""
    together = tuple(dict.fromkeys((*one, *other)))
    return (ANY,) if ANY in together else together
