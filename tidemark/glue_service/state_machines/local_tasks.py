"""The tasks of a state machine that this machine can run, and what each may be given."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape

from tidemark.glue_service.protocol.models import find_operation
from tidemark.glue_service.state_machines.definitions import states_of
from tidemark.glue_service.state_machines.rules import JSONATA, TABLES
from tidemark.glue_service.state_machines.values import SCHEMA, Fault

RESOURCE = re.compile(r"arn:aws[a-z-]*:states:[^:]*:[^:]*:(?P<service>[^:]+):(?P<action>.+)")
# Services with an integration of their own and the actions of each; the names of others in calls.
OPTIMIZED: Mapping[str, Sequence[str]] = TABLES["tasks"]
SDK: Mapping[str, str] = TABLES["sdk"]
OF_DISTRIBUTED = re.compile("ItemReader|ItemBatcher|ResultWriter|ToleratedFailure.*")  # of a Map
ANSWERED_HERE = ("glue", "events", "states")  # whose operations are a list of this machine
STAND_IN = "arn:aws:states:::aws-sdk:tidemark:call"
REMEDY = (
    "it is on AWS only; give a function in its place: `--task {name}=python:MODULE.FUNCTION` of "
    "`tidemark serve` or `tidemark run`, which gets the task's input and returns its output"
)


def why_not_here(
    name: str,
    state: Mapping[str, Any],
    operations: Mapping[str, tuple[str, ...]],
    stand_ins: Mapping[str, str],
) -> str | None:
    """Return why a state cannot run on this machine, with what to do; None if it can."""
    if state["Type"] == "Map":
        mode = state.get("ItemProcessor", {}).get("ProcessorConfig", {}).get("Mode")
        signs = list(filter(OF_DISTRIBUTED.fullmatch, state))
        without = f" without {', '.join(signs)}" if signs else ""
        why = f"the Map state {name} is distributed, which is on AWS only; use the mode INLINE"
        return f"{why}{without}" if signs or mode == "DISTRIBUTED" else None
    if state["Type"] != "Task" or name in stand_ins:
        return None
    match = RESOURCE.fullmatch(state["Resource"])
    remedy = REMEDY.format(name=name)
    if match is None or match["service"] == "activity":
        return f"the task {name} has the resource {state['Resource']}; {remedy}"
    service, action = match["service"], match["action"]
    if service == "aws-sdk":
        problem = _why_no_call(action.removesuffix(".waitForTaskToken"), operations, remedy)
        return f"the task {name} {problem}" if problem else None
    if service not in OPTIMIZED:
        return f"the task {name} is of {service}; {remedy}"
    if action not in OPTIMIZED[service]:
        known = ", ".join(OPTIMIZED[service])
        return f"the task {name} has {service}:{action}; of {service} there are {known}"
    return None


def _why_no_call(call: str, operations: Mapping[str, tuple[str, ...]], remedy: str) -> str | None:
    api, _, operation = call.partition(":")
    service = SDK.get(api)
    if service is None:
        return f"calls {api}; {remedy}"
    name = operation[:1].upper() + operation[1:]
    if operation[:1].isupper() or find_operation(service, name) is None:
        return f"calls {operation} of {api}; allowed: an operation of it, written as getJobRun is"
    if service in ANSWERED_HERE and name not in operations.get(service, ()):
        return f"calls {operation} of {api}, which is not here; {remedy}"
    return None


def faults_of_parameters(state: Mapping[str, Any], place: str) -> Iterator[Fault]:
    """Yield the parameters of a task's call that its operation does not have, or lacks.

    The task can run here. Of a value that an expression or a path makes nothing is known.
    """
    match = RESOURCE.fullmatch(state["Resource"])
    if match is None:
        return
    service, call = match["service"], match["action"].partition(".")[0]
    if service == "aws-sdk":
        api, _, call = call.partition(":")
        service = SDK[api]
    operation = find_operation(service, call[:1].upper() + call[1:])
    field = "Arguments" if "Arguments" in state else "Parameters"
    given = state.get(field, {})
    if operation is not None and operation.input_shape and isinstance(given, Mapping):
        yield from _faults_of_members(given, operation.input_shape, f"{place}/{field}")


def _faults_of_members(value: Any, shape: Shape, place: str) -> Iterator[Fault]:
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        yield from _faults_of_names(value, shape, place)
        members = {_as_states(name): member for name, member in shape.members.items()}
        parts = [(f"{place}/{key}", item, members.get(key)) for key, item in value.items()]
    elif isinstance(shape, MapShape) and isinstance(value, Mapping):
        parts = [(f"{place}/{key}", item, shape.value) for key, item in value.items()]
    elif isinstance(shape, ListShape) and isinstance(value, list):
        parts = [(f"{place}[{index}]", item, shape.member) for index, item in enumerate(value)]
    else:
        parts = []
    for here, item, member in parts:
        if member is not None:
            yield from _faults_of_members(item, member, here)


def _faults_of_names(
    value: Mapping[str, Any], shape: StructureShape, place: str
) -> Iterator[Fault]:
    given, members = {key.removesuffix(".$") for key in value}, map(_as_states, shape.members)
    known = sorted(members)
    for name in map(_as_states, shape.required_members):
        if name not in given:
            yield Fault(SCHEMA, f'The field "{name}" is required but was missing', place)
    for name in sorted(given - set(known)):
        text = f'The field "{name}" is not supported by Step Functions; allowed: {", ".join(known)}'
        yield Fault(SCHEMA, text, f"{place}/{name}")


def _as_states(name: str) -> str:
    """Return the name of a member as Step Functions has it."""
    return name[:1].upper() + name[1:]


def fault_of_express(state: Mapping[str, Any], place: str) -> Fault | None:
    """Return why a state is not for a machine of the type EXPRESS; None if it is."""
    _, _, pattern = str(state.get("Resource", "")).partition(".")
    if state["Type"] == "Task" and pattern.startswith(("sync", "waitForTaskToken")):
        text = f"Express state machine does not support '.{pattern}' service integration"
        return Fault(SCHEMA, text, f"{place}/Resource")
    return None


def with_stand_ins(definition: str, stand_ins: Mapping[str, str]) -> str:
    """Return a definition in which some tasks call a function of this machine instead."""
    machine = json.loads(definition)
    for name, state in states_of(machine):
        if name in stand_ins and state["Type"] == "Task":
            suffix = ".waitForTaskToken" if "waitForTaskToken" in state["Resource"] else ""
            is_jsonata = JSONATA in (state.get("QueryLanguage"), machine.get("QueryLanguage"))
            place = "Arguments" if is_jsonata else "Parameters"
            whole = {"input": "{% $states.input %}"} if is_jsonata else {"input.$": "$"}
            given = {"input": state[place]} if place in state else whole
            state.update({"Resource": STAND_IN + suffix, place: given})  # type: ignore[attr-defined]
            state.pop("Credentials", None)  # type: ignore[attr-defined]
    return json.dumps(machine, ensure_ascii=False)
