"""Resolves the functions of a CloudFormation template by its parameters: pure.

Values that are known at deployment only are in braces, `{Bucket}`, and are named.

Source:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tidemark.adopt.sources.nested_templates import Nested
from tidemark.adopt.sources.template_file import MAX_VALUES
from tidemark.model.assembly.resources import stated_name
from tidemark.model.assembly.symbolic_names import NO_VALUE

UNKNOWN = re.compile(r"\{([A-Za-z][A-Za-z0-9:._-]*)\}", re.ASCII)
LATE = re.compile(r"\{\{(resolve:[^{}]+)\}\}")  # what CloudFormation asks other services for
SUBSTITUTED = re.compile(r"\$\{([^}]+)\}")
OUTPUTS = "Outputs."  # of a nested stack
PARTITION_VALUES = {"AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com"}
# What Fn::GetAtt returns, by resource type and attribute, of a resource whose name is known.
ATTRIBUTES: Mapping[tuple[str, str], str] = {
    ("AWS::S3::Bucket", "Arn"): "arn:{partition}:s3:::{name}",
    ("AWS::IAM::Role", "Arn"): "arn:{partition}:iam::{account}:role/{name}",
    ("AWS::DynamoDB::Table", "Arn"): "arn:{partition}:dynamodb:{region}:{account}:table/{name}",
    ("AWS::Kinesis::Stream", "Arn"): "arn:{partition}:kinesis:{region}:{account}:stream/{name}",
    ("AWS::Lambda::Function", "Arn"): "arn:{partition}:lambda:{region}:{account}:function:{name}",
}
# Where a resource that is not part of a run has its name.
OTHER_NAMES = {
    "AWS::Kinesis::Stream": "Name",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::SecretsManager::Secret": "Name",
}
NODES = tuple(f"AWS::Glue::{kind}" for kind in ("Crawler", "Job", "Trigger", "Workflow"))
# What functions raise that are not as CloudFormation takes them.
MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError)
# Types whose Ref is an address, which has more in it than the name.
NO_NAME = ("AWS::SecretsManager::Secret", "AWS::SNS::Topic")


@dataclass
class Values:
    """The values of the functions of one template.

    Attributes:
        template: the template.
        given: values of parameters, of pseudo parameters such as `AWS::Region`, and names of
            resources by logical id.
        exports: what templates before it export.
        stack: prefix of logical ids, if there are several stacks: `orders.`; else empty.
        nested: the templates of nested stacks that are at hand, by logical id.
    """

    template: Mapping[str, Any]
    given: Mapping[str, str]
    exports: dict[str, Any] = field(default_factory=dict)
    stack: str = ""
    nested: Mapping[str, Nested] = field(default_factory=dict)
    _children: dict[str, "Values"] = field(default_factory=dict)
    _names: dict[str, str | None] = field(default_factory=dict)
    _unknown: set[str] = field(default_factory=set)
    _steps: Iterator[int] = field(default_factory=count)

    def name_of(self, id_: str) -> str | None:
        """Return the name of a resource; None if only a deployment gives it one.

        A job, crawler, trigger or workflow is then named by its logical id, so that others find it.
        """
        if (name := self._given_name(id_)) is not None:
            return name
        if id_ not in self._names:
            self._names[id_] = None  # during its resolution: no name refers to itself
            resource = self.template.get("Resources", {}).get(id_, {})
            own = OTHER_NAMES.get(resource.get("Type", ""))
            stated = resource.get("Properties", {}).get(own) if own else stated_name(resource)
            resolved_name = None if stated is None else self.resolve(stated)
            if isinstance(resolved_name, str) and not self.unknown_in(resolved_name):
                self._names[id_] = resolved_name
            elif resource.get("Type") in NODES:
                self._names[id_] = f"{self.stack}{id_}"
        return self._names[id_]

    def child(self, id_: str) -> "Values | None":
        """Return the values of a nested stack, with its parameters; None if it is not at hand."""
        if id_ not in self._children and (inner := self.nested.get(id_)) is not None:
            properties = self.template["Resources"][id_].get("Properties") or {}
            resolved = self.resolve(properties.get("Parameters") or {})
            parameters = {
                name: ",".join(map(_string, value)) if isinstance(value, list) else _string(value)
                for name, value in (resolved.items() if isinstance(resolved, Mapping) else ())
            }
            prefix = f"{self.stack}{id_}."
            own = ("AWS::AccountId", "AWS::Partition", "AWS::Region")
            passed = {k: v for k, v in self.given.items() if k in own or k.startswith(prefix)}
            self._children[id_] = Values(
                inner.template,
                {**passed, **parameters},
                self.exports,
                prefix,
                inner.nested,
                _unknown=self._unknown,  # values of a deployment pass through parameters
            )
        return self._children.get(id_)

    def stated_name_of(self, id_: str) -> str | None:
        """Return the name that the template, or a parameter, states; braces for unknown parts."""
        if (name := self._given_name(id_)) is not None:
            return name
        stated = stated_name(self.template["Resources"][id_])
        return None if stated is None else _string(self.resolve(stated))

    def _given_name(self, id_: str) -> str | None:
        return self.given.get(f"{self.stack}{id_}", self.given.get(id_))

    def unknown_in(self, value: object) -> list[str]:
        """Return the parts of a resolved value that only a deployment knows, each once."""
        names: list[str] = []
        if isinstance(value, str):
            names = [name for name in UNKNOWN.findall(value) if name in self._unknown]
            names += LATE.findall(value)
        elif isinstance(value, Mapping | list):
            parts = value.values() if isinstance(value, Mapping) else value
            names = [name for part in parts for name in self.unknown_in(part)]
        return list(dict.fromkeys(names))

    def resolve(self, value: Any) -> Any:
        """Return a value with every function in it replaced by its result."""
        if isinstance(value, list):
            return [part for part in map(self.resolve, value) if part != NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            name, argument = next(iter(value.items()))
            if name == "Ref" or str(name).startswith("Fn::"):
                return self._call(str(name), argument)
        resolved = {str(key): self.resolve(one) for key, one in value.items()}
        return {key: one for key, one in resolved.items() if one != NO_VALUE}

    def is_made(self, resource: Mapping[str, Any]) -> bool:
        """Return whether the condition of a resource holds; one that is not known does."""
        name = resource.get("Condition")
        try:
            return name is None or self._holds({"Condition": name}) is not False
        except MALFORMED:
            return True

    def _call(self, name: str, argument: Any) -> Any:
        functions: Mapping[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Fn::Base64": lambda it: base64.b64encode(str(self.resolve(it)).encode()).decode(),
            "Fn::FindInMap": self._find_in_map,
            "Fn::GetAtt": self._get_att,
            "Fn::If": self._if,
            "Fn::ImportValue": self._import,
            "Fn::Join": self._join,
            "Fn::Length": lambda it: len(self.resolve(it)),
            "Fn::Select": self._select,
            "Fn::Split": lambda it: str(self.resolve(it[1])).split(str(it[0])),
            "Fn::Sub": self._sub,
            "Fn::ToJsonString": lambda it: json.dumps(self.resolve(it)),
        }
        try:
            value = functions[name](argument)
            self._go_on(value)
            return value
        except MALFORMED:  # or a function that is unknown here
            return self._braces(name.removeprefix("Fn::"))

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return NO_VALUE
        if name in self.given:
            return self._parameter(name, self.given[name])
        if name in PARTITION_VALUES:
            return PARTITION_VALUES[name]
        resource = self.template.get("Resources", {}).get(name)
        if resource is not None and resource.get("Type") not in NO_NAME:
            own = self.name_of(name)
            return self._braces(name) if own is None else own
        declared = self.template.get("Parameters", {}).get(name, {})
        if "Default" in declared and not str(declared.get("Type")).startswith("AWS::SSM"):
            return self._parameter(name, declared["Default"])
        return self._braces(name)

    def _parameter(self, name: str, value: Any) -> Any:
        """Return the value of a parameter; some are lists."""
        kind = str(self.template.get("Parameters", {}).get(name, {}).get("Type", ""))
        if kind == "CommaDelimitedList" or kind.startswith("List<"):
            return [part.strip() for part in str(value).split(",")]
        return _string(value)

    def _get_att(self, argument: Any) -> Any:
        id_, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
        if attribute.startswith(OUTPUTS) and (inner := self.child(id_)) is not None:
            output = inner.template["Outputs"][attribute.removeprefix(OUTPUTS)]
            return inner.resolve(output["Value"])
        kind = self.template.get("Resources", {}).get(id_, {}).get("Type", "")
        pattern, name = ATTRIBUTES.get((kind, attribute)), self.name_of(id_)
        if pattern is None or name is None:
            return self._braces(f"{id_}.{attribute}")
        return pattern.format(
            name=name,
            partition=self._ref("AWS::Partition"),
            region=self._ref("AWS::Region"),
            account=self._ref("AWS::AccountId"),
        )

    def _sub(self, argument: Any) -> str:
        text, own = (argument, {}) if isinstance(argument, str) else argument
        known = {key: _string(self.resolve(one)) for key, one in own.items()}

        def replaced(match: re.Match[str]) -> str:
            name = match[1].strip()
            if name.startswith("!"):
                return f"${{{name[1:]}}}"
            if name in known:
                return known[name]
            return _string(self._get_att(name) if "." in name else self._ref(name))

        return SUBSTITUTED.sub(replaced, text)

    def _join(self, argument: Any) -> str:
        separator, parts = argument
        resolved = self.resolve(parts)
        strings = map(_string, resolved if isinstance(resolved, list) else [resolved])
        return str(separator).join(strings)

    def _select(self, argument: Any) -> Any:
        index, values = self.resolve(argument)
        return values[int(index)] if isinstance(values, list) else self._braces("Select")

    def _find_in_map(self, argument: Any) -> Any:
        name, *keys = self.resolve(argument[:3])
        mapping: Any = self.template["Mappings"][name]
        for key in keys:
            mapping = {str(name): value for name, value in mapping.items()}[str(key)]
        return self.resolve(mapping)

    def _import(self, argument: Any) -> Any:
        name = _string(self.resolve(argument))
        return self.exports.get(name, self._braces(f"import:{name}"))

    def _if(self, argument: Any) -> Any:
        name, yes, no = argument
        holds = self._holds({"Condition": name})
        return self._braces(f"If:{name}") if holds is None else self.resolve(yes if holds else no)

    def _holds(self, condition: Any) -> bool | None:
        """Return whether a condition holds; None if only a deployment knows."""
        self._go_on()
        ((name, argument),) = condition.items()
        if name == "Condition":
            declared = self.template.get("Conditions", {}).get(argument)
            return None if declared is None else self._holds(declared)
        if name == "Fn::Equals":
            one, other = (_string(part) for part in self.resolve(argument))
            return None if self.unknown_in([one, other]) else one == other
        parts = [self._holds(condition) for condition in argument]
        if name == "Fn::Not":
            return None if parts[0] is None else not parts[0]
        decisive = name == "Fn::Or"  # one such part decides
        if name not in ("Fn::And", "Fn::Or") or (None in parts and decisive not in parts):
            return None
        return decisive if decisive in parts else not decisive

    def _go_on(self, value: object = "") -> None:
        """Raise if functions that double one another would take for ever."""
        if next(self._steps) > MAX_VALUES or len(str(value)) > MAX_VALUES:
            raise RecursionError

    def _braces(self, name: str) -> str:
        text = re.sub(r"[^A-Za-z0-9:._-]", "-", name)
        self._unknown.add(text)
        return f"{{{text}}}"


def _string(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)
