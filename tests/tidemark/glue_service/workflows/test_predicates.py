"""Which conditional triggers fire."""

from __future__ import annotations

import pytest

from tidemark.glue_service.workflows.selection import is_satisfied, unmet_conditions
from tidemark.model.assembly.definitions import Action, TriggerCondition, TriggerDefinition

BOTH = (TriggerCondition("one", "SUCCEEDED"), TriggerCondition("two", "SUCCEEDED"))


def trigger(conditions=BOTH, **changes):
    given = {"name": "t", "type": "CONDITIONAL", "actions": (Action("three"),)}
    return TriggerDefinition(**{**given, "conditions": conditions, **changes})


@pytest.mark.rule("Triggers and workflows", source="TRG")
def test_and_fires_when_every_condition_holds():
    assert is_satisfied(trigger(), {"one": "SUCCEEDED", "two": "SUCCEEDED"})


@pytest.mark.parametrize(
    "states",
    [{}, {"one": "SUCCEEDED"}, {"one": "SUCCEEDED", "two": "FAILED"}],
    ids=["nothing ended", "one still runs", "one failed"],
)
def test_and_does_not_fire_before(states):
    assert not is_satisfied(trigger(), states)


@pytest.mark.rule("Triggers and workflows", source="TRG")
def test_any_fires_on_the_first_condition_that_holds():
    any_failed = trigger(
        (TriggerCondition("one", "FAILED"), TriggerCondition("two", "FAILED")), logical="ANY"
    )

    assert is_satisfied(any_failed, {"two": "FAILED"})
    assert not is_satisfied(any_failed, {"one": "SUCCEEDED", "two": "SUCCEEDED"})


@pytest.mark.rule("Triggers and workflows", source="TRG, BOTO")
@pytest.mark.parametrize("state", ["SUCCEEDED", "STOPPED", "FAILED", "TIMEOUT"])
def test_each_watchable_state_is_matched_exactly(state):
    watching = trigger((TriggerCondition("one", state),))

    assert is_satisfied(watching, {"one": state})
    for other in {"SUCCEEDED", "STOPPED", "FAILED", "TIMEOUT"} - {state}:
        assert not is_satisfied(watching, {"one": other})


@pytest.mark.parametrize(
    "changes",
    [
        {"is_active": False},
        {"conditions": ()},
        {"conditions": (), "logical": "ANY"},
        {"type": "SCHEDULED"},
        {"type": "ON_DEMAND"},
    ],
    ids=["not active", "no condition", "any of none", "scheduled", "on demand"],
)
def test_trigger_that_never_fires_by_itself(changes):
    states = {"one": "SUCCEEDED", "two": "SUCCEEDED"}

    assert not is_satisfied(trigger(**changes), states)


def test_unmet_conditions_are_told_with_what_is_and_what_should_be():
    assert unmet_conditions(trigger(), {"one": "FAILED"}) == [
        "one SUCCEEDED (is FAILED)",
        "two SUCCEEDED (is not started)",
    ]
