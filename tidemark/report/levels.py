"""The graph of a pipeline as levels: the jobs of each wait for those of the levels before; pure."""

from collections.abc import Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter

from tidemark.operate.app_jobs import PipelineJob


def before_of(jobs: Sequence[PipelineJob]) -> dict[str, list[str]]:
    """Return, for each job, the others that it waits for or whose data it reads, in order."""
    names = {job.name for job in jobs}
    writers: dict[str, list[str]] = {}
    for job in jobs:
        for uri in job.writes:
            writers.setdefault(uri, []).append(job.name)
    return {
        job.name: [
            name
            for name in dict.fromkeys(
                (*job.after, *(name for uri in job.reads for name in writers.get(uri, ())))
            )
            if name in names and name != job.name
        ]
        for job in jobs
    }


def levels_of(before: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the names by level; of a circle of jobs that read each other one edge is left out."""
    waits: dict[str, Set[str]] = {name: set(others) for name, others in before.items()}
    while True:
        sorter = TopologicalSorter(waits)
        try:
            sorter.prepare()
        except CycleError as error:
            first, second = error.args[1][:2]
            waits[second] = waits[second] - {first}
            continue
        break
    levels: list[list[str]] = []
    places = {name: place for place, name in enumerate(before)}
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=places.__getitem__)
        levels.append(ready)
        sorter.done(*ready)
    return levels
