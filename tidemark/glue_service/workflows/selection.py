"""A chosen part of a workflow to run, and triggers whose conditions are met."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.errors import UsageError
from tidemark.model.assembly.definitions import Action, Deployment, TriggerDefinition
from tidemark.model.messages import hint


@dataclass(frozen=True)
class Selection:
    """The job to start with, and whether its downstream jobs run too."""

    job_name: str
    has_following: bool


def select(deployment: Deployment, workflow_name: str, selection: Selection) -> Deployment:
    """Return a deployment in which a workflow is reduced to a part.

    The job starts with the arguments of its own trigger. Anything that is not downstream of it
    does not run, and counts as SUCCEEDED if something waits for both.
    """
    chosen = _part(workflow_name, deployment.triggers_of(workflow_name), selection)
    others = [trigger for trigger in deployment.triggers if trigger.workflow_name != workflow_name]
    return replace(deployment, triggers=(*others, *chosen))


def _part(
    workflow_name: str, triggers: Sequence[TriggerDefinition], selection: Selection
) -> list[TriggerDefinition]:
    trigger, action = _start(workflow_name, triggers, selection.job_name)
    start = replace(
        trigger, type="ON_DEMAND", actions=(action,), conditions=(), logical="AND", is_active=True
    )
    if not selection.has_following:
        return [start]
    nodes = _downstream(triggers, selection.job_name)
    following = [_within(later, nodes) for later in triggers if later.name != trigger.name]
    return [start, *(later for later in following if later is not None)]


def _start(
    workflow_name: str, triggers: Sequence[TriggerDefinition], job_name: str
) -> tuple[TriggerDefinition, Action]:
    for trigger in triggers:
        for action in trigger.actions:
            if action.job_name == job_name:
                return trigger, action
    names = sorted({action.job_name for trigger in triggers for action in trigger.actions})
    raise UsageError(
        f"workflow {workflow_name} starts no job {job_name!r}; {hint(job_name, names)}"
    )


def _downstream(triggers: Sequence[TriggerDefinition], job_name: str) -> set[str]:
    nodes, todo = {job_name}, [job_name]
    while todo:
        watched = todo.pop()
        for trigger in triggers:
            if any(condition.job_name == watched for condition in trigger.conditions):
                new = {action.job_name for action in trigger.actions} - nodes
                nodes |= new
                todo += sorted(new)
    return nodes


def _within(trigger: TriggerDefinition, nodes: set[str]) -> TriggerDefinition | None:
    """Return a trigger with the remaining conditions; None if it cannot fire in the part."""
    inside = tuple(c for c in trigger.conditions if c.job_name in nodes)
    outside = [c for c in trigger.conditions if c.job_name not in nodes]
    is_met = trigger.logical == "ANY" or all(c.state == "SUCCEEDED" for c in outside)
    return replace(trigger, conditions=inside) if inside and is_met else None


def is_satisfied(trigger: TriggerDefinition, final_states: Mapping[str, str]) -> bool:
    """Return whether the predicate of an active conditional trigger holds."""
    if trigger.type != "CONDITIONAL" or not trigger.is_active or not trigger.conditions:
        return False
    met = [final_states.get(c.job_name) == c.state for c in trigger.conditions]
    return any(met) if trigger.logical == "ANY" else all(met)


def unmet_conditions(trigger: TriggerDefinition, final_states: Mapping[str, str]) -> list[str]:
    """Return the conditions of ``trigger`` that do not hold, in readable form."""
    return [
        f"{c.job_name} {c.state} (is {final_states.get(c.job_name, 'not started')})"
        for c in trigger.conditions
        if final_states.get(c.job_name) != c.state
    ]
