"""Finds events that start workflows in an endless loop: pure, on plain data.

A workflow starts another when a job or crawler of it sends an event that a rule of the other
matches. A state machine that starts jobs is like a workflow. A loop in which each step is certain
is an error, any other one a warning.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from tidemark.checks.graph.model import Graph, GraphJob, Problem
from tidemark.checks.graph.paths import way_back
from tidemark.checks.graph.sent_events import EventCause, cause_of

RULE = "starts-itself"
Edges: TypeAlias = Mapping[str, Mapping[str, tuple[GraphJob, EventCause]]]
OR_ACKNOWLEDGE = "; if it does not, acknowledge that with a reason"


def event_loops(graph: Graph) -> Iterator[Problem]:
    """Yield the workflows whose own events start them again, over any number of others."""
    workflows = {rule.workflow for rule in graph.event_rules if rule.workflow} | {*graph.workflows}
    started = {
        f"workflow '{name}'": {job for trigger in graph.triggers_of(name) for job in trigger.starts}
        for name in sorted(workflows)
    }
    started |= {rule.started: {*rule.jobs} for rule in graph.event_rules if rule.jobs}
    edges: dict[str, dict[str, tuple[GraphJob, EventCause]]] = {name: {} for name in started}
    for rule in (rule for rule in graph.event_rules if rule.is_on):
        for job in graph.nodes:
            owners = [name for name in edges if job.name in started[name]]
            cause = cause_of(rule, job) if owners else None
            if cause is None:
                continue
            if rule.started in owners:
                yield job.problem(
                    RULE,
                    f"the {job} {cause.text} start its {rule.started} again and again",
                    "start it by events that others send or objects that others deliver, "
                    f"or write to another folder{'' if cause.is_certain else OR_ACKNOWLEDGE}",
                    cause.is_certain,
                )
            for owner in owners:
                known = edges[owner].get(rule.started)
                if known is None or cause.is_certain > known[1].is_certain:
                    edges[owner][rule.started] = job, cause
    yield from _cycles(edges)


def _cycles(edges: Edges) -> Iterator[Problem]:
    """Yield the loops over two or more workflows, first those that are certain."""
    certain = {
        name: {other: step for other, step in steps.items() if step[1].is_certain}
        for name, steps in edges.items()
    }
    reported: set[str] = set()
    for known, is_error in ((certain, True), (edges, False)):
        # A workflow that starts itself alone is reported with the job that does it.
        others = {
            name: [after for after in steps if after != name] for name, steps in known.items()
        }
        for first in known:
            path = way_back(others, first)
            if path and first not in reported and (is_error or not reported & set(path)):
                reported |= set(path)
                yield _ring(known, path, is_error)


def _ring(edges: Edges, path: list[str], is_error: bool) -> Problem:
    first = path[0]
    steps = [
        f"in the {one} the {edges[one][other][0]} {edges[one][other][1].text} start the {other}"
        for one, other in zip(path, [*path[1:], first], strict=True)
    ]
    return edges[first][[*path, first][1]][0].problem(
        RULE,
        f"{' -> '.join([*path, first])} start each other endlessly: {'; '.join(steps)}",
        "start one of them by events that no job of the loop sends, or let its jobs write "
        f"to another folder{'' if is_error else OR_ACKNOWLEDGE}",
        is_error,
    )
