"""Translates triggers into what each job waits for, and when the pipeline starts: pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.adopt.job_fields import FACT, UNKNOWN
from tidemark.adopt.jobs import rest
from tidemark.adopt.model import Difference, Resource, Wait
from tidemark.adopt.reading import Reading
from tidemark.checks.schedules.schedules import Schedule
from tidemark.errors import ScheduleError, UsageError

STATES = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT")
ACTIVE = ("ACTIVATED", "ACTIVATING", "UPDATING")
OF_A_RUN = ("Arguments", "Timeout", "SecurityConfiguration", "NotificationProperty")
FIELDS: dict[str, tuple[str, str]] = {
    "Name": ("triggers of a pipeline are named by CloudFormation", "nothing"),
    "Id": FACT,
    "State": FACT,
    "Description": ("triggers of a pipeline have none", "nothing"),
    "Tags": ("tags are set for the whole stage", 'add it to "tags" of the stage in cdk.json'),
    "WorkflowName": ("the pipeline has a workflow of its own", "nothing"),
    "EventBatchingCondition": (
        "a pipeline starts by a schedule, or by whoever calls StartWorkflowRun",
        "make a rule of EventBridge that starts the new workflow, or a schedule",
    ),
}
START_TYPES = ("SCHEDULED", "EVENT", "ON_DEMAND")


@dataclass
class Starts:
    """What the triggers say of the jobs.

    Attributes:
        waits: what each job waits for, by name; None of one that starts with the pipeline.
        left_out: jobs whose start cannot be declared, with the reason and what to do.
        schedules: cron expressions of the active start triggers.
        start_triggers: triggers that start something by themselves, by name.
        other_triggers: the others.
        differences: what is not the same.
    """

    waits: dict[str, Wait | None] = field(default_factory=dict)
    left_out: dict[str, tuple[str, str]] = field(default_factory=dict)
    schedules: list[str] = field(default_factory=list)
    start_triggers: list[str] = field(default_factory=list)
    other_triggers: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


def read_triggers(triggers: Sequence[Resource], jobs: Iterable[str]) -> Starts:
    """Return how jobs are started by triggers.

    Args:
        triggers: every trigger that starts one of the jobs.
        jobs: their names.

    Raises:
        UsageError: first jobs are started by different triggers, so one pipeline cannot be all.
    """
    starts = Starts()
    for trigger in triggers:
        is_start = trigger.get("Type") in START_TYPES
        (starts.start_triggers if is_start else starts.other_triggers).append(trigger["Name"])
    groups: dict[str, frozenset[str]] = {}
    for job in jobs:
        own = [t for t in triggers if any(a.get("JobName") == job for a in t.get("Actions", []))]
        reason = _why_not(job, own)
        if reason:
            starts.left_out[job] = reason
            continue
        conditional = [trigger for trigger in own if trigger.get("Type") == "CONDITIONAL"]
        starts.waits[job] = _wait(conditional[0]) if conditional else None
        if not conditional:
            groups[job] = frozenset(str(trigger["Name"]) for trigger in own)
    _check_one_start(groups)
    for trigger in triggers:
        _account(trigger, starts)
    return starts


def _why_not(job: str, own: Sequence[Resource]) -> tuple[str, str] | None:
    """Return why the start of a job cannot be declared, and what to do; None if it can."""
    conditional = [trigger for trigger in own if trigger.get("Type") == "CONDITIONAL"]
    if not conditional:
        return None
    name = conditional[0]["Name"]
    if len(own) > 1:
        others = ", ".join(str(trigger["Name"]) for trigger in own)
        return (
            f"{len(own)} triggers start it ({others}), and a job of a pipeline has one",
            "make one trigger of them, with Logical ANY if one of them is enough, or keep the job",
        )
    if conditional[0].get("State", "ACTIVATED") not in ACTIVE:
        return (
            f"its trigger {name} is {conditional[0]['State']}, so nothing starts it",
            "activate the trigger, or delete it and name the job by itself",
        )
    predicate = conditional[0].get("Predicate") or {}
    conditions = predicate.get("Conditions") or []
    crawlers = [c["CrawlerName"] for c in conditions if c.get("CrawlerName")]
    if crawlers:
        return (
            f"it waits for the crawler {crawlers[0]}, and crawlers are not adopted",
            "declare the crawler with pipeline.add_crawler(...), and then the job with after= it",
        )
    if not conditions:
        return f"its trigger {name} has no condition", "correct the trigger"
    states = [c.get("State") for c in conditions if c.get("State") not in STATES]
    if states:
        return f"it waits for the state {states[0]}, which no trigger sees", "correct the trigger"
    watched = [c.get("JobName") for c in conditions]
    if predicate.get("Logical") != "ANY" and len(set(watched)) < len(watched):
        return "it waits for two states of one run, and a run ends in one", "correct the trigger"
    return None


def _wait(trigger: Resource) -> Wait:
    predicate = trigger["Predicate"]
    conditions = tuple((c["JobName"], c["State"]) for c in predicate["Conditions"])
    return Wait(predicate.get("Logical") or "AND", tuple(dict.fromkeys(conditions)))


def _check_one_start(groups: Mapping[str, frozenset[str]]) -> None:
    """Raise if first jobs are started by different triggers: a pipeline starts them together.

    Raises:
        UsageError: they are.
    """
    first = next(iter(groups), "")
    for job, names in groups.items():
        if names != groups[first] or (not names and job != first):
            mine, theirs = (", ".join(sorted(groups[one])) or "nothing" for one in (first, job))
            raise UsageError(
                f"{first} is started by {mine} and {job} by {theirs}, and a pipeline starts its "
                "first jobs together; adopt them apart, each with what waits for it: tidemark "
                f"adopt {first}"
            )


def _account(trigger: Resource, starts: Starts) -> None:
    """Account for everything that a trigger has."""
    reading = Reading(f"trigger {trigger['Name']}", trigger)
    for number, action in enumerate(trigger.get("Actions") or []):
        _account_for_action(reading, str(number), action, starts)
    if reading.get("Type") == "CONDITIONAL":
        reading.take("Type")
        reading.take("Predicate")
    else:
        _account_for_start(reading, starts)
    rest(reading, FIELDS, UNKNOWN)
    starts.differences += reading.differences


def _account_for_action(reading: Reading, number: str, action: Resource, starts: Starts) -> None:
    job = action.get("JobName")
    if job in starts.waits:
        reading.take("Actions", number, "JobName")
    elif job is not None:
        reading.differ(
            "Actions", number, "JobName", why="the pipeline does not have the job", do="see above"
        )
    if action.get("CrawlerName") is not None:
        reading.differ(
            "Actions",
            number,
            "CrawlerName",
            why="crawlers are not adopted",
            do="declare it with pipeline.add_crawler(...)",
        )
    for key in OF_A_RUN:
        if action.get(key) is not None:
            reading.differ(
                "Actions",
                number,
                key,
                why="what a trigger adds to its job is not adopted",
                do=f"say it in started=ActionOptions(...) of the job {job}",
            )


def _account_for_start(reading: Reading, starts: Starts) -> None:
    kind, expression = reading.get("Type"), reading.get("Schedule")
    if kind != "SCHEDULED":
        why = "a pipeline starts when StartWorkflowRun is called"
        do = "let whoever calls StartTrigger call StartWorkflowRun for the new workflow"
        if kind == "EVENT":
            why, do = FIELDS["EventBatchingCondition"]
        reading.differ("Type", why=why, do=do)
        if expression is not None:
            reading.differ("Schedule", why=f"a trigger of type {kind} has none", do="nothing")
    elif reading.get("State") is not None and reading.get("State") not in ACTIVE:
        reading.differ("Type", why="the trigger is not active, so it starts nothing", do="nothing")
        reading.differ("Schedule", why="it is not active", do="nothing")
    else:
        _account_for_schedule(reading, str(expression), starts)


def _account_for_schedule(reading: Reading, expression: str, starts: Starts) -> None:
    try:
        Schedule(expression)
    except ScheduleError as error:
        reading.differ("Type", why="its schedule cannot be declared", do="see Schedule")
        reading.differ("Schedule", why=str(error), do="set another in the stage in cdk.json")
        return
    reading.take("Type")
    if starts.schedules and expression not in starts.schedules:
        why = f"the pipeline has one schedule, {starts.schedules[0]}"
        reading.differ("Schedule", why=why, do="start it at these times too, with a schedule more")
        return
    reading.take("Schedule")
    starts.schedules.append(expression)
