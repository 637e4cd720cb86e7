"""The proof of a graph, on plain data: each rule by one graph that breaks it, and random ones."""

import time
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.assembly.resources import STARTS_WORKFLOW
from tidemark.checks.graph.model import (
    CRAWLER,
    Condition,
    EventRule,
    Graph,
    Job,
    Timer,
    Trigger,
)
from tidemark.checks.graph.rules import RULES, problems
from tidemark.checks.graph.template import read_graph


def start(*jobs, name="start", workflow="flights", **changes):
    return Trigger(
        f"s/{name}", name, "SCHEDULED", workflow, jobs, schedule="cron(0 6 * * ? *)", **changes
    )


def after(job, *watched, state="SUCCEEDED", workflow="flights", **changes):
    conditions = tuple(Condition(name, state) for name in watched)
    name = f"{job}-trigger"
    return Trigger(
        f"s/{name}", name, "CONDITIONAL", workflow, (job,), conditions=conditions, **changes
    )


def graph(*triggers, jobs="ab", **changes):
    return Graph(
        jobs=tuple(Job(f"s/{name}", name) for name in jobs),
        triggers=triggers,
        workflows={"flights": "s/workflow"},
        **changes,
    )


GOOD = graph(start("a"), after("b", "a"))


def found(bad):
    return [(problem.rule, problem.at) for problem in problems(bad)]


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
                replace(after("b"), conditions=(Condition("a", has_operator=False),)),
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
    both = (Condition("a", "SUCCEEDED"), Condition("a", "FAILED"))
    either = replace(after("b"), conditions=both, logical="ANY")

    assert found(graph(start("a"), replace(either, logical="AND"))) == [
        ("unreachable-job", "s/b-trigger")
    ]
    assert problems(graph(start("a"), either)) == []


def test_a_job_of_another_workflow_is_never_seen_to_end():
    bad = Graph(
        jobs=(Job("s/a", "a"), Job("s/b", "b"), Job("s/c", "c")),
        triggers=(
            start("a", name="one", workflow="one"),
            start("b", name="two", workflow="two"),
            after("c", "a", workflow="two"),
        ),
        workflows={"one": "s/1", "two": "s/2"},
    )

    assert found(bad) == [("unreachable-job", "s/c-trigger")]


def test_a_bookmark_with_concurrent_runs_is_found():
    bad = replace(GOOD, jobs=(Job("s/a", "a", True, 2), Job("s/b", "b", False, 2)))

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
    bad = replace(graph(start("a"), jobs=""), jobs=(Job("s/a", "a", **settings),))

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
    return replace(GOOD, jobs=(replace(Job("s/a", "a"), **a), replace(Job("s/b", "b"), **b)))


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


@st.composite
def graphs(draw):
    """Return a valid graph: every job starts first or waits for some jobs before it."""
    size = draw(st.integers(1, 6))
    names = [f"j{n}" for n in range(size)]
    first, triggers = [], []
    for number, name in enumerate(names):
        watched = draw(st.lists(st.sampled_from(names[:number]), unique=True)) if number else []
        if not watched:
            first.append(name)
            continue
        state = draw(st.sampled_from(["SUCCEEDED", "FAILED", "TIMEOUT", "STOPPED"]))
        logical = draw(st.sampled_from(["AND", "ANY"]))
        triggers.append(after(name, *watched, state=state, logical=logical))
    return graph(start(*first), *draw(st.permutations(triggers)), jobs=names)


def started(good, ends):
    """Return the jobs that start, given how each ends once it has started."""
    running = set()
    while (
        new := {
            name
            for trigger in good.triggers
            if not trigger.conditions
            or (any if trigger.logical == "ANY" else all)(
                c.name in running and ends[c.name] == c.state for c in trigger.conditions
            )
            for name in trigger.starts
        }
        - running
    ):
        running |= new
    return running


def can_start(good):
    """Return the jobs that start in some run, found by trying all runs."""
    names = [job.name for job in good.jobs]
    states = {
        name: {c.state for t in good.triggers for c in t.conditions if c.name == name} or {"FAILED"}
        for name in names
    }
    runs = product(*(states[name] for name in names))
    return {name for run in runs for name in started(good, dict(zip(names, run, strict=True)))}


VALID = graphs().filter(lambda good: len(can_start(good)) == len(good.jobs))


@given(VALID)
def test_no_valid_graph_has_a_problem(good):
    assert problems(good) == []


@given(graphs())
def test_a_job_that_no_run_can_start_is_always_found_and_no_other_is(good):
    never = {job.name for job in good.jobs} - can_start(good)

    bad = problems(good)

    assert {problem.rule for problem in bad} == ({"unreachable-job"} if never else set())
    assert {problem.at.removeprefix("s/").removesuffix("-trigger") for problem in bad} <= never


def test_a_job_behind_two_branches_of_one_job_is_found():
    failed = after("b", "a", state="FAILED")
    bad = graph(start("a"), failed, after("c", "a", "b"), jobs="abc")

    (problem,) = problems(bad)

    assert (problem.rule, problem.at) == ("unreachable-job", "s/c-trigger")
    assert problem.text == (
        "the job 'c' can never start: no run can end with a SUCCEEDED and b SUCCEEDED"
    )


