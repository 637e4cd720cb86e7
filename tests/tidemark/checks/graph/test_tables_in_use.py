"""Tables that jobs use while others change them, or without their data: on plain data."""

from __future__ import annotations

import pytest

from tests.tidemark.checks.graph.graphs import after, start
from tidemark.checks.graph.model import Graph, GraphJob
from tidemark.checks.graph.rules import problems
from tidemark.checks.graph.template import read_graph

TABLE = "lake.orders"
TABLE_RULES = ("two-writers", "table-without-waiting", "table-without-data")


def told(jobs, *triggers, placed=()):
    graph = Graph(
        jobs=tuple(jobs), triggers=triggers, workflows={"flights": "s/w"}, placed=tuple(placed)
    )
    return [(one.rule, one.at) for one in problems(graph) if one.rule in TABLE_RULES]


def job(name, *, writes=(), reads=(), uses=False, changes=False, **more):
    tables = (TABLE,) if uses or changes else ()
    changed = (TABLE,) if changes else ()
    return GraphJob(
        f"s/{name}", name, reads=reads, writes=writes, tables=tables, changes=changed, **more
    )


BESIDE, IN_ORDER = (start("a", "b"),), (start("a"), after("b", "a"))
APART = (start("a"), start("b", name="other", workflow="other"))


@pytest.mark.parametrize(
    ("triggers", "expected"),
    [(BESIDE, [("two-writers", "s/b")]), (IN_ORDER, []), (APART, [("two-writers", "s/b")])],
)
def test_two_jobs_do_not_write_one_table_at_a_time(triggers, expected):
    assert told([job("a", changes=True), job("b", changes=True)], *triggers) == expected


def test_two_writers_of_one_folder_are_told_once():
    jobs = [job(name, changes=True, writes=("s3://l/o/",)) for name in "ab"]

    assert told(jobs, *BESIDE) == [("two-writers", "s/b")]


def test_two_runs_of_one_job_do_not_write_one_table():
    assert told([job("a", changes=True, max_concurrent_runs=2)], start("a")) == [
        ("two-writers", "s/a")
    ]


@pytest.mark.parametrize(
    ("triggers", "expected"),
    [(BESIDE, [("table-without-waiting", "s/b")]), (IN_ORDER, []), (APART, [])],
)
def test_a_job_waits_for_who_changes_its_table(triggers, expected):
    assert told([job("a", changes=True), job("b", uses=True)], *triggers) == expected


PLACED = (("s/T", TABLE, "s3://l/orders/"),)


@pytest.mark.parametrize(
    ("one", "is_bad"),
    [
        (job("a", uses=True), True),
        (job("a", uses=True, reads=("s3://l/other/",)), True),
        (job("a", uses=True, reads=("s3://l/orders/day=1/",)), False),
        (job("a", uses=True, reads=("s3://l/",)), False),
        (job("a", changes=True, writes=("s3://l/orders/",)), False),
        (job("a", uses=True, governed=(TABLE,)), False),
        (job("a"), False),
    ],
)
def test_a_table_of_the_app_is_used_with_its_data(one, is_bad):
    rules = [rule for rule, _ in told([one], start("a"), placed=PLACED)]

    assert ("table-without-data" in rules) == is_bad


def test_a_table_of_others_needs_no_data_here():
    assert told([job("a", uses=True)], start("a")) == []


def test_an_override_of_a_name_is_found_in_a_template():
    resource = {
        "Type": "AWS::Glue::Job",
        "Properties": {"Name": "other"},
        "Metadata": {"Tidemark": {"name": "orders", "tablesWritten": [TABLE]}},
    }
    templates = {"s": {"Resources": {"J": resource}}}

    graph = read_graph(templates)

    (found,) = [one for one in problems(graph) if one.rule == "renamed-job"]
    assert "'other'" in found.text
    assert "'orders'" in found.text
    assert graph.jobs[0].changes == (TABLE,)
    resource["Properties"]["Name"] = "orders"
    assert "renamed-job" not in [one.rule for one in problems(read_graph(templates))]
