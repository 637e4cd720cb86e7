"""Finds folders of which two tables would be made in one database: pure, on plain data.

A crawler that finds a name taken by a table that is not its own makes another one, with a suffix.
Source: https://docs.aws.amazon.com/glue/latest/dg/crawler-running.html
"""

from collections.abc import Iterator
from itertools import combinations

from tidemark.checks.graph.folders import overlap
from tidemark.checks.graph.model import Graph, Job, Problem
from tidemark.checks.graph.races import ACKNOWLEDGE


def crawls(graph: Graph) -> Iterator[Problem]:
    """Yield where crawlers make tables of what others describe in the same database."""
    for one, other in combinations(graph.crawlers, 2):
        if one.name != other.name:  # two of one name are another problem
            yield from _of_both(one, other)
    for crawler in graph.crawlers:
        yield from _of_declared(crawler, graph)


def _of_both(one: Job, other: Job) -> Iterator[Problem]:
    tables = [
        (mine, theirs)
        for mine in one.crawled
        for theirs in other.crawled
        if _matches(mine, theirs) or _matches(theirs, mine)
    ]
    for mine, theirs in overlap(one.reads, other.reads)[: 1 if tables else 0]:
        folder = mine if mine == theirs else f"{mine} and {theirs}"
        yield Problem(
            "crawled-twice",
            other.at,
            f"the {one} and the {other} both describe {folder} in the tables {tables[0][0]}; each "
            "makes tables of its own, or changes those of the other",
            "let one crawl both, or give one another database or table_prefix; "
            + ACKNOWLEDGE.format("crawled-twice").replace("job.", "crawler."),
        )


def _of_declared(crawler: Job, graph: Graph) -> Iterator[Problem]:
    """Yield the declared tables of whose data a crawler makes a table of its own."""
    for table, location in graph.located.items():
        database = table.rpartition(".")[0]
        makes = [one for one in crawler.crawled if one.endswith("*")]
        in_database = any(one.rpartition(".")[0] == database for one in makes)
        if in_database and overlap(crawler.reads, [location]):
            yield Problem(
                "crawled-and-declared",
                crawler.at,
                f"the {crawler} makes a table of {location} in the database of the table "
                f"'{table}', which is declared for it",
                f"let it bring that one up to date: CrawledTable({table!r}, data), or leave table= "
                "of the data out; "
                + ACKNOWLEDGE.format("crawled-and-declared").replace("job.", "crawler."),
            )


def _matches(pattern: str, table: str) -> bool:
    return pattern == table or (pattern.endswith("*") and table.startswith(pattern[:-1]))
