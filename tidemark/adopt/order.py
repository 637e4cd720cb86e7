"""Orders adopted jobs and crawlers so that each waits only for earlier ones: pure."""

from collections import deque
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

from tidemark.adopt.model import Wait
from tidemark.model.assembly.definitions import CRAWLER


def with_predecessors(
    waits: Mapping[str, Wait | None], left_out: dict[str, tuple[str, str]], streaming: Sequence[str]
) -> dict[str, Wait | None]:
    """Return the jobs whose predecessors are all adopted; the others are left out."""
    kept = dict(waits)
    while True:
        for job, wait in kept.items():
            missing = [old for old, _ in wait.conditions if old not in kept] if wait else []
            if missing:
                do = f"name {missing[0]} too, or keep both"
                if missing[0].startswith(CRAWLER):
                    do = f"there is no {missing[0]}; correct the trigger"
                if missing[0] in left_out:
                    do = f"keep it with {missing[0]}; it watches the old jobs"
                why = f"it waits for {missing[0]}, which is not adopted"
                if missing[0] in streaming:
                    why = f"it waits for the streaming job {missing[0]}, whose runs do not end"
                    do = "let it read that job's output on its own schedule"
                left_out[job] = (why, do)
                break
        else:
            return kept
        del kept[job]


def circles(waits: Mapping[str, Wait | None]) -> dict[str, list[str]]:
    """Return the nodes that wait for themselves, over others or not, each with the way back to it.

    >>> circles({"a": Wait("AND", (("b", "SUCCEEDED"),)), "b": Wait("AND", (("a", "SUCCEEDED"),))})
    {'a': ['a', 'b', 'a'], 'b': ['b', 'a', 'b']}
    """
    before = {
        node: list(dict.fromkeys(old for old, _ in wait.conditions)) if wait else []
        for node, wait in waits.items()
    }
    found = {node: _way_back(before, node) for node in before}
    return {node: path for node, path in found.items() if path}


def _way_back(before: Mapping[str, Sequence[str]], first: str) -> list[str]:
    waiting, seen = deque([[first]]), {first}
    while waiting:
        path = waiting.popleft()
        for old in before.get(path[-1], ()):
            if old == first:
                return [*path, first]
            if old not in seen:
                seen.add(old)
                waiting.append([*path, old])
    return []


def ordered(waits: Mapping[str, Wait | None]) -> list[str]:
    """Return the jobs, each after those that it waits for; no circle is among them."""
    graph = {
        job: [old for old, _ in wait.conditions] if wait else [] for job, wait in waits.items()
    }
    return list(TopologicalSorter(graph).static_order())
