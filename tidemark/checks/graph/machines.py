"""The workflows that state machines of templates start."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.checks.graph.resources import Resources
from tidemark.model.assembly.resources import STARTS_WORKFLOW
from tidemark.model.assembly.state_machines import STATE_MACHINE


def machine_starts(resources: Resources) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each reference to a state machine, as a string, with the workflows that it starts."""
    for machine in resources.of(STATE_MACHINE):
        try:
            definition = json.loads(machine.text(machine.properties.get("DefinitionString")))
        except ValueError:
            definition = machine.properties.get("Definition")
        workflows = tuple(dict.fromkeys(_started(definition)))
        for reference in ({"Ref": machine.id_}, {"Fn::GetAtt": [machine.id_, "Arn"]}):
            yield machine.text(reference), workflows


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
