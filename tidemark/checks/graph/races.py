"""Finds data that two jobs use at the same time, or one job reads and writes: pure, on plain data.

Two jobs can run at the same time unless one waits for the other, or no run of their workflow
starts both. Jobs of different workflows, and jobs that nothing starts, always can.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime
from functools import lru_cache
from itertools import product

from tidemark.checks.graph.folders import Folders, is_same, overlap
from tidemark.checks.graph.model import Graph, GraphJob, Problem
from tidemark.checks.graph.together import Together
from tidemark.errors import ScheduleError
from tidemark.model.clock import now
from tidemark.model.schedules.schedules import Schedule, first_clash

# Files of a job that are not data, by the parameter for their location.
KEPT = {
    "temp": "temporary files",
    "spark_ui": "event logs",
    "python_virtual_env_cache": "virtual environments",
}


def races(graph: Graph) -> Iterator[Problem]:
    """Yield where data is read or written while it changes."""
    used, written = Folders(), Folders()
    for job in graph.nodes:
        used.add(job, job.reads + job.writes)
        written.add(job, job.writes)
    for job in graph.nodes:
        yield from _own_output(job)
        yield from _own_runs(job)
        yield from _kept(job, used)
    together = Together(graph)
    for one, other in _pairs(graph, written):
        if together.can_run(one.name, other.name):
            yield from _of_pair(one, other, together)
    for reader in graph.nodes:
        yield from _states(reader, written)
    for crawler in graph.crawlers:
        for job in graph.jobs:
            yield from _uncrawled(job, crawler, together, graph.tables)


def _pairs(graph: Graph, written: Folders) -> list[tuple[GraphJob, GraphJob]]:
    """Return the pairs of jobs, in order, in which one uses the output of the other."""
    order = {job.at: number for number, job in enumerate(graph.nodes)}
    racing: dict[int, set[int]] = defaultdict(set)
    for job in graph.nodes:
        for writer in written.touching(job.reads + job.writes):
            if writer.name != job.name:  # two of one name are another problem
                first, second = sorted((order[job.at], order[writer.at]))
                racing[first].add(second)
    return [
        (graph.nodes[first], graph.nodes[second])
        for first in sorted(racing)
        for second in sorted(racing[first])
    ]


def _own_output(job: GraphJob) -> Iterator[Problem]:
    for read, written in overlap(job.reads, job.writes)[:1]:
        yield job.acceptable(
            "reads-own-output",
            f"the job '{job.name}' reads and writes {_both(read, written)} so its next run takes "
            "its own output for input",
            "write to another folder; if the script merges into its target, leave that out of "
            "reads=, since writes= allows reading it too",
            is_error=job.has_bookmark,
        )


def _kept(job: GraphJob, used: Folders) -> Iterator[Problem]:
    for parameter, uri in job.kept.items():
        for user in used.touching([uri]):
            ((_, data), *_) = overlap([uri], user.reads + user.writes)
            yield job.problem(
                "temp-overlaps",
                f"the job '{job.name}' keeps {KEPT[parameter]} where '{user.name}' has data, in "
                f"{_both(uri, data)} so they would be read as data, or data be deleted with them",
                f"give {parameter}= a folder that holds nothing else",
            )


def _own_runs(job: GraphJob) -> Iterator[Problem]:
    """Yield the output of a job whose runs may run at the same time."""
    if job.max_concurrent_runs > 1 and job.writes:
        yield job.acceptable(
            "two-writers",
            f"up to {job.max_concurrent_runs} runs of the job '{job.name}' can write "
            f"{job.writes[0]} at the same time; each may delete uncommitted files of the other",
            "set max_concurrent_runs to 1, or let an argument of each run name its own folder",
        )


def _states(reader: GraphJob, written: Folders) -> Iterator[Problem]:
    """Yield the state of a job, such as its checkpoint, that another one reads as data."""
    for job in written.touching(reader.reads):
        for uri, state in overlap(reader.reads, job.states)[:1]:
            yield reader.acceptable(
                "state-as-data",
                f"the {reader} reads {_both(uri, state)} where '{job.name}' keeps its checkpoint: "
                "files of Spark's own, which are not data",
                "read the output of that job instead",
            )


def _of_pair(one: GraphJob, other: GraphJob, together: Together) -> Iterator[Problem]:
    for mine, theirs in overlap(one.writes, other.writes)[:1]:
        yield other.acceptable(
            "two-writers",
            f"the jobs '{one.name}' and '{other.name}' can write {_both(mine, theirs)} at the same "
            "time; each may delete uncommitted files of the other",
            "let one wait for the other with after=, or give each its own folder",
        )
        return  # the fix of that fixes the rest
    yield from _unwaited(one, other, together)
    yield from _unwaited(other, one, together)


def _unwaited(reader: GraphJob, writer: GraphJob, together: Together) -> Iterator[Problem]:
    """Yield data read while it is written; nobody can wait for a job of another workflow."""
    if not together.share_a_workflow(reader.name, writer.name):
        yield from _read_at_start(reader, writer, together)
        return
    for uri, written in overlap(reader.reads, writer.writes)[:1]:
        yield reader.acceptable(
            "reads-without-waiting",
            f"the {reader} may read what '{writer.name}' is writing, in "
            f"{_both(uri, written)} since it does not wait for that job",
            f"add '{writer.name}', or a job that waits for it, to after= of the {reader}",
        )


def _read_at_start(reader: GraphJob, writer: GraphJob, together: Together) -> Iterator[Problem]:
    """Yield data that another workflow writes at the times at which this one starts."""
    # A job with a bookmark takes in its next run what was not yet there.
    if reader.has_bookmark or reader.is_crawler:
        return
    starts, theirs = (together.schedules_of(job.name) for job in (reader, writer))
    clashes = (_clash(*schedules) for schedules in product(starts, theirs))
    clash = next(filter(None, clashes), None)
    for uri, written in overlap(reader.reads, writer.writes)[: 1 if clash else 0]:
        yield reader.acceptable(
            "reads-without-waiting",
            f"the {reader} may read what '{writer.name}' of another workflow is writing, in "
            f"{_both(uri, written)} since schedules start both around {clash:%Y-%m-%d %H:%M} UTC",
            "start one of the two when the other has ended: later, or by an event",
            is_error=False,
        )


@lru_cache(maxsize=1_000)
def _clash(one: tuple[str, str], other: tuple[str, str]) -> datetime | None:
    """Return when two schedules, each with its time zone, next fire around the same time."""
    try:
        return first_clash(Schedule(*one), Schedule(*other), since=now())
    except ScheduleError:
        return None  # another rule reports it


def _uncrawled(
    job: GraphJob, crawler: GraphJob, together: Together, defined: Collection[str]
) -> Iterator[Problem]:
    """Yield a table that a job uses while a crawler of its workflow may change it."""
    for table in job.tables:
        # A crawler changes a table that a template defines only if it names it.
        is_found = any(
            pattern.endswith("*") and table.startswith(pattern[:-1]) for pattern in crawler.crawled
        )
        is_changed = table in crawler.crawled or (is_found and table not in defined)
        if is_changed and together.can_meet(job.name, crawler.name):
            yield table_without_waiting(job, table, f"the {crawler}", "crawler")
            return


def table_without_waiting(job: GraphJob, table: str, changing: str, kind: str) -> Problem:
    """Return the problem of a job that uses a table while another node may change it."""
    return job.acceptable(
        "table-without-waiting",
        f"the job '{job.name}' uses the table '{table}', which {changing} may be changing, since "
        f"it does not wait for that {kind}",
        f"add {changing}, or a job that waits for it, to after= of '{job.name}'",
    )


def _both(uri: str, other: str) -> str:
    return uri if is_same(uri, other) else f"{uri} and {other}, one inside the other,"
