"""Puts adopted jobs and crawlers into an order in which each waits for earlier ones: pure."""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from tidemark.adopt.model import Wait
from tidemark.assembly.definitions import CRAWLER
from tidemark.errors import UsageError


def with_predecessors(
    waits: Mapping[str, Wait | None],
    left_out: dict[str, tuple[str, str]],
    streaming: Sequence[str],
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
                    do = "let it read on a schedule of its own what that job has written"
                left_out[job] = (why, do)
                break
        else:
            return kept
        del kept[job]


def ordered(waits: Mapping[str, Wait | None]) -> list[str]:
    """Return the jobs, each after those that it waits for."""
    graph = {
        job: [old for old, _ in wait.conditions] if wait else [] for job, wait in waits.items()
    }
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = " <- ".join(error.args[1])
        raise UsageError(f"the jobs wait for each other: {circle}; correct a trigger") from error
