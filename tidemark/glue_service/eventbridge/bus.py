"""Takes events, and starts the targets of matching rules."""

from collections.abc import Mapping
from typing import Any

from tidemark.errors import UsageError
from tidemark.glue_service.eventbridge.documents import (
    GLUE,
    CreatedObject,
    Event,
    object_created,
)
from tidemark.glue_service.eventbridge.inputs import message_of
from tidemark.glue_service.eventbridge.rules import Rule, workflow_of
from tidemark.glue_service.eventbridge.topics import is_topic
from tidemark.glue_service.local_glue import LocalGlue, origin_of
from tidemark.glue_service.workflows.batch_firing import notify


def deliver(glue: LocalGlue, event: Event) -> list[str]:
    """Report an event, notify workflows and publish to topics of matching rules; return the rules.

    Events of Glue are always reported, others only if a rule matches. Other targets, and topics
    without SNS installed, are named.
    """
    rules = glue.rules.matching(event)
    if rules or event["source"] == GLUE:
        glue.tell(event)
    for rule in rules:
        for target in rule.targets:
            workflow_name = workflow_of(target["Arn"])
            if workflow_name is not None:
                notify(glue, workflow_name, event["id"])
            elif why := _published(glue, rule, target, event):
                what = f"{event['detail-type']!r} of {event['source']}"
                glue.say(f"rule {rule.name} matches {what}; its target {target['Arn']} {why}")
    return [rule.name for rule in rules]


def _published(glue: LocalGlue, rule: Rule, target: Mapping[str, Any], event: Event) -> str | None:
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


def deliver_created(glue: LocalGlue, created: CreatedObject) -> None:
    """Deliver the event of an object that a client has put."""
    deliver(glue, object_created(created, glue.now_ms(), origin_of(glue)))
