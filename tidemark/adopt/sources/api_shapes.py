"""Writes values of a template as Glue's API does: numbers and switches may be strings there."""

from collections.abc import Mapping
from typing import Any

from tidemark.adopt.model import Path
from tidemark.model.assembly.glue_shapes import LATE, plain, shape_of


def in_api_form(name: str, properties: Mapping[str, Any]) -> tuple[dict[str, Any], list[Path]]:
    """Return the properties of a resource as a shape of the API has its members.

    Members that the shape does not have stay unchanged.
    """
    misfits: list[Path] = []
    found = _value(properties, shape_of(name), (), misfits)
    return (found if isinstance(found, dict) else {}), misfits


def _value(value: Any, shape: Any, path: Path, misfits: list[Path]) -> Any:
    kind = shape.type_name
    found: Any = LATE
    if kind == "structure" and isinstance(value, Mapping):
        found = _members(value, shape, path, misfits)
    elif kind == "list" and isinstance(value, list):
        items = [_value(one, shape.member, (*path, str(n)), misfits) for n, one in enumerate(value)]
        found = [one for one in items if one is not LATE]
    elif kind == "map" and isinstance(value, Mapping):
        entries = {
            str(k): _value(one, shape.value, (*path, str(k)), misfits) for k, one in value.items()
        }
        found = {key: one for key, one in entries.items() if one is not LATE}
    elif kind not in ("structure", "list", "map"):
        found = plain(value, kind)
        if found is LATE and isinstance(value, str) and "${" in value:
            found = value  # a number that is not known yet is named elsewhere
    if found is LATE:
        misfits.append(path)
    return found


def _members(value: Mapping[str, Any], shape: Any, path: Path, misfits: list[Path]) -> Any:
    members = {key.lower(): member for key, member in shape.members.items()}
    items = {
        key: _value(one, members[key.lower()], (*path, key), misfits)
        if key.lower() in members
        else one
        for key, one in value.items()
    }
    return {key: one for key, one in items.items() if one is not LATE}
