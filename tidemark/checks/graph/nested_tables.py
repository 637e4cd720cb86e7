"""Finds tables with data of others in their folders: pure, on plain data.

Athena reads a folder with all that is below it, so one table has the rows of the other too. Two
tables on one folder are two views of the same rows; only jobs that fill both add rows to each that
are meant for the other.
Sources: https://docs.aws.amazon.com/athena/latest/ug/tables-location-format.html,
https://docs.aws.amazon.com/athena/latest/ug/partitions.html
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from tidemark.checks.graph.address_patterns import (
    Address,
    address_of,
    addresses_of,
    inside,
    is_certain,
    literal,
)
from tidemark.checks.graph.folders import is_partition, is_same, overlap, relative
from tidemark.checks.graph.model import Graph, Located, Part, Problem

RULE = "nested-tables"
SIDE_BY_SIDE = "give each its own folder, side by side; or acknowledge it with a reason"


@dataclass(frozen=True)
class _Placed(Located):
    """Data in a folder, with the place of its declaration; `table` is empty without a table."""

    at: str
    what: str
    table: str
    uri: str
    addresses: list[Address]
    is_part: bool = False


def nested_tables(graph: Graph) -> Iterator[Problem]:
    """Yield the data that is inside of the folder of a table, and no partition of it."""
    tables = {
        (table, uri): _Placed(at, f"the table '{table}'", table, uri, [address_of(uri)])
        for at, table, uri in graph.placed
    }
    outer = [*tables.values(), *map(_part, graph.parts)]
    homes: dict[str, set[Address]] = defaultdict(set)
    for one in tables.values():
        homes[one.table].add(one.addresses[0])
    own = {table: frozenset(problems) for table, problems in homes.items()}
    for part in (part for part in graph.parts if not part.projection):
        homes[part.table].add(address_of(part.uri))
    yield from _over_tables(graph)
    yield from _filled_twice(graph)
    yield from _parts_of_one_table(graph)
    inner = [*outer, *_without_table(graph)]
    problems: dict[tuple[str, str, str], Problem] = {}
    for one, whole in _nested(inner, outer):
        common = homes.get(one.table, set()) & homes[whole.table]
        reported = {home for home in own.get(one.table, ()) if one.is_part} | common
        key = one.at, one.table or one.uri, whole.table
        for problem in _problems_of_pair(one, whole, reported):
            if problem.is_error or key not in problems:
                problems[key] = problem
    yield from problems.values()


def _nested(
    inner: Sequence[_Placed], outer: Sequence[_Placed]
) -> Iterator[tuple[_Placed, _Placed]]:
    """Yield each data with each table of another that may be around it, by their first folders."""
    known: dict[Address, list[_Placed]] = defaultdict(list)
    for whole in outer:
        for start in dict.fromkeys(literal(address) for address in whole.addresses):
            known[start].append(whole)
    for one in inner:
        starts = {
            address[:length]
            for address in map(literal, one.addresses)
            for length in range(len(address) + 1)
        }
        varies = any(len(literal(address)) < len(address) for address in one.addresses)
        near = known.values() if varies else (known[start] for start in starts if start in known)
        around = {id(whole): whole for some in near for whole in some}
        yield from ((one, outer) for outer in around.values() if outer.table != one.table)


def _problems_of_pair(one: _Placed, whole: _Placed, reported: set[Address]) -> Iterator[Problem]:
    """Yield that data lie in a folder, unless it is shared or checked itself."""
    pairs = [
        (mine, theirs)
        for mine in one.addresses
        for theirs in whole.addresses
        if len(mine) > len(theirs)
        and inside(mine, theirs)
        and (one.table or not is_partition("/".join(map(str, mine[len(theirs) :]))))
        and not any(mine[: len(home)] == home for home in reported)
    ]
    if pairs:
        is_error = any(is_certain(*pair) for pair in pairs)
        verb = "is" if is_error else "may be"
        yield one.problem(
            RULE,
            f"the data of {one.what} {verb} in {one.uri}, inside of {whole.uri}, the data of "
            f"{whole.what}; Athena and other readers of {whole.uri} read all folders below it, so "
            "they read the rows of both",
            SIDE_BY_SIDE,
            is_error,
        )


def _part(part: Part) -> _Placed:
    if part.projection:
        what, addresses = "the projection", addresses_of(part.uri, part.projection)
    else:
        what, addresses = "a partition", [address_of(part.uri)]
    return _Placed(
        part.at,
        f"{what} of the table '{part.table}'",
        part.table,
        part.uri,
        addresses,
        is_part=True,
    )


def _parts_of_one_table(graph: Graph) -> Iterator[Problem]:
    """Yield pairs of a table's registered partitions in which one holds objects of the other."""
    tables: dict[str, list[Part]] = defaultdict(list)
    for part in graph.parts:
        if not part.projection:
            tables[part.table].append(part)
    for table, parts in tables.items():
        for one, other in combinations(parts, 2):
            if overlap([one.uri], [other.uri]):
                yield other.problem(
                    RULE,
                    f"two partitions of the table '{table}' have their data in {one.uri} and "
                    f"{other.uri}; Athena and other readers would find rows twice",
                    "give each partition its own folder, side by side; or acknowledge it with "
                    "a reason",
                )


def _filled_twice(graph: Graph) -> Iterator[Problem]:
    """Yield the folders that jobs fill through two tables: each has the rows of both."""
    first: dict[Address, str] = {}
    for job in graph.jobs:
        for table, uri in job.filled:
            other = first.setdefault(address_of(uri), table)
            if other != table:
                yield job.problem(
                    RULE,
                    f"the {job} writes rows of the table '{table}' to {uri}, where rows of the "
                    f"table '{other}' are written too; readers of each would find the rows of both",
                    SIDE_BY_SIDE,
                )


def _over_tables(graph: Graph) -> Iterator[Problem]:
    """Yield what jobs read without a table, and that has data of tables below."""
    folders = {uri for _, _, uri in graph.placed}
    for job in graph.jobs:
        for uri in job.reads:
            inner = {table: one for _, table, one in graph.placed if relative(one, uri)}
            if inner and not any(is_same(uri, folder) for folder in folders):
                table, where = next(iter(inner.items()))
                others = f" and {len(inner) - 1} more" if len(inner) > 1 else ""
                yield job.problem(
                    RULE,
                    f"the {job} reads {uri} with all folders below, where the table '{table}' has "
                    f"its data, in {where}{others}; it would find the rows of all of them together",
                    "read each by its own dataset, with its table; or acknowledge it with a reason",
                )


def _without_table(graph: Graph) -> Iterator[_Placed]:
    """Yield outputs of jobs without a table, and data that crawlers describe in their tables."""
    with_table = {(at, uri) for at, _, uri in graph.placed}
    for job in graph.jobs:
        for uri in job.writes:
            if (job.at, uri) not in with_table:
                yield _Placed(job.at, f"the {job}", "", uri, [address_of(uri)])
    for crawler in graph.crawlers:
        if any(table.endswith("*") for table in crawler.crawled):
            for uri in crawler.reads:
                yield _Placed(crawler.at, f"a table of the {crawler}", "", uri, [address_of(uri)])
