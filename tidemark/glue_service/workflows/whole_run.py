"""Runs one workflow from its start trigger to its end, for the command that waits for it."""

import contextlib
import queue
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidemark.errors import EntityNotFoundError, TidemarkError
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.entities import EntityKind, find_entity
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.runs.arguments import merge_arguments
from tidemark.glue_service.workflows.firing import refuse_crawlers, start_flow
from tidemark.glue_service.workflows.flow import RUNNING, Flow, Progress
from tidemark.glue_service.workflows.flow_rows import Definitions, find_flow, progress_of
from tidemark.glue_service.workflows.flows import new_flow_id
from tidemark.glue_service.workflows.selection import unmet_conditions
from tidemark.glue_service.workflows.trigger_forms import definition_of
from tidemark.glue_service.workflows.workflows import stop_flow
from tidemark.local_state.store.database import FINAL_STATES, JobRun
from tidemark.model.assembly.definitions import (
    CRAWLER,
    Deployment,
    JobDefinition,
    TriggerDefinition,
)

LOOK_S = 0.5  # a silent engine is asked anyway: it may have a problem


@dataclass(frozen=True)
class WorkflowResult:
    """How a workflow run ended.

    `blocked` maps a job that never started to its unmet conditions; `deleted_jobs` had a bookmark
    and are no longer in the template; `begun_by` is the type of the start trigger.
    """

    run_id: str
    jobs: Mapping[str, JobDefinition]
    job_runs: tuple[JobRun, ...]
    blocked: Mapping[str, tuple[str, ...]]
    deleted_jobs: tuple[str, ...] = ()
    begun_by: str = "ON_DEMAND"

    @property
    def is_success(self) -> bool:
        """Whether every job ran and every final run SUCCEEDED."""
        final = {run.job_name: run.state for run in self.job_runs}
        return not self.blocked and all(state == "SUCCEEDED" for state in final.values())


@dataclass
class Watch:
    """A command's view of an engine's runs; the engine reports them in its own thread.

    Attributes:
        observe: called in the command's thread with a job run at each change of its state, and
            with None in between.
        has_ended: called in the command's thread after `observe`, with a run that has ended.
        deaths: the error that ended the engine, if any.
    """

    observe: Callable[[JobRun | None], None]
    has_ended: Callable[[JobRun], None] = lambda _: None
    deaths: list[BaseException] = field(default_factory=list)
    changes: "queue.SimpleQueue[JobRun]" = field(default_factory=queue.SimpleQueue)
    shown: set[str] = field(default_factory=set)

    def wait(self) -> None:
        """Pass on the engine's next report; return after a while without one."""
        if not self.show_changes(LOOK_S):
            self.observe(None)

    def show_changes(self, wait_s: float = 0) -> bool:
        """Pass on the engine's reports since the last call; return whether there were any.

        Waits for the first change, at most this long.
        """
        try:
            self._show(self.changes.get(timeout=wait_s))
        except queue.Empty:
            return False
        while not self.changes.empty():
            self._show(self.changes.get())
        return True

    def _show(self, run: JobRun) -> None:
        if run.state == RUNNING:
            self.shown.add(run.run_id)
        elif run.state == "STOPPED" and run.run_id not in self.shown:
            # The run waited for a core, and never started.
            return
        self.observe(run)
        if run.state in FINAL_STATES:
            self.has_ended(run)


