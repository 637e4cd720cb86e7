"""The proof of a graph, on plain data: each rule by one graph that breaks it."""

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.tidemark.checks.graph.graphs import GOOD, after, found, graph, start
from tidemark.checks.graph.model import (
    CRAWLER,
    Graph,
    GraphCondition,
    GraphJob,
    Timer,
)
from tidemark.checks.graph.rules import RULES, problems
from tidemark.checks.graph.template import read_graph
from tidemark.model.assembly.resources import STARTS_WORKFLOW


def test_a_good_graph_has_no_problem():
    assert problems(GOOD) == []


def test_every_problem_says_what_is_wrong_and_what_to_do():
    bad = graph(start("a", is_active=False), after("b", "b"), after("a", "x"), jobs="aab")

    for problem in problems(bad):
        assert problem.text
        assert problem.fix
        assert problem.rule in RULES


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (graph(start("a"), after("b", "a"), jobs="aba"), [("duplicate-job-name", "s/a")]),
        (graph(start("a", "x"), after("b", "a")), [("unknown-job", "s/start")]),
        (
            graph(start("a"), after("b", "a", is_active=False)),
            [("inactive-trigger", "s/b-trigger")],
        ),
        (graph(start("a", is_active=False), after("b", "a")), [("inactive-trigger", "s/start")]),
        (
            graph(start("a", "b"), after("b")),
            [("incomplete-condition", "s/b-trigger")],
        ),
        (
            graph(start("a", "c"), after("b", "a", "c", logical=None), jobs="abc"),
            [("incomplete-condition", "s/b-trigger")],
        ),
        (
            graph(
                start("a"),
                replace(after("b"), conditions=(GraphCondition("a", has_operator=False),)),
            ),
            [("incomplete-condition", "s/b-trigger")],
        ),
        (
            graph(start("a", *[f"{CRAWLER}{n}" for n in range(3)]), jobs="a"),
            [("trigger-limit", "s/start")],
        ),
        (
            graph(start("a"), start("b", name="second")),
            [("two-starts", "s/second")],
        ),
        (
            graph(start("a"), start("b", workflow="weather")),
            [("trigger-in-two-workflows", "s/start")],
        ),
        (graph(jobs=""), [("no-start", "s/workflow")]),
        (graph(start(), jobs=""), [("starts-nothing", "s/start")]),
        (
            graph(start("a"), replace(after("b", "b"), starts=()), jobs="ab"),
            [("starts-nothing", "s/b-trigger")],
        ),
        (graph(replace(start("a"), kind="ON_DEMAND"), jobs="a"), [("active-on-demand", "s/start")]),
        (graph(replace(start("a"), schedule=None), jobs="a"), [("bad-schedule", "s/start")]),
        (
            graph(replace(start("a"), schedule="rate(5 minutes)"), jobs="a"),
            [("bad-schedule", "s/start")],
        ),
        (
            graph(replace(start("a"), schedule="cron(99 * * * ? *)"), jobs="a"),
            [("bad-schedule", "s/start")],
        ),
        (graph(start("a"), after("b", "c"), jobs="abc"), [("unreachable-job", "s/b-trigger")]),
    ],
    ids=range(18),
)
def test_a_broken_rule_is_found_where_it_is_broken(bad, expected):
    assert found(bad) == expected


def test_a_workflow_beside_streaming_jobs_alone_needs_no_start():
    alone = graph(jobs="a", streamed=frozenset({"flights"}))

    assert found(alone) == []
    assert ("no-start", "s/workflow") in found(replace(alone, triggers=(after("a", "a"),)))


def test_a_job_that_is_watched_and_started_is_found():
    assert ("watched-and-started", "s/b-trigger") in found(graph(start("a"), after("b", "a", "b")))


def test_jobs_that_wait_for_each_other_are_found_as_one_cycle():
    bad = graph(start("a"), after("b", "c"), after("c", "b"), after("d", "c"), jobs="abcd")

    (problem,) = problems(bad)

    assert problem.rule == "cycle"
    assert problem.text in (
        "the jobs wait for each other: b <- c <- b",
        "the jobs wait for each other: c <- b <- c",
    )


def test_a_run_cannot_end_in_two_states():
    both = (GraphCondition("a", "SUCCEEDED"), GraphCondition("a", "FAILED"))
    either = replace(after("b"), conditions=both, logical="ANY")

    assert found(graph(start("a"), replace(either, logical="AND"))) == [
        ("unreachable-job", "s/b-trigger")
    ]
    assert problems(graph(start("a"), either)) == []


def test_a_job_of_another_workflow_is_never_seen_to_end():
    bad = Graph(
        jobs=(GraphJob("s/a", "a"), GraphJob("s/b", "b"), GraphJob("s/c", "c")),
        triggers=(
            start("a", name="one", workflow="one"),
            start("b", name="two", workflow="two"),
            after("c", "a", workflow="two"),
        ),
        workflows={"one": "s/1", "two": "s/2"},
    )

    assert found(bad) == [("unreachable-job", "s/c-trigger")]


def test_a_bookmark_with_concurrent_runs_is_found():
    bad = replace(GOOD, jobs=(GraphJob("s/a", "a", True, 2), GraphJob("s/b", "b", False, 2)))

    assert found(bad) == [("bookmark-concurrent", "s/a")]


def test_a_workflow_may_have_100_nodes_and_no_more():
    names = [f"j{n}" for n in range(50)]
    chain = [after(later, name) for name, later in pairwise(names)]

    assert found(graph(start(names[0]), *chain, jobs=names)) == []
    more = [after("k", names[-1]), *chain]
    assert found(graph(start(names[0]), *more, jobs=[*names, "k"])) == [
        ("too-many-nodes", "s/workflow")
    ]


