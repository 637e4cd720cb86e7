"""Finds who reads data in which rows may be twice: pure, on plain data."""

from collections.abc import Iterator

from tidemark.checks.graph.folders import overlap
from tidemark.checks.graph.model import Graph, Problem


def duplicates(graph: Graph) -> Iterator[Problem]:
    """Yield the readers of data that a repeated run of the writer leaves twice, as it accepts."""
    for writer in (job for job in graph.jobs if job.repeats):
        twice = {uri for uri, _ in writer.repeats}
        filled = {table for table, uri in writer.filled if uri in twice}
        for reader in (job for job in graph.jobs if job is not writer):
            shared = [uri for uri, _ in overlap(reader.reads, twice)]
            shared += [table for table in reader.tables if table in filled]
            if shared:
                yield Problem(
                    "reads-duplicates",
                    reader.at,
                    f"the job '{reader.name}' reads {shared[0]}, where a repeated run of "
                    f"'{writer.name}' leaves its rows twice: the script of that job accepts it "
                    f"({'; '.join(dict.fromkeys(reason for _, reason in writer.repeats))})",
                    "let the writer replace what a repeated run wrote (docs/automatic-upgrades.md),"
                    " or let the reader keep one row of each key and say so: "
                    'job.acknowledge("reads-duplicates", "keeps the newest row of each key")',
                )
