"""Writes the properties of a template in the form of Glue's API requests.

Numbers and switches may be strings in a template; values that only a deployment knows are left out.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_Glue.html
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape

from tidemark.model.assembly.symbolic_names import is_intrinsic

# By resource type: the shape whose members are its properties.
REQUESTS: Mapping[str, str] = {
    **{
        f"AWS::Glue::{kind}": f"Create{kind}Request"
        for kind in (
            "Classifier Connection Crawler CustomEntityType DataQualityRuleset Database "
            "DevEndpoint Job MLTransform Partition SecurityConfiguration Table Trigger "
            "UsageProfile Workflow"
        ).split()
    },
    "AWS::Glue::Registry": "CreateRegistryInput",
    "AWS::Glue::Schema": "CreateSchemaInput",
}
# Properties that a request names otherwise.
RENAMED = {
    "AWS::Glue::Registry": {"Name": "RegistryName"},
    "AWS::Glue::Schema": {"Name": "SchemaName"},
}
TRUE = ("true", "yes", "on")
LATE = object()  # stands for an unknown value, or one that does not fit the shape


def shape_of(name: str) -> Shape:
    """Return a shape of Glue's model."""
    return _model().shape_for(name)


@cache
def _model() -> ServiceModel:
    return ServiceModel(Loader().load_service_model("glue", "service-2"), "glue")


def request_of(kind: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a resource as the request that creates it, as far as known."""
    renamed = RENAMED.get(kind, {})
    given = {renamed.get(key, key): value for key, value in properties.items()}
    schedule = given.get("Schedule")
    if kind == "AWS::Glue::Crawler" and isinstance(schedule, Mapping):
        given["Schedule"] = schedule.get("ScheduleExpression", schedule)
    request = known_of(shape_of(REQUESTS[kind]), given)
    return request if isinstance(request, dict) else {}


def known_of(shape: Shape, value: Any) -> Any:
    """Return the known part of a value in the form of a shape; `LATE` without one."""
    if is_intrinsic(value) and len(value) == 1:  # a deployment evaluates it
        return LATE
    if isinstance(shape, StructureShape):
        return _members(shape.members, value) if isinstance(value, Mapping) else LATE
    if isinstance(shape, ListShape):
        return _items(shape, value) if isinstance(value, list) else LATE
    if isinstance(shape, MapShape):
        return _entries(shape, value) if isinstance(value, Mapping) else LATE
    return plain(value, shape.type_name)


def plain(value: Any, kind: str) -> Any:
    """Return a scalar as a type of the model has it; `LATE` if it cannot be that."""
    if isinstance(value, bool | int | float) and kind == "string":
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, str) and kind == "boolean":
        return value.lower() in TRUE
    if isinstance(value, str) and kind != "string":
        try:
            return int(value) if kind in ("integer", "long") else float(value)
        except ValueError:
            return LATE
    return LATE if isinstance(value, Mapping | list) or value is None else value


def _members(members: Mapping[str, Shape], value: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: known_of(members[key], one) for key, one in value.items() if key in members}
    return {key: one for key, one in known.items() if one is not LATE}


def _items(shape: ListShape, value: list[Any]) -> Any:
    """Return the items that are known; `LATE` if too few are known to judge their number."""
    items = [item for part in value if (item := known_of(shape.member, part)) is not LATE]
    is_short = len(items) < len(value) and len(items) < shape.metadata.get("min", 0)
    return LATE if is_short else items


def _entries(shape: MapShape, value: Mapping[str, Any]) -> Any:
    """Return the entries that are known; `LATE` if too few are known to judge their number."""
    every = {str(key): known_of(shape.value, one) for key, one in value.items()}
    known = {key: one for key, one in every.items() if one is not LATE}
    is_short = len(known) < len(every) and len(known) < shape.metadata.get("min", 0)
    return LATE if is_short else known
