"""Translates what starts jobs from outside Glue: schedules of EventBridge Scheduler: pure.

Sources: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html,
https://docs.aws.amazon.com/scheduler/latest/APIReference/API_GetSchedule.html
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.adopt.model import Difference, KeyPath, Resource, Switch
from tidemark.adopt.reading import document_of, shown
from tidemark.adopt.starts.events import schedule_problem

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


def outside_of(
    schedules: Iterable[Resource],
    other_rules: Iterable[Resource],
    adopted: Adopted,
    rules: Mapping[str, Iterable[Resource]],
) -> Outside:
    """Return the schedules that start the pipeline, and the facts about every other start."""
    outside = Outside()
    outside.switches += (
        Switch("rule", rule.get("EventBusName") or "default", str(rule["Name"]), workflow)
        for workflow in sorted(adopted.workflows)
        for rule in rules.get(workflow, ())
        if rule.get("State", "ENABLED") != "DISABLED"
    )
    for schedule in schedules:
        _add(outside, schedule, adopted)
    for rule in other_rules:
        outside.differences.append(_unknown(f"rule {rule['Name']}", rule.get("Target"), "the rule"))
    return outside


def _add(outside: Outside, schedule: Resource, adopted: Adopted) -> None:
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
