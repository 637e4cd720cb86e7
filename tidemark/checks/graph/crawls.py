"""Finds folders that would become two tables of one database: pure, on plain data.

A crawler that finds a name taken by a table that is not its own makes another one, with a suffix.
Source: https://docs.aws.amazon.com/glue/latest/dg/crawler-running.html
"""

from collections.abc import Iterator
from itertools import combinations

from tidemark.checks.graph.folders import is_partition, is_same, overlap, relative
from tidemark.checks.graph.model import Graph, GraphJob, Problem


def crawls(graph: Graph) -> Iterator[Problem]:
    """Yield where crawlers make tables of what others describe in the same database."""
    for one, other in combinations(graph.crawlers, 2):
        if one.name != other.name:  # two of one name are another problem
            yield from _of_both(one, other)
    for crawler in graph.crawlers:
        yield from _of_declared(crawler, graph)


def _of_both(one: GraphJob, other: GraphJob) -> Iterator[Problem]:
    tables = [
        (mine, theirs)
        for mine in one.crawled
        for theirs in other.crawled
        if _matches(mine, theirs) or _matches(theirs, mine)
    ]
    for mine, theirs in overlap(one.reads, other.reads)[: 1 if tables else 0]:
        folder = mine if mine == theirs else f"{mine} and {theirs}"
        what, fix = _of_tables(one, other, *tables[0])
        yield other.acceptable(
            "crawled-twice",
            f"the {one} and the {other} both describe {folder}; {what}",
            fix,
            of="crawler",
        )


def _of_tables(one: GraphJob, other: GraphJob, mine: str, theirs: str) -> tuple[str, str]:
    """Return what two crawlers do to tables, and what to do."""
    named = [table for table in (mine, theirs) if not table.endswith("*")]
    if not named:
        text = f"each creates its own tables, {mine} and {theirs}"
        return text, "let one crawl both, or give one another database or table_prefix"
    if len(named) > 1:
        text = f"both update the table {mine}, so that each may undo the changes of the other"
        return text, "let one of them crawl it"
    making = one if mine.endswith("*") else other
    text = f"the {making} creates tables of it next to {named[0]}, which the other updates"
    return text, f"leave the folder out of the {making}, or give that another database"


def _of_declared(crawler: GraphJob, graph: Graph) -> Iterator[Problem]:
    """Yield the declared tables whose data a crawler turns into another table."""
    for table, location in graph.located.items():
        database = table.rpartition(".")[0]
        makes = [table for table in crawler.crawled if table.endswith("*")]
        in_database = any(pattern.rpartition(".")[0] == database for pattern in makes)
        folders = [uri for uri, _ in overlap(crawler.reads, [location] if in_database else [])]
        # The rule of nested tables reports other folders in that of a table.
        folders = [uri for uri in folders if is_partition(relative(uri, location))]
        if folders:
            if is_same(folders[0], location):
                does = f"makes a table of {location}"
            elif relative(folders[0], location):
                does = f"makes a table of {folders[0]}, a part of the data in {location},"
            else:
                does = f"crawls {folders[0]} and makes a table of {location}, below it,"
            yield crawler.acceptable(
                "crawled-and-declared",
                f"the {crawler} {does} in the database of the table '{table}', which is declared "
                f"for {location}",
                f"let it bring that one up to date: CrawledTable({table!r}, data), or leave table= "
                "of the data out",
                of="crawler",
            )


def _matches(pattern: str, table: str) -> bool:
    return pattern == table or (pattern.endswith("*") and table.startswith(pattern[:-1]))
