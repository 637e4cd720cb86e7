"""What a job may wait for."""

import pytest

from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth


def test_a_job_may_wait_for_any_job_and_for_a_failure(add):
    from tidemark.constructs.jobs.conditions import JobState
    from tidemark.constructs.predicates import any_of

    first, second = add("first"), add("second")
    add("repair", after=any_of(first, second, on=JobState.FAILED))
    add("report", after=any_of(first.on(JobState.TIMEOUT), second))

    predicates = [
        trigger["Predicate"]
        for trigger in add.properties("AWS::Glue::Trigger")
        if trigger["Type"] == "CONDITIONAL"
    ]
    states = [[c["State"] for c in predicate["Conditions"]] for predicate in predicates]
    assert states == [["FAILED", "FAILED"], ["TIMEOUT", "SUCCEEDED"]]
    assert {predicate["Logical"] for predicate in predicates} == {"ANY"}


def test_conditions_that_cannot_be_are_refused(add):
    from tidemark.constructs.jobs.conditions import JobState
    from tidemark.constructs.predicates import all_of, any_of

    first = add("first")

    with pytest.raises(JobDefinitionError, match="names 'first' twice"):
        all_of(first, first.on(JobState.FAILED))
    with pytest.raises(JobDefinitionError, match="name no job; pass at least one"):
        any_of()
    with pytest.raises(JobDefinitionError, match=r"on is 'FAILED'; allowed: JobState\.SUCCEEDED"):
        any_of(first, on="FAILED")


def test_a_condition_that_is_named_twice_is_refused(add):
    from tidemark.constructs.predicates import any_of

    first = add("first")

    with pytest.raises(JobDefinitionError, match="names 'first' twice in the state SUCC"):
        any_of(first, first)


def test_conditions_of_conditions_are_refused_and_the_way_round_is_told(add):
    from tidemark.constructs.predicates import all_of, any_of

    first, second = add("first"), add("second")

    with pytest.raises(JobDefinitionError, match="let a job wait for the inner one, and wait for"):
        any_of(all_of(first, second), first)
