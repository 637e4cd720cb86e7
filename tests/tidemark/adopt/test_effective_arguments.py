"""What a run of an old job was given is what counts: by no run overridden, or by its trigger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tidemark.adopt.adoption import adopt
from tidemark.adopt.model import Adoption, Existing, Folder
from tidemark.adopt.plan.code import stack_of
from tidemark.adopt.plan.migration import steps_of

ENABLE, DISABLE, PAUSE = (f"job-bookmark-{word}" for word in ("enable", "disable", "pause"))
PATHS = {"--source_path": "s3://landing/orders/", "--target_path": "s3://raw-data/orders/"}


def found(
    default: str | None, fixed: Mapping[str, str], *runs: Mapping[str, str], **job: Any
) -> Existing:
    """Return one job, and a trigger for each of the arguments that runs of it get."""
    arguments = PATHS | ({"--job-bookmark-option": default} if default else {})
    resource = {
        "Name": "orders",
        "Command": {"Name": "glueetl"},
        "DefaultArguments": arguments,
        "NonOverridableArguments": fixed,
        **job,
    }
    actions = [{"JobName": "orders", "Arguments": given} for given in runs or [{}]]
    triggers = {
        f"t{number}": {"Name": f"t{number}", "Type": "ON_DEMAND", "Actions": [action]}
        for number, action in enumerate(actions)
    }
    return Existing("", {"orders": resource}, triggers)


def bookmark_of(adoption: Adoption) -> str:
    (job,) = adoption.jobs
    return job.bookmark


@pytest.mark.parametrize(
    ("default", "fixed", "runs", "expected"),
    [
        (None, {"--job-bookmark-option": ENABLE}, [{}], "ENABLE"),
        (DISABLE, {"--job-bookmark-option": ENABLE}, [{}], "ENABLE"),
        (None, {}, [{"--job-bookmark-option": ENABLE}], "ENABLE"),
        (ENABLE, {}, [{"--job-bookmark-option": DISABLE}], "DISABLE"),
        (ENABLE, {}, [{"--job-bookmark-option": DISABLE}, {}], "ENABLE"),
        (None, {}, [{"--job-bookmark-option": PAUSE}, {}], "PAUSE"),
        (
            ENABLE,
            {"--job-bookmark-option": DISABLE},
            [{"--job-bookmark-option": ENABLE}],
            "DISABLE",
        ),
        (ENABLE, {}, [{"--job-bookmark-option": "on"}], "ENABLE"),
        ("on", {}, [{}], "DISABLE"),
        ("{Option}", {}, [{}], "ENABLE"),  # only a deployment knows it
        ("{{resolve:ssm:/option}}", {}, [{}], "ENABLE"),
        (DISABLE, {"--job-bookmark-option": "{Option}"}, [{}], "ENABLE"),
        (DISABLE, {}, [{"--job-bookmark-option": "{Option}"}], "ENABLE"),
        ("{Option}", {}, [{"--job-bookmark-option": DISABLE}], "DISABLE"),
        ("{Option}", {"--job-bookmark-option": DISABLE}, [{}], "DISABLE"),
    ],
)
def test_the_bookmark_option_that_runs_had_decides_what_is_carried(default, fixed, runs, expected):
    """A bookmark that is taken for none makes the new job read, and write, everything again."""
    old = found(default, fixed, *runs)
    adoption = adopt(old)

    assert bookmark_of(adoption) == expected
    titles = [step.title for step in steps_of(adoption, old, "x.py")]
    carried = [title for title in titles if title.startswith("Make the bookmark")]
    assert bool(carried) == (expected != "DISABLE")


def test_what_glue_reads_and_no_run_could_override_no_run_can_override():
    old = found(
        None,
        {"--conf": "spark.a=1", "--TempDir": "s3://temp-data/x/", "--enable-metrics": "true"},
    )
    adoption = adopt(old)

    (job,) = adoption.jobs
    assert job.glue == {"conf": {"spark.a": "1"}}
    assert job.temp == Folder("temp-data", "x/")
    assert job.options == {"non_overridable": ("--conf", "--TempDir")}
    assert 'non_overridable=["--conf", "--TempDir"]' in stack_of(adoption, "plan.md", {})
    (listed,) = [one for one in adoption.differences if one.path[0] == "NonOverridableArguments"]
    assert listed.path == ("NonOverridableArguments", "--enable-metrics")


def test_a_default_that_no_run_ever_saw_is_listed_and_does_not_count():
    old = found(None, {"--conf": "spark.a=1"})
    old.jobs["orders"]["DefaultArguments"]["--conf"] = "spark.a=2 --conf spark.b=3"

    adoption = adopt(old)

    assert adoption.jobs[0].glue == {"conf": {"spark.a": "1"}}
    assert any(
        one.path == ("DefaultArguments", "--conf") and "no run ever sees it" in one.why
        for one in adoption.differences
    )


def test_watermarks_that_a_fixed_argument_names_are_carried():
    adoption = adopt(found(None, {"--watermark_table": "marks"}))

    assert adoption.jobs[0].watermark_table == "marks"
    assert adoption.jobs[0].options == {"non_overridable": ("watermark_table",)}


def test_a_paused_bookmark_stays_changeable_for_the_run_that_makes_it():
    adoption = adopt(found(None, {"--job-bookmark-option": PAUSE}))

    assert bookmark_of(adoption) == "PAUSE"
    assert adoption.jobs[0].options == {}
    assert any("after that run" in one.do for one in adoption.differences)


def test_a_paused_bookmark_is_state_that_two_runs_would_break():
    """The constructs refuse several runs at a time of a job with a bookmark, also a paused one."""
    adoption = adopt(found(PAUSE, {}, ExecutionProperty={"MaxConcurrentRuns": 5}))

    assert adoption.jobs[0].options == {}
    assert any(one.path[0] == "ExecutionProperty" for one in adoption.differences)


def test_runs_that_wrote_one_folder_at_a_time_are_acknowledged_as_before():
    """Or synthesis would refuse the stack, by the rule two-writers."""
    adoption = adopt(found(None, {}, ExecutionProperty={"MaxConcurrentRuns": 5}))

    assert adoption.jobs[0].options == {"max_concurrent_runs": 5}
    assert set(adoption.acknowledged[adoption.jobs[0].name]) == {"two-writers"}


def test_a_checkpoint_that_no_run_may_override_is_that_of_the_stream():
    stream = {
        "Name": "clicks",
        "Command": {"Name": "gluestreaming"},
        "NonOverridableArguments": {"--checkpoint": "s3://lake/state/clicks/"},
    }
    old = found(None, {})
    adoption = adopt(Existing("", {**old.jobs, "clicks": stream}, old.triggers))

    (job,) = adoption.streaming_jobs
    assert job.checkpoint == Folder("lake", "state/clicks/")
    assert job.arguments == {}


def test_a_bookmark_that_nothing_turns_on_is_told():
    """Airflow and others turn it on in the runs that they start; Glue returns what they left."""
    old = found(None, {})
    bookmark = {"JobName": "orders", "Version": 3, "JobBookmark": "{}"}

    adoption = adopt(replace(old, bookmarks={"orders": bookmark}))

    assert any("it has a bookmark" in guess.what for guess in adoption.guesses)
    assert not any("it has a bookmark" in guess.what for guess in adopt(old).guesses)


@pytest.mark.parametrize("command", ["glueetl", "pythonshell", "gluestreaming"])
def test_extra_modules_of_every_kind_of_job_are_its_own(command):
    files = "s3://code/a.py,s3://code/b.whl"
    job = {
        "Name": "extra",
        "Command": {"Name": command},
        "DefaultArguments": {"--extra-py-files": files, "--checkpoint": "s3://lake/state/x/"},
    }
    old = found(None, {})
    actions = [{"JobName": name} for name in ("orders", "extra")]
    start = {"Name": "t", "Type": "ON_DEMAND", "Actions": actions}

    adoption = adopt(Existing("", {**old.jobs, "extra": job}, {"t": start}))

    (extra,) = [one for one in adoption.jobs if one.old == "extra"]
    assert extra.glue == {"extra_py_files": tuple(files.split(","))}


@pytest.mark.parametrize(
    "arguments",
    ["{Fn::GetAtt Shared.Arguments}", {"Fn::Transform": "{a macro}"}, {"a": "b", "Fn::If": ["x"]}],
)
def test_a_bookmark_is_carried_where_a_function_makes_the_arguments(arguments):
    old = found(None, {}, DefaultArguments=arguments)
    adoption = adopt(old)

    assert bookmark_of(adoption) == "ENABLE"
    (told,) = [one for one in adoption.differences if one.path[-1] == "--job-bookmark-option"]
    assert "only a deployment knows it" in told.why
