"""Writes what a template has as Glue's API does: numbers and switches may be texts there."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from botocore.model import ServiceModel, Shape


@cache
def _model() -> "ServiceModel":
    import botocore.session

    return botocore.session.get_session().get_service_model("glue")


def as_api_has_it(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a resource as a shape of the API has its members.

    What the shape does not have stays as it is.
    """
    found: dict[str, Any] = _value(properties, _model().shape_for(name))
    return found


def _value(value: Any, shape: "Shape") -> Any:
    kind = shape.type_name
    if kind == "structure" and isinstance(value, Mapping):
        members = {key.lower(): (key, member) for key, member in shape.members.items()}  # type: ignore[attr-defined]
        return {
            key: _value(one, members[key.lower()][1]) if key.lower() in members else one
            for key, one in value.items()
        }
    if kind == "list" and isinstance(value, list):
        return [_value(one, shape.member) for one in value]  # type: ignore[attr-defined]
    if kind == "map" and isinstance(value, Mapping):
        return {str(key): _value(one, shape.value) for key, one in value.items()}  # type: ignore[attr-defined]
    if kind == "string" and isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return _plain(value, kind)


def _plain(value: Any, kind: str) -> Any:
    """Return a text that is a number or a switch as that."""
    if not isinstance(value, str):
        return value
    try:
        if kind in ("integer", "long"):
            return int(value)
        if kind in ("double", "float"):
            return float(value)
    except ValueError:
        return value
    return value.lower() in ("true", "yes", "on") if kind == "boolean" and value else value
