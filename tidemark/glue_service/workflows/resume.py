"""Resumes a workflow run from some of its jobs: these and their downstream jobs run again.

Source: https://docs.aws.amazon.com/glue/latest/dg/resuming-workflow.html
"""

from collections.abc import Mapping
from typing import Any

from tidemark.glue_service.entities import EntityKind, find_entity
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.service_errors import InvalidInputError, ServiceError
from tidemark.glue_service.runs.active import RunStart
from tidemark.glue_service.workflows.firing import check_room, refuse_crawlers
from tidemark.glue_service.workflows.flow import COMPLETED, Flow, Progress
from tidemark.glue_service.workflows.flow_graph import (
    Definitions,
    downstream,
    id_of,
    started,
    watched,
)
from tidemark.glue_service.workflows.flow_rows import flows_of_workflow, progress_of
from tidemark.glue_service.workflows.flows import new_flow_id
from tidemark.glue_service.workflows.trigger_forms import trigger_of
from tidemark.glue_service.workflows.workflows import find_flow, runs_of

Request = Mapping[str, Any]


def resume_workflow_run(glue: GlueState, request: Request) -> dict[str, Any]:
    """Start a new run of a workflow, in which all other nodes keep their results."""
    old = find_flow(glue, request)
    _check_state(glue, old)
    triggers = glue.flows.snapshot(old.flow_id)
    refuse_crawlers(glue.store, triggers)
    if workflow := find_entity(glue.store, EntityKind.WORKFLOW, request["Name"]):
        check_room(glue, workflow)
    selected = _selected(glue, old, triggers, request["NodeIds"])
    again = selected | downstream(triggers, selected)
    kept: dict[str, tuple[str, ...]] = {}
    for run in runs_of(glue, old):
        if run.job_name not in again:
            kept[run.job_name] = (*kept.get(run.job_name, ()), run.run_id)
    flow = Flow(
        new_flow_id(old.workflow_name),
        old.workflow_name,
        glue.now_ms(),
        properties=old.properties,
        previous_id=old.flow_id,
        kept=kept,
        is_of_command=glue.is_of_command,
    )
    before = progress_of(glue.store, old.flow_id)
    progress = Progress(
        fired=tuple(name for name in before.fired if not watched(triggers[name]) & again),
        final={name: ended for name, ended in before.final.items() if name not in again},
    )
    starts = _starts(glue, flow, progress, triggers, selected)
    with glue.store.transaction():
        live = glue.runner.settle(glue.flows.add(flow, progress, triggers, starts))
    glue.runner.add(live)
    ids = [id_of(flow.workflow_name or "", name) for name in sorted(selected)]
    return {"RunId": flow.flow_id, "NodeIds": ids}


def _check_state(glue: GlueState, old: Flow) -> None:
    if old.status != COMPLETED:
        text = f"workflow run {old.flow_id} is {old.status}; only a COMPLETED run can be resumed"
        raise ServiceError("IllegalWorkflowStateException", text)
    runs = flows_of_workflow(glue.store, old.workflow_name or "")
    later = [flow.flow_id for flow in runs if flow.previous_id == old.flow_id]
    if old.previous_id is not None and later:
        raise ServiceError(
            "IllegalWorkflowStateException",
            f"workflow run {old.flow_id} is itself a resumed run, and {later[0]} resumes it "
            "already; resume that one",
        )


def _selected(glue: GlueState, old: Flow, triggers: Definitions, node_ids: list[str]) -> set[str]:
    """Return the jobs that run again first: those that are not downstream of another one."""
    jobs = {run.job_name for run in runs_of(glue, old)}
    attempted = {id_of(old.workflow_name or "", name): name for name in jobs}
    if not node_ids or set(node_ids) - set(attempted):
        raise InvalidInputError(
            f"NodeIds has {sorted(set(node_ids) - set(attempted))}; allowed: nodes of jobs that "
            f"were started in this run: {', '.join(sorted(attempted))}"
        )
    chosen = {attempted[node] for node in node_ids}
    return {
        name
        for name in chosen
        if not any(name in downstream(triggers, [upstream]) for upstream in chosen - {name})
    }


def _starts(
    glue: GlueState, flow: Flow, progress: Progress, triggers: Definitions, selected: set[str]
) -> list[RunStart]:
    chosen = []
    for name in progress.fired:
        definition = triggers[name]
        if started(definition) & selected:
            all_starts = glue.flows.starts(flow, progress, trigger_of(name, definition), definition)
            chosen += [start for start in all_starts if start.job.name in selected]
    return chosen
