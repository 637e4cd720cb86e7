"""Chooses which of the found jobs and crawlers one pipeline can hold, and orders them: pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from tidemark.adopt.crawlers.crawler import crawler_refusal
from tidemark.adopt.jobs.job import kind_of
from tidemark.adopt.jobs.options import DEFAULTS, reading_of
from tidemark.adopt.jobs.streaming import is_streaming, streaming_refusal
from tidemark.adopt.model import AdoptedEvent, Existing, Reason, Resource, Wait
from tidemark.adopt.reading import Reading
from tidemark.adopt.starts.triggers import (
    START_TYPES,
    Starts,
    nodes_of,
    note_types,
    read_triggers,
    triggers_of,
)
from tidemark.checks.graph.paths import way_back
from tidemark.errors import UsageError
from tidemark.model.assembly.definitions import CRAWLER, SHELL, STREAMING

OTHER_TABLE = "its watermarks are in the table {}, and those of the pipeline in {}"
ONE_TABLE = "adopt it in another call: a pipeline has one table"


@dataclass(frozen=True)
class Selection:
    """The contents of a pipeline.

    Attributes:
        readings: jobs and crawlers that were found, by name.
        triggers: those that the pipeline replaces.
        starts: their definitions, what the jobs and crawlers wait for, and which are left out.
    """

    readings: Mapping[str, Reading]
    triggers: Sequence[Resource]
    starts: Starts


def choose(existing: Existing) -> Selection:
    """Return the found jobs that one pipeline can hold; the rest is left out with a reason.

    It keeps the table of watermarks with which it can hold the most jobs.
    """
    readings = {job: reading_of(job, resource) for job, resource in existing.jobs.items()}
    tables = {
        job: str(table)
        for job, reading in readings.items()
        if (table := reading.get(DEFAULTS, "--watermark_table"))
        and reading.get("Command", "Name") not in (SHELL, STREAMING)
    }
    possible, reasons = list[Selection](), list[UsageError]()
    for own in dict.fromkeys(tables.values()) or [""]:
        others = {
            job: (OTHER_TABLE.format(table, own), ONE_TABLE)
            for job, table in tables.items()
            if table != own
        }
        try:
            possible.append(_choose(existing, others))
        except UsageError as error:
            reasons.append(error)
    if not possible:
        raise reasons[0]
    return max(possible, key=lambda chosen: len(chosen.starts.waits) + len(chosen.starts.streaming))


def _choose(existing: Existing, not_ours: Mapping[str, Reason]) -> Selection:
    """Return the contents of one pipeline, without excluded jobs."""
    readings = {job: reading_of(job, resource) for job, resource in existing.jobs.items()}
    for name, crawler in existing.crawlers.items():
        readings[f"{CRAWLER}{name}"] = Reading(f"{CRAWLER}{name}", crawler)
    left_out = {
        node: reason
        for node, reading in readings.items()
        if (reason := _refusal(node, reading, existing))
    }
    possible = [node for node in readings if node not in left_out]
    streaming = [node for node in possible if is_streaming(readings[node])]
    declared = [node for node in possible if node not in streaming]
    starts = read_triggers(triggers_of(existing, [*declared, *streaming]), declared)
    starts.streaming, starts.left_out = streaming, left_out | starts.left_out
    why = "it starts itself endlessly, by triggers in a circle: "
    do = "correct one of the triggers, or keep the jobs of the circle"
    circles = _circles(starts.waits).items()
    in_circles = {node: (f"{why}{' <- '.join(path)}", do) for node, path in circles}
    for node, reason in (*in_circles.items(), *not_ours.items()):
        starts.left_out.setdefault(node, reason)
        starts.waits.pop(node, None)
        starts.groups.pop(node, None)
    starts.waits = _waits(existing, starts, readings)
    if not starts.waits and not streaming:
        reasons = "; ".join(f"{job}: {why}" for job, (why, _) in starts.left_out.items())
        raise UsageError(f"none of the jobs can be declared in a pipeline ({reasons})")
    triggers = triggers_of(existing, [*starts.waits, *streaming])
    note_types(starts, triggers)
    return Selection(readings, triggers, starts)


def _refusal(node: str, reading: Reading, existing: Existing) -> Reason | None:
    """Return why a job or crawler cannot be declared at all, and what to do; None if it can."""
    if node.startswith(CRAWLER):
        return crawler_refusal(reading, existing.locations)
    reason = kind_of(reading)
    if is_streaming(reading) and not reason:
        return streaming_refusal(reading, existing.scripts.get(node))
    return reason


def _waits(
    existing: Existing, starts: Starts, readings: Mapping[str, Reading]
) -> dict[str, Wait | None]:
    """Return the conditions of each job of the pipeline; jobs that it cannot hold are left out."""
    watched = [node for wait in starts.waits.values() if wait for node in wait.nodes]
    absent = {node for node in watched if node.startswith(CRAWLER) and node not in readings}
    undeclared = {*starts.left_out, *absent}
    waits = _with_predecessors(starts.waits, starts)
    groups = {node: starts.groups[node] for node, wait in waits.items() if wait is None}
    if not starts.streaming and all(node.startswith(CRAWLER) for node in waits):
        # What waits only for jobs and crawlers that no pipeline can hold.
        waiting = ((node, wait) for node, wait in starts.waits.items() if wait)
        late = {node: wait for node, wait in waiting if undeclared.issuperset(wait.nodes)}
        if any(not node.startswith(CRAWLER) for node in late) or (late and not waits):
            return _of_late(existing, starts, late, undeclared)
    common, apart = _one_start(groups, existing.own_triggers)
    starts.apart |= _extra_triggers(groups, common, apart)
    starts.left_out |= apart
    kept = {node: wait for node, wait in waits.items() if node not in apart}
    return _with_predecessors(kept, starts)


def _of_late(
    existing: Existing, starts: Starts, late: Mapping[str, Wait], undeclared: set[str]
) -> dict[str, Wait | None]:
    """Return the waits of a pipeline whose first jobs wait for jobs that it cannot hold."""
    # The event that reports their end starts them, if there is one.
    groups = {
        node: frozenset(f"{old} {state}" for old, state in wait.conditions)
        for node, wait in late.items()
    }
    _, apart = _one_start(groups)
    first = {node: wait for node, wait in late.items() if node not in apart}
    watched = list(dict.fromkeys(node for wait in first.values() for node in wait.nodes))
    before = f"the pipeline starts when {', '.join(watched)} has ended, and this starts before"
    left_out = {node: why for node, why in starts.left_out.items() if node in undeclared} | apart
    left_out |= {
        node: (before, "keep it with its trigger, or adopt it in another call")
        for node, wait in starts.waits.items()
        if wait is None
    }
    starts.left_out = left_out
    event = event_of(next(iter(first.values())))
    starts.events += [event] if event else []
    starts.is_late = True
    # The triggers of the first jobs wait for something else, and so are not declared.
    reasons = {old: left_out.get(old, ("it was not found", ""))[0] for old in watched}
    why = "; ".join(f"{old} is not adopted: {reason}" for old, reason in reasons.items())
    do = "keep it with its own trigger; its end starts the pipeline (starts=)"
    if not starts.events:
        do = "keep it with its own trigger, and start the pipeline when it has ended"
    for trigger in triggers_of(existing, first):
        if trigger.get("Type") in START_TYPES or set(first).intersection(nodes_of(trigger)):
            starts.apart[str(trigger["Name"])] = (why, do)
    waits = {node: wait for node, wait in starts.waits.items() if node not in left_out}
    return _with_predecessors(waits | dict.fromkeys(first), starts)


def _with_predecessors(waits: Mapping[str, Wait | None], starts: Starts) -> dict[str, Wait | None]:
    """Return the jobs whose predecessors are all adopted; the others are left out."""
    kept = dict(waits)
    while True:
        gaps = ((job, old) for job, wait in kept.items() if wait for old in wait.nodes)
        job, old = next((gap for gap in gaps if gap[1] not in kept), ("", ""))
        if not job:
            return kept
        why, do = f"it waits for {old}, which is not adopted", f"name {old} too, or keep both"
        if old in starts.streaming:
            why = f"it waits for the streaming job {old}, whose runs do not end"
            do = "let it read that job's output on its own schedule"
        elif old in starts.left_out:
            do = f"keep it with {old}; it watches the old jobs"
        elif old.startswith(CRAWLER):
            do = f"there is no {old}; correct the trigger"
        starts.left_out[job] = (why, do)
        del kept[job]


def _circles(waits: Mapping[str, Wait | None]) -> dict[str, list[str]]:
    """Return the nodes that wait for themselves, over others or not, each with the way back to it.

    >>> _circles({"a": Wait("AND", (("b", "SUCCEEDED"),)), "b": Wait("AND", (("a", "SUCCEEDED"),))})
    {'a': ['a', 'b', 'a'], 'b': ['b', 'a', 'b']}
    """
    before = {node: wait.nodes if wait else [] for node, wait in waits.items()}
    paths = {node: way_back(before, node) for node in before}
    return {node: [*path, node] for node, path in paths.items() if path}


def ordered(waits: Mapping[str, Wait | None]) -> list[str]:
    """Return the jobs, each after those that it waits for; no circle is among them."""
    graph = {job: wait.nodes if wait else [] for job, wait in waits.items()}
    return list(TopologicalSorter(graph).static_order())


# Glue's events for the end of a crawl or a run, and their spelling of a state.
# Source: https://docs.aws.amazon.com/glue/latest/dg/automating-awsglue-with-cloudwatch-events.html
CRAWLER_EVENT, JOB_EVENT = "Glue Crawler State Change", "Glue Job State Change"
TOGETHER = "a pipeline starts its first jobs together"
BY_HAND = (
    "start these jobs by hand (aws glue start-job-run), or declare them again in a separate "
    "pipeline"
)


def _one_start(
    groups: Mapping[str, frozenset[str]], own: Iterable[str] = ()
) -> tuple[frozenset[str], dict[str, Reason]]:
    """Return what starts the first jobs of a pipeline, and which are left out, with the reason."""
    common: frozenset[str] | None = None
    apart: dict[str, Reason] = {}
    first = next(iter(groups), "")
    for job, names in groups.items():
        mine = names & frozenset(own) or names
        both = mine if common is None else common & names
        if common is None or both:
            common = both
            continue
        theirs, ours = (", ".join(sorted(group)) or "nothing" for group in (names, common))
        why = f"it is started by {theirs}, and {first.removeprefix(CRAWLER)} by {ours}; {TOGETHER}"
        do = "adopt it in another call, with the jobs that wait for it"
        apart[job] = (why, "keep it with its trigger" if job.startswith(CRAWLER) else do)
    return common or frozenset(), apart


def _extra_triggers(
    groups: Mapping[str, frozenset[str]], common: frozenset[str], apart: Iterable[str]
) -> dict[str, Reason]:
    """Return triggers that start some first jobs of the pipeline alone, with what to do."""
    nodes_by_group: dict[str, list[str]] = {}
    for job, names in groups.items():
        for name in sorted(names - common) if job not in apart else ():
            nodes_by_group.setdefault(name, []).append(job.removeprefix(CRAWLER))
    return {
        name: (f"it starts {', '.join(jobs)} alone, and {TOGETHER}", BY_HAND)
        for name, jobs in nodes_by_group.items()
    }


def event_of(wait: Wait) -> AdoptedEvent | None:
    """Return Glue's event for the end of a wait; None if no single event is."""
    if len(wait.conditions) != 1:
        return None
    ((node, state),) = wait.conditions
    detail: dict[str, Any] = {"jobName": [node], "state": [state]}
    kind = JOB_EVENT
    if node.startswith(CRAWLER):
        kind = CRAWLER_EVENT
        detail = {"crawlerName": [node.removeprefix(CRAWLER)], "state": [state.capitalize()]}
    pattern = {"source": ["aws.glue"], "detail-type": [kind], "detail": detail}
    return AdoptedEvent(f"{node} {state}", pattern)
