"""Follows the ways in which one run of a workflow comes to each job: pure, on plain data."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import islice, product
from typing import TypeAlias

from tidemark.checks.graph.model import CONDITIONAL, Condition, Trigger

MOST_WAYS = 200  # of starting a job; with more, one of them is taken to be possible
Way: TypeAlias = frozenset[tuple[str, str]]
"""Jobs and the states they ended in: one way in which a run comes to a job."""


def cycle_of(triggers: Iterable[Trigger]) -> list[str]:
    """Return jobs of which each waits for the one before, the last being the first again."""
    try:
        TopologicalSorter(_waits(triggers)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def ways_to_start(triggers: Sequence[Trigger]) -> dict[str, set[Way]]:
    """Return the ways in which each job starts; no way for one that no run can start.

    Args:
        triggers: those of one workflow, whose jobs do not wait for each other in a circle.
    """
    ways: dict[str, set[Way]] = {}
    for name in TopologicalSorter(_waits(triggers)).static_order():
        starting = [trigger for trigger in triggers if name in trigger.starts]
        ways[name] = _few(way for trigger in starting for way in _ways_of(trigger, ways))
    return ways


def precede(triggers: Sequence[Trigger]) -> dict[str, frozenset[str]]:
    """Return the jobs that have ended whenever a job starts, by job.

    Args:
        triggers: those of one workflow, whose jobs do not wait for each other in a circle.
    """
    before: dict[str, frozenset[str]] = {}
    for name in TopologicalSorter(_waits(triggers)).static_order():
        starting = [_ended_at(t, before) for t in triggers if name in t.starts]
        before[name] = frozenset.intersection(*starting) if starting else frozenset()
    return before


def agree(way: Way) -> bool:
    """Return whether no job of a way ends in two states."""
    return len({name for name, _ in way}) == len(way)


def _ended_at(trigger: Trigger, before: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the jobs that have ended whenever a trigger fires."""
    met = [before.get(c.name, frozenset()) | {c.name} for c in trigger.conditions]
    if trigger.kind != CONDITIONAL or not met:
        return frozenset()
    if trigger.logical == "ANY":
        return frozenset.intersection(*met)
    return frozenset.union(*met)


def _waits(triggers: Iterable[Trigger]) -> dict[str, set[str]]:
    """Return every job that is started, and the jobs that its triggers watch."""
    waits_for: dict[str, set[str]] = defaultdict(set)
    for trigger in triggers:
        for name in trigger.starts:
            waits_for[name] |= {c.name for c in trigger.conditions if c.name != name}
    return waits_for


def _ways_of(trigger: Trigger, ways: Mapping[str, set[Way]]) -> set[Way]:
    """Return the ways in which a trigger fires, given those in which each job starts."""
    if trigger.kind != CONDITIONAL:
        return {frozenset()}
    met = [
        {way | {(c.name, c.state)} for way in ways.get(c.name, ()) if _is_one_run(way, c)}
        for c in trigger.conditions
    ]
    if trigger.logical == "ANY":
        return {way for each in met for way in each}
    together: set[Way] = {frozenset()} if met else set()
    for each in met:
        together = _few(way | other for way, other in product(together, each) if agree(way | other))
    return together


def _is_one_run(way: Way, condition: Condition) -> bool:
    return agree(way | {(condition.name, condition.state)})


def _few(ways: Iterable[Way]) -> set[Way]:
    """Return the ways without repetition; where there are very many, as if there were no limit."""
    found = set(islice(ways, MOST_WAYS))
    return {frozenset()} if len(found) == MOST_WAYS else found
