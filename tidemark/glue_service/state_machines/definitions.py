"""The faults of a state machine's definition by the rules of AWS.

Source: https://states-language.net/spec.html
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.glue_service.protocol.json_protocol import parsed
from tidemark.glue_service.state_machines.rules import (
    FIELDS,
    JSON_PATH,
    JSONATA,
    LANGUAGES,
    TABLES,
    faults_of_state,
    why_not,
)
from tidemark.glue_service.state_machines.values import (
    DUPLICATE,
    SCHEMA,
    TARGET,
    Fault,
    duplicate_key,
)

INVALID_JSON = "INVALID_JSON_DESCRIPTION"


def faults_of(definition: str) -> list[Fault]:
    """Return what AWS would refuse in a definition, in the Amazon States Language as JSON."""
    try:
        machine = parsed(definition)
        twice = duplicate_key(definition)
    except ValueError as error:
        return [Fault(INVALID_JSON, str(error))]
    if twice is not None:
        return [Fault(INVALID_JSON, f"Duplicate field '{twice}'")]
    if not isinstance(machine, Mapping):
        return [Fault(SCHEMA, "The definition is not a JSON object")]
    return list(_faults_of_machine(machine, "", JSON_PATH)) or list(_faults_of_names(machine))


def states_of(machine: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and content of each state, those of branches and iterators too."""
    for name, state in machine["States"].items():
        yield name, state
        for _, inner in machines_in(state):
            yield from states_of(inner)


def machines_in(state: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the machines in a state, each after its place in the state."""
    branches = state.get("Branches", [])
    places = [(f"Branches[{index}]", branch) for index, branch in enumerate(branches)]
    names = [name for name in ("ItemProcessor", "Iterator") if name in state]
    return places + [(name, state[name]) for name in names]


def _faults_of_names(machine: Mapping[str, Any]) -> Iterator[Fault]:
    for name, count in Counter(name for name, _ in states_of(machine)).items():
        if count > 1:
            yield Fault(DUPLICATE, f"Duplicate State name: {name}", f"/States/{name}")


def _faults_of_machine(machine: Any, place: str, outer: str) -> Iterator[Fault]:
    states = machine.get("States") if isinstance(machine, Mapping) else None
    if not isinstance(states, Mapping) or not states:
        yield Fault(SCHEMA, "The field 'States' must have at least one state", f"{place}/States")
        return
    start = machine.get("StartAt")
    if not isinstance(start, str):
        yield Fault(SCHEMA, "The field 'StartAt' is missing", f"{place}/StartAt")
        return
    language = machine.get("QueryLanguage", outer)
    if faults := list(_faults_of_fields(machine, place, outer)):
        yield from faults
        return
    for name, state in states.items():
        here = f"{place}/States/{name}"
        if faults := list(_faults_of_whole_state(name, state, here, language)):
            yield from faults
            return
    yield from _faults_of_targets(states, start, place)


def _faults_of_fields(machine: Mapping[str, Any], place: str, outer: str) -> Iterator[Fault]:
    for field, value in machine.items():
        if field not in TABLES["machine"]:
            why: str | None = f"Field '{field}' is not supported"
        elif field == "Version":
            why = None if value == "1.0" else "Value is not 1.0"
        elif field == "QueryLanguage":
            is_allowed = _is_language(value, outer)
            why = None if is_allowed else f"Value is not one of {', '.join(LANGUAGES)}"
        else:
            why = why_not(field, value)
        if why is not None:
            yield Fault(SCHEMA, why, f"{place}/{field}")


def _is_language(value: Any, outer: str) -> bool:
    return value in LANGUAGES and (outer, value) != (JSONATA, JSON_PATH)


def _faults_of_whole_state(name: str, state: Any, place: str, language: str) -> Iterator[Fault]:
    kind = state.get("Type") if isinstance(state, Mapping) else None
    if not isinstance(kind, str) or kind not in FIELDS:
        yield Fault(SCHEMA, f"Value is not one of {', '.join(FIELDS)}", f"{place}/Type")
        return
    own = state.get("QueryLanguage", language)
    if not isinstance(own, str) or not _is_language(own, language):
        text = f"Value is not one of {', '.join(LANGUAGES)}, or {JSON_PATH} in a {JSONATA} machine"
        yield Fault(SCHEMA, text, f"{place}/QueryLanguage")
        return
    if faults := list(faults_of_state(name, state, place, own)):
        yield from faults
        return
    for inner_place, inner in machines_in(state):
        yield from _faults_of_machine(inner, f"{place}/{inner_place}", own)


def _faults_of_targets(states: Mapping[str, Any], start: str, place: str) -> Iterator[Fault]:
    steps = {name: dict(_targets(state)) for name, state in states.items()}
    places = {f"{place}/StartAt": start}
    for name, targets in steps.items():
        places.update({f"{place}/States/{name}/{step}": to for step, to in targets.items()})
    for where, target in places.items():
        if target not in states:
            yield Fault(TARGET, f"Missing 'Next' target: {target}", where)
    reached, left = {start}, [start]
    while left:
        more = {to for to in steps.get(left.pop(), {}).values() if to not in reached}
        reached |= more
        left += more
    for name in states:
        if name not in reached:
            yield Fault(TARGET, f'State "{name}" is not reachable.', f"{place}/States/{name}")


def _targets(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for step in ("Next", "Default"):
        if step in state:
            yield step, state[step]
    for step in ("Choices", "Catch"):
        for index, rule in enumerate(state.get(step, [])):
            yield f"{step}[{index}]/Next", rule["Next"]
