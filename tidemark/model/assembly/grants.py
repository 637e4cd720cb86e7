"""The permissions that the role of a job needs, from the templates, as IAM statements; pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.assembly.resources import MISSING_GRANTS, Templates, resources_of
from tidemark.model.assembly.symbolic_names import parts_of_sub

VERSION = "2012-10-17"
PARTITIONS = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-isof-": "aws-iso-f",
    "eu-isoe-": "aws-iso-e",
    "eusc-": "aws-eusc",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
}
TRUST = {
    "Version": VERSION,
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "glue.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}


@dataclass(frozen=True)
class Grants:
    """The permissions that the role of one job needs.

    Attributes:
        role: its ARN, or its stand-in until a deployment.
        statements: of an IAM policy.
        is_missing: True if the app cannot give them to the role.
        unknown: the names in `${}`, which are known at deployment only.
    """

    role: str
    statements: tuple[Mapping[str, Any], ...]
    is_missing: bool
    unknown: tuple[str, ...]


def pseudo_parameters(environment: str) -> dict[str, str]:
    """Return what AWS's own parameters are in an environment `aws://ACCOUNT/REGION`, if known.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
    """
    account, _, region = environment.removeprefix("aws://").partition("/")
    known = {"AWS::AccountId": account} if account.isdecimal() else {}
    if not region or region.startswith("unknown"):
        return known
    return {**known, "AWS::Region": region, "AWS::Partition": partition_of(region)}


def partition_of(region: str) -> str:
    """Return the partition of AWS that a region belongs to.

    >>> partition_of("eu-west-1"), partition_of("cn-north-1")
    ('aws', 'aws-cn')
    """
    return next((name for start, name in PARTITIONS.items() if region.startswith(start)), "aws")


def grants_of(
    templates: Templates, job: str, environments: Mapping[str, str] | None = None
) -> Grants:
    """Return the permissions that the role of a job or a crawler needs."""
    jobs = {
        str(resource["Properties"].get("Name")): (stack, resource)
        for kind in ("AWS::Glue::Job", "AWS::Glue::Crawler")
        for stack, _, resource in resources_of(templates, kind)
    }
    if job not in jobs:
        raise UsageError(
            f"the app has no job or crawler {job!r}; it has: {', '.join(jobs) or 'none'}"
        )
    stack, resource = jobs[job]
    role = resource["Properties"]["Role"]
    missing = resource.get("Metadata", {}).get(MISSING_GRANTS)
    given = _given(_Renderer(templates), stack, role)
    needed = [(stack, statement) for statement in missing] if missing else given
    renderer = _Renderer(templates, environments)  # of the printed ones
    statements = []
    for owner, statement in needed:
        resolved = renderer.resolve(owner, statement)
        if resolved not in statements:
            statements.append(resolved)
    return Grants(
        role=_Renderer(templates, environments).render(stack, role),
        statements=tuple(statements),
        is_missing=bool(missing),
        unknown=tuple(sorted(renderer.unknown)),
    )


def policy(statements: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
    """Return an IAM policy document."""
    return {"Version": VERSION, "Statement": list(statements)}


def _given(renderer: "_Renderer", stack: str, role: Any) -> Iterator[tuple[str, Any]]:
    """Yield the statements of the policies that the templates attach to a role."""
    arn = renderer.render(stack, role)
    inline, managed, names = [], set(), {arn.rpartition("/")[2]}  # an imported one is a string
    for owner, id_, resource in resources_of(renderer.templates, "AWS::IAM::Role"):
        if arn != renderer.render(owner, {"Fn::GetAtt": [id_, "Arn"]}):
            continue
        properties = resource["Properties"]
        names = {renderer.render(owner, {"Ref": id_})}
        managed = {renderer.render(owner, arn) for arn in properties.get("ManagedPolicyArns", [])}
        inline = [(owner, policy["PolicyDocument"]) for policy in properties.get("Policies", [])]
    for kind in ("AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"):
        for owner, id_, resource in resources_of(renderer.templates, kind):
            properties = resource["Properties"]
            owners = {renderer.render(owner, named) for named in properties.get("Roles", [])}
            if owners & names or renderer.render(owner, {"Ref": id_}) in managed:
                inline.append((owner, properties["PolicyDocument"]))
    for owner, document in inline:
        yield from ((owner, statement) for statement in document["Statement"])


class _Renderer:
    """Writes values of templates as strings; `unknown` names the parts that they leave open."""

    def __init__(self, templates: Templates, environments: Mapping[str, str] | None = None) -> None:
        self.templates = templates
        self._known = {
            stack: pseudo_parameters(environment)
            for stack, environment in (environments or {}).items()
        }
        self.unknown: set[str] = set()
        self._exports = {
            json.dumps(output["Export"]["Name"]): (stack, output["Value"])
            for stack, template in templates.items()
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }

    def resolve(self, stack: str, value: Any) -> Any:
        """Return a value with every function in it as a string."""
        if isinstance(value, list):
            return [self.resolve(stack, item) for item in value]
        if isinstance(value, Mapping):
            if len(value) == 1 and any(k == "Ref" or k.startswith("Fn::") for k in value):
                return self.render(stack, value)
            return {key: self.resolve(stack, item) for key, item in value.items()}
        return value

    def render(self, stack: str, value: Any) -> str:
        """Return a value as a string; parts that a deployment fills in are in `${}`."""
        match value:
            case str():
                return value
            case {"Ref": str(id_)} if id_.startswith("AWS::"):
                return self._known.get(stack, {}).get(id_) or self._open(id_)
            case {"Ref": str(id_)}:
                return self._open(f"{stack}/{id_}")
            case {"Fn::GetAtt": [str(id_), str(attribute)]}:
                return self._open(f"{stack}/{id_}.{attribute}")
            case {"Fn::ImportValue": export} if found := self._exports.get(json.dumps(export)):
                return self.render(*found)
            case {"Fn::Join": [str(separator), list(parts)]}:
                return separator.join(self.render(stack, part) for part in parts)
            case {"Fn::Sub": str(text)}:
                return "".join(self.render(stack, part) for part in parts_of_sub(text))
        return self._open(json.dumps(value, sort_keys=True))

    def _open(self, name: str) -> str:
        self.unknown.add(name)
        return f"${{{name}}}"
