"""Finds tables with data of others in their folders: pure, on plain data.

Athena reads a folder with all that is below it, so one table has the rows of the other too.
Source: https://docs.aws.amazon.com/athena/latest/ug/tables-location-format.html
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tidemark.checks.graph.folders import is_same, relative
from tidemark.checks.graph.model import Graph, Problem

RULE = "nested-tables"
PARTITIONS = re.compile(r"(?:[^/=]+=[^/]*/)+")


class _Placed(NamedTuple):
    """Data in a folder, with where it is declared; `table` is empty where it has none."""

    at: str
    what: str
    table: str
    uri: str


def nested_tables(graph: Graph) -> Iterator[Problem]:
    """Yield the data that is inside of the folder of a table, and no partition of it."""
    tables = {
        (table, uri): _Placed(at, f"the table '{table}'", table, uri)
        for at, table, uri in graph.placed
    }
    yield from _over_tables(graph)
    inner = [*tables.values(), *_without_table(graph)]
    for outer in tables.values():
        for one in inner:
            inside = relative(one.uri, outer.uri)
            # A folder like day=2026-01-01/ without a table of its own is a partition of the table.
            is_part = not one.table and PARTITIONS.fullmatch(inside)
            if inside and not is_part and one.table != outer.table:
                yield Problem(
                    RULE,
                    one.at,
                    f"{one.what} has its data in {one.uri}, inside of {outer.uri}, where the table "
                    f"'{outer.table}' has its own; Athena and other readers of that table read "
                    "all folders below, so they would find the rows of both",
                    "give each a folder of its own, side by side; or acknowledge it with a reason",
                )


def _over_tables(graph: Graph) -> Iterator[Problem]:
    """Yield what jobs read without a table, and that has data of tables below."""
    folders = {uri for _, _, uri in graph.placed}
    for job in graph.jobs:
        for uri in job.reads:
            inner = {table: one for _, table, one in graph.placed if relative(one, uri)}
            if inner and not any(is_same(uri, one) for one in folders):
                table, where = next(iter(inner.items()))
                others = f" and {len(inner) - 1} more" if len(inner) > 1 else ""
                yield Problem(
                    RULE,
                    job.at,
                    f"the {job} reads {uri} with all folders below, where the table '{table}' has "
                    f"its data, in {where}{others}; it would find the rows of all of them together",
                    "read each by a dataset of its own, with its table; or acknowledge it with a "
                    "reason",
                )


def _without_table(graph: Graph) -> Iterator[_Placed]:
    """Yield what jobs write without a table, and what crawlers describe in tables of theirs."""
    with_table = {(at, uri) for at, _, uri in graph.placed}
    for job in graph.jobs:
        for uri in job.writes:
            if (job.at, uri) not in with_table:
                yield _Placed(job.at, f"the {job}", "", uri)
    for crawler in graph.crawlers:
        if any(table.endswith("*") for table in crawler.crawled):
            for uri in crawler.reads:
                yield _Placed(crawler.at, f"a table of the {crawler}", "", uri)
