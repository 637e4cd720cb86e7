"""Fires triggers: by a client, by the clock, by the start of a workflow."""

from collections.abc import Callable, Mapping

from tidemark.errors import DiskFullError, TidemarkError
from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    find_entity,
    get_entity,
    list_entities,
)
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.service_errors import InvalidInputError, TooManyRunsError
from tidemark.glue_service.runs.crawls import check_crawler
from tidemark.glue_service.workflows.flow import Flow
from tidemark.glue_service.workflows.flow_rows import Definitions, count_open
from tidemark.glue_service.workflows.flows import new_flow_id
from tidemark.glue_service.workflows.trigger_forms import CONDITIONAL
from tidemark.local_state.store.database import Store


def fire(glue: GlueState, trigger: Entity) -> str:
    """Fire a trigger, which starts its workflow if it is a start trigger; return the flow's id."""
    workflow_name = trigger.definition.get("WorkflowName")
    if workflow_name is not None:
        return start_workflow(glue, workflow_name, {})
    refuse_crawlers(glue.store, snapshot_of([trigger]))
    flow = Flow(new_flow_id(None), None, glue.now_ms(), is_of_command=glue.is_of_command)
    start_flow(glue, flow, [trigger.name], {trigger.name: trigger.definition})
    return flow.flow_id


def fire_by_clock(glue: GlueState, name: str) -> None:
    """Fire a trigger at its time; what cannot start is dropped, as on AWS."""
    trigger = find_entity(glue.store, EntityKind.TRIGGER, name)
    if trigger is None:
        return
    try:
        fire(glue, trigger)
    except DiskFullError:
        raise  # its time stays due
    except TidemarkError as error:
        glue.say(f"trigger {name} did not fire: {error}")


def start_workflow(
    glue: GlueState,
    name: str,
    properties: dict[str, str],
    batch: Mapping[str, int] | None = None,
    together: Callable[[], None] = lambda: None,
) -> str:
    """Start a run of a workflow by its start trigger; return the id of the run."""
    workflow = get_entity(glue.store, EntityKind.WORKFLOW, name)
    triggers = triggers_of(glue, name)
    starts = [t for t in triggers if t.definition["Type"] != CONDITIONAL]
    if not starts:
        raise InvalidInputError(
            f"workflow {name} has no start trigger; create a trigger of the type ON_DEMAND, "
            "SCHEDULED or EVENT with this WorkflowName"
        )
    refuse_crawlers(glue.store, snapshot_of(triggers))
    check_room(glue, workflow)
    flow = Flow(
        new_flow_id(name),
        name,
        glue.now_ms(),
        properties={**workflow.definition.get("DefaultRunProperties", {}), **properties},
        batch=batch,
        is_of_command=glue.is_of_command,
    )
    start_flow(glue, flow, [starts[0].name], snapshot_of(triggers), together)
    return flow.flow_id


def check_room(glue: GlueState, workflow: Entity) -> None:
    """Refuse another run of a workflow that has its maximum of runs."""
    most = workflow.definition.get("MaxConcurrentRuns")
    if most is not None and count_open(glue.store, workflow.name) >= most:
        raise TooManyRunsError(f"Concurrent runs exceeded for workflow: {workflow.name}.")


def start_flow(
    glue: GlueState,
    flow: Flow,
    trigger_names: list[str],
    snapshot: Definitions,
    together: Callable[[], None] = lambda: None,
) -> None:
    """Record a flow and the runs that its triggers start, in one transaction, and start them."""
    with glue.store.transaction():
        together()
        live = glue.runner.settle(glue.flows.begin(flow, trigger_names, snapshot))
    glue.runner.add(live)


def triggers_of(glue: GlueState, workflow_name: str) -> list[Entity]:
    """Return the triggers of a workflow, by name."""
    return [
        entity
        for entity in list_entities(glue.store, EntityKind.TRIGGER)
        if entity.definition.get("WorkflowName") == workflow_name
    ]


def snapshot_of(triggers: list[Entity]) -> Definitions:
    """Return the definitions of triggers by name."""
    return {trigger.name: dict(trigger.definition) for trigger in triggers}


def refuse_crawlers(store: Store, triggers: Definitions) -> None:
    """Refuse triggers that start a crawler which is not there, or cannot run on this machine."""
    for definition in triggers.values():
        for action in definition["Actions"]:
            if "CrawlerName" in action:
                entity = get_entity(store, EntityKind.CRAWLER, action["CrawlerName"])
                try:
                    check_crawler(entity.definition)
                except InvalidInputError as error:
                    raise InvalidInputError(
                        f"the crawler {entity.name} cannot run on this machine: {error}; `tidemark "
                        "run --skip-crawlers` runs the jobs of a workflow without crawls"
                    ) from error
