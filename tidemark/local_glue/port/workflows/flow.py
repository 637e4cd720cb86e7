"""Decides what a firing of a trigger starts, as plain data: no clock, no store.

A flow is what one trigger began: a workflow run, or the firing of a trigger outside workflows. Only
runs of one flow are looked at together, and a conditional trigger fires once in each.
Source: https://docs.aws.amazon.com/glue/latest/dg/about-triggers.html
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tidemark.assembly.definitions import TriggerDefinition
from tidemark.local_glue.workflows.predicates import is_satisfied

RUNNING, STOPPING, STOPPED, COMPLETED = "RUNNING", "STOPPING", "STOPPED", "COMPLETED"
ATTEMPT = "_attempt_"


@dataclass(frozen=True)
class Ended:
    """How the last run of a job in a flow ended."""

    state: str
    run_id: str


@dataclass(frozen=True)
class Flow:
    """What has happened since a trigger fired.

    Attributes:
        flow_id: of a workflow run its id, ``wr_...``.
        workflow_name: None outside workflows.
        started_at_ms: epoch milliseconds.
        status: RUNNING, STOPPING, STOPPED or COMPLETED; the last also where jobs failed.
        ended_at_ms: when nothing ran any more.
        properties: of a workflow run.
        fired: the triggers that have fired.
        final: by job, how its last run in this flow ended.
        open_runs: the runs that have not ended, by the id of their first attempt.
        previous_id: the workflow run that this one resumes.
        kept: by job, the runs of that one which count here too.
    """

    flow_id: str
    workflow_name: str | None
    started_at_ms: int
    status: str = RUNNING
    ended_at_ms: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    fired: tuple[str, ...] = ()
    final: Mapping[str, Ended] = field(default_factory=dict)
    open_runs: tuple[str, ...] = ()
    previous_id: str | None = None
    kept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether something of it may still happen."""
        return self.status in (RUNNING, STOPPING)


def after_end(
    flow: Flow, triggers: Iterable[TriggerDefinition], job_name: str, ended: Ended
) -> tuple[Flow, list[TriggerDefinition]]:
    """Return a flow in which a run has ended, and the triggers that fire by that, in order.

    Args:
        flow: what it was before.
        triggers: those that watch the job, at least.
        job_name: whose run has ended, its last attempt.
        ended: how.
    """
    first = ended.run_id.split(ATTEMPT)[0]
    flow = replace(
        flow,
        final={**flow.final, job_name: ended},
        open_runs=tuple(run_id for run_id in flow.open_runs if run_id != first),
    )
    if flow.status != RUNNING:
        return flow, []
    states = {name: last.state for name, last in flow.final.items()}
    firing = [t for t in triggers if t.name not in flow.fired and is_satisfied(t, states)]
    return replace(flow, fired=(*flow.fired, *(t.name for t in firing))), firing


def closed(flow: Flow, now_ms: int) -> Flow:
    """Return a flow with its end, if nothing of it runs any more."""
    if flow.open_runs or not flow.is_open:
        return flow
    status = STOPPED if flow.status == STOPPING else COMPLETED
    return replace(flow, status=status, ended_at_ms=now_ms)


def predecessors(trigger: TriggerDefinition, flow: Flow) -> list[dict[str, str]]:
    """Return the runs whose states made a trigger fire, as JobRun has them."""
    found = {
        condition.job_name: flow.final[condition.job_name].run_id
        for condition in trigger.conditions
        if condition.job_name in flow.final
        and flow.final[condition.job_name].state == condition.state
    }
    return [{"JobName": name, "RunId": run_id} for name, run_id in found.items()]
