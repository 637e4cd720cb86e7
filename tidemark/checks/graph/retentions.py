"""Finds optimizers that delete files of a table while jobs need them: pure, on plain data.

Source: https://docs.aws.amazon.com/glue/latest/dg/table-optimizers.html
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from heapq import merge
from itertools import islice, pairwise

from tidemark.checks.graph.model import Graph, GraphJob, Problem, Retention
from tidemark.checks.graph.together import Together
from tidemark.errors import ScheduleError
from tidemark.model.clock import now
from tidemark.model.messages import plural
from tidemark.model.schedules.schedules import Schedule

RULE = "retention-too-short"
FIRINGS = 2_500  # in which the longest pause is looked for: a week of the finest schedule


def retentions(graph: Graph) -> Iterator[Problem]:
    """Yield the optimizers that delete sooner than a run can take, or than a reader comes back."""
    together = Together(graph)
    for retention in graph.retentions:
        for job in graph.jobs:
            if retention.kind == "orphan_file_deletion" and retention.table in job.changes:
                yield from _of_writer(retention, job)
            if retention.kind == "retention" and retention.table in job.tables:
                yield from _of_reader(retention, job, together)


def _of_writer(retention: Retention, job: GraphJob) -> Iterator[Problem]:
    longest = timedelta(minutes=job.timeout_minutes or 0)
    if longest >= timedelta(days=retention.days):
        yield _problem(
            retention,
            f"files that no snapshot has are deleted after {plural(retention.days, 'day')}, and a "
            f"run of '{job.name}' may write for {longest.total_seconds() / 3600:g} hours: the "
            "files that it has not committed yet may be deleted",
            f"keep them for longer than a run takes, or lower the timeout of '{job.name}'",
        )


def _of_reader(retention: Retention, job: GraphJob, together: Together) -> Iterator[Problem]:
    if not job.is_incremental or retention.table in job.changes:
        return
    pause = _longest_pause(frozenset(together.schedules_of(job.name)))
    if pause >= timedelta(days=retention.days):
        yield _problem(
            retention,
            f"snapshots are deleted after {plural(retention.days, 'day')}, and '{job.name}', which "
            f"continues where it ended, stays away for up to {plural(pause.days, 'day')}: the "
            "snapshot from which it would continue may be gone",
            "keep snapshots for longer than the job may stand still",
        )


@lru_cache(maxsize=1_000)
def _longest_pause(schedules: frozenset[tuple[str, str]]) -> timedelta:
    """Return the longest time between two firings of schedules; zero if there are no two."""
    firings = []
    for expression, zone in schedules:
        with suppress(ScheduleError):  # another rule reports it
            firings.append(Schedule(expression, zone).times_after(now()))
    pauses = (later - earlier for earlier, later in pairwise(islice(merge(*firings), FIRINGS)))
    return max(pauses, default=timedelta())


def _problem(retention: Retention, text: str, fix: str) -> Problem:
    return retention.acceptable(
        RULE, f"of the table '{retention.table}' {text}", fix, is_error=False
    )
