"""Decides what a firing of a trigger starts, as plain data: no clock, no store.

A flow is what one trigger started: a workflow run, or the firing of a trigger outside workflows.
Only runs of one flow are considered together, and a conditional trigger fires once in each.
Source: https://docs.aws.amazon.com/glue/latest/dg/about-triggers.html
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tidemark.glue_service.workflows.selection import is_satisfied
from tidemark.model.assembly.definitions import CRAWLER, TriggerDefinition

RUNNING, STOPPING, STOPPED, COMPLETED = "RUNNING", "STOPPING", "STOPPED", "COMPLETED"
ATTEMPT = "_attempt_"


@dataclass(frozen=True)
class Ended:
    """How the last run of a job in a flow ended."""

    state: str
    run_id: str


SKIPPED = Ended("SUCCEEDED", "")  # a crawler that is skipped counts as SUCCEEDED


@dataclass(frozen=True)
class Flow:
    """A workflow run, or the firing of a trigger outside workflows.

    Attributes:
        flow_id: for a workflow run its id, ``wr_...``.
        workflow_name: None outside workflows.
        started_at_ms: epoch milliseconds.
        status: RUNNING, STOPPING, STOPPED or COMPLETED; the last one even if jobs failed.
        ended_at_ms: when the last run ended.
        properties: run properties of a workflow run.
        previous_id: the workflow run that this one resumes.
        kept: by job, the runs of the resumed run that count here too.
        batch: BatchSize and BatchWindow, if events started it.
        is_of_command: whether it ends with the command that started it, `tidemark run`.
        skips_crawlers: whether each crawler counts as SUCCEEDED, without a crawl.
    """

    flow_id: str
    workflow_name: str | None
    started_at_ms: int
    status: str = RUNNING
    ended_at_ms: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    previous_id: str | None = None
    kept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    batch: Mapping[str, int] | None = None
    is_of_command: bool = False
    skips_crawlers: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it can still change."""
        return self.status in (RUNNING, STOPPING)


@dataclass(frozen=True)
class Progress:
    """The history of a flow: all of it, or the part that concerns some triggers.

    Attributes:
        fired: the triggers that have fired, in order.
        final: by job, how its last run ended.
    """

    fired: tuple[str, ...] = ()
    final: Mapping[str, Ended] = field(default_factory=dict)


def after_end(
    flow: Flow,
    progress: Progress,
    triggers: Iterable[TriggerDefinition],
    job_name: str,
    ended: Ended,
) -> tuple[Progress, list[TriggerDefinition]]:
    """Return the progress of a flow after the end of a run, and the triggers that then fire."""
    progress = replace(progress, final={**progress.final, job_name: ended})
    if flow.status != RUNNING:
        return progress, []
    known = list(triggers)
    return fire(flow, progress, known, _satisfied(progress, known))


def fire(
    flow: Flow,
    progress: Progress,
    triggers: Iterable[TriggerDefinition],
    firing: Iterable[TriggerDefinition],
) -> tuple[Progress, list[TriggerDefinition]]:
    """Return the progress after triggers have fired, and all that fire, at once or next."""
    known, todo, fired = list(triggers), list(firing), []
    while todo:
        trigger = todo.pop(0)
        if trigger.name in progress.fired:
            continue
        names = [action.job_name for action in trigger.actions] if flow.skips_crawlers else []
        skipped = {name: SKIPPED for name in names if name.startswith(CRAWLER)}
        fired.append(trigger)
        progress = Progress((*progress.fired, trigger.name), {**progress.final, **skipped})
        if skipped:
            todo += _satisfied(progress, known)
    return progress, fired


def _satisfied(
    progress: Progress, triggers: Iterable[TriggerDefinition]
) -> list[TriggerDefinition]:
    states = {name: last.state for name, last in progress.final.items()}
    return [t for t in triggers if t.name not in progress.fired and is_satisfied(t, states)]


def closed(flow: Flow, now_ms: int) -> Flow:
    """Return a flow in which nothing runs any more."""
    status = STOPPED if flow.status == STOPPING else COMPLETED
    return replace(flow, status=status, ended_at_ms=now_ms)


def predecessors(trigger: TriggerDefinition, progress: Progress) -> list[dict[str, str]]:
    """Return the runs whose states made a trigger fire, in the form of JobRun."""
    runs = {
        condition.job_name: progress.final[condition.job_name].run_id
        for condition in trigger.conditions
        if condition.job_name in progress.final
        and not condition.job_name.startswith(CRAWLER)
        and progress.final[condition.job_name].state == condition.state
    }
    return [{"JobName": name, "RunId": run_id} for name, run_id in runs.items()]
