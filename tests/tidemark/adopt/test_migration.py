"""The steps of a plan never let an old and a new job write one target, and carry what is kept."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tries import tries
from tidemark.adopt.adoption import adopt
from tidemark.adopt.model import Existing
from tidemark.adopt.plan.migration import steps_of

OPTIONS = st.sampled_from(["job-bookmark-enable", "job-bookmark-pause", "job-bookmark-disable"])
OUTPUTS = st.sampled_from([None, "s3://lake/a/", "s3://lake/b/"])
SCRIPTS = st.sampled_from([None, "x = 1\n", "frame.writeTo('t').append()\n"])


@st.composite
def pipelines(draw):
    """Return jobs that wait for each other in any way, with a start trigger of any type."""
    names = [f"Job_{number}" for number in range(draw(st.integers(1, 4)))]
    jobs, scripts = {}, {}
    for name in names:
        arguments = {"--job-bookmark-option": draw(OPTIONS), "--source_path": "s3://lake/in/"}
        if (output := draw(OUTPUTS)) is not None:
            arguments["--target_path"] = output
        jobs[name] = {
            "Name": name,
            "Command": {"Name": "glueetl", "ScriptLocation": f"s3://code/{name}.py"},
            "DefaultArguments": arguments,
        }
        if (script := draw(SCRIPTS)) is not None:
            scripts[name] = script
    kind = draw(st.sampled_from(["SCHEDULED", "ON_DEMAND", "EVENT"]))
    actions = [{"JobName": names[0]}]
    start = {"Name": "start", "Type": kind, "State": "ACTIVATED", "Actions": actions}
    triggers = {"start": start | ({"Schedule": "cron(0 6 * * ? *)"} if kind == "SCHEDULED" else {})}
    for number, name in enumerate(names[1:]):
        condition = {"JobName": names[draw(st.integers(0, number))], "State": "SUCCEEDED"}
        triggers[f"to-{name}"] = {
            "Name": f"to-{name}",
            "Type": "CONDITIONAL",
            "State": "ACTIVATED",
            "Predicate": {"Logical": "AND", "Conditions": [condition]},
            "Actions": [{"JobName": name}],
        }
    bookmarks = {name: draw(st.sampled_from([None, {"Version": 1}])) for name in names}
    return Existing("", jobs, triggers, bookmarks=bookmarks, scripts=scripts)


@given(pipelines())
@settings(max_examples=tries(100), deadline=None)
def test_old_and_new_never_write_a_target_at_a_time(found):
    adoption = adopt(found)
    targets = {p.uri for job in adoption.jobs for _, p in job.writes}
    old_may_start, new_is_deployed = True, False

    for step in steps_of(adoption, found, "infra/x_stack.py"):
        for line in step.commands:
            words = shlex.split(line, comments=True)
            if words[:3] == ["npx", "cdk", "deploy"]:
                new_is_deployed = True
            if words[:3] == ["aws", "glue", "stop-trigger"] or "Stop everything" in step.title:
                old_may_start = False
            if words[:3] == ["aws", "glue", "start-workflow-run"] and words[4] == adoption.name:
                assert new_is_deployed
                assert not old_may_start
            if words[:3] == ["aws", "glue", "start-job-run"]:
                assert not old_may_start
                given = json.loads(words[6])
                job = next(job for job in adoption.jobs if job.name == words[4])
                assert {f"--{name}" for name, _ in job.writes} <= set(given)
                assert not any(
                    value.startswith(target) or target.startswith(value)
                    for value in given.values()
                    for target in targets
                )


@given(pipelines())
@settings(max_examples=tries(100), deadline=None)
def test_every_bookmark_that_stored_something_is_carried_or_decided_about(found):
    adoption = adopt(found)
    titles = [step.title for step in steps_of(adoption, found, "infra/x_stack.py")]

    for job in adoption.jobs:
        needs = job.bookmark != "DISABLE" and found.bookmarks[job.old] is not None
        made = f"Make the bookmark of {job.name}, writing elsewhere" in titles
        decided = f"Decide how {job.name} starts" in titles
        assert (made, decided).count(True) == (1 if needs else 0)
        if "writeTo" in found.scripts.get(job.old, "") or not job.writes:
            assert not made  # its run would write to the target


@given(pipelines())
@settings(max_examples=tries(30), deadline=None)
def test_the_old_jobs_are_deleted_last_and_every_step_can_be_checked_and_undone(found):
    adoption = adopt(found)
    steps = steps_of(adoption, found, "infra/x_stack.py")

    deletes = [any("delete-job" in line for line in step.commands) for step in steps]
    assert deletes == [False] * (len(steps) - 1) + [True]
    assert all(step.commands and step.check and step.rollback for step in steps)


@pytest.mark.parametrize(("stored", "expected"), [(None, 0), ({"Version": 3}, 1)])
def test_a_paused_bookmark_is_enabled_for_the_one_run_that_makes_it(stored, expected):
    arguments = {"--job-bookmark-option": "job-bookmark-pause", "--out": "s3://lake/out/"}
    job = {"Name": "J", "Command": {"Name": "glueetl"}, "DefaultArguments": arguments}
    existing = Existing("", {"J": job}, bookmarks={"J": stored}, taken=frozenset({"J"}))

    steps = steps_of(adopt(existing), existing, "infra/x_stack.py")

    runs = [line for step in steps for line in step.commands if "job-bookmark-enable" in line]
    assert len(runs) == expected


def test_watermarks_are_carried_by_name_and_back():
    arguments = {"--watermark_table": "marks"}
    job = {"Name": "Load", "Command": {"Name": "glueetl"}, "DefaultArguments": arguments}
    existing = Existing("", {"Load": job}, taken=frozenset({"Load"}))

    steps = steps_of(adopt(existing), existing, "infra/x_stack.py")

    (step,) = [step for step in steps if "watermarks" in step.title]
    assert 'WatermarkAdmin("marks").rename_job("Load", "load-v2")' in step.commands[0]
    assert 'WatermarkAdmin("marks").rename_job("load-v2", "Load")' in step.rollback[0]
