"""Takes events, and starts the targets of matching rules."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from tidemark.errors import DiskFullError, TidemarkError, UsageError
from tidemark.glue_service.eventbridge.documents import GLUE, CreatedObject, Event, object_created
from tidemark.glue_service.eventbridge.rules import Rule, workflow_of
from tidemark.glue_service.eventbridge.topics import is_topic
from tidemark.glue_service.glue_state import GlueState, origin_of
from tidemark.glue_service.workflows.batch_firing import notify
from tidemark.model.assembly.state_machines import machine_name_of

STEP = re.compile(r"\.([^.\[\]]+)|\[([0-9]{1,9})\]|\['([^']+)'\]")
PART = re.compile(r'\\.|"|<([^<>"\s]+)>', re.DOTALL)  # tokens of a template
OF_EVENT, OF_RULE = "aws.events.event.json", "aws.events.rule-name"
ABSENT = object()
MAX_NAME = 80  # characters, of an execution


def deliver(glue: GlueState, event: Event) -> list[str]:
    """Report an event, notify workflows and publish to topics of matching rules; return the rules.

    Events of Glue are always reported, others only if a rule matches. Other targets, and topics
    without SNS installed, are named.
    """
    rules = glue.rules.matching(event)
    if rules or event["source"] == GLUE:
        glue.tell(event)
    pass_on(glue, rules, event)
    return [rule.name for rule in rules]


def pass_on(glue: GlueState, rules: Sequence[Rule], event: Event) -> None:
    """Pass an event to the targets of some rules."""
    glue.deliveries.extend(
        partial(_pass, glue, rule, target, event) for rule in rules for target in rule.targets
    )
    with suppress(DiskFullError):  # the next step tries again
        flush(glue)


def flush(glue: GlueState) -> None:
    """Pass events to the targets that have not got them yet, each once."""
    while glue.deliveries:
        delivery = glue.deliveries.popleft()
        try:
            delivery()
        except DiskFullError:
            glue.deliveries.appendleft(delivery)
            raise


def _pass(glue: GlueState, rule: Rule, target: Mapping[str, Any], event: Event) -> None:
    workflow_name = workflow_of(target["Arn"])
    if workflow_name is not None:
        notify(glue, workflow_name, event["id"])
    elif machine_name_of(target["Arn"]) is not None:
        _start_execution(glue, rule, target, event)
    elif why := _published(glue, rule, target, event):
        what = f"{event['detail-type']!r} of {event['source']}"
        glue.say(f"rule {rule.name} matches {what}; its target {target['Arn']} {why}")


def _start_execution(glue: GlueState, rule: Rule, target: Mapping[str, Any], event: Event) -> None:
    # The models of services, which a port does not need to start.
    from tidemark.glue_service.state_machines.executions import start_execution

    name = f"{event['id']}_{target['Id']}"[:MAX_NAME]
    try:
        given = message_of(target, event, rule.name)
        start_execution(glue, {"stateMachineArn": target["Arn"], "name": name, "input": given})
    except DiskFullError:
        raise
    except TidemarkError as error:
        glue.say(f"rule {rule.name} could not start {target['Arn']}: {error}")


def _published(glue: GlueState, rule: Rule, target: Mapping[str, Any], event: Event) -> str | None:
    """Publish an event to a topic in the background; return why that is impossible."""
    if glue.topics is None or not is_topic(target["Arn"]):
        return "is on AWS only"
    if why := glue.topics.missing_package():
        return f"gets nothing: {why}"
    try:
        message = message_of(target, event, rule.name)
    except UsageError as error:
        return f"gets nothing: {error}"
    glue.topics.publish(rule.name, target["Arn"], message)
    return None


def deliver_created(glue: GlueState, created: CreatedObject) -> None:
    """Deliver the event of an object that a client has put."""
    deliver(glue, object_created(created, glue.now_ms(), origin_of(glue)))


def message_of(target: Mapping[str, Any], event: Event, rule_name: str) -> str:
    """Return the message for a target: the event, or its input's transformation of it."""
    if "Input" in target:
        return str(target["Input"])
    if "InputPath" in target:
        value = value_at(event, target["InputPath"])
        return json.dumps(None if value is ABSENT else value)
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
        # Outside quotes a string gets its own.
        return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else text

    return PART.sub(written, template)
