"""Takes events, and starts what the rules that match them target."""

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
    """Tell of an event, notify the workflows and publish to the topics of rules; return the rules.

    Events of Glue are told always, others where a rule matches them. Another target, or a topic
    where SNS is not installed, is named.
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
    """Have an event published to a topic; return why it is not."""
    if glue.topics is None or not is_topic(target["Arn"]):
        return "is on AWS only"
    if why := glue.topics.why_absent():
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
