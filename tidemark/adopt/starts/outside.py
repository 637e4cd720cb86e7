"""Translates what starts jobs from outside Glue: rules of EventBridge, and its schedules: pure.

Sources: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html,
https://docs.aws.amazon.com/scheduler/latest/APIReference/API_GetSchedule.html,
https://docs.aws.amazon.com/glue/latest/dg/starting-workflow-eventbridge.html,
https://docs.aws.amazon.com/glue/latest/webapi/API_EventBatchingCondition.html
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.adopt.model import AdoptedEvent, Difference, Existing, KeyPath, Resource, Switch
from tidemark.adopt.reading import Reading, document_of, shown
from tidemark.adopt.watching import reporting_rules
from tidemark.errors import ScheduleError
from tidemark.model.schedules.event_patterns import MAX_EVENTS, MAX_WINDOW_MINUTES, find_problems
from tidemark.model.schedules.schedules import Schedule

GLUE_CALLS = {"startjobrun": "JobName", "startworkflowrun": "Name"}
STOP = "the step that stops what starts the old jobs disables it"
DECLARE = f"{STOP}; declare the new pipeline's start in starts= instead"


@dataclass(frozen=True)
class Adopted:
    """The old jobs and workflow that a pipeline replaces.

    Attributes:
        jobs: names of the old jobs that are read, declared or not.
        workflow: name of the workflow that is adopted as a whole, or None.
        workflows: names of all workflows that start one of the jobs.
        only_first: the old job that the pipeline starts with, if it is the only one.
        left_out: the jobs that are not adopted, and continue unchanged.
    """

    jobs: frozenset[str]
    workflow: str | None
    workflows: frozenset[str]
    only_first: str | None
    left_out: frozenset[str]


@dataclass
class Outside:
    """What the starts from outside mean for the pipeline.

    Attributes:
        schedules: those that can be declared: cron expressions, each with its time zone.
        switches: the starts of the old jobs, declared or not, that have to be disabled.
        differences: starts that cannot be declared, and changed ones.
    """

    schedules: list[tuple[str, str]] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


def outside_of(existing: Existing, adopted: Adopted) -> Outside:
    """Return the schedules that start the pipeline, and the facts about every other start."""
    outside, reporting = Outside(), reporting_rules(existing)
    outside.switches += (
        Switch("rule", rule.get("EventBusName") or "default", str(rule["Name"]), workflow)
        for workflow in sorted(adopted.workflows)
        for rule in existing.rules.get(workflow, ())
        if rule.get("State", "ENABLED") != "DISABLED"
    )
    for schedule in existing.clock:
        _add_schedule(outside, schedule, adopted)
    outside.differences += (
        _unknown(f"rule {rule['Name']}", rule.get("Target"), "the rule")
        for rule in existing.other_rules
        if rule["Name"] not in reporting
    )
    return outside


def _add_schedule(outside: Outside, schedule: Resource, adopted: Adopted) -> None:
    group = schedule.get("GroupName") or "default"
    of = f"schedule {group}/{schedule['Name']}"
    target = schedule.get("Target") or {}
    _, is_glue, call = str(target.get("Arn") or "").lower().partition(":aws-sdk:glue:")
    key = GLUE_CALLS.get(call) if is_glue else None  # in the input, of what it starts
    if key is None:
        outside.differences.append(_unknown(of, target.get("Arn"), "the schedule"))
        return
    given = document_of(target.get("Input"))
    started = given.get(key) if isinstance(given, Mapping) else None
    if not isinstance(started, str):
        why = f"its input does not say {key}, so its target is not known"
        outside.differences.append(Difference(of, ("Target", "Input"), None, why, DECLARE))
        return
    if started not in (adopted.jobs if key == "JobName" else adopted.workflows):
        return
    if key == "JobName" and started in adopted.left_out:
        why = f"it starts the job {started}, which is not adopted"
        do = "it continues unchanged: see Not adopted"
        outside.differences.append(Difference(of, ("Target", "Input", key), started, why, do))
        return
    if schedule.get("State", "ENABLED") == "ENABLED":
        outside.switches.append(Switch("schedule", group, str(schedule["Name"]), started))
    expression = str(schedule.get("ScheduleExpression"))
    zone = str(schedule.get("ScheduleExpressionTimezone") or "UTC")
    problem = _refusal(schedule, key, started, adopted) or schedule_problem(expression, zone)
    if problem:
        path, value = ("ScheduleExpression",), f"{expression} in {zone}"
        outside.differences.append(Difference(of, path, value, problem, DECLARE))
        return
    if (expression, zone) not in outside.schedules:
        outside.schedules.append((expression, zone))
    why = "the new pipeline has it in starts=; the old one continues until it is disabled"
    outside.differences.append(Difference(of, ("State",), "ENABLED", why, STOP))
    outside.differences += _details(of, schedule, {k: v for k, v in given.items() if k != key})


def _refusal(schedule: Resource, key: str, started: str, adopted: Adopted) -> str | None:
    """Return why a schedule that starts a job or the workflow cannot be declared."""
    if schedule.get("State", "ENABLED") != "ENABLED":
        return "it is disabled, so it starts nothing"
    if key == "JobName" and started != adopted.only_first:
        return f"it starts the job {started}, and a pipeline starts with all its first jobs"
    if key == "Name" and started != adopted.workflow:
        return f"it starts the workflow {started}, and the pipeline has only a part of it"
    return None


def _details(of: str, schedule: Resource, rest: Mapping[str, Any]) -> list[Difference]:
    """Return the properties of a declared schedule that `Schedule` does not have."""
    window = schedule.get("FlexibleTimeWindow") or {}
    differences: list[Difference] = []
    if window.get("Mode", "OFF") != "OFF":
        minutes = str(window.get("MaximumWindowInMinutes"))
        why = "a pipeline starts at the minute, and not within a window"
        do = "set another minute, if that matters"
        path: KeyPath = ("FlexibleTimeWindow", "MaximumWindowInMinutes")
        differences.append(Difference(of, path, minutes, why, do))
    for key in ("StartDate", "EndDate"):
        if schedule.get(key):
            why = "a schedule of a pipeline has no first or last day"
            do = "deploy the change of starts= on that day"
            differences.append(Difference(of, (key,), str(schedule[key]), why, do))
    why = "a schedule of a pipeline gives its runs nothing"
    do = "set it in the job: arguments=, started=ActionOptions(...) or runtime="
    for key, value in rest.items():
        parts: list[tuple[KeyPath, Any]] = [((key,), value)]
        if isinstance(value, Mapping) and value:
            parts = [((key, str(name)), part) for name, part in value.items()]
        for path, part in parts:
            text = shown(path, part)
            differences.append(Difference(of, ("Target", "Input", *path), text, why, do))
    return differences


def _unknown(of: str, arn: object, what: str) -> Difference:
    why = "the action of its target cannot be read here, so it may start one of the old jobs"
    do = f"see the target; if it starts an old job, disable {what} with the old starts"
    return Difference(of, ("Target", "Arn"), shown(("Arn",), arn), why, do)


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
        _add_rule(events, rule, size, minutes)
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


def _add_rule(events: Events, rule: Resource, size: int, minutes: int | None) -> None:
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
