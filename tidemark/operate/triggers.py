"""The triggers of a Glue: which there are, and how they are fired or activated."""

from dataclasses import dataclass
from typing import Any

from tidemark.model.messages import known
from tidemark.operate.app_names import TRIGGER
from tidemark.operate.clients import Glue, members_of

ON_DEMAND = "ON_DEMAND"


@dataclass(frozen=True)
class Trigger:
    """One trigger.

    Attributes:
        name: its name; CloudFormation generates one if the template has none.
        type: ON_DEMAND, SCHEDULED, CONDITIONAL or EVENT.
        state: CREATED, ACTIVATED, DEACTIVATED, ...
        workflow: that it belongs to; empty outside workflows.
        starts: the jobs and crawlers of its actions.
        after: the jobs and crawlers that it waits for.
    """

    name: str
    type: str
    state: str
    workflow: str
    starts: tuple[str, ...]
    after: tuple[str, ...] = ()


def triggers_of(glue: Glue) -> list[Trigger]:
    """Return the triggers of the workflows that are known, and those that start a known job."""
    all_triggers = map(_trigger, members_of(glue.glue.get_triggers, "Triggers"))
    jobs, workflows = set(glue.names.jobs), set(glue.names.workflows)
    return [
        trigger
        for trigger in all_triggers
        if trigger.workflow in workflows or jobs & set(trigger.starts)
    ]


def _trigger(member: dict[str, Any]) -> Trigger:
    conditions = member.get("Predicate", {}).get("Conditions", [])
    return Trigger(
        name=member["Name"],
        type=member["Type"],
        state=member.get("State", ""),
        workflow=member.get("WorkflowName", ""),
        starts=_names(member.get("Actions", [])),
        after=_names(conditions),
    )


def _names(members: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(member.get("JobName") or member.get("CrawlerName", "") for member in members)


def find_trigger(glue: Glue, name: str) -> Trigger:
    """Return the trigger of a name."""
    triggers = {trigger.name: trigger for trigger in triggers_of(glue)}
    return triggers[known("trigger", name, triggers)]


def start_trigger(glue: Glue, name: str) -> str:
    """Fire an ON_DEMAND trigger, or activate another; return what happened, for people."""
    trigger = find_trigger(glue, name)
    glue.check_stage(TRIGGER, name)
    glue.glue.start_trigger(Name=name)
    if trigger.type != ON_DEMAND:
        return "is being activated"
    return f"has fired: {', '.join(trigger.starts)}"
