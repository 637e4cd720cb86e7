"""What AWS checks of a request beyond its form, by the shapes of botocore's service models.

The port checks requests with it, synthesis checks the declarations of a template.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

from tidemark.errors import show
from tidemark.model.assembly.glue_shapes import REQUESTS, request_of, shape_of
from tidemark.model.assembly.job_rules import faults_of_job

# Values that Glue takes in addition to those that its model lists, by shape. Sources:
# https://docs.aws.amazon.com/datazone/latest/APIReference/API_GlueConnectionInput.html,
# https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/glue_connection
BESIDE = {
    "ConnectionType": ("REDSHIFT", "SNOWFLAKE"),
    "ConnectionPropertyKey": ("SparkProperties", "CONNECTION_TYPE"),
}
NUMBERS = ("integer", "long", "float", "double")
JAVA_SURROGATES = r"\uD800\uDC00-\uDBFF\uDFFF"  # in patterns: the characters beyond 16 bits


def beyond_limits(shape: Shape, value: Any, path: str = "") -> Iterator[str]:
    """Yield why AWS refuses a value of the right form: lengths, numbers, enums, patterns."""
    if isinstance(shape, StructureShape):
        for name, member in shape.members.items():
            if name in value:
                yield from beyond_limits(member, value[name], f"{path}.{name}" if path else name)
    elif isinstance(shape, ListShape):
        yield from _sizes(shape, len(value), "a list of {} items", path)
        for number, item in enumerate(value):
            yield from beyond_limits(shape.member, item, f"{path}[{number}]")
    elif isinstance(shape, MapShape):
        yield from _sizes(shape, len(value), "a map of {} entries", path)
        for key, item in value.items():
            yield from beyond_limits(shape.key, key, f"the key {show(key)} of {path}")
            yield from beyond_limits(shape.value, item, f"{path}.{key}")
    else:
        yield from _of_scalar(shape, value, path)


def _of_scalar(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if isinstance(shape, StringShape):
        listed = shape.metadata.get("enum", ())
        allowed = (*listed, *BESIDE.get(shape.name, ()))
        if listed and value not in allowed:
            yield f"{path} is {show(value)}; allowed: {', '.join(allowed)}"
        yield from _sizes(shape, len(value), "a string of {} characters", path)
        pattern = shape.metadata.get("pattern")
        if pattern and not _fits(pattern, value):
            yield f"{path} is {show(value)}; allowed: a string that matches {pattern}"
    elif shape.type_name in NUMBERS:
        if isinstance(value, bool):
            yield f"{path} is {show(value)}; allowed: a number"
        else:
            yield from _sizes(shape, value, "{}", path)


def _sizes(shape: Shape, size: float, text: str, path: str) -> Iterator[str]:
    most, least = shape.metadata.get("max"), shape.metadata.get("min")
    if most is not None and size > most:
        yield f"{path} is {text.format(size)}; allowed: at most {most}"
    if least is not None and size < least:
        yield f"{path} is {text.format(size)}; allowed: at least {least}"


def _fits(pattern: str, text: str) -> bool:
    """Return whether a whole string matches a pattern of a service model, which Java reads."""
    compiled = _compiled(pattern)
    return compiled is None or compiled.fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern.replace(JAVA_SURROGATES, r"\U00010000-\U0010FFFF"))
    except re.error:  # classes that only Java has
        return None


NESTED = ("array", "map", "struct", "uniontype")  # types that are not primitive
JOB = "AWS::Glue::Job"


def refused_by_glue(kind: str, properties: Mapping[str, Any]) -> list[str]:
    """Return the reasons why Glue refuses a resource of a template.

    What only a deployment knows is not judged.
    """
    request = request_of(kind, properties)
    faults = list(beyond_limits(shape_of(REQUESTS[kind]), request))
    faults += faults_of_partition_keys(request.get("TableInput", {}).get("PartitionKeys"))
    if kind == JOB:
        role = {} if "Role" in request else {"Role": "of the deployment"}
        faults += faults_of_job({"Command": {}, **role, **request})
    return faults


def faults_of_partition_keys(keys: Any) -> Iterator[str]:
    """Yield the partition keys whose type is not primitive, which Glue does not support."""
    for key in keys if isinstance(keys, list) else ():
        kind = key.get("Type") if isinstance(key, Mapping) else None
        if isinstance(kind, str) and kind.strip().lower().startswith(NESTED):
            yield (
                f"the partition key {key.get('Name')!r} has type {kind[:80]!r}; allowed: a "
                "primitive type such as string, int or date"
            )
