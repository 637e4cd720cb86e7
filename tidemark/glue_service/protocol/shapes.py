"""Values in the shapes of botocore's service models."""

from collections.abc import Callable, Mapping
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape

from tidemark.glue_service.protocol.models import service_model

OF_TEXT: Mapping[str, Callable[[str], Any]] = {
    "integer": int,
    "long": int,
    "double": float,
    "boolean": lambda text: text.lower() == "true",
}


def as_shape(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a structure of Glue has of some members, with its types.

    Numbers and booleans may be texts in a template. What the structure does not have is left out.
    """
    shaped: dict[str, Any] = _shaped(service_model("glue").shape_for(name), value)
    return shaped


def _shaped(shape: Shape, value: Any) -> Any:
    if isinstance(shape, StructureShape):
        members = shape.members
        return {
            name: _shaped(members[name], item)
            for name, item in value.items()
            if name in members and item is not None
        }
    if isinstance(shape, ListShape):
        return [_shaped(shape.member, item) for item in value]
    if isinstance(shape, MapShape):
        return {name: _shaped(shape.value, item) for name, item in value.items()}
    if shape.type_name in OF_TEXT and isinstance(value, str):
        return OF_TEXT[shape.type_name](value)
    return str(value) if shape.type_name == "string" else value