def test_a_wide_graph_of_alternatives_is_proved_in_time():
    names = [f"j{n}" for n in range(40)]
    waits = [after(names[n], *names[max(0, n - 5) : n], logical="ANY") for n in range(1, 40)]
    begin = time.monotonic()

    assert problems(graph(start(names[0]), *waits, jobs=names)) == []

    assert time.monotonic() - begin < 5


@given(VALID.filter(lambda g: len(g.triggers) > 1), st.data())
def test_a_wait_for_a_later_job_of_the_same_chain_is_always_a_cycle(good, data):
    trigger = data.draw(st.sampled_from([t for t in good.triggers if t.conditions]))
    watched = data.draw(st.sampled_from(trigger.conditions)).name
    back = after(watched, trigger.starts[0])
    starts = {name for t in good.triggers if not t.conditions for name in t.starts}
    triggers = [t for t in good.triggers if t.starts != (watched,)]
    if watched in starts:
        triggers = [
            t if t.conditions else replace(t, starts=tuple(n for n in t.starts if n != watched))
            for t in triggers
        ]
    bad = replace(good, triggers=(*triggers, back))

    assert "cycle" in [problem.rule for problem in problems(bad)]


@given(VALID, st.data())
def test_an_inactive_trigger_never_goes_unnoticed(good, data):
    chosen = data.draw(st.sampled_from(good.triggers))
    bad = tuple(replace(t, is_active=False) if t is chosen else t for t in good.triggers)

    assert found(replace(good, triggers=bad)) == [("inactive-trigger", chosen.at)]


def by_event(*folders, workflow="flights"):
    return EventRule("s/rule", workflow, folders)


def event_start(*jobs, batch=(1, 900)):
    return Trigger("s/start", "start", "EVENT", "flights", jobs, batch=batch, is_active=False)


def test_a_workflow_that_events_start_has_no_problem():
    good = graph(
        event_start("a"),
        after("b", "a"),
        event_rules=(by_event("s3://lake/in/"),),
        timers=(Timer("s/timer", "flights", "cron(0 6 * * ? *)"),),
    )

    assert problems(good) == []


@pytest.mark.parametrize("batch", [(0, 900), (101, 900), (1, 0), (1, 901), (None, 900), (100, 901)])
def test_a_batch_that_glue_refuses_is_found(batch):
    bad = graph(event_start("a", "b", batch=batch), event_rules=(by_event(),))

    assert found(bad) == [("bad-batch", "s/start")]


@pytest.mark.parametrize("batch", [(1, None), (100, 900), (7, 1)])
def test_a_batch_that_glue_takes_is_none(batch):
    assert found(graph(event_start("a", "b", batch=batch), event_rules=(by_event(),))) == []


def test_only_a_trigger_of_events_waits_for_a_batch():
    assert found(graph(start("a", "b", batch=(1, 900)))) == [("bad-batch", "s/start")]


def test_events_and_what_they_start_belong_together():
    assert found(graph(event_start("a", "b"))) == [("event-not-sent", "s/start")]
    other = by_event(workflow="other")
    assert found(graph(event_start("a", "b"), event_rules=(other,))) == [
        ("event-not-sent", "s/start")
    ]
    assert found(graph(start("a", "b"), event_rules=(by_event(),))) == [
        ("event-not-heard", "s/rule")
    ]
    assert found(graph(start("a", "b"), event_rules=(other,))) == []


@pytest.mark.parametrize("written", ["s3://lake/in/", "s3://lake/in/part/", "s3://lake/"])
def test_a_job_that_writes_what_starts_its_workflow_is_found(written):
    jobs = (
        Job("s/a", "a", reads=("s3://lake/in/",), delivered=("s3://lake/in/",)),
        Job("s/b", "b", writes=(written,), published=(written,)),
    )
    bad = replace(
        graph(event_start("a"), after("b", "a"), event_rules=(by_event("s3://lake/in/"),)),
        jobs=jobs,
    )

    assert ("starts-itself", "s/b") in found(bad)
    elsewhere = replace(jobs[1], writes=("s3://lake/into/",), published=("s3://lake/into/",))
    assert found(replace(bad, jobs=(jobs[0], elsewhere))) == []


@pytest.mark.parametrize(
    ("one", "other", "is_close"),
    [
        (("cron(0 6 * * ? *)", "UTC"), ("cron(0 * * * ? *)", "UTC"), True),
        (("cron(0 6 * * ? *)", "UTC"), ("cron(4 6 ? * MON *)", "UTC"), True),
        (("cron(0 6 * * ? *)", "UTC"), ("cron(5 6 * * ? *)", "UTC"), False),
        (("cron(0 6 * * ? *)", "UTC"), ("cron(0 8 * * ? *)", "Europe/Berlin"), True),
        (("cron(0 6 * * ? *)", "UTC"), ("cron(0 18 * * ? *)", "UTC"), False),
        (("cron(0 6 * * ? *)", "UTC"), ("rate(1 hour)", "UTC"), False),
    ],
)
def test_schedules_of_a_workflow_that_fire_together_are_told(one, other, is_close):
    timers = (Timer("s/one", "flights", *one), Timer("s/other", "flights", *other))
    told = [("schedules-too-close", "s/other")] if is_close else []

    assert found(replace(GOOD, timers=timers)) == told
    assert not any(problem.is_error for problem in problems(replace(GOOD, timers=timers)))
    elsewhere = replace(timers[1], workflow="other")
    assert "schedules-too-close" not in dict(found(replace(GOOD, timers=(timers[0], elsewhere))))
