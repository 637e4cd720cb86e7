"""The data that an operation of Glue works on: state, runs, triggers, clock."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tidemark.glue_service.eventbridge.documents import Event, Origin
from tidemark.glue_service.eventbridge.rules import Rules
from tidemark.glue_service.eventbridge.topics import Topics
from tidemark.glue_service.runs.active import Delays
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.runs.runner import Runner
from tidemark.glue_service.state_machines.live import LiveExecutions
from tidemark.glue_service.workflows.due import Batches, Schedules
from tidemark.glue_service.workflows.flows import Flows
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.intrinsics import ACCOUNT_ID


@dataclass
class SessionTimes:
    """The times of a port's sessions.

    Attributes:
        to_end: when a cancelled statement must have ended, by run and number.
        to_stop: when a session that was asked to end is ended, by run.
        idle_at: when a session is to be looked at, since it may be idle for too long, by run.
        before_statement: called with the code of each statement before it is taken; what it raises
            is the answer.
    """

    to_end: dict[tuple[str, int], int] = field(default_factory=dict)
    to_stop: dict[str, int] = field(default_factory=dict)
    idle_at: dict[str, int] = field(default_factory=dict)
    before_statement: Callable[[str], None] = lambda _: None


@dataclass
class GlueState:
    """The Glue of one home; used by one thread.

    Attributes:
        machine: where job runs execute, with the URL of the port.
        store: the state.
        runner: the runs that have not ended.
        flows: the firings of triggers and the workflow runs that have not ended.
        schedules: the times of scheduled triggers.
        now_ms: the clock, in epoch milliseconds.
        say: reports messages that no client waits for.
        tell: reports events of Glue, and events that a rule matches.
        rules: the rules of EventBridge.
        topics: the SNS topics of rules; None if rules are not followed.
        batches: events that wait for their batch.
        deliveries: what rules have to pass to their targets, in order.
        delays: runs that are reported when they are late.
        sessions: when something of interactive sessions is due.
        executions: the executions of state machines that are interpreted now.
        account: the account id in ARNs.
        is_of_command: whether it ends with a command: then no trigger fires by the clock, and its
            flows end with it.
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
    deliveries: deque[Callable[[], None]] = field(default_factory=deque)
    delays: Delays = field(default_factory=Delays)
    sessions: SessionTimes = field(default_factory=SessionTimes)
    executions: LiveExecutions = field(default_factory=LiveExecutions)
    account: str = ACCOUNT_ID
    is_of_command: bool = False


def arn_of(glue: GlueState, kind: str, name: str) -> str:
    """Return the ARN of a resource of Glue, by its kind in ARNs, such as ``job``."""
    return f"arn:aws:glue:{glue.machine.region}:{glue.account}:{kind}/{name}"


def topic_arn(glue: GlueState, name: str) -> str:
    """Return the ARN of a topic of SNS."""
    return f"arn:aws:sns:{glue.machine.region}:{glue.account}:{name}"


def origin_of(glue: GlueState) -> Origin:
    """Return the account and the region of this machine."""
    return Origin(glue.account, glue.machine.region)
