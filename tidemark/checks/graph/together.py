"""Tells which jobs can run at the same time: pure, on plain data."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from tidemark.checks.graph.model import Graph
from tidemark.checks.graph.paths import StartPath, agree, cycle_of, paths_to_start, precede


class Together:
    """Tells which jobs of a graph can run at the same time.

    If jobs of a workflow wait for each other in a circle, they are taken never to run together: the
    circle has to be fixed first.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._runs: dict[str | None, _Runs] = {}
        self._workflows: dict[str, set[str | None]] = defaultdict(set)
        for workflow in dict.fromkeys(trigger.workflow for trigger in graph.triggers):
            triggers = graph.triggers_of(workflow)
            if not cycle_of(triggers):
                self._runs[workflow] = _Runs(paths_to_start(triggers), precede(triggers))
            for trigger in triggers:
                for name in trigger.starts:
                    self._workflows[name].add(workflow)

    def schedules_of(self, job: str) -> list[tuple[str, str]]:
        """Return the schedules that start the workflows of a job, each with its time zone."""
        return [
            schedule
            for workflow in self._workflows[job]
            for schedule in self._graph.schedules_of(workflow)
        ]

    def share_a_workflow(self, one: str, other: str) -> bool:
        """Return whether one workflow starts both jobs."""
        return bool(self._workflows[one] & self._workflows[other])

    def can_meet(self, one: str, other: str) -> bool:
        """Return whether two jobs of one workflow can run at the same time."""
        return self.share_a_workflow(one, other) and self.can_run(one, other)

    def can_run(self, one: str, other: str) -> bool:
        """Return whether two jobs can run at the same time."""
        workflows = self._workflows[one]
        if len(workflows) != 1 or workflows != self._workflows[other]:
            return True
        (workflow,) = workflows
        return workflow in self._runs and self._runs[workflow].can_meet(one, other)


@dataclass(frozen=True)
class _Runs:
    """The runs of one workflow: how each job starts, and which jobs have ended by then."""

    paths: Mapping[str, set[StartPath]]
    before: Mapping[str, frozenset[str]]

    def can_meet(self, one: str, other: str) -> bool:
        """Return whether one run can be in both jobs, neither having had to end for the other."""
        if one in self.before[other] or other in self.before[one]:
            return False
        return any(
            agree(path | their)
            for path in self.paths[one]
            if not _has_ended(other, path)
            for their in self.paths[other]
            if not _has_ended(one, their)
        )


def _has_ended(name: str, path: StartPath) -> bool:
    return any(job == name for job, _ in path)
