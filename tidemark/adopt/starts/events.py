"""Translates rules of EventBridge that start a workflow into starts of a pipeline: pure.

Sources: https://docs.aws.amazon.com/glue/latest/dg/starting-workflow-eventbridge.html,
https://docs.aws.amazon.com/glue/latest/webapi/API_EventBatchingCondition.html
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidemark.adopt.model import AdoptedEvent, Difference, Resource
from tidemark.adopt.reading import Reading, document_of
from tidemark.errors import ScheduleError
from tidemark.model.schedules.event_patterns import MAX_EVENTS, MAX_WINDOW_MINUTES, find_problems
from tidemark.model.schedules.schedules import Schedule

BATCH = "EventBatchingCondition"
HAND = "declare its events by hand, in starts="


@dataclass
class Events:
    """What rules of EventBridge say of a start.

    Attributes:
        events: those that can be declared.
        schedules: cron expressions of rules that are schedules.
        differences: rules that cannot be declared.
    """

    events: list[AdoptedEvent] = field(default_factory=list)
    schedules: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


def add_events(events: Events, trigger: Reading, rules: Iterable[Resource]) -> bool:
    """Add what starts a workflow with an EVENT trigger; return whether events do.

    If they do, the batch of the trigger is accounted for.
    """
    before = len(events.events)
    size, minutes = _batch(trigger)
    for rule in rules:
        _add(events, rule, size, minutes)
    if len(events.events) == before:
        return False
    stated, window = trigger.get(BATCH, "BatchSize"), minutes or MAX_WINDOW_MINUTES
    trigger.takes(BATCH, "BatchSize", values=[size])
    is_same = trigger.takes(BATCH, "BatchWindow", values=[60 * window])
    if not is_same and trigger.get(BATCH, "BatchWindow") is not None:
        why = "one event starts a run, which waits for no other"
        why = why if stated == 1 else f"a window has whole minutes; it gets {window}"
        trigger.differ(BATCH, "BatchWindow", why=why, do="nothing")
    return True


def _add(events: Events, rule: Resource, size: int, minutes: int | None) -> None:
    """Add a rule, or why it cannot be declared."""

    def differ(why: str, do: str = HAND, value: str | None = None) -> None:
        events.differences.append(Difference(f"rule {rule['Name']}", (), value, why, do))

    if rule.get("State", "ENABLED") == "DISABLED":
        differ("it is disabled, so it starts nothing", "nothing")
    elif (bus := rule.get("EventBusName") or "default") != "default":
        differ(f"it is of the event bus {bus}, and starts= takes events of the default one")
    elif expression := str(rule.get("ScheduleExpression") or ""):
        if problem := schedule_problem(expression):
            differ(problem, value=expression)
        else:
            events.schedules.append(expression)
    else:
        pattern = document_of(rule.get("EventPattern"))
        problem = find_problems(pattern)
        if problem or not isinstance(pattern, Mapping):
            differ(f"OnEvent does not take its pattern, {problem}")
        else:
            events.events.append(AdoptedEvent(str(rule["Name"]), pattern, size, minutes))


def schedule_problem(expression: str, zone: str = "UTC") -> str | None:
    """Return why a pipeline cannot have a schedule; None if it can."""
    try:
        Schedule(expression, zone)
    except ScheduleError as error:
        return str(error)
    return None


def _batch(trigger: Reading) -> tuple[int, int | None]:
    """Return how many events start a run, or after how many minutes fewer do; None: Glue's own."""
    size, seconds = trigger.get(BATCH, "BatchSize"), trigger.get(BATCH, "BatchWindow")
    size = size if type(size) is int and 1 <= size <= MAX_EVENTS else 1
    if type(seconds) is not int or size == 1:
        return size, None
    minutes = max(1, math.ceil(seconds / 60))
    return size, minutes if minutes < MAX_WINDOW_MINUTES else None
