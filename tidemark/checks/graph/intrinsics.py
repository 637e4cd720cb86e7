"""Reads the intrinsic functions of a template as far as they are known before a deployment."""

import re
from collections.abc import Mapping
from typing import Any

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
    """Return the texts and references that a `Fn::Sub` without names of its own joins."""
    parts: list[object] = []
    end = 0
    for found in SUBSTITUTED.finditer(text):
        name, attribute = found.groups()
        parts += [
            text[end : found.start()],
            {"Fn::GetAtt": [name, attribute]} if attribute else {"Ref": name},
        ]
        end = found.end()
    return [*parts, text[end:]]
