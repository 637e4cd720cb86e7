"""Runs a workflow of an assembly once, on a separate port, for a local `tidemark run`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.extras import require
from tidemark.glue_service.commands import App
from tidemark.glue_service.deployments import define, prepare
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.glue_service.runs.killed import recover_interrupted_runs
from tidemark.glue_service.workflows.flow_rows import stop_command_flows
from tidemark.glue_service.workflows.selection import Selection, select
from tidemark.glue_service.workflows.whole_run import Watch, WorkflowResult, run_to_its_end
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import StoredWarning, show_unseen
from tidemark.model.assembly.definitions import CRAWLER, Deployment
from tidemark.model.messages import known


@dataclass(frozen=True)
class NotRun:
    """The parts of an assembly and one workflow that do not run on this machine.

    Attributes:
        crawlers: crawlers that the workflow starts, each as `crawler NAME`.
        streaming_jobs: streaming jobs of the assembly; no trigger starts them.
        machines: state machines that were left out, each with the reason.
    """

    crawlers: tuple[str, ...]
    streaming_jobs: tuple[str, ...]
    machines: tuple[str, ...] = ()


class RunListener(Protocol):
    """What a command shows of a workflow that it runs; called in the command's thread."""

    def observe(self, run: JobRun | None) -> None:
        """Show a job run whose state has changed; None comes in between."""
        return

    def recovered(self, runs: list[JobRun]) -> None:
        """Show the job runs that a killed command has left unfinished."""
        return

    def warn(self, warnings: Sequence[StoredWarning]) -> None:
        """Show warnings, which count as seen then."""
        return

    def not_run(self, parts: NotRun) -> None:
        """Show what does not run on this machine, before anything else runs."""
        return

    def lineage(self, run: JobRun) -> None:
        """Send the event of a run that has started or ended; called in the engine's thread."""
        return


class SilentListener(RunListener):
    """Shows nothing, so that warnings stay unseen."""

    def warn(self, warnings: Sequence[StoredWarning]) -> None:
        """Leave warnings to a command that somebody reads."""
        raise BrokenPipeError


def run_workflow(
    app: App,
    home: Home,
    workflow_name: str | None,
    listener: RunListener,
    jvms: Jvms = NO_JVMS,
    *,
    skips_crawlers: bool = False,
    selection: Selection | None = None,
    max_parallel: int | None = None,
) -> WorkflowResult:
    """Run a workflow of the app once, in this home; at most `max_parallel` jobs at once."""
    loaded = app.deployment
    name = chosen_workflow(loaded, workflow_name)  # before anything is started
    if selection is not None:
        loaded = select(loaded, name, selection)
    actions = [action for trigger in loaded.triggers_of(name) for action in trigger.actions]
    crawlers = tuple(dict.fromkeys(a.job_name for a in actions if a.job_name.startswith(CRAWLER)))
    listener.not_run(NotRun(crawlers if skips_crawlers else (), loaded.streaming_jobs))
    require("pyspark")
    recovered: list[JobRun] = []

    def take_over(glue: GlueState) -> None:
        recovered.extend(recover_interrupted_runs(glue.store, jvms))
        for run in recovered:
            listener.lineage(run)
        stop_command_flows(glue.store, glue.now_ms())

    watch = Watch(listener.observe)
    options = Options(
        jvms=jvms,
        observe=watch.changes.put,
        on_start=watch.changes.put,
        lineage=listener.lineage,
        is_of_command=True,
        max_parallel=max_parallel,
        take_over=take_over,
        on_death=watch.deaths.append,
    )
    with serving(home, options) as (_, engine), Store(home.database) as store:
        if recovered:
            listener.recovered(recovered)
        show_unseen(store, listener.warn)
        watch.has_ended = lambda _: show_unseen(store, listener.warn)
        endpoint = engine.ask(lambda glue: glue.machine.dynamodb_endpoint)
        deployment = prepare(app, home, endpoint)
        deleted, left_out = engine.ask(lambda glue: define(glue, app, deployment))
        if left_out:
            listener.not_run(NotRun((), (), tuple(map(str, left_out))))
        if selection is not None:
            deployment = select(deployment, name, selection)
        result = run_to_its_end(engine, deployment, name, watch, skips_crawlers=skips_crawlers)
        return replace(result, deleted_jobs=tuple(deleted))


def chosen_workflow(deployment: Deployment, name: str | None) -> str:
    """Return the workflow with a name, or the only one."""
    workflows = [workflow for workflow in deployment.workflows if deployment.triggers_of(workflow)]
    idle = [workflow for workflow in deployment.workflows if workflow not in workflows]
    if idle and (name in idle or (name is None and not workflows)):
        raise UnsupportedError(
            f"workflow {name or idle[0]} starts nothing: its pipeline has streaming jobs only, "
            "which do not run on this machine; run another workflow, or test their scripts"
        )
    if not workflows:
        raise EntityNotFoundError(
            "the app has no workflow to run; add one with Pipeline, or run a single script with "
            "`tidemark submit`"
        )
    if name is None and len(workflows) > 1:
        raise UsageError(
            f"the app has {len(workflows)} workflows, and one is run at a time; allowed: "
            f"{', '.join(workflows)}; name it: tidemark run --workflow {workflows[0]}"
        )
    return known("workflow", name or workflows[0], workflows)
