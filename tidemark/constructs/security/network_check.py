"""Finds connections whose network no role may use, because of an override; on templates."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidemark.checks.graph.model import Problem
from tidemark.constructs.security.wildcards import Statement, statements_of, string_of
from tidemark.model.assembly.resources import Templates, resources_of

OTHER_SUBNET = "connection-subnet"
JOIN = "ec2:CreateNetworkInterface"


def problems_of_networks(templates: Templates) -> Iterator[Problem]:
    """Yield each connection that a role may use, but whose subnet or groups it may not.

    A policy follows from the connection's declaration; an override is in the template only.
    """
    for stack, id_, connection in resources_of(templates, "AWS::Glue::Connection"):
        network = _network(connection)
        for role, statements in _roles(templates[stack]) if network else ():
            for kind, part in _not_allowed(statements, id_, network):
                yield Problem(
                    OTHER_SUBNET,
                    f"{stack}/{id_}",
                    f"the connection is in the {kind.replace('-', ' ')} {part}, but '{role}' may "
                    "create network interfaces in others only; a run would end with AccessDenied",
                    "set subnet_id and security_group_id_list where the connection is created, "
                    "not by an override",
                )


def _network(connection: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the subnet and the groups in a template, each after its kind."""
    given = connection.get("Properties", {}).get("ConnectionInput", {})
    required = given.get("PhysicalConnectionRequirements") if isinstance(given, Mapping) else None
    if not isinstance(required, Mapping):
        return []
    subnet, groups = required.get("SubnetId"), required.get("SecurityGroupIdList")
    parts = [("subnet", subnet)] if subnet else []
    parts += [("security-group", group) for group in groups] if isinstance(groups, list) else []
    return [(kind, string_of(part)) for kind, part in parts]


def _not_allowed(
    statements: Sequence[Statement], connection: str, network: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the parts of its network that a user of a connection cannot join."""

    def allowed(action: str) -> list[str]:
        used = (statement.resources for statement in statements if action in statement.actions)
        return [resource for resources in used for resource in resources]

    uses = any(
        resource.endswith(f":connection/<{connection}>")
        for resource in allowed("glue:GetConnection")
    )
    if not uses:
        return []
    places = allowed(JOIN)
    return [
        (kind, part)
        for kind, part in network
        if not any(place.endswith((f":{kind}/*", f":{kind}/{part}")) for place in places)
    ]


def _roles(template: Mapping[str, Any]) -> Iterator[tuple[str, list[Statement]]]:
    """Yield the roles of a template, or their stand-ins, with all their permissions."""
    statements_by_role: dict[str, list[Statement]] = defaultdict(list)
    resources = template.get("Resources", {})
    for id_, resource in resources.items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::IAM::Role":
            arns = [arn for arn in properties.get("ManagedPolicyArns", ()) if isinstance(arn, dict)]
            managed = [resources[arn["Ref"]] for arn in arns if arn.get("Ref") in resources]
            documents = [
                *properties.get("Policies", ()),
                *(policy["Properties"] for policy in managed),
            ]
            statements_by_role[id_] += [
                statement
                for document in documents
                for statement in statements_of(document["PolicyDocument"])
            ]
        elif resource["Type"] == "AWS::IAM::Policy":
            for role in properties.get("Roles", ()):
                statements_by_role[string_of(role).strip("<>")] += statements_of(
                    properties["PolicyDocument"]
                )
    yield from statements_by_role.items()
