"""Tables whose folders hold data of others: on plain data and on templates."""

import pytest

from tidemark.checks.graph.model import CRAWLER, Graph, GraphJob
from tidemark.checks.graph.nested_tables import nested_tables
from tidemark.checks.graph.template import read_graph


def table_at(uri, name="rejected"):
    properties = {
        "DatabaseName": "sales",
        "TableInput": {"Name": name, "StorageDescriptor": {"Location": uri}},
    }
    return {"Type": "AWS::Glue::Table", "Properties": properties}


def found(*resources):
    """Return where problems are, of resources in a stack each, beside the table sales.orders."""
    stacks = [table_at("s3://lake/orders/", "orders"), *resources]
    templates = {f"s{n}": {"Resources": {"R": one}} for n, one in enumerate(stacks)}
    return [problem.at for problem in nested_tables(read_graph(templates))]


def job_with(key, uri, **more):
    metadata = {"Tidemark": {key: [{"uri": uri, **more}]}}
    return {"Type": "AWS::Glue::Job", "Properties": {}, "Metadata": metadata}


@pytest.mark.parametrize("location", ["s3://lake/orders/rejected/", "s3a://lake/orders/region=eu"])
def test_a_table_inside_of_another_is_found(location):
    assert found(table_at(location)) == ["s1/R"]


def test_a_table_around_another_is_found_at_the_inner_one():
    assert found(table_at("s3://lake/")) == ["s0/R"]


@pytest.mark.parametrize(
    "location", ["s3://lake/orders/", "s3://lake/orders-2/", "s3://o/orders/x"]
)
def test_tables_of_one_folder_and_side_by_side_are_right(location):
    assert found(table_at(location)) == []


@pytest.mark.parametrize("key", ["reads", "writes"])
def test_a_table_that_only_a_dataset_describes_is_found(key):
    assert found(job_with(key, "s3://lake/orders/x/", table="sales.x")) == ["s1/R"]


@pytest.mark.parametrize(
    ("uri", "is_bad"),
    [
        ("s3://lake/orders/rejected/", True),
        ("s3://lake/orders/day=1/bad/", True),
        ("s3://lake/orders/day=1/hour=2/", False),
        ("s3://lake/orders/", False),
        ("s3://lake/", False),
    ],
)
def test_a_dataset_without_a_table_may_be_a_partition_of_one(uri, is_bad):
    assert found(job_with("writes", uri)) == (["s1/R"] if is_bad else [])


@pytest.mark.parametrize(
    ("uri", "is_bad"),
    [
        ("s3://lake/", True),
        ("s3://lake/orders/", False),
        ("s3://lake/orders/day=1/", False),
        ("s3://lake/orders-2/", False),
        ("s3://other/", False),
    ],
)
def test_a_job_reads_no_folder_above_those_of_tables(uri, is_bad):
    assert found(job_with("reads", uri)) == (["s1/R"] if is_bad else [])


@pytest.mark.parametrize(("crawled", "is_bad"), [("other.*", True), ("sales.orders", False)])
def test_a_crawler_makes_no_table_inside_of_another(crawled, is_bad):
    crawler = GraphJob("s/c", f"{CRAWLER}c", reads=("s3://lake/orders/x/",), crawled=(crawled,))
    placed = (("s/t", "sales.orders", "s3://lake/orders/"),)

    problems = list(nested_tables(Graph(crawlers=(crawler,), placed=placed)))

    assert [problem.at for problem in problems] == (["s/c"] if is_bad else [])
