"""What is wrong with a definition: by the rules of AWS, of this machine, and of the interpreter."""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tidemark.glue_service.http.services import OPERATIONS
from tidemark.glue_service.state_machines.definitions import faults_of, states_of
from tidemark.glue_service.state_machines.execution_rows import EXPRESS
from tidemark.glue_service.state_machines.executions import PACKAGES
from tidemark.glue_service.state_machines.local_tasks import (
    fault_of_express,
    faults_of_parameters,
    why_not_here,
    with_stand_ins,
)
from tidemark.glue_service.state_machines.values import ON_AWS_ONLY, Fault

PARSING = "tidemark.glue_service.state_machines.parsing"


def check(definition: str, kind: str, stand_ins: Mapping[str, str]) -> list[Fault]:
    """Return the faults of a definition; moto's parser says some, where it is installed.

    Args:
        definition: the Amazon States Language, in JSON.
        kind: the type of the machine, STANDARD or EXPRESS.
        stand_ins: the functions for tasks, by the name of their state.
    """
    if faults := faults_of(definition):
        return faults
    machine = json.loads(definition)
    if faults := list(_faults_of_tasks(machine, kind, stand_ins)):
        return faults
    if not all(find_spec(package) for package in PACKAGES):
        return []
    fault = import_module(PARSING).fault_of(json.loads(with_stand_ins(definition, stand_ins)))
    return [fault] if fault else []


def _faults_of_tasks(
    machine: Mapping[str, Any], kind: str, stand_ins: Mapping[str, str]
) -> Iterator[Fault]:
    for name, state in states_of(machine):
        place = f"/States/{name}"
        if kind == EXPRESS and (fault := fault_of_express(state, place)):
            yield fault
        elif why := why_not_here(name, state, OPERATIONS, stand_ins):
            yield Fault(ON_AWS_ONLY, why, f"{place}/Resource")
        elif state["Type"] == "Task" and name not in stand_ins:
            yield from faults_of_parameters(state, place)
