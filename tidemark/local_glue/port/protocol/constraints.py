"""Checks a request against the shapes of botocore's service models, before anything acts on it.

botocore checks types, required and unknown fields and the least lengths. What AWS checks on its
side is added: the greatest lengths and numbers, enumerations, patterns, and that a number is not a
boolean.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from botocore.model import ListShape, MapShape, OperationModel, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator

from tidemark.errors import show

NUMBERS = ("integer", "long", "float", "double")
OF_JAVA = r"\uD800\uDC00-\uDBFF\uDFFF"  # in patterns: the characters beyond 16 bits


def faults_of(operation: OperationModel, request: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a request, one text each; empty if the operation takes it."""
    shape = operation.input_shape
    if shape is None:
        return [f"{operation.name} takes no parameters"] if request else []
    report = ParamValidator().validate(dict(request), shape)
    if report.has_errors():
        return [line for line in report.generate_report().splitlines() if line]
    return list(_limits(shape, request, ""))


def _limits(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if isinstance(shape, StructureShape):
        for name, member in shape.members.items():
            if name in value:
                yield from _limits(member, value[name], f"{path}.{name}" if path else name)
    elif isinstance(shape, ListShape):
        yield from _greatest(shape, len(value), "a list of {} items", path)
        for number, item in enumerate(value):
            yield from _limits(shape.member, item, f"{path}[{number}]")
    elif isinstance(shape, MapShape):
        yield from _greatest(shape, len(value), "a map of {} entries", path)
        for key, item in value.items():
            yield from _limits(shape.key, key, f"the key {show(key)} of {path}")
            yield from _limits(shape.value, item, f"{path}.{key}")
    else:
        yield from _of_scalar(shape, value, path)


def _of_scalar(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if isinstance(shape, StringShape):
        allowed = shape.metadata.get("enum")
        if allowed and value not in allowed:
            yield f"{path} is {show(value)}; allowed: {', '.join(allowed)}"
        yield from _greatest(shape, len(value), "a text of {} characters", path)
        pattern = shape.metadata.get("pattern")
        if pattern and not _fits(pattern, value):
            yield f"{path} is {show(value)}; allowed: text that matches {pattern}"
    elif shape.type_name in NUMBERS:
        if isinstance(value, bool):
            yield f"{path} is {show(value)}; allowed: a number"
        else:
            yield from _greatest(shape, value, "{}", path)


def _greatest(shape: Shape, size: float, text: str, path: str) -> Iterator[str]:
    most = shape.metadata.get("max")
    if most is not None and size > most:
        yield f"{path} is {text.format(size)}; allowed: at most {most}"


def _fits(pattern: str, text: str) -> bool:
    """Return whether a whole text is as a pattern of a service model says, which Java reads."""
    found = _compiled(pattern)
    return found is None or found.fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern.replace(OF_JAVA, r"\U00010000-\U0010FFFF"))
    except re.error:  # classes that only Java has
        return None
