"""Crawlers in the graph: what they read and write, and who waits for them; on plain data."""

from dataclasses import replace

import pytest

from tests.tidemark.checks.graph.graphs import after, graph, start
from tidemark.checks.graph.model import CRAWLER, GraphJob
from tidemark.checks.graph.rules import problems
from tidemark.checks.graph.template import read_graph

LANDING = f"{CRAWLER}landing"
RAW = "s3://lake/raw/"


def crawler(**changes):
    return GraphJob(
        "s/crawler", LANDING, **{"reads": (RAW,), "crawled": ("lake.raw_*",), **changes}
    )


def with_crawler(good, *, jobs=None, **changes):
    """Return a graph with a crawler, whose jobs have data: name to what a job declares."""
    declared = jobs or {}
    return replace(
        good,
        crawlers=(crawler(**changes),),
        jobs=tuple(replace(job, **declared.get(job.name, {})) for job in good.jobs),
    )


def found(bad):
    return [(p.rule, p.at, p.is_error) for p in problems(bad)]


BESIDE = graph(start("a", LANDING), jobs="a")
BEFORE = graph(start("a"), after(LANDING, "a"), jobs="a")
BEHIND = graph(start(LANDING), after("a", LANDING), jobs="a")


def test_a_crawler_that_does_not_wait_for_the_job_that_writes_its_target_is_found():
    (problem,) = problems(with_crawler(BESIDE, jobs={"a": {"writes": (RAW,)}}))

    assert (problem.rule, problem.at) == ("reads-without-waiting", "s/crawler")
    assert problem.text.startswith("the crawler 'landing' may read what 'a' is writing, in s3://")


def test_a_crawler_behind_the_job_that_writes_its_target_is_right_and_reads_its_output():
    assert found(with_crawler(BEFORE, jobs={"a": {"writes": (RAW,)}})) == []


def test_a_target_that_no_job_writes_is_told_unless_others_deliver_it():
    assert found(with_crawler(BEHIND)) == [("input-nobody-writes", "s/crawler", False)]
    assert found(with_crawler(BEHIND, delivered=(RAW,))) == []


@pytest.mark.parametrize(
    ("good", "expected"), [(BESIDE, ["table-without-waiting"]), (BEFORE, []), (BEHIND, [])]
)
def test_a_job_of_a_crawled_table_has_to_wait_for_the_crawler_or_come_before_it(good, expected):
    bad = with_crawler(good, delivered=(RAW,), jobs={"a": {"tables": ("lake.raw_orders",)}})

    assert [(p.rule, p.at) for p in problems(bad)] == [(rule, "s/a") for rule in expected]


@pytest.mark.parametrize(
    ("table", "crawled", "is_found"),
    [
        ("lake.raw_orders", "lake.raw_*", True),
        ("lake.orders", "lake.raw_*", False),
        ("other.raw_orders", "lake.raw_*", False),
        ("lake.orders", "lake.*", True),
        ("lake.defined", "lake.*", False),
        ("lake.defined", "lake.defined", True),
        ("lake.orders", "lake.order", False),
    ],
)
def test_a_crawler_writes_tables_of_its_prefix_and_those_it_names(table, crawled, is_found):
    bad = with_crawler(
        replace(BESIDE, tables=frozenset({"lake.defined"})),
        delivered=(RAW,),
        crawled=(crawled,),
        jobs={"a": {"tables": (table,)}},
    )

    assert bool(found(bad)) is is_found


def test_two_crawlers_of_one_name_are_refused():
    bad = replace(BEHIND, crawlers=(crawler(delivered=(RAW,)), crawler(delivered=(RAW,))))

    assert found(bad) == [("duplicate-crawler-name", "s/crawler", True)]


@pytest.mark.parametrize(
    ("changes", "is_found"),
    [
        ({}, True),
        ({"reads": ("s3://lake/raw/a/",)}, True),
        ({"reads": ("s3a://lake/raw",)}, True),
        ({"crawled": ("lake.raw_orders",)}, True),
        ({"crawled": ("lake.*",)}, True),
        ({"reads": ("s3://lake/rawer/",)}, False),
        ({"crawled": ("other.raw_*",)}, False),
        ({"crawled": ("lake.new_*",)}, False),
    ],
)
def test_two_crawlers_of_one_folder_make_no_tables_of_the_same_names(changes, is_found):
    other = replace(crawler(delivered=(RAW,)), at="s/other", name=f"{CRAWLER}other")
    other = replace(other, **changes, delivered=changes.get("reads", (RAW,)))
    both = (crawler(delivered=(RAW,)), other)

    bad = replace(BEHIND, crawlers=both)

    expected = [("crawled-twice", "s/other", True)] if is_found else []
    assert found(bad) == expected


