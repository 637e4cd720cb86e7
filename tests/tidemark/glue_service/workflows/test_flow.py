"""What fires what, as plain data: random graphs, outcomes and orders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.glue_service.workflows.flow import (
    Ended,
    Flow,
    Progress,
    after_end,
    closed,
    predecessors,
)
from tidemark.model.assembly.definitions import Action, TriggerCondition, TriggerDefinition

STATES = ("SUCCEEDED", "STOPPED", "FAILED", "TIMEOUT", "ERROR")


def when(name, started, *conditions, logical="AND", is_active=True):
    return TriggerDefinition(
        name,
        "CONDITIONAL",
        tuple(Action(job) for job in started),
        logical=logical,
        conditions=tuple(TriggerCondition(*condition) for condition in conditions),
        is_active=is_active,
    )


@st.composite
def graphs(draw):
    """Draw triggers over up to twelve jobs; one watches jobs before those that it starts."""
    jobs = [f"j{number}" for number in range(draw(st.integers(2, 12)))]
    triggers = []
    for number in range(draw(st.integers(1, 10))):
        cut = draw(st.integers(1, len(jobs) - 1))
        watched = draw(st.lists(st.sampled_from(jobs[:cut]), min_size=1, max_size=3, unique=True))
        conditions = [(job, draw(st.sampled_from(STATES[:4]))) for job in watched]
        started = draw(st.lists(st.sampled_from(jobs[cut:]), min_size=1, max_size=3))
        logical = draw(st.sampled_from(["AND", "ANY"]))
        is_active = draw(st.booleans()) or draw(st.booleans())
        triggers.append(
            when(f"t{number}", started, *conditions, logical=logical, is_active=is_active)
        )
    return jobs, triggers


def expected(triggers, outcomes, first):
    """Return the triggers that fire: as often as something new does, until nothing more does."""
    started, fired = {first}, set()
    while True:
        states = {job: outcomes[job] for job in started}
        new = [
            t
            for t in triggers
            if t.name not in fired
            and t.is_active
            and (any if t.logical == "ANY" else all)(
                states.get(c.job_name) == c.state for c in t.conditions
            )
        ]
        if not new:
            return fired
        fired |= {t.name for t in new}
        started |= {action.job_name for t in new for action in t.actions}


@given(graphs(), st.data())
def test_each_trigger_fires_exactly_when_its_predicate_says_and_never_twice(graph, data):
    jobs, triggers = graph
    outcomes = {job: data.draw(st.sampled_from(STATES)) for job in jobs}
    flow, progress = Flow("wf_1", None, 0), Progress()
    running, count, fired = [("r0", jobs[0])], 1, []

    while running:
        run_id, job = running.pop(data.draw(st.integers(0, len(running) - 1)))
        ended = Ended(outcomes[job], run_id)
        progress, firing = after_end(flow, progress, triggers, job, ended)
        fired += [trigger.name for trigger in firing]
        for action in (action for trigger in firing for action in trigger.actions):
            running.append((f"r{count}", action.job_name))
            count += 1

    assert len(fired) == len(set(fired))
    assert set(fired) == set(progress.fired) == expected(triggers, outcomes, jobs[0])


@pytest.mark.rule("Triggers and workflows", source="SILENT", choice="at most once")
def test_a_trigger_fires_once_within_a_workflow_run():
    flow = Flow("wr_1", "flow", 0)
    then = when("then", ["b"], ("a", "SUCCEEDED"))

    progress, first = after_end(flow, Progress(), [then], "a", Ended("SUCCEEDED", "jr_1"))
    _, again = after_end(flow, progress, [then], "a", Ended("SUCCEEDED", "jr_2"))

    assert (first, again) == ([then], [])


@pytest.mark.rule("Triggers and workflows", source="SILENT", choice="the order of the template")
def test_triggers_that_fire_together_keep_the_order_of_the_template():
    both = [when(name, ["c"], ("a", "SUCCEEDED")) for name in ("z", "b")]

    _, fired = after_end(Flow("wr_1", "flow", 0), Progress(), both, "a", Ended("SUCCEEDED", "jr_1"))

    assert fired == both


def test_a_flow_that_is_being_stopped_fires_nothing_and_ends_stopped():
    flow = Flow("wr_1", "flow", 0, status="STOPPING")
    then = when("then", ["b"], ("a", "STOPPED"))

    _, firing = after_end(flow, Progress(), [then], "a", Ended("STOPPED", "jr_1_attempt_2"))
    end = closed(flow, 5)

    assert (firing, end.status, end.ended_at_ms) == ([], "STOPPED", 5)
    assert closed(Flow("wr_1", "flow", 0), 5).status == "COMPLETED"


def test_predecessors_are_the_runs_that_met_the_conditions():
    any_of = when("t", ["c"], ("a", "SUCCEEDED"), ("b", "FAILED"), logical="ANY")
    final = {"a": Ended("SUCCEEDED", "jr_a"), "b": Ended("SUCCEEDED", "jr_b")}

    assert predecessors(any_of, Progress(final=final)) == [{"JobName": "a", "RunId": "jr_a"}]
