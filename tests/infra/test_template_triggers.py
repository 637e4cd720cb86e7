"""The workflow of both stages: what starts each job, and in which order it is made."""

import pytest

from tests.infra.sample_pipeline import BOOKMARKS, job_names, triggers

pytestmark = pytest.mark.synth


def test_the_workflow_runs_once_at_a_time_under_its_own_name(sample):
    (workflow,) = sample.resources("AWS::Glue::Workflow").values()

    assert workflow["Properties"]["Name"] == "flights"
    assert workflow["Properties"]["MaxConcurrentRuns"] == 1


def test_every_trigger_that_waits_is_active_after_deployment(assembly):
    waiting = triggers(assembly, "CONDITIONAL")

    assert waiting
    assert {t["Properties"].get("StartOnCreation") for t in waiting.values()} == {True}


def test_the_one_start_trigger_starts_every_job_that_waits_for_none(sample):
    assert triggers(sample, "SCHEDULED") == {}
    (start,) = triggers(sample, "ON_DEMAND").values()

    started = job_names(sample, start["Properties"]["Actions"])
    assert [name for name in started if name in BOOKMARKS] == ["ingest-flights", "ingest-weather"]
    assert not {"Schedule", "StartOnCreation"} & start["Properties"].keys()


def test_a_conditional_trigger_fires_when_all_the_jobs_it_watches_have_succeeded(assembly):
    graph = {}
    for trigger in triggers(assembly, "CONDITIONAL").values():
        predicate = trigger["Properties"]["Predicate"]
        assert predicate["Logical"] == "AND"
        assert {c["LogicalOperator"] for c in predicate["Conditions"]} == {"EQUALS"}
        assert {c["State"] for c in predicate["Conditions"]} == {"SUCCEEDED"}
        (started,) = job_names(assembly, trigger["Properties"]["Actions"])
        graph[started] = job_names(assembly, predicate["Conditions"])

    assert {name: watched for name, watched in graph.items() if name in BOOKMARKS} == {
        "curate-flights": ["ingest-flights", "ingest-weather"],
        "publish-delays": ["curate-flights"],
    }


def test_no_trigger_starts_a_job_that_it_watches(assembly):
    for trigger in triggers(assembly, "CONDITIONAL").values():
        watched = job_names(assembly, trigger["Properties"]["Predicate"]["Conditions"])
        started = job_names(assembly, trigger["Properties"]["Actions"])

        assert not set(watched) & set(started)


def test_triggers_are_created_one_after_the_other_and_the_start_last(sample):
    all_triggers = sample.resources("AWS::Glue::Trigger")
    follows = {
        id_.split("/")[1]: trigger.get("DependsOn", []) for id_, trigger in all_triggers.items()
    }
    (last,) = (id_ for id_ in follows if "Start" in id_)

    order = [last]
    while follows[order[-1]]:
        (before,) = follows[order[-1]]
        order.append(before)

    assert sorted(order) == sorted(follows)
