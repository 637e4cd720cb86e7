"""Takes events, and starts what the rules that match them target."""

from typing import TYPE_CHECKING

from tidemark.local_glue.port.eventbridge.documents import (
    GLUE,
    CreatedObject,
    Event,
    Origin,
    object_created,
)
from tidemark.local_glue.port.eventbridge.rules import workflow_of
from tidemark.local_glue.port.workflows.batches import notify

if TYPE_CHECKING:
    from tidemark.local_glue.port.local_glue import LocalGlue


def deliver(glue: "LocalGlue", event: Event) -> list[str]:
    """Tell of an event and notify the workflows that rules send it to; return the rules.

    Events of Glue are told always, others where a rule matches them. A target that is no workflow
    is on AWS only, and named.
    """
    rules = glue.rules.matching(event)
    if rules or event["source"] == GLUE:
        glue.tell(event)
    for rule in rules:
        for arn in rule.targets.values():
            workflow_name = workflow_of(arn)
            if workflow_name is None:
                what = f"{event['detail-type']!r} of {event['source']}"
                glue.say(f"rule {rule.name} matches {what}; its target {arn} is on AWS only")
            else:
                notify(glue, workflow_name, event["id"])
    return [rule.name for rule in rules]


def origin_of(glue: "LocalGlue") -> Origin:
    """Return the account and the region of this machine."""
    return Origin(glue.account, glue.machine.region)


def deliver_created(glue: "LocalGlue", created: CreatedObject) -> None:
    """Deliver the event of an object that a client has put."""
    deliver(glue, object_created(created, glue.now_ms(), origin_of(glue)))
