"""Follows the paths on which one run of a workflow reaches each job: pure, on plain data."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import islice, product
from typing import TypeAlias

from tidemark.checks.graph.model import CONDITIONAL, Trigger

MAX_PATHS = 200  # of starting a job; with more, one of them is taken to be possible
# Jobs and their final states: one path on which a run reaches a job.
StartPath: TypeAlias = frozenset[tuple[str, str]]


def cycle_of(triggers: Iterable[Trigger]) -> list[str]:
    """Return jobs that each wait for the one before; the last one is the first again."""
    try:
        TopologicalSorter(_waits(triggers)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def paths_to_start(triggers: Sequence[Trigger]) -> dict[str, set[StartPath]]:
    """Return the paths on which each job starts; no path for a job that no run can start."""
    paths: dict[str, set[StartPath]] = {}
    for name in TopologicalSorter(_waits(triggers)).static_order():
        starting = [trigger for trigger in triggers if name in trigger.starts]
        paths[name] = _few(path for trigger in starting for path in _paths_of(trigger, paths))
    return paths


def precede(triggers: Sequence[Trigger]) -> dict[str, frozenset[str]]:
    """Return the jobs that have ended whenever a job starts, by job."""
    before: dict[str, frozenset[str]] = {}
    for name in TopologicalSorter(_waits(triggers)).static_order():
        starting: list[frozenset[str]] = []  # for each trigger, the jobs ended when it fires
        for trigger in (trigger for trigger in triggers if name in trigger.starts):
            met = [before.get(c.name, frozenset()) | {c.name} for c in trigger.conditions]
            if trigger.kind != CONDITIONAL or not met:
                starting.append(frozenset())
            elif trigger.logical == "ANY":
                starting.append(frozenset.intersection(*met))
            else:
                starting.append(frozenset.union(*met))
        before[name] = frozenset.intersection(*starting) if starting else frozenset()
    return before


def agree(path: StartPath) -> bool:
    """Return whether no job of a path ends in two states."""
    return len({name for name, _ in path}) == len(path)


def _waits(triggers: Iterable[Trigger]) -> dict[str, set[str]]:
    """Return every job that is started, and the jobs that its triggers watch."""
    waits_for: dict[str, set[str]] = defaultdict(set)
    for trigger in triggers:
        for name in trigger.starts:
            waits_for[name] |= {c.name for c in trigger.conditions if c.name != name}
    return waits_for


def _paths_of(trigger: Trigger, paths: Mapping[str, set[StartPath]]) -> set[StartPath]:
    """Return the paths on which a trigger fires, given those in which each job starts."""
    if trigger.kind != CONDITIONAL:
        return {frozenset()}
    met = [
        {one for path in paths.get(c.name, ()) if agree(one := path | {(c.name, c.state)})}
        for c in trigger.conditions
    ]
    if trigger.logical == "ANY":
        return {path for each in met for path in each}
    together: set[StartPath] = {frozenset()} if met else set()
    for each in met:
        together = _few(
            path | other for path, other in product(together, each) if agree(path | other)
        )
    return together


def _few(paths: Iterable[StartPath]) -> set[StartPath]:
    """Return the paths without repetition."""
    # Of very many, none is followed: the job is taken to start under no condition.
    few = set(islice(paths, MAX_PATHS))
    return {frozenset()} if len(few) == MAX_PATHS else few


def way_back(edges: Mapping[str, Iterable[str]], first: str) -> list[str]:
    """Return the shortest loop through a node, beginning with it; empty if it is in none."""
    # Breadth first: the loop that a person reads is the shortest one.
    waiting, seen = deque([[first]]), {first}
    while waiting:
        path = waiting.popleft()
        for following in edges.get(path[-1], ()):
            if following == first:
                return path
            if following not in seen:
                seen.add(following)
                waiting.append([*path, following])
    return []
