"""What cannot be in a pipeline is named with the true reason, and the rest goes on."""

from __future__ import annotations

import pytest

from tests.tidemark.adopt.finds import (
    FOLDER,
    PLAIN,
    RAY,
    WHOLE,
    found,
    trigger,
    why,
)
from tidemark.adopt.adoption import adopt
from tidemark.adopt.plan.code import stack_of
from tidemark.errors import UsageError


def test_a_job_that_waits_for_a_crawler_that_cannot_be_declared_starts_when_that_has_ended():
    adoption = adopt(
        found(
            {"process": PLAIN, "report": PLAIN},
            trigger("start", "crawler raw", Type="SCHEDULED", Schedule="cron(0 1 * * ? *)"),
            trigger("then", "process", after=("crawler raw",)),
            trigger("last", "report", after=("process",)),
            crawlers={"raw": WHOLE},
        )
    )

    assert [(job.old, job.wait is None) for job in adoption.jobs] == [
        ("process", True),
        ("report", False),
    ]
    assert "whole bucket s3://acme-lake" in why(adoption)["crawler raw"]
    (event,) = adoption.events
    assert event.pattern == {
        "source": ["aws.glue"],
        "detail-type": ["Glue Crawler State Change"],
        "detail": {"crawlerName": ["raw"], "state": ["Succeeded"]},
    }
    assert adoption.schedules == ()  # it started the crawler
    listed = [one for one in adoption.differences if one.path in (("Predicate",), ("Schedule",))]
    assert all("whole bucket s3://acme-lake" in one.why for one in listed)
    assert "OnEvent(" in stack_of(adoption, "x.md", {})


def test_a_job_that_waits_for_two_such_crawlers_is_declared_and_started_by_hand():
    adoption = adopt(
        found(
            {"process": PLAIN},
            trigger("then", "process", after=("crawler raw", "crawler absent")),
            crawlers={"raw": WHOLE},
        )
    )

    assert [job.old for job in adoption.jobs] == ["process"]
    assert (adoption.events, adoption.schedules) == ((), ())
    (listed,) = [one for one in adoption.differences if one.path == ("Predicate",)]
    assert "crawler absent" in listed.why
    assert "when it has ended" in listed.do


def test_a_job_that_waits_for_a_ray_job_starts_when_that_has_ended():
    adoption = adopt(
        found({"ray": RAY, "x": PLAIN}, trigger("s", "ray"), trigger("t", "x", after=("ray",)))
    )

    assert [job.old for job in adoption.jobs] == ["x"]
    assert why(adoption) == {"ray": "it is a Ray job"}
    assert adoption.events[0].pattern["detail"] == {"jobName": ["ray"], "state": ["SUCCEEDED"]}


def test_where_other_jobs_can_be_declared_such_a_job_is_left_out():
    adoption = adopt(
        found(
            {"orders": PLAIN, "process": PLAIN},
            trigger("start", "orders", "crawler raw"),
            trigger("then", "process", after=("crawler raw",)),
            crawlers={"raw": WHOLE},
        )
    )

    assert [job.old for job in adoption.jobs] == ["orders"]
    assert set(why(adoption)) == {"crawler raw", "process"}


def test_first_jobs_that_other_triggers_start_are_named_and_go_on():
    adoption = adopt(
        found(
            {"a": PLAIN, "b": PLAIN, "c": PLAIN, "d": PLAIN},
            trigger("of-a", "a", Type="SCHEDULED", Schedule="cron(0 1 * * ? *)"),
            trigger("of-b", "b", Type="SCHEDULED", Schedule="cron(0 2 * * ? *)"),
            trigger("then", "c", after=("b",)),
        )
    )

    assert [job.old for job in adoption.jobs] == ["a"]
    assert adoption.schedules == (("cron(0 1 * * ? *)", "UTC"),)
    assert "started by of-b, and a by of-a" in why(adoption)["b"]
    assert "started by nothing" in why(adoption)["d"]
    assert set(why(adoption)) == {"b", "c", "d"}
    assert adoption.start_triggers == ("of-a",)  # the others go on
    assert "of-b keeps starting it" in adoption.left_out[0].do


def test_a_second_trigger_of_one_first_job_is_named_and_no_schedule_of_all():
    daily = {"Type": "SCHEDULED", "WorkflowName": "nightly", "Schedule": "cron(0 1 * * ? *)"}
    adoption = adopt(
        found(
            {"a": PLAIN, "b": PLAIN},
            trigger("hourly", "a", Type="SCHEDULED", Schedule="cron(0 * * * ? *)"),
            trigger("daily", "a", "b", **daily),
            workflow={"Name": "nightly"},
        )
    )

    assert {job.old for job in adoption.jobs} == {"a", "b"}
    assert adoption.schedules == (("cron(0 1 * * ? *)", "UTC"),)
    assert set(adoption.start_triggers) == {"hourly", "daily"}
    (listed,) = [
        one for one in adoption.differences
        if one.of == "trigger hourly" and one.path == ("Schedule",)
    ]  # fmt: skip
    assert "starts a alone" in listed.why


def test_crawlers_alone_are_a_pipeline_too():
    adoption = adopt(
        found({"ray": RAY}, trigger("s", "ray", "crawler mart"), crawlers={"mart": FOLDER})
    )

    assert [one.old for one in adoption.nodes] == ["crawler mart"]
    assert adoption.name == "mart"


def test_a_pipeline_of_nothing_is_refused_with_every_reason():
    with pytest.raises(UsageError, match=r"it is a Ray job.*whole bucket"):
        adopt(found({"r": RAY}, trigger("s", "r", "crawler raw"), crawlers={"raw": WHOLE}))
