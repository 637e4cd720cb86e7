"""The workflows that state machines of templates start."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.model.assembly.resources import STARTS_WORKFLOW, Templates, resources_of
from tidemark.model.assembly.state_machines import STATE_MACHINE
from tidemark.model.assembly.symbolic_names import SymbolicNames


def machine_starts(
    names: SymbolicNames, templates: Templates
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each reference to a state machine, as a string, with the workflows that it starts."""
    for stack, id_, resource in resources_of(templates, STATE_MACHINE):
        properties = resource.get("Properties", {})
        try:
            definition = json.loads(names.text(stack, properties.get("DefinitionString")))
        except ValueError:
            definition = properties.get("Definition")
        workflows = tuple(dict.fromkeys(_started(definition)))
        for reference in ({"Ref": id_}, {"Fn::GetAtt": [id_, "Arn"]}):
            yield names.text(stack, reference), workflows


def _started(value: Any) -> Iterator[str]:
    """Yield the workflows in the tasks of a definition, or of a part of one."""
    if isinstance(value, list):
        for item in value:
            yield from _started(item)
    if not isinstance(value, Mapping):
        return
    if str(value.get("Resource", "")).endswith(STARTS_WORKFLOW):
        given = value.get("Parameters") or value.get("Arguments")
        if isinstance(given, Mapping) and isinstance(given.get("Name"), str):
            yield given["Name"]
    for item in value.values():
        yield from _started(item)
