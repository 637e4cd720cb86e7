"""The faults of a state machine's definition, and the tasks of it that cannot run on this machine.

Source: https://states-language.net/spec.html
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.glue_service.protocol.json_protocol import parsed

FINAL_TYPES = ("Succeed", "Fail")
TYPES = ("Task", "Pass", "Choice", "Wait", "Parallel", "Map", *FINAL_TYPES)
FIELDS = {
    **dict.fromkeys(("Choices", "Catch", "Retry", "Branches"), (list, "array")),
    **dict.fromkeys(("ItemProcessor", "Iterator"), (Mapping, "object")),
    **dict.fromkeys(("Next", "Default", "Resource"), (str, "string")),
}
SCHEMA, TARGET = "SCHEMA_VALIDATION_FAILED", "MISSING_TRANSITION_TARGET"
INVALID_JSON = "INVALID_JSON_DESCRIPTION"
RESOURCE = re.compile(r"arn:aws[a-z-]*:states:[^:]*:[^:]*:(?P<service>[^:]+):(?P<action>.+)")
# Services with an integration of their own, and the actions of each.
OPTIMIZED = {
    "glue": ("startJobRun", "startJobRun.sync"),
    "dynamodb": ("getItem", "putItem", "updateItem", "deleteItem"),
    "sns": ("publish", "publish.waitForTaskToken"),
    "sqs": ("sendMessage", "sendMessage.waitForTaskToken"),
    "events": ("putEvents", "putEvents.waitForTaskToken"),
    "states": (
        "startExecution",
        "startExecution.sync",
        "startExecution.sync:2",
        "startExecution.waitForTaskToken",
    ),
}
SDK = {
    "glue": "glue",
    "eventbridge": "events",
    "sfn": "states",
    "cloudwatchlogs": "logs",
    **{name: name for name in ("dynamodb", "s3", "sns", "sqs", "secretsmanager", "ssm")},
}
ANSWERED_HERE = ("glue", "events", "states")  # whose operations are a list of this machine
STAND_IN = "arn:aws:states:::aws-sdk:tidemark:call"
REMEDY = (
    "it is on AWS only; give a function in its place: `--task {name}=python:MODULE.FUNCTION` of "
    "`tidemark local up` or `tidemark run`, which gets the task's input and returns its output"
)


@dataclass(frozen=True)
class Fault:
    """What is wrong with a definition, and where, as a JSON pointer."""

    code: str
    text: str
    place: str = "/"

    def __str__(self) -> str:
        return f"{self.code}: {self.text} at {self.place}"


def faults_of(
    definition: str, operations: Mapping[str, tuple[str, ...]], stand_ins: Mapping[str, str]
) -> list[Fault]:
    """Return what AWS would refuse in a definition, and what this machine cannot run.

    Args:
        definition: the Amazon States Language, in JSON.
        operations: the operations of the services that this machine answers.
        stand_ins: the functions for tasks, by the name of their state.
    """
    try:
        machine = parsed(definition)
    except ValueError as error:
        return [Fault(INVALID_JSON, str(error))]
    if not isinstance(machine, Mapping):
        return [Fault(SCHEMA, "The definition is not a JSON object")]
    faults = list(_faults_of_machine(machine, ""))
    if faults:
        return faults
    return [
        Fault(SCHEMA, why, f"/States/{name}/Resource")
        for name, state in states_of(machine)
        if (why := why_not_here(name, state, operations, stand_ins))
    ]


def states_of(machine: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and content of each state, those of branches and iterators too."""
    for name, state in machine["States"].items():
        yield name, state
        for inner in _machines_in(state):
            yield from states_of(inner)


