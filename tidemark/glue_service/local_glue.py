"""What an operation of Glue works on: the state, the runs, the triggers, the clock."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tidemark.glue_service.eventbridge.documents import Event, Origin
from tidemark.glue_service.eventbridge.rules import Rules
from tidemark.glue_service.eventbridge.topics import Topics
from tidemark.glue_service.runs.delays import Delays
from tidemark.glue_service.runs.job_run_process import Machine
from tidemark.glue_service.runs.runner import Runner
from tidemark.glue_service.workflows.batches import Batches
from tidemark.glue_service.workflows.flows import Flows
from tidemark.glue_service.workflows.schedules import Schedules
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.intrinsics import ACCOUNT_ID


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
        tell: told of events of Glue, and of those that a rule matches.
        rules: of EventBridge.
        topics: of SNS, that rules publish to; None where no rule is followed.
        batches: of events that wait for their batch.
        delays: of runs that are to be told of when they are late.
        account: the id that ARNs have.
        is_of_command: whether it ends with a command: no trigger fires by the clock then, and the
            flows that are begun end with it.
    """

    machine: Machine
    store: Store
    runner: Runner
    flows: Flows
    schedules: Schedules
    now_ms: Callable[[], int]
    say: Callable[[str], None]
    tell: Callable[[Event], None] = lambda _: None
    rules: Rules = field(default_factory=Rules)
    topics: Topics | None = None
    batches: Batches = field(default_factory=Batches)
    delays: Delays = field(default_factory=Delays)
    account: str = ACCOUNT_ID
    is_of_command: bool = False


def arn_of(glue: LocalGlue, kind: str, name: str) -> str:
    """Return the ARN of what Glue has, by the kind that ARNs name, such as ``job``."""
    return f"arn:aws:glue:{glue.machine.region}:{glue.account}:{kind}/{name}"


def topic_arn(glue: LocalGlue, name: str) -> str:
    """Return the ARN of a topic of SNS."""
    return f"arn:aws:sns:{glue.machine.region}:{glue.account}:{name}"


def origin_of(glue: LocalGlue) -> Origin:
    """Return the account and the region of this machine."""
    return Origin(glue.account, glue.machine.region)
