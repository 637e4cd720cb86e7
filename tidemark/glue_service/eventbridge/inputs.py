"""The message that a rule sends to a target about an event, as plain data.

Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from tidemark.errors import UsageError
from tidemark.glue_service.eventbridge.documents import Event

STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']+)'\]")
PART = re.compile(r'\\.|"|<([^<>"\s]+)>', re.DOTALL)  # tokens of a template
OF_EVENT, OF_RULE = "aws.events.event.json", "aws.events.rule-name"
ABSENT = object()


def message_of(target: Mapping[str, Any], event: Event, rule_name: str) -> str:
    """Return the message for a target: the event, or its input's transformation of it."""
    if "Input" in target:
        return str(target["Input"])
    if "InputPath" in target:
        found = value_at(event, target["InputPath"])
        return json.dumps(None if found is ABSENT else found)
    if "InputTransformer" not in target:
        return json.dumps(event)
    transformer = target["InputTransformer"]
    paths = transformer.get("InputPathsMap", {})
    values = {name: value_at(event, path) for name, path in paths.items()}
    return _filled(transformer["InputTemplate"], {**values, OF_EVENT: event, OF_RULE: rule_name})


def value_at(event: Event, path: str) -> Any:
    """Return the value at a JSON path such as ``$.detail.state``; ABSENT if it is missing."""
    steps = list(STEP.finditer(path))
    if not path.startswith("$") or sum(len(step[0]) for step in steps) != len(path) - 1:
        raise UsageError(f"the path {path!r} is not valid; allowed: such as $.detail.state, $.a[0]")
    value: Any = event
    for step in steps:
        try:
            value = value[int(step[2])] if step[2] else value[step[1] or step[3]]
        except (KeyError, IndexError, TypeError):
            return ABSENT
    return value


def _filled(template: str, values: Mapping[str, Any]) -> str:
    """Return a template with its variables filled in; strings outside quotes get quotes."""
    # A variable that the event does not have is an empty string.
    is_quoted = False

    def written(match: re.Match[str]) -> str:
        nonlocal is_quoted
        if match[0] == '"':
            is_quoted = not is_quoted
        if match[1] is None:
            return match[0]
        value = values.get(match[1], ABSENT)
        text = "" if value is ABSENT else value if isinstance(value, str) else json.dumps(value)
        if is_quoted:
            return json.dumps(text, ensure_ascii=False)[1:-1]
        return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else text

    return PART.sub(written, template)
