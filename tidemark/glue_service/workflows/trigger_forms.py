"""Triggers in the forms of requests and of decisions, and Glue's checks of them.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-trigger.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.errors import ScheduleError
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.model.assembly.definitions import CRAWLER, Action, TriggerCondition, TriggerDefinition
from tidemark.model.assembly.job_rules import of_timeout
from tidemark.model.schedules.schedules import Schedule

Definition = Mapping[str, Any]
ON_DEMAND, SCHEDULED, CONDITIONAL, EVENT = "ON_DEMAND", "SCHEDULED", "CONDITIONAL", "EVENT"
CREATED, ACTIVATED, DEACTIVATED = "CREATED", "ACTIVATED", "DEACTIVATED"


def trigger_of(name: str, definition: Definition) -> TriggerDefinition:
    """Return a trigger in the form of decisions."""
    predicate = definition.get("Predicate", {})
    return TriggerDefinition(
        name=name,
        type=definition["Type"],
        actions=tuple(
            Action(node_of(action), action.get("Arguments", {}), action.get("Timeout"))
            for action in definition["Actions"]
        ),
        workflow_name=definition.get("WorkflowName"),
        logical=predicate.get("Logical", "AND"),
        conditions=tuple(
            TriggerCondition(node_of(condition), condition.get("State") or condition["CrawlState"])
            for condition in predicate.get("Conditions", [])
        ),
        is_active=definition["State"] == ACTIVATED,
    )


def definition_of(trigger: TriggerDefinition) -> dict[str, Any]:
    """Return a trigger in the form of requests; `trigger_of` reads it back."""
    conditions = [
        {**_member(condition.job_name), "LogicalOperator": "EQUALS", **_state(condition)}
        for condition in trigger.conditions
    ]
    actions = [
        {
            **_member(action.job_name),
            "Arguments": dict(action.arguments),
            **({} if action.timeout_minutes is None else {"Timeout": action.timeout_minutes}),
        }
        for action in trigger.actions
    ]
    return {
        "Type": trigger.type,
        "State": ACTIVATED if trigger.is_active else CREATED,
        "WorkflowName": trigger.workflow_name,
        "Actions": actions,
        "Predicate": {"Logical": trigger.logical, "Conditions": conditions},
    }


def _member(node: str) -> dict[str, str]:
    is_crawler = node.startswith(CRAWLER)
    return {"CrawlerName": node.removeprefix(CRAWLER)} if is_crawler else {"JobName": node}


def _state(condition: TriggerCondition) -> dict[str, str]:
    return {"CrawlState" if condition.job_name.startswith(CRAWLER) else "State": condition.state}


def node_of(item: Mapping[str, Any]) -> str:
    """Return the job or crawler that an action or a condition names."""
    return CRAWLER + item["CrawlerName"] if "CrawlerName" in item else str(item["JobName"])


def watched_jobs(definition: Definition) -> list[str]:
    """Return the jobs and crawlers that a trigger watches, each once."""
    return list(dict.fromkeys(map(node_of, definition.get("Predicate", {}).get("Conditions", []))))


def initial_state(request: Definition) -> str:
    """Return the state of a new trigger: an EVENT trigger is CREATED for its whole life.

    Source: https://github.com/hashicorp/terraform-provider-aws/issues/49407 (a live trigger)
    """
    is_active = request.get("StartOnCreation") and request["Type"] != EVENT
    return ACTIVATED if is_active else CREATED


def check_trigger(definition: Definition) -> None:
    """Refuse a trigger that Glue would refuse."""
    if faults := list(_faults(definition)):
        raise InvalidInputError("; ".join(faults))


def _faults(definition: Definition) -> Iterator[str]:
    kind = definition["Type"]
    if not definition["Actions"]:
        yield "Actions is empty; give what the trigger starts"
    for action in definition["Actions"]:
        if ("JobName" in action) == ("CrawlerName" in action):
            yield "an action has one of JobName and CrawlerName"
        yield from of_timeout(action)
    if kind == ON_DEMAND and definition.get("StartOnCreation"):
        yield "StartOnCreation is not supported for ON_DEMAND triggers"
    if kind == SCHEDULED:
        yield from _schedule_faults(definition.get("Schedule"))
    if kind == EVENT and "WorkflowName" not in definition:
        yield "an EVENT trigger starts a workflow: give WorkflowName"
    if "EventBatchingCondition" in definition and kind != EVENT:
        yield f"EventBatchingCondition is for EVENT triggers; the type is {kind}"
    yield from _predicate_faults(definition)


def _schedule_faults(schedule: str | None) -> Iterator[str]:
    if schedule is None:
        yield "a SCHEDULED trigger needs Schedule, such as cron(0 12 * * ? *)"
        return
    try:
        Schedule(schedule)
    except ScheduleError as error:
        yield str(error)


def _predicate_faults(definition: Definition) -> Iterator[str]:
    predicate = definition.get("Predicate", {})
    conditions = predicate.get("Conditions", [])
    if definition["Type"] != CONDITIONAL:
        if predicate:
            yield f"Predicate is for CONDITIONAL triggers; the type is {definition['Type']}"
        return
    if not conditions:
        yield "a CONDITIONAL trigger needs a Predicate with Conditions"
    if len(conditions) > 1 and "Logical" not in predicate:
        yield "a Predicate with several Conditions needs Logical: AND or ANY"
    for condition in conditions:
        yield from _condition_faults(condition)
    started = {action.get("JobName") for action in definition["Actions"]} - {None}
    if any(condition.get("JobName") in started for condition in conditions):
        yield "Job cannot be a Predicate and Action for Conditional Trigger."


def _condition_faults(condition: Mapping[str, Any]) -> Iterator[str]:
    if ("JobName" in condition) == ("CrawlerName" in condition):
        yield "a condition has one of JobName and CrawlerName"
        return
    if "LogicalOperator" not in condition:
        yield "Logical operator cannot be null or empty"
    kind, name, allowed = (
        ("job", "State", ("SUCCEEDED", "STOPPED", "FAILED", "TIMEOUT"))
        if "JobName" in condition
        else ("crawler", "CrawlState", ("SUCCEEDED", "FAILED", "CANCELLED"))
    )
    if condition.get(name) not in allowed:
        yield (
            f"State cannot be null or empty, choose from one of the following {kind} state: "
            f"[{', '.join(allowed)}]"
        )
