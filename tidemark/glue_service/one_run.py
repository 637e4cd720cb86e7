"""Runs a workflow of an assembly once, on a separate port, for a local `tidemark run`."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.extras import require
from tidemark.glue_service.commands import App
from tidemark.glue_service.deployments import define, prepare
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.local_glue import LocalGlue
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.glue_service.workflows.flow_rows import stop_command_flows
from tidemark.glue_service.workflows.recovery import recover_interrupted_runs
from tidemark.glue_service.workflows.selection import Selection, select
from tidemark.glue_service.workflows.whole_run import Watch, WorkflowResult, run_to_its_end
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import ShowWarnings, show_unseen
from tidemark.model.assembly.definitions import CRAWLER, Deployment
from tidemark.model.messages import known


@dataclass(frozen=True)
class NotRun:
    """The parts of an assembly and one workflow that do not run on this machine.

    Attributes:
        crawlers: crawlers that the workflow starts, each as `crawler NAME`.
        streaming_jobs: streaming jobs of the assembly; no trigger starts them.
    """

    crawlers: tuple[str, ...]
    streaming_jobs: tuple[str, ...]


def not_run_here(deployment: Deployment, workflow_name: str) -> NotRun:
    """Return the parts that do not run on this machine."""
    started = [
        action.job_name
        for trigger in deployment.triggers_of(workflow_name)
        for action in trigger.actions
    ]
    crawlers = tuple(dict.fromkeys(name for name in started if name.startswith(CRAWLER)))
    return NotRun(crawlers, deployment.streaming_jobs)


def run_workflow(
    app: App,
    home: Home,
    workflow_name: str | None,
    observe: Callable[[JobRun | None], None],
    on_recovered: Callable[[list[JobRun]], None],
    warn: ShowWarnings | None = None,
    jvms: Jvms = NO_JVMS,
    *,
    skips_crawlers: bool = False,
    selection: Selection | None = None,
    not_run: Callable[[NotRun], None] = lambda _: None,
    lineage: Callable[[JobRun], None] = lambda _: None,
    max_parallel: int | None = None,
) -> WorkflowResult:
    """Run a workflow of the app once, in this home; at most `max_parallel` jobs at once."""
    loaded = app.deployment
    name = chosen_workflow(loaded, workflow_name)  # before anything is started
    if selection is not None:
        loaded = select(loaded, name, selection)
    found = not_run_here(loaded, name)
    if found.crawlers and not skips_crawlers:
        raise UnsupportedError(
            f"workflow {name} starts {', '.join(found.crawlers)}, and crawlers do not run on this "
            "machine; --skip-crawlers runs the jobs and takes each crawler as SUCCEEDED"
        )
    not_run(found)
    require("pyspark")
    recovered: list[JobRun] = []

    def take_over(glue: LocalGlue) -> None:
        recovered.extend(recover_interrupted_runs(glue.store, jvms))
        for run in recovered:
            lineage(run)
        stop_command_flows(glue.store, glue.now_ms())

    watch = Watch(observe)
    options = Options(
        jvms=jvms,
        observe=watch.changes.put,
        on_start=watch.changes.put,
        lineage=lineage,
        is_of_command=True,
        max_parallel=max_parallel,
        take_over=take_over,
        on_death=watch.deaths.append,
    )
    with serving(home, options) as (_, engine), Store(home.database) as store:
        if recovered:
            on_recovered(recovered)
        show_unseen(store, warn)
        watch.has_ended = lambda _: show_unseen(store, warn)
        endpoint = engine.ask(lambda glue: glue.machine.dynamodb_endpoint)
        deployment = prepare(app, home, endpoint)
        deleted = engine.ask(lambda glue: define(glue, app, deployment))
        if selection is not None:
            deployment = select(deployment, name, selection)
        result = run_to_its_end(engine, deployment, name, watch)
        return replace(result, deleted_jobs=tuple(deleted))


def chosen_workflow(deployment: Deployment, name: str | None) -> str:
    """Return the workflow with a name, or the only one."""
    workflows = [one for one in deployment.workflows if deployment.triggers_of(one)]
    idle = [one for one in deployment.workflows if one not in workflows]
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