@pytest.mark.parametrize(
    ("located", "crawled", "is_found"),
    [
        ({"lake.orders": "s3://lake/raw/orders/"}, "lake.raw_*", True),
        ({"lake.orders": "s3://lake/"}, "lake.raw_*", False),  # nested-tables tells
        ({"other.orders": RAW}, "lake.raw_*", False),
        ({"lake.orders": "s3://lake/curated/"}, "lake.raw_*", False),
        ({"lake.raw_orders": RAW}, "lake.raw_orders", False),
    ],
)
def test_a_crawler_makes_no_second_table_beside_a_declared_one(located, crawled, is_found):
    bad = with_crawler(replace(BEHIND, located=located), delivered=(RAW,), crawled=(crawled,))

    expected = [("crawled-and-declared", "s/crawler", True)] if is_found else []
    assert found(bad) == expected


def test_a_crawler_of_a_template_is_read_with_its_targets_and_tables():
    properties = {
        "Name": "landing",
        "DatabaseName": "lake",
        "TablePrefix": "raw_",
        "Targets": {"S3Targets": [{"Path": "s3://lake/raw/"}]},
    }
    named = {
        "Name": "named",
        "DatabaseName": "lake",
        "Targets": {"CatalogTargets": [{"DatabaseName": "sales", "Tables": ["a", "b"]}]},
    }
    known = {"reads": [{"uri": "s3://lake/a/", "delivered": True}]}
    resources = {
        "One": {"Type": "AWS::Glue::Crawler", "Properties": properties},
        "Two": {
            "Type": "AWS::Glue::Crawler",
            "Properties": named,
            "Metadata": {"Tidemark": known},
        },
        "Table": {
            "Type": "AWS::Glue::Table",
            "Properties": {"DatabaseName": "lake", "TableInput": {"Name": "own"}},
        },
    }

    read = read_graph({"s": {"Resources": resources}})

    assert read.crawlers == (
        GraphJob("s/One", LANDING, reads=(RAW,), crawled=("lake.raw_*",)),
        GraphJob(
            "s/Two",
            f"{CRAWLER}named",
            reads=("s3://lake/a/",),
            delivered=("s3://lake/a/",),
            crawled=("sales.a", "sales.b"),
        ),
    )
    assert read.tables == {"lake.own"}


@pytest.mark.parametrize(
    ("reads", "text"),
    [
        (RAW, "the crawler 'landing' makes a table of s3://lake/raw/ in the database"),
        ("s3a://lake/raw", "makes a table of s3://lake/raw/ in the database"),
        ("s3://lake/", "crawls s3://lake/ and makes a table of s3://lake/raw/, below it, in the"),
        ("s3://lake/raw/day=1/", "makes a table of s3://lake/raw/day=1/, a part of the data in s3"),
    ],
)
def test_a_declared_table_is_told_with_what_the_crawler_does_to_its_data(reads, text):
    located = {"lake.orders": RAW}
    bad = with_crawler(replace(BEHIND, located=located), reads=(reads,), delivered=(reads,))

    (problem,) = problems(bad)

    assert problem.rule == "crawled-and-declared"
    assert text in problem.text


def test_a_folder_in_a_declared_table_that_is_no_partition_of_it_is_told_once():
    reads = "s3://lake/raw/rejected/"
    bad = replace(BEHIND, located={"lake.orders": RAW}, placed=(("s/t", "lake.orders", RAW),))

    assert found(with_crawler(bad, reads=(reads,), delivered=(reads,))) == [
        ("nested-tables", "s/crawler", True)
    ]


@pytest.mark.parametrize(
    ("mine", "theirs", "text"),
    [
        ("lake.raw_*", "lake.*", "each creates its own tables"),
        ("lake.t", "lake.t", "both update the table lake.t"),
        ("lake.t", "lake.*", "the crawler 'other' creates tables of it next to lake.t"),
        ("lake.*", "lake.t", "the crawler 'landing' creates tables of it next to lake.t"),
    ],
)
def test_two_crawlers_of_one_folder_are_told_with_what_each_does(mine, theirs, text):
    one = crawler(delivered=(RAW,), crawled=(mine,))
    other = replace(one, at="s/other", name=f"{CRAWLER}other", crawled=(theirs,))

    (problem,) = problems(replace(BEHIND, crawlers=(one, other)))

    assert problem.rule == "crawled-twice"
    assert text in problem.text
