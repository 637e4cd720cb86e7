"""The workflows and jobs that state machines of templates start."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tidemark.checks.graph.resources import Resources
from tidemark.model.assembly.resources import STARTS_WORKFLOW
from tidemark.model.assembly.state_machines import STATE_MACHINE

STARTS_JOB = ":glue:startJobRun"  # the end of a task's resource, with or without .sync


class MachineStarts(NamedTuple):
    """The names of the workflows and of the jobs that a state machine starts by itself."""

    workflows: tuple[str, ...]
    jobs: tuple[str, ...]


def machine_starts(resources: Resources) -> Iterator[tuple[str, MachineStarts]]:
    """Yield each reference to a state machine, as a string, with what it starts."""
    for machine in resources.of(STATE_MACHINE):
        try:
            definition = json.loads(machine.text(machine.properties.get("DefinitionString")))
        except ValueError:
            definition = machine.properties.get("Definition")
        workflows = map(machine.text, _started(definition, STARTS_WORKFLOW, "Name"))
        jobs = map(machine.text, _started(definition, STARTS_JOB, "JobName"))
        starts = MachineStarts(tuple(dict.fromkeys(workflows)), tuple(dict.fromkeys(jobs)))
        for reference in ({"Ref": machine.id_}, {"Fn::GetAtt": [machine.id_, "Arn"]}):
            yield machine.text(reference), starts


def _started(value: Any, resource: str, parameter: str) -> Iterator[Any]:
    """Yield a parameter of the tasks of a resource in a definition, or in a part of one."""
    if isinstance(value, list):
        for item in value:
            yield from _started(item, resource, parameter)
    if not isinstance(value, Mapping):
        return
    if str(value.get("Resource", "")).removesuffix(".sync").endswith(resource):
        given = value.get("Parameters") or value.get("Arguments")
        if isinstance(given, Mapping) and parameter in given:
            yield given[parameter]
    for item in value.values():
        yield from _started(item, resource, parameter)