def test_a_crawler_may_start_a_job():
    crawler = f"{CRAWLER}landing"

    assert problems(graph(start(crawler), after("a", crawler), jobs="a")) == []


@pytest.mark.parametrize(
    ("schedule", "is_too_fine"),
    [
        ("cron(0 6 * * ? *)", False),
        ("cron(0/5 * * * ? *)", False),
        ("cron(*/15 * * * ? *)", False),
        ("cron(0,30 * * * ? *)", False),
        ("cron(0,58 6 * * ? *)", False),
        ("cron(0,58 6,8 * * ? *)", False),
        ("cron(0,58 6-8 * * ? *)", True),
        ("cron(0,58 * * * ? *)", True),
        ("cron(2,58 0,23 * * ? *)", True),
        ("cron(* * * * ? *)", True),
        ("cron(*/4 * * * ? *)", True),
        ("cron(0/1 * * * ? *)", True),
        ("cron(10-12 6 * * ? *)", True),
        ("cron(0,58,59 6 * * ? *)", True),
    ],
)
def test_a_schedule_may_be_as_fine_as_five_minutes(schedule, is_too_fine):
    bad = graph(replace(start("a"), schedule=schedule), after("b", "a"))

    assert found(bad) == ([("schedule-too-fine", "s/start")] if is_too_fine else [])


@pytest.mark.parametrize(
    ("settings", "is_refused"),
    [
        ({"queues": True}, False),
        ({"is_flex": True, "max_retries": 1}, False),
        ({"queues": True, "is_flex": True}, True),
        ({"queues": True, "max_retries": 1}, True),
    ],
)
def test_a_queue_is_for_standard_runs_without_retries(settings, is_refused):
    bad = replace(graph(start("a"), jobs=""), jobs=(GraphJob("s/a", "a", **settings),))

    assert found(bad) == ([("queue-refused", "s/a")] if is_refused else [])


@pytest.mark.parametrize(
    ("timer", "expected"),
    [
        (Timer("s/t", "flights", "cron(0 6 * * ? *)", "Europe/Berlin"), []),
        (Timer("s/t", "flights", "rate(1 hour)"), []),
        (Timer("s/t", None, ""), []),
        (Timer("s/t", "flights", "cron(0 6 * * ? 1999)"), [("bad-schedule", "s/t")]),
        (Timer("s/t", "flights", "cron(0 6 * * ? *)", "Mars"), [("bad-schedule", "s/t")]),
        (Timer("s/t", "flights", "rate(1 minute)"), [("schedule-too-fine", "s/t")]),
        (Timer("s/t", "trains", "rate(1 hour)"), [("unknown-workflow", "s/t")]),
    ],
    ids=range(7),
)
def test_a_schedule_starts_a_workflow_of_the_stage_at_a_time_that_comes(timer, expected):
    bad = replace(GOOD, timers=(timer,))

    assert found(bad) == expected


def test_jobs_and_schedules_made_by_hand_are_read_as_a_deployment_will_see_them():
    target = {
        "Arn": {"Fn::Sub": "unknown"},
        "Input": {"Fn::Join": ["", ['{"Name": "', {"Ref": "Flow"}, '"}']]},
    }
    starts = {
        "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":scheduler::{STARTS_WORKFLOW}"]]
    }
    template = {
        "Resources": {
            "Flow": {"Type": "AWS::Glue::Workflow", "Properties": {"Name": "flights"}},
            "Job": {
                "Type": "AWS::Glue::Job",
                "Properties": {
                    "JobRunQueuingEnabled": True,
                    "ExecutionClass": "FLEX",
                    "MaxRetries": {"Ref": "Retries"},
                },
            },
            "Daily": {
                "Type": "AWS::Scheduler::Schedule",
                "Properties": {
                    "ScheduleExpression": "cron(0 6 * * ? *)",
                    "ScheduleExpressionTimezone": "Europe/Berlin",
                    "Target": {**target, "Arn": starts},
                },
            },
            "Chosen": {
                "Type": "AWS::Scheduler::Schedule",
                "Properties": {
                    "ScheduleExpression": {"Ref": "When"},
                    "Target": {"Arn": starts, "Input": "no JSON"},
                },
            },
            "Other": {"Type": "AWS::Scheduler::Schedule", "Properties": {"Target": target}},
        }
    }

    read = read_graph({"s": template})

    assert read.timers == (
        Timer("s/Daily", "flights", "cron(0 6 * * ? *)", "Europe/Berlin"),
        Timer("s/Chosen", None, ""),
    )
    (job,) = read.jobs
    assert (job.queues, job.is_flex, job.max_retries) == (True, True, 0)
    assert ("queue-refused", "s/Job") in found(read)


def with_data(a, b):
    return replace(
        GOOD, jobs=(replace(GraphJob("s/a", "a"), **a), replace(GraphJob("s/b", "b"), **b))
    )


def test_data_that_one_job_writes_and_another_reads_is_fine():
    good = with_data(
        {"reads": ("in/",), "delivered": ("in/",), "writes": ("raw/",)},
        {"reads": ("raw/flights/",), "writes": ("mart/",), "published": ("mart/",)},
    )

    assert problems(good) == []


def test_data_that_nobody_writes_or_reads_is_a_warning():
    bad = problems(with_data({"reads": ("in/",), "writes": ("raw/",)}, {"reads": ("row/",)}))

    assert [(p.rule, p.at, p.is_error) for p in bad] == [
        ("output-never-read", "s/a", False),
        ("input-nobody-writes", "s/a", False),
        ("input-nobody-writes", "s/b", False),
    ]
