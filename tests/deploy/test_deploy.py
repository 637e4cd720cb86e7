"""The app is deployed and changed by the real CDK command line.

CloudFormation and the services are MiniStack's: see conftest.py. What the steps are is there too;
the tests look at what a step did.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.deploy.story import (
    ADDED,
    FLIGHTS,
    STACKS,
    Step,
    changes,
    read_template,
    wrong,
)

START = re.compile(r"FlightsStart[0-9A-F]{8}")


def test_every_resource_of_the_templates_is_deployed(deployed: Step, base: Path) -> None:
    assert deployed.status == 0, deployed.said
    assert wrong(deployed, base) == []
    assert deployed.jobs.keys() >= {
        "ingest-flights",
        "ingest-weather",
        "curate-flights",
        "publish-delays",
    }


def test_nothing_else_is_created(deployed: Step) -> None:
    named = {
        "jobs": "AWS::Glue::Job",
        "triggers": "AWS::Glue::Trigger",
        "databases": "AWS::Glue::Database",
        "queues": "AWS::SQS::Queue",
        "schedules": "AWS::Scheduler::Schedule",
        "roles": "AWS::IAM::Role",
        "tables": "AWS::DynamoDB::Table",
        "buckets": "AWS::S3::Bucket",
    }

    assert deployed.names == {
        kind: {resource.id for resource in deployed.of_type(type_).values()}
        for kind, type_ in named.items()
    }


def test_every_conditional_trigger_is_active(deployed: Step) -> None:
    triggers = deployed.triggers.values()

    assert {it["State"] for it in triggers if it["Type"] == "CONDITIONAL"} == {"ACTIVATED"}


def test_a_resource_is_created_after_those_it_depends_on(deployed: Step, base: Path) -> None:
    for stack in STACKS:
        events = deployed.events[stack]
        for name, resource in read_template(base, stack)["Resources"].items():
            begun = events.index((name, "CREATE_IN_PROGRESS"))
            for other in resource.get("DependsOn", []):
                assert events.index((other, "CREATE_COMPLETE")) < begun, (name, other)


def test_triggers_are_created_one_after_the_other_and_the_start_last(deployed: Step) -> None:
    triggers = deployed.of_type("AWS::Glue::Trigger")
    events = [event for event in deployed.events[FLIGHTS] if event[0] in triggers]

    assert [status for _, status in events] == (
        ["CREATE_IN_PROGRESS", "CREATE_COMPLETE"] * len(triggers)
    )
    assert START.fullmatch(events[-1][0])


def test_a_second_deployment_changes_nothing(deployed: Step, deployed_again: Step) -> None:
    assert deployed_again.status == 0
    assert deployed_again.said.count("(no changes)") == len(STACKS)
    assert deployed_again.events == {stack: [] for stack in STACKS}
    assert changes(deployed, deployed_again) == []


def test_after_a_deployment_there_is_no_difference(same: Step) -> None:
    assert same.status == 0
    assert same.said.count("There were no differences") == len(STACKS)
    assert "Unknown option" not in same.said


def test_the_difference_shows_a_job_that_was_added(different: Step) -> None:
    assert different.status == 0
    found = re.findall(r"^\[(.)\] AWS::(\w+::\w+) ", different.said, re.MULTILINE)
    assert sorted(found) == [
        ("+", "Glue::Job"),
        ("+", "Glue::Trigger"),
        ("+", "IAM::ManagedPolicy"),
        ("+", "IAM::Role"),
        ("+", "Logs::LogGroup"),
        ("+", "Logs::LogGroup"),
        ("~", "CloudWatch::Dashboard"),
        ("~", "Events::Rule"),
        ("~", "Events::Rule"),
        ("~", "Events::Rule"),
        ("~", "Glue::Trigger"),  # the order of creation
    ]
    assert "Number of stacks with differences: 1" in different.said


def test_new_permissions_are_not_granted_where_nobody_can_be_asked(unanswered: Step) -> None:
    assert unanswered.status != 0
    assert "terminal (TTY) is not attached" in unanswered.said
    assert unanswered.events == {stack: [] for stack in STACKS}


def test_a_deployment_that_fails_leaves_everything_as_it_was(
    deployed: Step, failed: Step, base: Path
) -> None:
    assert failed.status != 0
    assert "already exists" in failed.said
    assert wrong(failed, base) == []
    assert changes(deployed, failed) == []


def test_a_job_is_added_without_touching_another(
    deployed: Step, grown: Step, with_a_job_more: Path
) -> None:
    assert grown.status == 0, grown.said
    assert wrong(grown, with_a_job_more) == []
    assert changes(deployed, grown) == []
    for kind in ("jobs", "triggers", "roles"):
        assert len(grown.names[kind] - deployed.names[kind]) == 1


def test_jobs_are_updated_in_place(grown: Step, scheduled: Step, with_other_settings: Path) -> None:
    assert scheduled.status == 0, scheduled.said
    assert wrong(scheduled, with_other_settings) == []
    assert {job["NumberOfWorkers"] for job in scheduled.jobs.values()} == {5}
    assert {name: job["CreatedOn"] for name, job in scheduled.jobs.items()} == {
        name: job["CreatedOn"] for name, job in grown.jobs.items()
    }


def test_a_schedule_is_turned_on_and_off_without_touching_a_trigger(
    grown: Step, scheduled: Step, back: Step
) -> None:
    steps = (grown, scheduled, back)
    starts = [
        next(
            trigger
            for name, trigger in step.of_type("AWS::Glue::Trigger").items()
            if START.fullmatch(name)
        )
        for step in steps
    ]

    assert len({start.id for start in starts}) == 1
    assert {step.triggers[starts[0].id]["Type"] for step in steps} == {"ON_DEMAND"}
    assert [len(step.names["schedules"]) for step in steps] == [0, 1, 0]
    assert [len(step.names["queues"]) for step in steps] == [0, 1, 0]


def test_the_role_of_a_schedule_starts_its_workflow_and_keeps_what_failed(
    tried: dict[str, str],
) -> None:
    assert tried == {
        "assume": "AccessDenied",
        "start flights": "done",
        "start another": "AccessDenied",
        "start a job": "AccessDenied",
        "send to the queue": "done",
        "read the queue": "AccessDenied",
    }


def test_a_removed_job_goes_with_its_role_and_trigger(
    deployed: Step, grown: Step, back: Step, base: Path
) -> None:
    assert back.status == 0, back.said
    assert wrong(back, base) == []
    assert grown.names["jobs"] - back.names["jobs"] == {ADDED}
    assert {kind: len(names) for kind, names in back.names.items()} == {
        kind: len(names) for kind, names in deployed.names.items()
    }
