"""Triggers: nodes that wait for the same share one, which stays while its first node does."""

from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tries import tries

pytestmark = pytest.mark.synth

STATES = ("SUCCEEDED", "FAILED")


@dataclass(frozen=True)
class Wait:
    """What a job waits for, by names."""

    logical: str
    on: frozenset[tuple[str, str]]

    @property
    def meaning(self):
        return ("AND" if len(self.on) == 1 else self.logical, self.on)


@dataclass
class Built:
    """The triggers of a workflow that was synthesized."""

    triggers: dict[str, dict]

    def conditional(self):
        return {i: t for i, t in self.triggers.items() if t["Properties"]["Type"] == "CONDITIONAL"}

    def pairs(self):
        """Return each job that is started and what for, as often as it is."""
        found = Counter()
        for trigger in self.triggers.values():
            properties = trigger["Properties"]
            conditions = properties.get("Predicate", {}).get("Conditions", [])
            on = frozenset((c["JobName"]["Ref"], c["State"]) for c in conditions)
            logical = "AND" if len(on) == 1 else properties.get("Predicate", {}).get("Logical")
            for action in properties["Actions"]:
                found[action["JobName"]["Ref"], (logical, on) if on else None] += 1
        return found


@pytest.fixture(scope="module")
def build(cdk):
    """Return a function that declares jobs, each with what it waits for, in their order."""
    from aws_cdk import aws_glue as glue
    from aws_cdk.assertions import Template

    from tidemark.constructs.jobs.conditions import Condition, JobState
    from tidemark.constructs.pipeline.triggers import NOTHING, Triggers
    from tidemark.constructs.predicates import Predicate

    @dataclass(frozen=True)
    class Node:
        name: str
        resource: object

    def declare(jobs, extras=None):
        stack = cdk.Stack(cdk.App(analytics_reporting=False), "s")
        workflow = glue.CfnWorkflow(stack, "Workflow", name="w")
        triggers = Triggers(stack, workflow=workflow, name="w")
        nodes = {}
        for name, wait in jobs.items():
            command = glue.CfnJob.JobCommandProperty(name="glueetl")
            job = glue.CfnJob(stack, name, name=name, command=command, role="r")
            nodes[name] = Node(name, job)
            after = wait and Predicate(
                wait.logical,
                tuple(Condition(nodes[of], JobState[state]) for of, state in sorted(wait.on)),
            )
            triggers.add(name, nodes[name], after, (extras or {}).get(name, NOTHING))
        return Built(Template.from_stack(stack).find_resources("AWS::Glue::Trigger"))

    return declare


def on(*names, logical="AND", state="SUCCEEDED"):
    return Wait(logical, frozenset((name, state) for name in names))


def chain(count, first="A"):
    """Return jobs of which all but the first wait for the first."""
    return {first: None, **{f"J{number}": on(first) for number in range(count)}}


@st.composite
def workflows(draw):
    """Return jobs in their order, each with what it waits for of those before it."""
    jobs = {}
    for name in "ABCDEFGHIJ"[: draw(st.integers(1, 10))]:
        wait = None
        if jobs and draw(st.booleans()):
            watched = draw(st.lists(st.sampled_from(sorted(jobs)[:3]), min_size=1, unique=True))
            states = [(one, draw(st.sampled_from(STATES))) for one in watched]
            wait = Wait(draw(st.sampled_from(["AND", "ANY"])), frozenset(states))
        jobs[name] = wait
    return jobs


