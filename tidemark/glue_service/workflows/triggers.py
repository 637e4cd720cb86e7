"""Glue's operations on triggers.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-trigger.html
"""

from dataclasses import replace

from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    create_entity,
    delete_entity,
    find_entities,
    find_entity,
    get_entity,
    list_entities,
    put_entity,
)
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.jobs import check_tags
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.glue_service.workflows.firing import fire, refuse_crawlers, snapshot_of, triggers_of
from tidemark.glue_service.workflows.trigger_forms import (
    ACTIVATED,
    CONDITIONAL,
    CREATED,
    DEACTIVATED,
    EVENT,
    ON_DEMAND,
    SCHEDULED,
    check_trigger,
    initial_state,
)

NOT_DEFINED = ("Name", "Tags", "StartOnCreation")  # members of CreateTrigger stored separately
NOT_UPDATED = ("Type", "WorkflowName", "State")


def create_trigger(glue: GlueState, request: Request) -> Answer:
    """Define a trigger, and activate it with StartOnCreation."""
    check_trigger(request)
    check_tags(request.get("Tags", {}))
    _check_references(glue, request["Name"], request)
    definition = {
        **{key: value for key, value in request.items() if key not in NOT_DEFINED},
        "State": initial_state(request),
    }
    now_ms = glue.now_ms()
    tags = request.get("Tags", {})
    entity = Entity(EntityKind.TRIGGER, request["Name"], definition, tags, now_ms, now_ms)
    if definition["State"] == ACTIVATED:
        refuse_crawlers(glue.store, snapshot_of([entity]))
    create_entity(glue.store, entity)
    _reload(glue, entity)
    return {"Name": entity.name}


def _check_references(glue: GlueState, name: str, definition: Request) -> None:
    for action in definition["Actions"]:
        if "JobName" in action:
            get_entity(glue.store, EntityKind.JOB, action["JobName"])
    workflow_name = definition.get("WorkflowName")
    if workflow_name is None:
        return
    get_entity(glue.store, EntityKind.WORKFLOW, workflow_name)
    if definition["Type"] == CONDITIONAL:
        return
    others = [
        trigger.name
        for trigger in triggers_of(glue, workflow_name)
        if trigger.definition["Type"] != CONDITIONAL and trigger.name != name
    ]
    if others:
        raise InvalidInputError(
            f"workflow {workflow_name} has the start trigger {others[0]} already; a workflow has "
            "one"
        )


def update_trigger(glue: GlueState, request: Request) -> Answer:
    """Replace the whole definition of a trigger except its type, its workflow and its state."""
    update = {key: value for key, value in request["TriggerUpdate"].items() if key != "Name"}
    with glue.store.transaction():
        old = get_entity(glue.store, EntityKind.TRIGGER, request["Name"])
        kept = {key: old.definition[key] for key in NOT_UPDATED if key in old.definition}
        definition = {"Actions": [], **kept, **update}
        check_trigger(definition)
        _check_references(glue, old.name, definition)
        new = replace(old, definition=definition, changed_at_ms=glue.now_ms())
        put_entity(glue.store, new)
    _reload(glue, new)
    return {"Trigger": trigger_member(new)}


def get_trigger(glue: GlueState, request: Request) -> Answer:
    """Return a trigger."""
    return {"Trigger": trigger_member(get_entity(glue.store, EntityKind.TRIGGER, request["Name"]))}


def get_triggers(glue: GlueState, request: Request) -> Answer:
    """Return a page of the triggers, by name; with DependentJobName those that can start it."""
    page, token = _page(glue, request)
    return {"Triggers": [trigger_member(entity) for entity in page], "NextToken": token}


def list_triggers(glue: GlueState, request: Request) -> Answer:
    """Return a page of the names of triggers that have all the given tags."""
    page, token = _page(glue, request)
    return {"TriggerNames": [entity.name for entity in page], "NextToken": token}


def _page(glue: GlueState, request: Request) -> tuple[list[Entity], str | None]:
    job_name = request.get("DependentJobName")
    entities = [
        entity
        for entity in list_entities(glue.store, EntityKind.TRIGGER)
        if request.get("Tags", {}).items() <= entity.tags.items()
    ]
    if job_name is not None:
        get_entity(glue.store, EntityKind.JOB, job_name)
        starting = [
            entity
            for entity in entities
            if any(action.get("JobName") == job_name for action in entity.definition["Actions"])
        ]
        # If none can start the job, all are returned, as AWS documents.
        entities = starting or entities
    return glue_page(entities, request)


def batch_get_triggers(glue: GlueState, request: Request) -> Answer:
    """Return the triggers of a list of names, and the unknown names."""
    entities, missing = find_entities(glue.store, EntityKind.TRIGGER, request["TriggerNames"])
    return {"Triggers": list(map(trigger_member, entities)), "TriggersNotFound": missing}


def delete_trigger(glue: GlueState, request: Request) -> Answer:
    """Delete a trigger; a missing trigger is not an error."""
    old = find_entity(glue.store, EntityKind.TRIGGER, request["Name"])
    if old is not None:
        delete_entity(glue.store, EntityKind.TRIGGER, old.name)
        _reload(glue, old)
    return {"Name": request["Name"]}


def start_trigger(glue: GlueState, request: Request) -> Answer:
    """Fire an ON_DEMAND trigger; activate a SCHEDULED or CONDITIONAL one.

    Source: https://github.com/hashicorp/terraform-provider-aws/pull/49408 (the words for EVENT)
    """
    entity = get_entity(glue.store, EntityKind.TRIGGER, request["Name"])
    if entity.definition["Type"] == EVENT:
        raise InvalidInputError("Trigger Type EVENT cannot be started")
    if entity.definition["Type"] == ON_DEMAND:
        fire(glue, entity)
    else:
        refuse_crawlers(glue.store, snapshot_of([entity]))
        _set_state(glue, entity, ACTIVATED)
    return {"Name": entity.name}


def stop_trigger(glue: GlueState, request: Request) -> Answer:
    """Deactivate a trigger; runs that it started continue.

    ON_DEMAND and EVENT triggers are never active: their state is CREATED.
    Source: https://github.com/hashicorp/terraform-provider-aws/pull/49408
    """
    entity = get_entity(glue.store, EntityKind.TRIGGER, request["Name"])
    if entity.definition["State"] == CREATED:
        raise InvalidInputError(f"The operation is not allowed when trigger is in state: {CREATED}")
    _set_state(glue, entity, DEACTIVATED)
    return {"Name": entity.name}


def _set_state(glue: GlueState, entity: Entity, state: str) -> None:
    if entity.definition["State"] != state:
        definition = {**entity.definition, "State": state}
        changed = replace(entity, definition=definition, changed_at_ms=glue.now_ms())
        put_entity(glue.store, changed)
        _reload(glue, changed)


def _reload(glue: GlueState, entity: Entity) -> None:
    if entity.definition["Type"] == EVENT:
        glue.batches.load(glue.store)
    if entity.definition["Type"] == SCHEDULED:
        glue.schedules.load(glue.store, glue.now_ms())


def trigger_member(entity: Entity) -> Answer:
    """Return a trigger in the form of answers."""
    return {**entity.definition, "Name": entity.name}
