"""What a template asks for, and where what was read back differs from it: pure, on plain data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

PLACEHOLDER = re.compile(r"\$\{([^}]+)\}")
ABSENT = "absent"
# What Fn::GetAtt gives, by type and attribute; `{id}` is the physical id, which is what Ref gives,
# `{last}` what stands after its last slash.
ATTRIBUTES = {
    ("AWS::DynamoDB::Table", "Arn"): "arn:aws:dynamodb:{region}:{account}:table/{id}",
    ("AWS::IAM::Role", "Arn"): "arn:aws:iam::{account}:role/{id}",
    ("AWS::KMS::Key", "Arn"): "arn:aws:kms:{region}:{account}:key/{id}",
    ("AWS::Logs::LogGroup", "Arn"): "arn:aws:logs:{region}:{account}:log-group:{id}:*",
    ("AWS::S3::Bucket", "Arn"): "arn:aws:s3:::{id}",
    ("AWS::SNS::Topic", "TopicArn"): "{id}",
    ("AWS::SQS::Queue", "Arn"): "arn:aws:sqs:{region}:{account}:{last}",
    ("AWS::SQS::Queue", "QueueName"): "{last}",
    ("AWS::Scheduler::ScheduleGroup", "Arn"): (
        "arn:aws:scheduler:{region}:{account}:schedule-group/{id}"
    ),
    ("AWS::CloudWatch::Alarm", "Arn"): "arn:aws:cloudwatch:{region}:{account}:alarm:{id}",
    ("AWS::Events::Rule", "Arn"): "arn:aws:events:{region}:{account}:rule/{id}",
}


@dataclass(frozen=True)
class Deployed:
    """A resource of a stack.

    Attributes:
        type: the CloudFormation type.
        id: the physical id.
        asked: its properties in the template, resolved.
        found: what was read back, as a template would say it.
    """

    type: str
    id: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    found: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Surroundings:
    """What the intrinsic functions of one stack's template refer to.

    Attributes:
        stack: the name of the stack.
        account: the account of 12 digits.
        region: the region.
        resources: by logical id.
        exports: values by export name.
        parameters: values by parameter name.
    """

    stack: str
    account: str
    region: str
    resources: Mapping[str, Deployed]
    exports: Mapping[str, str]
    parameters: Mapping[str, str] = field(default_factory=dict)


def resolve(value: Any, around: Surroundings) -> Any:
    """Return a value of a template as it is once its stack is deployed.

    Raises:
        LookupError: an intrinsic function or what it refers to is not known here.
    """
    match value:
        case list():
            return [resolve(item, around) for item in value]
        case {"Ref": str(name)}:
            return _ref(name, around)
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return _attribute(name, attribute, around)
        case {"Fn::ImportValue": name}:
            return around.exports[resolve(name, around)]
        case {"Fn::Join": [str(separator), list(parts)]}:
            return separator.join(str(resolve(part, around)) for part in parts)
        case {"Fn::Sub": str(text)}:
            return PLACEHOLDER.sub(lambda found: _substitute(found[1], around), text)
        case dict():
            return {key: resolve(item, around) for key, item in _known(value).items()}
    return value


def _known(members: dict[str, Any]) -> dict[str, Any]:
    """Return an object that is no intrinsic function."""
    for key in members:
        if key.startswith("Fn::"):
            raise LookupError(f"{key} is not known here: add it to resolve")
    return members


def _ref(name: str, around: Surroundings) -> str:
    known = {
        **around.parameters,
        "AWS::AccountId": around.account,
        "AWS::Partition": "aws",
        "AWS::Region": around.region,
        "AWS::StackName": around.stack,
        "AWS::URLSuffix": "amazonaws.com",
    }
    return known[name] if name in known else around.resources[name].id


def _attribute(name: str, attribute: str, around: Surroundings) -> str:
    resource = around.resources[name]
    text = ATTRIBUTES[resource.type, attribute]
    last = resource.id.rpartition("/")[2]
    return text.format(id=resource.id, last=last, account=around.account, region=around.region)


def _substitute(name: str, around: Surroundings) -> str:
    resource, dot, attribute = name.partition(".")
    return _attribute(resource, attribute, around) if dot else _ref(name, around)


def differences(asked: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Return a line for everything asked for that was not found so.

    Members of `found` that no one asked for are allowed at the top, where a service adds its own,
    and nowhere below: an argument or a permission too many is a difference.
    """
    return [
        line
        for key, value in asked.items()
        for line in _compare(key, value, found.get(key, ABSENT))
    ]


def _compare(path: str, asked: Any, found: Any) -> Iterator[str]:
    if isinstance(asked, dict | list) and isinstance(found, str) and found[:1] in ("{", "["):
        found = json.loads(found)
    if isinstance(asked, dict) and isinstance(found, dict):
        for key in sorted(asked.keys() | found.keys()):
            yield from _compare(f"{path}.{key}", asked.get(key, ABSENT), found.get(key, ABSENT))
    elif isinstance(asked, list) and isinstance(found, list) and len(asked) == len(found):
        for number, (left, right) in enumerate(zip(asked, found, strict=True)):
            yield from _compare(f"{path}[{number}]", left, right)
    elif asked != found or isinstance(asked, bool) != isinstance(found, bool):
        yield f"{path}: asked for {asked!r}, found {found!r}"
