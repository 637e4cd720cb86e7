"""Collects the events of EVENT triggers until a batch is complete, which starts its workflow.

Waiting events are stored. An event whose workflow cannot start is used up, as on AWS.
Source: https://docs.aws.amazon.com/glue/latest/dg/starting-workflow-eventbridge.html
Source: https://docs.aws.amazon.com/glue/latest/dg/viewing-start-event-info.html
"""

from contextlib import suppress

from tidemark.errors import DiskFullError, TidemarkError
from tidemark.glue_service.entities import EntityKind, find_entity
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.workflows.due import batch_of
from tidemark.glue_service.workflows.firing import start_workflow, triggers_of
from tidemark.glue_service.workflows.trigger_forms import EVENT
from tidemark.local_state.store.database import Store
from tidemark.model.messages import plural

EVENT_IDS = "aws:eventIds"  # the run property


def notify(glue: GlueState, workflow_name: str, event_id: str) -> None:
    """Pass an event to the EVENT trigger of a workflow; a complete batch starts a run.

    The trigger needs no activation: it stays CREATED.
    """
    triggers = [t for t in triggers_of(glue, workflow_name) if t.definition["Type"] == EVENT]
    if not triggers:
        glue.say(
            f"workflow {workflow_name} has no EVENT trigger: the event {event_id} starts nothing"
        )
        return
    trigger = triggers[0]
    with glue.store.transaction():
        values = (trigger.name, event_id, glue.now_ms())
        glue.store.query("INSERT INTO trigger_event VALUES (?, ?, ?)", values)
    glue.batches.load(glue.store)
    if len(_waiting(glue.store, trigger.name)) >= batch_of(trigger.definition)[0]:
        # The event is stored, and the batch stays due.
        with suppress(DiskFullError):
            fire_batch(glue, trigger.name)


def fire_batch(glue: GlueState, name: str) -> None:
    """Start the workflow of a trigger with the waiting events, which are used up."""
    trigger = find_entity(glue.store, EntityKind.TRIGGER, name)
    event_ids = _waiting(glue.store, name)
    try:
        if trigger is not None and trigger.definition["Type"] == EVENT:
            start_workflow(
                glue,
                trigger.definition["WorkflowName"],
                {EVENT_IDS: f"[{', '.join(event_ids)}]"},
                batch={"BatchSize": len(event_ids), "BatchWindow": batch_of(trigger.definition)[1]},
                together=lambda: _use_up(glue.store, name),
            )
    except DiskFullError:
        # The events wait until there is room.
        raise
    except TidemarkError as error:
        glue.say(f"trigger {name} did not fire; {plural(len(event_ids), 'event')} used up: {error}")
    with glue.store.transaction():
        _use_up(glue.store, name)
    glue.batches.load(glue.store)


def _waiting(store: Store, trigger_name: str) -> list[str]:
    rows = store.query(
        "SELECT event_id FROM trigger_event WHERE trigger_name = ? ORDER BY rowid", (trigger_name,)
    )
    return [row["event_id"] for row in rows]


def _use_up(store: Store, trigger_name: str) -> None:
    store.query("DELETE FROM trigger_event WHERE trigger_name = ?", (trigger_name,))
