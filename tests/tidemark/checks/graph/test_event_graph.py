"""Graphs that events or schedules start, on plain data."""

from dataclasses import replace

import pytest

from tests.tidemark.checks.graph.graphs import GOOD, after, found, graph, start
from tidemark.checks.graph.model import (
    EventRule,
    GraphJob,
    Timer,
    Trigger,
)
from tidemark.checks.graph.rules import problems


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
        GraphJob("s/a", "a", reads=("s3://lake/in/",), delivered=("s3://lake/in/",)),
        GraphJob("s/b", "b", writes=(written,), published=(written,)),
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
