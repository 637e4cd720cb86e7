"""Resolves CloudFormation intrinsic functions against names that this machine gives."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.errors import UnsupportedError
from tidemark.model.assembly.resources import DYNAMODB_TABLES
from tidemark.model.assembly.state_machines import STATE_MACHINE

ACCOUNT_ID = "000000000000"
TOPIC = "AWS::SNS::Topic"
# What CloudFormation returns for Fn::GetAtt, per resource type.
ATTRIBUTES: Mapping[tuple[str, str], str] = {
    ("AWS::S3::Bucket", "Arn"): "arn:aws:s3:::{name}",
    **{
        (kind, "Arn"): "arn:aws:dynamodb:{region}:{account}:table/{name}"
        for kind in DYNAMODB_TABLES
    },
    ("AWS::IAM::Role", "Arn"): "arn:aws:iam::{account}:role/{name}",
    ("AWS::KMS::Key", "Arn"): "arn:aws:kms:{region}:{account}:key/{name}",
    ("AWS::KMS::Key", "KeyId"): "{name}",
    ("AWS::Logs::LogGroup", "Arn"): "arn:aws:logs:{region}:{account}:log-group:{name}:*",
    (TOPIC, "TopicArn"): "arn:aws:sns:{region}:{account}:{name}",
    (STATE_MACHINE, "Arn"): "arn:aws:states:{region}:{account}:stateMachine:{name}",
    (STATE_MACHINE, "Name"): "{name}",
}
REFERENCES = {
    TOPIC: "TopicArn",
    STATE_MACHINE: "Arn",
}  # by type, the attribute that Ref returns; else it is the name


@dataclass
class Scope:
    """The names visible in one stack: its resources, parameters, and the exports so far.

    With `may_guess`, a value that only a deployment knows is a name in braces: `{Queue.Arn}`.
    """

    stack_name: str
    region: str
    resource_types: Mapping[str, str]
    physical_names: Mapping[str, str]
    parameters: Mapping[str, str]
    exports: dict[str, Any] = field(default_factory=dict)
    may_guess: bool = False

    def resolve(self, value: Any) -> Any:
        """Return ``value`` with every intrinsic function in it replaced by its result."""
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            name, argument = next(iter(value.items()))
            if name == "Ref" or name.startswith("Fn::"):
                return self._call(name, argument)
        return {key: self.resolve(item) for key, item in value.items()}

    def _call(self, name: str, argument: Any) -> Any:
        functions: Mapping[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Fn::GetAtt": self._get_att,
            "Fn::Join": self._join,
            "Fn::Sub": self._sub,
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::ImportValue": self._import_value,
        }
        if name not in functions:
            return self._unknown(
                f"{name} {json.dumps(argument)}",
                f"stack {self.stack_name} uses the intrinsic function {name}; the local run knows "
                f"{', '.join(functions)}",
            )
        return functions[name](argument)

    def _unknown(self, text: str, problem: str) -> str:
        if self.may_guess:
            return f"{{{text}}}"
        raise UnsupportedError(problem)

    def _ref(self, logical_id: str) -> str:
        pseudo = {
            "AWS::AccountId": ACCOUNT_ID,
            "AWS::Region": self.region,
            "AWS::Partition": "aws",
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::StackName": self.stack_name,
        }
        if attribute := REFERENCES.get(self.resource_types.get(logical_id, "")):
            return self._get_att([logical_id, attribute])
        for names in (pseudo, self.physical_names, self.parameters):
            if logical_id in names:
                return names[logical_id]
        return self._unknown(
            logical_id,
            f"stack {self.stack_name} refers to {logical_id!r}, not known here: only AWS knows its "
            "value",
        )

    def _get_att(self, argument: list[str] | str) -> str:
        logical_id, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
        kind = self.resource_types.get(logical_id, "no resource")
        pattern = ATTRIBUTES.get((kind, attribute))
        if pattern is None:
            return self._unknown(
                f"{logical_id}.{attribute}",
                f"stack {self.stack_name} reads {attribute} of {logical_id} ({kind}), which the "
                "local run cannot answer",
            )
        return pattern.format(
            name=self.physical_names[logical_id], region=self.region, account=ACCOUNT_ID
        )

    def _join(self, argument: list[Any]) -> str:
        separator, parts = argument
        return str(separator).join(str(part) for part in self.resolve(parts))

    def _sub(self, argument: str | list[Any]) -> str:
        text, variables = (argument, {}) if isinstance(argument, str) else argument
        known = {key: str(self.resolve(value)) for key, value in variables.items()}

        def replace(match: re.Match[str]) -> str:
            name = match.group(1)
            if name.startswith("!"):
                return "${" + name[1:] + "}"
            if name in known:
                return known[name]
            return self._get_att(name) if "." in name else self._ref(name)

        return re.sub(r"\$\{([^}]+)\}", replace, text)

    def _select(self, argument: list[Any]) -> Any:
        index, values = argument
        listed = self.resolve(values)
        if int(index) < len(listed):
            return listed[int(index)]
        return self._unknown(
            f"Fn::Select {index} {json.dumps(values)}",
            f"stack {self.stack_name} selects item {index} of {listed}, which has fewer",
        )

    def _split(self, argument: list[Any]) -> list[str]:
        separator, text = argument
        return str(self.resolve(text)).split(separator)

    def _import_value(self, argument: Any) -> Any:
        name = self.resolve(argument)
        if name not in self.exports:
            return self._unknown(
                f"import {name}",
                f"stack {self.stack_name} imports {name!r}, which no stack of the assembly exports",
            )
        return self.exports[name]