slow = settings(
    max_examples=tries(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@slow
@given(jobs=workflows())
def test_every_job_is_started_once_and_by_what_it_waits_for(build, jobs):
    built = build(jobs)

    assert built.pairs() == Counter({(n, wait and wait.meaning): 1 for n, wait in jobs.items()})
    meanings = {wait.meaning for wait in jobs.values() if wait}
    assert len(built.conditional()) == len(meanings)


@slow
@given(jobs=workflows(), data=st.data())
def test_a_trigger_stays_while_the_first_that_it_starts_does(build, jobs, data):
    waited_for = {name for wait in jobs.values() if wait for name, _ in wait.on}
    removable = sorted(set(jobs) - waited_for) or None
    gone = data.draw(st.sets(st.sampled_from(removable))) if removable else set()
    before, after = build(jobs), build({n: w for n, w in jobs.items() if n not in gone})

    for id_, trigger in before.conditional().items():
        first = trigger["Properties"]["Actions"][0]["JobName"]["Ref"]
        assert (id_ in after.conditional()) == (first not in gone)
    # No trigger of the template takes over what another one that stays has waited for.
    for id_ in set(before.conditional()) & set(after.conditional()):
        was, now = (b.conditional()[id_]["Properties"] for b in (before, after))
        assert was["Predicate"]["Conditions"] == now["Predicate"]["Conditions"]


def test_the_id_of_a_trigger_of_one_job_is_that_of_the_job_as_ever(build):
    built = build({"A": None, "B": on("A"), "C": on("A", "B")})

    assert set(built.conditional()) == {"BTrigger", "CTrigger"}


def test_a_job_that_joins_keeps_the_trigger_of_the_first_in_its_place(build):
    alone, joined = build(chain(1)).conditional(), build(chain(2)).conditional()

    assert set(joined) == set(alone) == {"J0Trigger"}
    assert joined["J0Trigger"]["Properties"]["Actions"] == [
        {"JobName": {"Ref": "J0"}},
        {"JobName": {"Ref": "J1"}},
    ]


def test_all_of_one_and_any_of_one_mean_the_same(build):
    built = build({"A": None, "B": on("A"), "C": on("A", logical="ANY")})

    (trigger,) = built.conditional().values()
    assert [action["JobName"]["Ref"] for action in trigger["Properties"]["Actions"]] == ["B", "C"]


def test_any_of_two_and_all_of_two_do_not(build):
    both = on("A", "B")
    jobs = {"A": None, "B": None, "C": both, "D": replace(both, logical="ANY")}

    assert set(build(jobs).conditional()) == {"CTrigger", "DTrigger"}


def test_a_trigger_starts_no_more_jobs_than_glue_allows(build):
    built = build(chain(98))

    counts = [len(t["Properties"]["Actions"]) for t in built.conditional().values()]
    assert counts == [50, 48]
    assert set(build(chain(97)).conditional()) == set(built.conditional())
    assert set(build(chain(50)).conditional()) < set(built.conditional())


def test_the_triggers_are_made_one_after_the_other_and_the_start_last(build):
    jobs = {**chain(2), "K": on("J0"), "L": on("J1"), "M": on("J0")}
    built = build(jobs)

    order, waiting = [], dict(built.triggers)
    while waiting:
        ready = [i for i, t in waiting.items() if set(t.get("DependsOn", [])) <= set(order)]
        assert len(ready) == 1  # Glue refuses concurrent changes of one workflow
        order += ready
        del waiting[ready[0]]
    assert built.triggers[order[-1]]["Properties"]["Type"] == "ON_DEMAND"


def test_what_a_trigger_adds_is_of_one_action_only(build):
    from tidemark.constructs.pipeline.triggers import Extra

    extra = Extra({"--day": "1"}, {"--day": "it is a number"}, 20, 10)
    (trigger,) = build(chain(2), {"J1": extra}).conditional().values()

    assert trigger["Properties"]["Actions"] == [
        {"JobName": {"Ref": "J0"}},
        {
            "JobName": {"Ref": "J1"},
            "Arguments": {"--day": "1"},
            "Timeout": 20,
            "NotificationProperty": {"NotifyDelayAfter": 10},
        },
    ]
    assert trigger["Metadata"] == {"Tidemark": {"notSecret": {"--day": "it is a number"}}}
