"""Options of a job: what AWS takes, what would lose state, and what the template says."""

from dataclasses import replace

import pytest

from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.errors import JobDefinitionError
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.runtime import JobRuntime


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("description", ""),
        ("description", "   "),
        ("description", "x" * 2049),
        ("description", 1),
        ("description", "a\x00b"),
        ("tags", ["a"]),
        ("tags", {"aws:x": "1"}),
        ("tags", {"tidemark:stage": "1"}),
        ("tags", {"a": 1}),
        ("tags", {1: "a"}),
        ("tags", {"a": "x" * 257}),
        ("tags", {f"tag{n}": "" for n in range(49)}),
        ("tags", None),
        ("log_retention_days", 10),
        ("log_retention_days", True),
        ("log_retention_days", "30"),
        ("max_concurrent_runs", 0),
        ("max_concurrent_runs", True),
        ("max_concurrent_runs", None),
        ("max_concurrent_runs", 4001),
        ("non_overridable", "source"),
        ("non_overridable", [""]),
        ("non_overridable", ["a", "a"]),
        ("non_overridable", [1]),
        ("notify_after_minutes", 0),
        ("notify_after_minutes", 1.5),
    ],
)
def test_what_aws_refuses_is_refused_in_one_line(name, value):
    with pytest.raises(JobDefinitionError, match=rf"{name} .*; allowed: .*; correct {name}="):
        JobOptions(**{name: value})


@pytest.mark.parametrize(("bookmark", "watermark"), [(True, False), (False, True), (True, True)])
def test_jobs_that_keep_state_run_one_at_a_time(bookmark, watermark):
    with pytest.raises(JobDefinitionError, match=r"max_concurrent_runs 2 .*; allowed: 1"):
        JobOptions(max_concurrent_runs=2).check(
            "one", timeout_minutes=60, bookmark=bookmark, watermark=watermark
        )

    JobOptions().check("one", timeout_minutes=60, bookmark=bookmark, watermark=watermark)


def test_an_alert_comes_before_the_timeout():
    for timeout in (10, 9):
        with pytest.raises(JobDefinitionError, match="notify_after_minutes 10"):
            JobOptions(notify_after_minutes=10).check(
                "one", timeout_minutes=timeout, bookmark=False, watermark=False
            )

    JobOptions(notify_after_minutes=10).check(
        "one", timeout_minutes=11, bookmark=False, watermark=False
    )


@pytest.mark.synth
def test_options_stand_where_glue_and_the_logs_have_them(add):
    from tidemark.constructs.jobs.job_props import BookmarkOption

    add("plain")
    add(
        "other",
        bookmark=BookmarkOption.DISABLE,
        arguments={"source": "s3://a/", "target": "s3://b/"},
        options=JobOptions(
            description="Counts",
            tags={"team": "air"},
            log_retention_days=365,
            max_concurrent_runs=3,
            non_overridable=["source", "--job-bookmark-option"],
            notify_after_minutes=7,
        ),
    )

    plain, other = add.properties("AWS::Glue::Job")
    assert (other["Description"], other["Tags"]["team"]) == ("Counts", "air")
    assert "team" not in plain["Tags"]
    assert {"Description", "NonOverridableArguments"}.isdisjoint(plain)
    assert plain["ExecutionProperty"] == {"MaxConcurrentRuns": 1}
    assert other["ExecutionProperty"] == {"MaxConcurrentRuns": 3}
    assert other["NotificationProperty"] == {"NotifyDelayAfter": 7}
    assert other["NonOverridableArguments"] == {
        "--source": "s3://a/",
        "--job-bookmark-option": "job-bookmark-disable",
    }
    assert other["NonOverridableArguments"].keys().isdisjoint(other["DefaultArguments"])
    assert other["DefaultArguments"]["--target"] == "s3://b/"
    groups = add.properties("AWS::Logs::LogGroup")
    assert [group["RetentionInDays"] for group in groups] == [30, 30, 365, 365]
    assert {"Key": "team", "Value": "air"} in add.properties("AWS::IAM::Role")[1]["Tags"]


@pytest.mark.synth
def test_an_argument_that_is_fixed_is_one_of_the_job(add):
    with pytest.raises(JobDefinitionError, match=r"'sorce' in non_overridable.*--source"):
        add("one", arguments={"source": "x"}, options=JobOptions(non_overridable=["sorce"]))


@pytest.mark.synth
def test_a_job_with_a_bookmark_never_gets_a_second_run(add):
    with pytest.raises(JobDefinitionError, match=r"BookmarkOption\.DISABLE"):
        add("one", options=JobOptions(max_concurrent_runs=2))


@pytest.mark.synth
def test_tags_of_stage_and_job_together_are_not_more_than_aws_takes(declare):
    stage = StageConfig(
        "dev", None, None, None, JobRuntime(), tags={f"stage{n}": "" for n in range(40)}
    )
    add = declare(stage=stage)
    own = {f"job{n}": "" for n in range(8)}

    add("one", options=JobOptions(tags=own))
    with pytest.raises(JobDefinitionError, match="49 tags"):
        add("two", options=JobOptions(tags=own | {"more": ""}))
    add("three", options=JobOptions(tags=own | {"stage0": "its own"}))

    assert replace(stage).tags["stage0"] == ""
    assert add.properties("AWS::Glue::Job")[1]["Tags"]["stage0"] == "its own"
