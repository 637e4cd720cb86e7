"""Finds tables of the Data Catalog that jobs use in ways that go wrong: pure, on plain data.

Folders have their own rules; these are for jobs that name only a table.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from tidemark.checks.graph.folders import overlap
from tidemark.checks.graph.model import Graph, GraphJob, Problem
from tidemark.checks.graph.races import table_without_waiting
from tidemark.checks.graph.together import Together


def tables_in_use(graph: Graph) -> Iterator[Problem]:
    """Yield the tables that are used while another job changes them, or without their data."""
    together = Together(graph)
    changing: dict[str, list[GraphJob]] = defaultdict(list)
    for job in graph.jobs:
        yield from _own_runs(job)
        for table in dict.fromkeys(job.changes):
            changing[table].append(job)
    for table, writers in changing.items():
        for one, other in combinations(writers, 2):
            # What they write into one folder is reported by the rule of folders.
            are_two = one.name != other.name and not overlap(one.writes, other.writes)
            if are_two and together.can_run(one.name, other.name):
                yield other.acceptable(
                    "two-writers",
                    f"the jobs '{one.name}' and '{other.name}' can write the table '{table}' at "
                    "the same time; one may fail at its commit, or undo the changes of the other",
                    "let one wait for the other with after=, or give each its own table",
                )
    for job in graph.jobs:
        yield from _unwaited(job, changing, together)
        yield from _without_data(job, graph)


def _own_runs(job: GraphJob) -> Iterator[Problem]:
    if job.max_concurrent_runs > 1 and job.changes and not job.writes:
        yield job.acceptable(
            "two-writers",
            f"up to {job.max_concurrent_runs} runs of the job '{job.name}' can write the table "
            f"'{job.changes[0]}' at the same time; one may fail at its commit, or undo the other",
            "set max_concurrent_runs to 1",
        )


def _unwaited(
    job: GraphJob, changing: Mapping[str, list[GraphJob]], together: Together
) -> Iterator[Problem]:
    """Yield a table that a job reads while another one of its workflow may change it."""
    for table in job.tables:
        for writer in changing.get(table, ()) if table not in job.changes else ():
            are_two = writer.name != job.name and not overlap(job.reads, writer.writes)
            if are_two and together.can_meet(job.name, writer.name):
                yield table_without_waiting(job, table, f"'{writer.name}'", "job")
                return


def _without_data(job: GraphJob, graph: Graph) -> Iterator[Problem]:
    """Yield a table of the app that a job uses, and whose data its role does not allow."""
    places: dict[str, list[str]] = defaultdict(list)
    for _, table, uri in graph.placed:
        places[table].append(uri)
    for table in job.tables:
        where = places.get(table, [])
        if where and table not in job.governed and not overlap(job.reads + job.writes, where):
            yield job.acceptable(
                "table-without-data",
                f"the job '{job.name}' uses the table '{table}', and not its data in {where[0]}, "
                "so that AWS denies reading it there",
                "add the dataset with its table= to reads=, or to writes= of a job that writes it",
            )
