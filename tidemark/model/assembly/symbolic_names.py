"""Reads intrinsic functions as far as known before a deployment, and compares names."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tidemark.model.assembly.resources import Templates, stated_name

NO_VALUE = {"Ref": "AWS::NoValue"}
# Pseudo parameters that are equal in all stacks of one account and region.
SHARED = {"AWS::AccountId", "AWS::Partition", "AWS::Region", "AWS::URLSuffix"}
SUBSTITUTED = re.compile(r"\$\{([\w:]+)(?:\.([\w.]+))?\}", re.ASCII)


def is_intrinsic(value: object) -> bool:
    """Return whether a value is a call of a function, or a reference."""
    return isinstance(value, Mapping) and any(
        key == "Ref" or str(key).startswith("Fn::") for key in value
    )


def chosen(value: Any) -> Any:
    """Return a value with each `Fn::If` replaced by the first branch of it that has a value."""
    match value:
        case {"Fn::If": [_, *branches]}:
            return next((chosen(branch) for branch in branches if branch != NO_VALUE), NO_VALUE)
        case dict():
            inner = {key: chosen(item) for key, item in value.items() if item != NO_VALUE}
            return {key: item for key, item in inner.items() if item != NO_VALUE}
        case list():
            return [item for item in map(chosen, value) if item != NO_VALUE]
    return value


def parts_of_sub(text: str) -> list[object]:
    """Return the strings and references that a `Fn::Sub` without its own names joins."""
    parts: list[object] = []
    end = 0
    for match in SUBSTITUTED.finditer(text):
        name, attribute = match.groups()
        parts += [
            text[end : match.start()],
            {"Fn::GetAtt": [name, attribute]} if attribute else {"Ref": name},
        ]
        end = match.end()
    return [*parts, text[end:]]


class SymbolicNames:
    """Finds equal names of templates before a deployment gives them."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._exports: dict[str, tuple[str, Any]] = {}
        self._outputs: dict[str, dict[str, Any]] = {}
        for stack, template in templates.items():
            for id_, output in template.get("Outputs", {}).items():
                self._outputs.setdefault(id_, {})[stack] = output["Value"]
                if "Export" in output:
                    name = json.dumps(output["Export"]["Name"])
                    self._exports[name] = stack, output["Value"]

    def own(self, stack: str, id_: str) -> str:
        """Return the name of a resource or a parameter."""
        if id_ in SHARED:
            return id_.replace("::", ".")
        stated = stated_name(self._templates[stack].get("Resources", {}).get(id_, {}))
        return self.text(stack, stated) if stated is not None else f"{stack}.{id_}"

    def text(self, stack: str, value: object) -> str:
        """Return a value of a template of `stack` as a string."""
        match value:
            case {"Ref": id_}:
                return self.own(stack, str(id_))
            case {"Fn::ImportValue": export}:
                return self._imported(stack, export)
            case {"Fn::GetStackOutput": {"OutputName": str(id_), "StackName": name}} if (
                stated := self._output(id_, name)
            ):
                return self.text(*stated)
            case {"Fn::Join": [separator, list(parts)]}:
                return str(separator).join(self.text(stack, part) for part in parts)
            case {"Fn::Sub": str(text)}:
                return "".join(self.text(stack, part) for part in parts_of_sub(text))
            case str():
                return value
        return f"{stack}.{json.dumps(value, sort_keys=True)}"

    def _imported(self, stack: str, export: object) -> str:
        """Return an exported value; an export of another app is one value for all its importers."""
        if exported := self._exports.get(json.dumps(export)):
            return self.text(*exported)
        return f"import.{self.text(stack, export)}"

    def _output(self, id_: str, stack_name: object) -> tuple[str, Any] | None:
        """Return where an output stands and its value; a file may not be named like its stack."""
        values = self._outputs.get(id_, {})
        if stack_name in values:
            return str(stack_name), values[str(stack_name)]
        return next(iter(values.items())) if len(values) == 1 else None
