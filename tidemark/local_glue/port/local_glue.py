"""What an operation of Glue works on: the state, the runs, the triggers, the clock."""

from collections.abc import Callable
from dataclasses import dataclass

from tidemark.assembly.intrinsics import ACCOUNT_ID
from tidemark.local_glue.port.entities import Kind
from tidemark.local_glue.port.runs.runner import Runner
from tidemark.local_glue.port.workflows.firing import fire_by_clock
from tidemark.local_glue.port.workflows.flows import Flows
from tidemark.local_glue.port.workflows.schedules import Schedules
from tidemark.local_glue.runs.job_runs import Machine
from tidemark.local_glue.store.database import Store


@dataclass
class LocalGlue:
    """The Glue of one home; used by one thread.

    Attributes:
        machine: where job runs run, with the URL of the port.
        store: the state.
        runner: the runs that have not ended.
        flows: the firings of triggers and the workflow runs that have not ended.
        schedules: when triggers fire by the clock.
        now_ms: the clock, in epoch milliseconds.
        say: tells what no client waits for.
        account: the id that ARNs have.
    """

    machine: Machine
    store: Store
    runner: Runner
    flows: Flows
    schedules: Schedules
    now_ms: Callable[[], int]
    say: Callable[[str], None]
    account: str = ACCOUNT_ID

    def step(self) -> None:
        """Do what is due by itself."""
        now_ms = self.now_ms()
        for name in self.schedules.due(now_ms):
            fire_by_clock(self, name)
        self.runner.step()


def arn_of(glue: LocalGlue, kind: Kind, name: str) -> str:
    """Return the ARN of an entity."""
    return f"arn:aws:glue:{glue.machine.region}:{glue.account}:{kind}/{name}"
