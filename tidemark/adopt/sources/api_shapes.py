"""Writes what a template has as Glue's API does: numbers and switches may be texts there."""

from collections.abc import Mapping
from typing import Any

from tidemark.assembly.glue_shapes import LATE, plain, shape_of


def as_api_has_it(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a resource as a shape of the API has its members.

    What the shape does not have stays as it is.
    """
    found: dict[str, Any] = _value(properties, shape_of(name))
    return found


def _value(value: Any, shape: Any) -> Any:
    kind = shape.type_name
    if kind == "structure" and isinstance(value, Mapping):
        members = {key.lower(): member for key, member in shape.members.items()}
        return {
            key: _value(one, members[key.lower()]) if key.lower() in members else one
            for key, one in value.items()
        }
    if kind == "list" and isinstance(value, list):
        return [_value(one, shape.member) for one in value]
    if kind == "map" and isinstance(value, Mapping):
        return {str(key): _value(one, shape.value) for key, one in value.items()}
    found = plain(value, kind)
    return value if found is LATE or value == "" else found
