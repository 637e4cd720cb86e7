"""Translates triggers into the conditions of each job, and the starts of the pipeline: pure.

Jobs and crawlers stand together; a crawler is named `CRAWLER` + its name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.adopt.jobs.job import rest
from tidemark.adopt.model import Difference, Existing, Reason, Resource, Wait
from tidemark.adopt.reading import Reading
from tidemark.adopt.reasons import ANY, REASONS
from tidemark.adopt.starts.outside import Events, add_events, schedule_problem
from tidemark.adopt.starts.started import started_of
from tidemark.model.assembly.definitions import CRAWLER

STATES = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT")
CRAWL_STATES = ("SUCCEEDED", "FAILED", "CANCELLED")
ACTIVE = ("ACTIVATED", "ACTIVATING", "UPDATING")
OFF = "nothing, if that is wanted; otherwise declare the events in starts="
NO_EVENT = "its workflow has no EVENT trigger, so the rule starts nothing"
STARTS_NOTHING = ("it starts nothing that moves", "see Not adopted")
START_TYPES = ("SCHEDULED", "EVENT", "ON_DEMAND")


@dataclass
class Starts(Events):
    """The starts and conditions of jobs by the triggers, with the events that start the pipeline.

    Attributes:
        waits: the conditions of each job, by name; None for one that starts with the pipeline.
        started: fields of `ActionOptions` of each job, once the triggers are accounted for.
        left_out: jobs whose start cannot be declared, with the reason and what to do.
        streaming: streaming jobs of the pipeline, in order, which no trigger starts.
        start_triggers: triggers that start something without another trigger, by name.
        other_triggers: the others.
        groups: the triggers that start each first job, by name of the job.
        is_late: whether the pipeline starts when something has ended that it does not hold.
        apart: triggers of jobs of the pipeline that it does not declare: why, and what to do.
        timeouts: the minutes of each job that it declares, None for crawlers, as they are known.
    """

    waits: dict[str, Wait | None] = field(default_factory=dict)
    started: dict[str, dict[str, object]] = field(default_factory=dict)
    left_out: dict[str, Reason] = field(default_factory=dict)
    streaming: list[str] = field(default_factory=list)
    start_triggers: list[str] = field(default_factory=list)
    other_triggers: list[str] = field(default_factory=list)
    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    is_late: bool = False
    apart: dict[str, Reason] = field(default_factory=dict)
    timeouts: Mapping[str, int | None] = field(default_factory=dict)


def node_of(part: Resource) -> str | None:
    """Return the job or crawler that an action starts, or a condition watches."""
    if part.get("CrawlerName") and not part.get("JobName"):
        return f"{CRAWLER}{part['CrawlerName']}"
    return part.get("JobName")


def nodes_of(trigger: Resource) -> list[str]:
    """Return the jobs and crawlers that a trigger starts."""
    return [node for action in trigger.get("Actions") or [] if (node := node_of(action))]


def watched_by(trigger: Resource) -> list[str]:
    """Return the jobs and crawlers that a trigger watches."""
    conditions = (trigger.get("Predicate") or {}).get("Conditions") or []
    return [node for condition in conditions if (node := node_of(condition))]


def triggers_of(existing: Existing, nodes: Iterable[str]) -> list[Resource]:
    """Return the triggers that start one of the nodes, and those of the adopted workflow."""
    own, wanted = set(existing.own_triggers), set(nodes)
    return [
        trigger
        for name, trigger in existing.triggers.items()
        if name in own or wanted.intersection(nodes_of(trigger))
    ]


def crawlers_of(
    triggers: Iterable[Resource], jobs: Iterable[str], workflow: str | None
) -> list[str]:
    """Return the names of the crawlers that belong to jobs: no job waits for anything else."""
    left, nodes = list(triggers), dict.fromkeys(jobs)
    while True:
        own = [
            trigger
            for trigger in left
            if (workflow is not None and trigger.get("WorkflowName") == workflow)
            or any(node in nodes for node in nodes_of(trigger))
        ]
        if not own:
            return [name.removeprefix(CRAWLER) for name in nodes if name.startswith(CRAWLER)]
        left = [trigger for trigger in left if trigger not in own]
        for trigger in own:
            both = (*nodes_of(trigger), *watched_by(trigger))
            nodes |= dict.fromkeys(node for node in both if node.startswith(CRAWLER))


def read_triggers(triggers: Sequence[Resource], jobs: Iterable[str]) -> Starts:
    """Return how jobs and crawlers are started by triggers, which are to be accounted for yet."""
    starts = Starts()
    note_types(starts, triggers)
    for job in jobs:
        own = [trigger for trigger in triggers if job in nodes_of(trigger)]
        conditional = [trigger for trigger in own if trigger.get("Type") == "CONDITIONAL"]
        if not conditional:
            starts.waits[job] = None
            starts.groups[job] = frozenset(str(trigger["Name"]) for trigger in own)
        elif reason := _refusal(conditional[0], own):
            starts.left_out[job] = reason
        else:
            starts.waits[job] = _wait(conditional[0])
    return starts


def note_types(starts: Starts, triggers: Iterable[Resource]) -> None:
    """Note which triggers start something without another trigger."""
    starts.start_triggers, starts.other_triggers = [], []
    for trigger in triggers:
        is_start = trigger.get("Type") in START_TYPES
        (starts.start_triggers if is_start else starts.other_triggers).append(str(trigger["Name"]))


def account_for(
    triggers: Sequence[Resource],
    starts: Starts,
    timeouts: Mapping[str, int | None],
    rules: Mapping[str, Sequence[Resource]] | None = None,
) -> None:
    """Account for everything that the triggers have."""
    starts.timeouts = timeouts
    readings = {t["Name"]: Reading(f"trigger {t['Name']}", t) for t in triggers}
    for trigger in sorted(triggers, key=lambda trigger: not _is_on(trigger)):
        reading = readings[trigger["Name"]]
        for number, action in enumerate(trigger.get("Actions") or []):
            _account_for_action(reading, str(number), action, starts)
    for trigger in triggers:
        reading = readings[trigger["Name"]]
        own_rules = (rules or {}).get(str(trigger.get("WorkflowName")), ())
        if reason := _apart_reason(trigger, starts):
            for key in ("Type", "Schedule", "Predicate", "EventBatchingCondition"):
                if reading.get(key) is not None:
                    reading.differ_for(reason, key)
            _list_rules(own_rules, starts, reason)
        elif reading.takes("Type", values=["CONDITIONAL"]):
            reading.take("Predicate")
        else:
            _account_for_start(reading, trigger, starts, own_rules)
        rest(reading, REASONS["trigger"])
        starts.differences += reading.differences


def _apart_reason(trigger: Resource, starts: Starts) -> Reason | None:
    """Return why the pipeline does not declare when a trigger fires, and what to do."""
    if reason := starts.apart.get(str(trigger["Name"])):
        return reason
    own = set(nodes_of(trigger))
    if not own or starts.timeouts.keys() & own:
        return None
    if own.intersection(starts.streaming):
        return ANY["streams only"] if trigger.get("Type") != "CONDITIONAL" else None
    return STARTS_NOTHING if trigger.get("Type") in START_TYPES else None


def _refusal(trigger: Resource, own: Sequence[Resource]) -> Reason | None:
    """Return why a CONDITIONAL trigger of a job cannot be declared, and what to do, or None."""
    name = trigger["Name"]
    if len(own) > 1:
        others = ", ".join(str(trigger["Name"]) for trigger in own)
        return (
            f"{len(own)} triggers start it ({others}), and a job of a pipeline has one",
            "make them one trigger, with Logical ANY if one of them is enough, or keep the job",
        )
    if not _is_on(trigger):
        return (
            f"its trigger {name} is {trigger['State']}, so nothing starts it",
            "activate the trigger, or delete it and name the job alone",
        )
    predicate = trigger.get("Predicate") or {}
    conditions = predicate.get("Conditions") or []
    if not conditions:
        return f"its trigger {name} has no condition", "correct the trigger"
    for condition in conditions:
        state = _state(condition)
        if state not in (STATES if condition.get("JobName") else CRAWL_STATES):
            return f"it waits for the state {state}, which no trigger sees", "correct the trigger"
    watched = [node_of(condition) for condition in conditions]
    if predicate.get("Logical") != "ANY" and len(set(watched)) < len(watched):
        return "it waits for two states of one run, and a run ends in one", "correct the trigger"
    return None


def _wait(trigger: Resource) -> Wait:
    predicate = trigger["Predicate"]
    conditions = tuple((str(node_of(c)), str(_state(c))) for c in predicate["Conditions"])
    return Wait(predicate.get("Logical") or "AND", tuple(dict.fromkeys(conditions)))


def _state(condition: Resource) -> str | None:
    return condition.get("State" if condition.get("JobName") else "CrawlState")


def _account_for_action(reading: Reading, number: str, action: Resource, starts: Starts) -> None:
    node = node_of(action)
    key = "JobName" if action.get("JobName") else "CrawlerName"
    path = ("Actions", number)
    if node is not None and node in starts.timeouts:
        reading.take(*path, key)
        if not node.startswith(CRAWLER):
            _account_for_run(reading, number, node, starts)
    elif node in starts.streaming:
        why = "no trigger of a pipeline starts a streaming job, whose run does not end"
        reading.differ(*path, key, why=why, do="start it once, as its step says")
    elif node is not None:
        reading.differ(*path, key, why="the pipeline does not have it", do="see Not adopted")
    for key in action:
        if any(left[:3] == (*path, key) for left in reading.left()):
            reading.differ_for(REASONS["action"].get(key, ANY["unknown"]), *path, key)


def _account_for_run(reading: Reading, number: str, job: str, starts: Starts) -> None:
    """Account for the options of an action for a job, which has one `started`."""
    minutes = starts.timeouts[job]
    trial = Reading("", {"Actions": [reading.get("Actions", number)]})
    if job not in starts.started:
        starts.started[job] = started_of(reading, number, minutes)
    elif started_of(trial, "0", minutes) == starts.started[job] and not trial.differences:
        started_of(reading, number, minutes)


def _account_for_start(
    reading: Reading, trigger: Resource, starts: Starts, rules: Sequence[Resource]
) -> None:
    kind, expression = trigger.get("Type"), trigger.get("Schedule")
    if kind == "EVENT":
        if add_events(starts, reading, rules):
            reading.take("Type")
            return
    else:
        _list_rules(rules, starts, (NO_EVENT, OFF))
    if kind != "SCHEDULED":
        reason = (
            REASONS["trigger"]["EventBatchingCondition"]
            if kind == "EVENT"
            else ANY["start by call"]
        )
        reading.differ_for(reason, "Type")
        if expression is not None:
            reading.differ("Schedule", why=f"a trigger of type {kind} has none", do="nothing")
    elif not _is_on(trigger):
        reading.differ("Type", why="the trigger is not active, so it starts nothing", do="nothing")
        reading.differ("Schedule", why="it is not active", do="nothing")
    elif problem := schedule_problem(str(expression)):
        reading.differ("Type", why="its schedule cannot be declared", do="see Schedule")
        reading.differ("Schedule", why=problem, do="set another, in starts=")
    else:
        reading.take("Type")
        reading.take("Schedule")
        starts.schedules.append(str(expression))


def _is_on(trigger: Resource) -> bool:
    """Return whether a trigger fires: one of EVENT does, and its state stays CREATED.

    Source: https://github.com/hashicorp/terraform-provider-aws/issues/49407
    """
    return trigger.get("Type") == "EVENT" or trigger.get("State") in (None, *ACTIVE)


def _list_rules(rules: Sequence[Resource], starts: Starts, reason: Reason) -> None:
    """List rules that have the workflow as a target, and that the code does not have."""
    for rule in rules:
        of = f"rule {rule['Name']}"
        if of not in (difference.of for difference in starts.differences):
            starts.differences.append(Difference(of, (), None, *reason))
