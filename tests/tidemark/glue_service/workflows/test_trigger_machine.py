"""Random graphs that events start: each job starts when the predicates say so, crash or no crash.

The engine is the real one, with its store on a disk; only processes are missing, as no run gets a
core (``most=0``): the machine says how each run ends. What is expected is worked out naively.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.tidemark.glue_service.workflows.test_triggers import watch
from tests.tries import tries
from tidemark.glue_service.engine import load, step
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.jobs import create_job
from tidemark.glue_service.runs.job_runs import start_job_run
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.runs.runner import Runner
from tidemark.glue_service.runs.take_over import continue_runs
from tidemark.glue_service.workflows.batch_firing import notify
from tidemark.glue_service.workflows.due import Schedules
from tidemark.glue_service.workflows.flow_rows import flows_of_workflow
from tidemark.glue_service.workflows.flows import Flows
from tidemark.glue_service.workflows.triggers import create_trigger
from tidemark.glue_service.workflows.workflows import create_workflow
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store

STATES = ("SUCCEEDED", "SUCCEEDED", "SUCCEEDED", "FAILED", "STOPPED")  # mostly what fires much
JOBS = [f"j{number}" for number in range(8)]
COMMAND = {"Name": "pythonshell", "PythonVersion": "3.9", "ScriptLocation": "s3://scripts/j.py"}
FLOW = "w"


@dataclass
class Expected:
    """One run of the workflow, as it should be."""

    event_ids: list[str]
    started: Counter[str] = field(default_factory=Counter)
    states: dict[str, str] = field(default_factory=dict)
    fired: set[str] = field(default_factory=set)
    ended: int = 0


def triggers(chance: random.Random):
    """Return conditional triggers; one watches jobs before those that it starts."""
    found = []
    for number in range(chance.randint(1, 8)):
        cut = chance.randint(2, 6)
        watched = chance.sample(JOBS[:cut], chance.randint(1, min(3, cut)))
        conditions = [watch(job, chance.choice(STATES)) for job in watched]
        predicate = {"Logical": chance.choice(["AND", "ANY"]), "Conditions": conditions}
        started = chance.choices(JOBS[cut:], k=chance.randint(1, 2))
        found.append(
            {
                "Name": f"t{number}",
                "Type": "CONDITIONAL",
                "WorkflowName": FLOW,
                "StartOnCreation": chance.random() < 0.8,
                "Predicate": predicate,
                "Actions": [{"JobName": job} for job in started],
            }
        )
    return found


class TriggerMachine(RuleBasedStateMachine):
    """Puts events, turns the clock, ends runs, kills the engine."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.home = Home.open(Path(self.folder.name) / "home")
        self.now_ms = 1_000_000
        self.waiting: list[tuple[str, int]] = []
        self.flows: list[Expected] = []
        self.events = 0
        self.open_engine()

    def open_engine(self) -> None:
        self.store = Store(self.home.database)
        machine = Machine(self.home, Path(), "", "us-east-1")
        flows = Flows(self.store, lambda: self.now_ms)
        runner = Runner(machine, self.store, flows.follow, most=0)
        clock, say = lambda: self.now_ms, lambda _: None
        self.glue = GlueState(machine, self.store, runner, flows, Schedules(), clock, say)
        load(self.glue)
        continue_runs(self.glue)

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @initialize(seed=st.integers(0, 2**32 - 1))
    def define(self, seed):
        self.chance = random.Random(seed)  # noqa: S311 (an example)
        self.conditional = triggers(self.chance)
        self.first = self.chance.sample(JOBS[:4], self.chance.randint(2, 4))
        self.size, self.window_s = self.chance.randint(1, 3), 60
        retries = self.chance.randint(0, 1)
        for job in JOBS:
            most = {"MaxConcurrentRuns": 1000}
            members = {"Command": COMMAND, "ExecutionProperty": most, "MaxRetries": retries}
            create_job(self.glue, {"Name": job, "Role": "anyone", **members})
        self.retries = retries
        create_workflow(self.glue, {"Name": FLOW})
        start = {
            "Name": "start",
            "Type": "EVENT",
            "WorkflowName": FLOW,
            "Actions": [{"JobName": job} for job in self.first],
            "EventBatchingCondition": {"BatchSize": self.size, "BatchWindow": self.window_s},
        }
        for trigger in (start, *self.conditional):
            create_trigger(self.glue, trigger)

    @rule()
    def put_event(self):
        self.events += 1
        event_id = f"event-{self.events}"
        notify(self.glue, FLOW, event_id)
        self.waiting.append((event_id, self.now_ms))
        if len(self.waiting) >= self.size:
            self.expect_flow()

    @rule(seconds=st.sampled_from([1, 30, 59, 60, 61]))
    def turn_clock(self, seconds):
        self.now_ms += seconds * 1000
        step(self.glue)
        if self.waiting and self.now_ms - self.waiting[0][1] >= self.window_s * 1000:
            self.expect_flow()

    def expect_flow(self) -> None:
        flow = Expected([event_id for event_id, _ in self.waiting], Counter(self.first))
        self.flows.append(flow)
        self.waiting = []

    def open_runs(self):
        return self.store.unfinished_job_runs()

    @precondition(lambda self: len(self.open_runs()) < 3)
    @rule(job=st.sampled_from(JOBS))
    def start_by_hand(self, job):
        start_job_run(self.glue, {"JobName": job})

    @precondition(lambda self: self.open_runs())
    @rule(number=st.integers(5, 25))
    def end_runs(self, number):
        for _ in range(number):
            if self.open_runs():
                self.end_run(self.chance.choice(STATES))

    def end_run(self, state):
        run = self.chance.choice(sorted(self.open_runs(), key=lambda run: run.job_name))
        active = self.glue.runner._active.find(run.run_id)
        self.glue.runner._end(active, replace(run, state=state, completed_at_ms=self.now_ms))
        is_retried = state == "FAILED" and run.attempt < self.retries
        if run.workflow_run_id is None or is_retried:
            return
        ids = [flow.flow_id for flow in reversed(flows_of_workflow(self.store, FLOW))]
        flow = self.flows[ids.index(run.workflow_run_id)]
        flow.states[run.job_name] = state
        flow.ended += 1
        for trigger in self.conditional:
            self.fire_if_met(flow, trigger)

    def fire_if_met(self, flow: Expected, trigger) -> None:
        predicate = trigger["Predicate"]
        met = [flow.states.get(c["JobName"]) == c["State"] for c in predicate["Conditions"]]
        holds = any(met) if predicate["Logical"] == "ANY" else all(met)
        if trigger["StartOnCreation"] and holds and trigger["Name"] not in flow.fired:
            flow.fired.add(trigger["Name"])
            flow.started.update(action["JobName"] for action in trigger["Actions"])

    @rule()
    def kill_engine(self):
        self.store.close()
        self.open_engine()

    @invariant()
    def every_job_started_as_often_as_the_predicates_say(self):
        found = list(reversed(flows_of_workflow(self.store, FLOW)))
        assert len(found) == len(self.flows)
        for flow, expected in zip(found, self.flows, strict=True):
            runs = [run for run in self.store.job_runs_of(flow.flow_id) if run.attempt == 0]
            assert Counter(run.job_name for run in runs) == expected.started
            assert flow.is_open == (expected.ended < expected.started.total())
            assert flow.properties["aws:eventIds"] == f"[{', '.join(expected.event_ids)}]"


TestTriggers = TriggerMachine.TestCase
TestTriggers.settings = settings(max_examples=tries(40), stateful_step_count=30, deadline=None)