def _machines_in(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    iterator = state.get("ItemProcessor") or state.get("Iterator")
    return [*state.get("Branches", []), *([iterator] if iterator else [])]


def _faults_of_machine(machine: Any, place: str) -> Iterator[Fault]:
    states = machine.get("States") if isinstance(machine, Mapping) else None
    if not isinstance(states, Mapping) or not states:
        yield Fault(SCHEMA, "The field 'States' must have at least one state", f"{place}/States")
        return
    start = machine.get("StartAt")
    if not isinstance(start, str):
        yield Fault(SCHEMA, "The field 'StartAt' is missing", f"{place}/StartAt")
        return
    places = [(f"{place}/StartAt", start)]
    for name, state in states.items():
        here = f"{place}/States/{name}"
        if faults := list(_faults_of_state(state, here)):
            yield from faults
            return
        places += [(f"{here}/{step}", target) for step, target in _targets(state)]
        for index, inner in enumerate(_machines_in(state)):
            yield from _faults_of_machine(inner, f"{here}/{index}")
    yield from _faults_of_targets(states, places, place)


def _faults_of_targets(
    states: Mapping[str, Any], places: list[tuple[str, str]], place: str
) -> Iterator[Fault]:
    for where, target in places:
        if target not in states:
            yield Fault(TARGET, f"Missing 'Next' target: {target}", where)
    reached = {target for _, target in places}
    for name in states:
        if name not in reached:
            yield Fault(TARGET, f'State "{name}" is not reachable.', f"{place}/States/{name}")


def _faults_of_state(state: Any, place: str) -> Iterator[Fault]:
    if not isinstance(state, Mapping) or state.get("Type") not in TYPES:
        yield Fault(SCHEMA, f"Value is not one of {', '.join(TYPES)}", f"{place}/Type")
        return
    for name, (kind, word) in FIELDS.items():
        if name in state and not isinstance(state[name], kind):
            yield Fault(SCHEMA, f"Value is not of type {word}", f"{place}/{name}")
            return
    needs_next = state["Type"] not in (*FINAL_TYPES, "Choice")
    if needs_next and ("Next" in state) == (state.get("End") is True):
        yield Fault(SCHEMA, "These fields are required, one of them: [Next, End]", place)
    if state["Type"] == "Task" and not isinstance(state.get("Resource"), str):
        yield Fault(SCHEMA, "The field 'Resource' is missing", place)


def _targets(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for step in ("Next", "Default"):
        if step in state:
            yield step, state[step]
    for step in ("Choices", "Catch"):
        for index, rule in enumerate(state.get(step, [])):
            if isinstance(rule, Mapping) and isinstance(rule.get("Next"), str):
                yield f"{step}[{index}]/Next", rule["Next"]


def why_not_here(
    name: str,
    state: Mapping[str, Any],
    operations: Mapping[str, tuple[str, ...]],
    stand_ins: Mapping[str, str],
) -> str | None:
    """Return why a state cannot run on this machine, with what to do; None if it can."""
    if state["Type"] == "Map":
        processor = state.get("ItemProcessor", {}).get("ProcessorConfig", {})
        mode = processor.get("Mode") if isinstance(processor, Mapping) else None
        is_distributed = mode == "DISTRIBUTED" or "ItemReader" in state
        why = f"the Map state {name} is distributed, which is on AWS only; use the mode INLINE"
        return why if is_distributed else None
    if state["Type"] != "Task" or name in stand_ins:
        return None
    match = RESOURCE.fullmatch(state["Resource"])
    remedy = REMEDY.format(name=name)
    if match is None or match["service"] == "activity":
        return f"the task {name} has the resource {state['Resource']}; {remedy}"
    service, action = match["service"], match["action"]
    if service == "aws-sdk":
        problem = _why_no_call(action.removesuffix(".waitForTaskToken"), operations)
        return f"the task {name} {problem}; {remedy}" if problem else None
    if service not in OPTIMIZED:
        return f"the task {name} is of {service}; {remedy}"
    if action not in OPTIMIZED[service]:
        known = ", ".join(OPTIMIZED[service])
        return f"the task {name} has {service}:{action}; of {service} there are {known}"
    return None


def _why_no_call(call: str, operations: Mapping[str, tuple[str, ...]]) -> str | None:
    api, _, operation = call.partition(":")
    service = SDK.get(api)
    if service is None:
        return f"calls {api}"
    name = operation[:1].upper() + operation[1:]
    if service in ANSWERED_HERE and name not in operations.get(service, ()):
        return f"calls {operation} of {api}, which is not here"
    return None


def with_stand_ins(definition: str, stand_ins: Mapping[str, str]) -> str:
    """Return a definition in which some tasks call a function of this machine instead."""
    machine = json.loads(definition)
    for name, state in states_of(machine):
        if name in stand_ins and state["Type"] == "Task":
            suffix = ".waitForTaskToken" if "waitForTaskToken" in state["Resource"] else ""
            is_jsonata = (
                state.get("QueryLanguage", machine.get("QueryLanguage", "JSONPath")) == "JSONata"
            )
            place = "Arguments" if is_jsonata else "Parameters"
            whole = {"input": "{% $states.input %}"} if is_jsonata else {"input.$": "$"}
            given = {"input": state[place]} if place in state else whole
            state.update({"Resource": STAND_IN + suffix, place: given})  # type: ignore[attr-defined]
            state.pop("Credentials", None)  # type: ignore[attr-defined]
    return json.dumps(machine)