def run_to_its_end(
    engine: Engine,
    deployment: Deployment,
    workflow_name: str,
    watch: Watch,
    *,
    skips_crawlers: bool = False,
) -> WorkflowResult:
    """Fire the start trigger, and wait until nothing runs and nothing more fires.

    Waits also for runs that its jobs or other clients have started meanwhile.
    """
    triggers = deployment.triggers_of(workflow_name)
    start = start_trigger(workflow_name, triggers)
    _check_actions(deployment, triggers)
    snapshot = {trigger.name: definition_of(trigger) for trigger in triggers}
    flow_id = engine.ask(
        lambda glue: _start_new_flow(
            glue, workflow_name, start.name, snapshot, skips_crawlers=skips_crawlers
        )
    )
    try:
        while engine.ask(lambda glue: _is_running(glue, flow_id)):
            watch.wait()
        watch.show_changes()
        progress = engine.ask(lambda glue: progress_of(glue.store, flow_id))
    except TidemarkError as error:
        watch.show_changes()
        if watch.deaths:
            raise _dead(watch.deaths[0]) from error
        raise
    except BaseException:
        _stop(engine, flow_id)
        engine.close()
        watch.show_changes()
        raise
    runs = engine.ask(lambda glue: glue.store.job_runs_of(flow_id))
    return WorkflowResult(
        flow_id, deployment.jobs, tuple(runs), _blocked(triggers, progress), begun_by=start.type
    )


def _start_new_flow(
    glue: GlueState, name: str, start: str, snapshot: Definitions, *, skips_crawlers: bool
) -> str:
    if not skips_crawlers:
        refuse_crawlers(glue.store, snapshot)
    workflow = find_entity(glue.store, EntityKind.WORKFLOW, name)
    properties = workflow.definition.get("DefaultRunProperties", {}) if workflow else {}
    flow_id = new_flow_id(name)
    flow = Flow(
        flow_id,
        name,
        glue.now_ms(),
        properties=properties,
        is_of_command=True,
        skips_crawlers=skips_crawlers,
    )
    start_flow(glue, flow, [start], snapshot)
    return flow_id


def _is_running(glue: GlueState, flow_id: str) -> bool:
    if glue.runner.problem is not None:
        raise glue.runner.problem
    flow = find_flow(glue.store, flow_id)
    return glue.runner.has_runs or (flow is not None and flow.is_open)


def _stop(engine: Engine, flow_id: str) -> None:
    def stop(glue: GlueState) -> None:
        flow = find_flow(glue.store, flow_id)
        if flow is not None and flow.status == RUNNING:
            stop_flow(glue, flow)

    with contextlib.suppress(TidemarkError):  # a dead engine runs nothing
        engine.ask(stop)


def _dead(error: BaseException) -> TidemarkError:
    if isinstance(error, TidemarkError):
        return error
    return TidemarkError(
        f"the local Glue ended by an error ({type(error).__name__}: {error}); run again: what was "
        "committed is kept"
    )


def start_trigger(workflow_name: str, triggers: tuple[TriggerDefinition, ...]) -> TriggerDefinition:
    """Return the one trigger that starts a workflow: ON_DEMAND, SCHEDULED or EVENT."""
    starts = [trigger for trigger in triggers if trigger.type != "CONDITIONAL"]
    if len(starts) != 1:
        names = ", ".join(trigger.name for trigger in starts) or "none"
        raise TidemarkError(
            f"workflow {workflow_name} needs exactly one start trigger and has {names}"
        )
    return starts[0]


def _check_actions(deployment: Deployment, triggers: tuple[TriggerDefinition, ...]) -> None:
    for trigger in triggers:
        for action in trigger.actions:
            if action.job_name.startswith(CRAWLER):
                continue
            job = deployment.jobs.get(action.job_name)
            if job is None:
                raise EntityNotFoundError(
                    f"trigger {trigger.name} starts the job {action.job_name!r}, which the "
                    f"template does not define; it has {', '.join(deployment.jobs)}"
                )
            merge_arguments(job, action.arguments)


def _blocked(
    triggers: tuple[TriggerDefinition, ...], progress: Progress
) -> dict[str, tuple[str, ...]]:
    final = {name: ended.state for name, ended in progress.final.items()}
    return {
        action.job_name: tuple(unmet_conditions(trigger, final))
        for trigger in triggers
        if trigger.name not in progress.fired
        for action in trigger.actions
        if action.job_name not in final
    }
