"""The rules of the Amazon States Language for machines, states and their fields.

Source: https://states-language.net/spec.html
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tidemark.glue_service.state_machines.values import (
    SCHEMA,
    Fault,
    faults_of_expression,
    faults_of_template,
    faults_of_values,
    is_expression,
    is_path,
    time_of,
)

JSON_PATH, JSONATA = "JSONPath", "JSONata"
LANGUAGES = (JSON_PATH, JSONATA)
MOST_S = 99_999_999
LONGEST_NAME = 80
# What states, their fields and tasks may be.
TABLES: dict[str, Any] = json.loads(
    Path(__file__).with_name("states_language.json").read_text(encoding="utf-8")
)
FIELDS: dict[str, list[str]] = {
    kind: [*TABLES["every_state"], *fields] for kind, fields in TABLES["states"].items()
}
TYPES = {field: kind for kind, fields in TABLES["types"].items() for field in fields}
OPERATORS = {name: kind for kind, names in TABLES["operators"].items() for name in names}
PATHS = {*TABLES["jsonpath_alone"]} - {"Parameters", "ResultSelector", "Variable"}
PYTHON_TYPES: dict[str, Any] = {
    "array": list,
    "object": dict,
    "string": str,
    "boolean": bool,
    "number": (int, float),
}


def faults_of_state(
    name: str, state: Mapping[str, Any], place: str, language: str
) -> Iterator[Fault]:
    """Yield the faults of a state whose type is known; not those of machines in it."""
    fields = FIELDS[state["Type"]]
    for field, value in state.items():
        here = f"{place}/{field}"
        if field not in fields:
            yield Fault(SCHEMA, f"Field '{field}' is not supported", here)
        else:
            yield from _faults_of_field(field, value, here, language)
    if not 0 < len(name) <= LONGEST_NAME:
        yield Fault(SCHEMA, f"A name of a state has 1 to {LONGEST_NAME} characters", place)
    if "Next" in fields and ("Next" in state) == (state.get("End") is True):
        yield Fault(SCHEMA, "These fields are required, one of them: [Next, End]", place)
    yield from (Fault(SCHEMA, text, place) for text in _faults_of_pairs(state))


def _faults_of_pairs(state: Mapping[str, Any]) -> Iterator[str]:
    for names in TABLES["one_of"].get(state["Type"], []):
        if sum(field in state for field in names) != 1:
            yield f"These fields are required, one of them: [{', '.join(names)}]"
    for pair in TABLES["not_both"]:
        if all(field in state for field in pair):
            yield f"Only one of these fields is allowed: [{', '.join(pair)}]"
    beat, end = (state.get(name) for name in ("HeartbeatSeconds", "TimeoutSeconds"))
    if isinstance(beat, int) and isinstance(end, int) and beat >= end:
        yield "HeartbeatSeconds must be smaller than TimeoutSeconds"


def _faults_of_field(field: str, value: Any, place: str, language: str) -> Iterator[Fault]:
    is_jsonata = language == JSONATA
    if field in TABLES["jsonpath_alone" if is_jsonata else "jsonata_alone"]:
        yield Fault(SCHEMA, f"Field '{field}' is not supported with {language}", place)
    elif is_jsonata and is_expression(value) and field not in TABLES["literal"]:
        yield from faults_of_expression(value, place)
    elif (why := why_not(field, value)) is not None:
        yield Fault(SCHEMA, why, place)
    elif field == "Choices":
        for index, rule in enumerate(value):
            yield from _faults_of_choice(rule, f"{place}[{index}]", language)
    elif field in TABLES["handlers"]:
        yield from _faults_of_handlers(field, value, place, language)
    elif field in TABLES["values"]:
        yield from (faults_of_values if is_jsonata else faults_of_template)(value, place)


def why_not(field: str, value: Any) -> str | None:
    """Return what is wrong with the value of a field, whatever the state; None if nothing is."""
    kind, least = TYPES.get(field), TABLES["integers"].get(field)
    if kind is not None and not isinstance(value, PYTHON_TYPES[kind]):
        return f"Value is not of type {kind}"
    if least is not None and not (type(value) is int and least <= value <= MOST_S):
        return f"Value is not an integer from {least} to {MOST_S:,}"
    if field == "BackoffRate" and not (type(value) in (int, float) and 1 <= value <= MOST_S):
        return f"Value is not allowed: {value!r}"
    if field == "JitterStrategy" and value not in ("FULL", "NONE"):
        return f"Value is not allowed: {value!r}"
    if field in ("Choices", "Branches") and not value:
        return "Value has no element"
    if field == "Timestamp" and time_of(value) is None:
        return f"Value is not a time such as 2026-03-01T12:00:00Z: {value!r}"
    if field == "Assign":
        return _why_no_variables(value)
    return _why_no_path(field, value) if field in PATHS else None


def _why_no_variables(names: Iterable[str]) -> str | None:
    for name in (key.removesuffix(".$") for key in names):
        if not name.isidentifier() or name == "states" or len(name) > LONGEST_NAME:
            return f"The name of a variable is not allowed: {name}"
    return None


def _why_no_path(field: str, value: Any) -> str | None:
    is_null = value is None and field in ("InputPath", "OutputPath", "ResultPath")
    is_function = field in ("ErrorPath", "CausePath") and str(value).startswith("States.")
    if is_null or is_function or is_path(value, is_reference=field == "ResultPath"):
        return None
    return f"Value is not a path such as $.a: {value!r}"


def _faults_of_choice(
    rule: Any, place: str, language: str, *, is_inner: bool = False
) -> Iterator[Fault]:
    if not isinstance(rule, Mapping):
        yield Fault(SCHEMA, "Value is not of type object", place)
        return
    if is_inner == ("Next" in rule) or not isinstance(rule.get("Next", ""), str):
        word = "is not allowed in a rule of a rule" if is_inner else "is missing"
        yield Fault(SCHEMA, f"The field 'Next' {word}", place)
    operators = [name for name in rule if name not in TABLES["rule"]]
    if language == JSONATA:
        condition = rule.get("Condition")
        if operators != ["Condition"] or not (
            condition in (True, False) or is_expression(condition)
        ):
            yield Fault(SCHEMA, "The rule must have a 'Condition', and nothing like it", place)
        yield from faults_of_values(rule, place)
    elif len(operators) != 1:
        yield Fault(SCHEMA, f"The rule must have one operator, and has {len(operators)}", place)
    elif operators[0] in ("And", "Or", "Not"):
        yield from _faults_of_rules(rule[operators[0]], operators[0], place, language)
    else:
        yield from _faults_of_comparison(rule, operators[0], place)


def _faults_of_rules(rules: Any, operator: str, place: str, language: str) -> Iterator[Fault]:
    rules = [rules] if operator == "Not" else rules
    if not isinstance(rules, list) or not rules:
        yield Fault(SCHEMA, "Value is not an array with an element", f"{place}/{operator}")
        return
    for index, rule in enumerate(rules):
        here = f"{place}/{operator}[{index}]"
        yield from _faults_of_choice(rule, here, language, is_inner=True)


def _faults_of_comparison(rule: Mapping[str, Any], operator: str, place: str) -> Iterator[Fault]:
    here, value = f"{place}/{operator}", rule[operator]
    if not is_path(rule.get("Variable")):
        yield Fault(SCHEMA, "The field 'Variable' must be a path such as $.a", place)
    if operator not in OPERATORS:
        yield Fault(SCHEMA, f"Field '{operator}' is not supported", here)
    elif not isinstance(value, PYTHON_TYPES[OPERATORS[operator]]) or (
        isinstance(value, bool) and OPERATORS[operator] != "boolean"
    ):
        yield Fault(SCHEMA, f"Value is not of the type of {operator}: {value!r}", here)
    elif operator.endswith("Path") and not is_path(value):
        yield Fault(SCHEMA, f"Value is not a path such as $.a: {value!r}", here)
    elif operator.startswith("Timestamp") and operator[-4:] != "Path" and time_of(value) is None:
        yield Fault(SCHEMA, f"Value is not a time such as 2026-03-01T12:00:00Z: {value!r}", here)


def _faults_of_handlers(
    field: str, handlers: list[Any], place: str, language: str
) -> Iterator[Fault]:
    for index, handler in enumerate(handlers):
        here, is_last = f"{place}[{index}]", index == len(handlers) - 1
        if not isinstance(handler, Mapping):
            yield Fault(SCHEMA, "Value is not of type object", here)
            continue
        yield from _faults_of_errors(handler.get("ErrorEquals"), here, is_last=is_last)
        if field == "Catch" and "Next" not in handler:
            yield Fault(SCHEMA, "The field 'Next' is missing", here)
        for name, value in handler.items():
            if name not in TABLES["handlers"][field]:
                yield Fault(SCHEMA, f"Field '{name}' is not supported", f"{here}/{name}")
            else:
                yield from _faults_of_field(name, value, f"{here}/{name}", language)
        most, least = (handler.get(name) for name in ("MaxDelaySeconds", "IntervalSeconds"))
        if isinstance(most, int) and isinstance(least, int) and most <= least:
            yield Fault(SCHEMA, "MaxDelaySeconds must be greater than IntervalSeconds", here)


def _faults_of_errors(errors: Any, place: str, *, is_last: bool) -> Iterator[Fault]:
    here = f"{place}/ErrorEquals"
    is_list = isinstance(errors, list) and bool(errors)
    if not is_list or not all(isinstance(error, str) for error in errors):
        yield Fault(SCHEMA, "The field 'ErrorEquals' must be an array with names of errors", here)
    elif "States.ALL" in errors and (len(errors) > 1 or not is_last):
        yield Fault(SCHEMA, "States.ALL must be alone, and in the last element", here)
    else:
        for error in errors:
            if error.startswith("States.") and error not in TABLES["errors"]:
                yield Fault(SCHEMA, f"Step Functions has no error '{error}'", here)
