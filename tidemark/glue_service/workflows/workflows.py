"""Glue's operations on workflows and their runs.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-workflow.html
"""

from dataclasses import replace
from operator import attrgetter

from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    create_entity,
    delete_entity,
    find_entities,
    find_entity,
    get_entity,
    list_entities,
    put_entity,
)
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.jobs import check_tags
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import (
    InvalidInputError,
    NotFoundError,
    ServiceError,
)
from tidemark.glue_service.runs.job_runs import run_member
from tidemark.glue_service.runs.run_requests import run_requests
from tidemark.glue_service.workflows.firing import snapshot_of, start_workflow, triggers_of
from tidemark.glue_service.workflows.flow import ATTEMPT, RUNNING, STOPPING, Flow
from tidemark.glue_service.workflows.flow_graph import graph, statistics
from tidemark.glue_service.workflows.flow_rows import find_flow as find_by_id
from tidemark.glue_service.workflows.flow_rows import flows_of_workflow, last_flow, update_flow
from tidemark.local_state.store.database import JobRun

PAGE = 25


def create_workflow(glue: GlueState, request: Request) -> Answer:
    """Define a workflow; triggers name it."""
    _check_maximum(request)
    check_tags(request.get("Tags", {}))
    definition = {key: value for key, value in request.items() if key not in ("Name", "Tags")}
    now_ms = glue.now_ms()
    values = (EntityKind.WORKFLOW, request["Name"], definition, request.get("Tags", {}))
    create_entity(glue.store, Entity(*values, now_ms, now_ms))
    return {"Name": request["Name"]}


def _check_maximum(request: Request) -> None:
    most = request.get("MaxConcurrentRuns", 1)
    if most < 1:
        raise InvalidInputError(
            f"MaxConcurrentRuns is {most}; allowed: 1 or more; leave it out for no limit"
        )


def update_workflow(glue: GlueState, request: Request) -> Answer:
    """Replace the given members of a workflow."""
    _check_maximum(request)
    update = {key: value for key, value in request.items() if key != "Name"}
    with glue.store.transaction():
        old = get_entity(glue.store, EntityKind.WORKFLOW, request["Name"])
        definition = {**old.definition, **update}
        put_entity(glue.store, replace(old, definition=definition, changed_at_ms=glue.now_ms()))
    return {"Name": old.name}


def delete_workflow(glue: GlueState, request: Request) -> Answer:
    """Delete a workflow; its triggers stay and fire nothing."""
    delete_entity(glue.store, EntityKind.WORKFLOW, request["Name"])
    return {"Name": request["Name"]}


def get_workflow(glue: GlueState, request: Request) -> Answer:
    """Return a workflow with its last run, and on request with its graph."""
    entity = get_entity(glue.store, EntityKind.WORKFLOW, request["Name"])
    return {"Workflow": _member(glue, entity, request.get("IncludeGraph", False))}


def list_workflows(glue: GlueState, request: Request) -> Answer:
    """Return a page of the names of the workflows."""
    names = [entity.name for entity in list_entities(glue.store, EntityKind.WORKFLOW)]
    page, token = glue_page(names, request, str, PAGE)
    return {"Workflows": page, "NextToken": token}


def batch_get_workflows(glue: GlueState, request: Request) -> Answer:
    """Return the workflows of a list of names, and the unknown names."""
    entities, missing = find_entities(glue.store, EntityKind.WORKFLOW, request["Names"])
    with_graph = request.get("IncludeGraph", False)
    members = [_member(glue, entity, with_graph) for entity in entities]
    return {"Workflows": members, "MissingWorkflows": missing}


def _member(glue: GlueState, entity: Entity, with_graph: bool) -> Answer:
    last = last_flow(glue.store, entity.name)
    triggers = snapshot_of(triggers_of(glue, entity.name))
    return {
        **entity.definition,
        "Name": entity.name,
        "CreatedOn": entity.created_at_ms,
        "LastModifiedOn": entity.changed_at_ms,
        "LastRun": run_of_workflow(glue, last, with_graph=with_graph) if last else None,
        "Graph": graph(entity.name, triggers) if with_graph else None,
    }


def start_workflow_run(glue: GlueState, request: Request) -> Answer:
    """Start a run of a workflow by its start trigger, whatever its type."""
    return {"RunId": start_workflow(glue, request["Name"], request.get("RunProperties", {}))}


def get_workflow_run(glue: GlueState, request: Request) -> Answer:
    """Return a run of a workflow, on request with its graph."""
    flow = find_flow(glue, request)
    with_graph = request.get("IncludeGraph", False)
    return {"Run": run_of_workflow(glue, flow, with_graph=with_graph)}


def get_workflow_runs(glue: GlueState, request: Request) -> Answer:
    """Return a page of the runs of a workflow, the newest first."""
    get_entity(glue.store, EntityKind.WORKFLOW, request["Name"])
    flows = flows_of_workflow(glue.store, request["Name"])
    page, token = glue_page(flows, request, attrgetter("flow_id"))
    with_graph = request.get("IncludeGraph", False)
    runs = [run_of_workflow(glue, flow, with_graph=with_graph) for flow in page]
    return {"Runs": runs, "NextToken": token}


def get_workflow_run_properties(glue: GlueState, request: Request) -> Answer:
    """Return the properties of a run."""
    return {"RunProperties": dict(find_flow(glue, request).properties)}


def put_workflow_run_properties(glue: GlueState, request: Request) -> Answer:
    """Add or change properties of a run; other runs keep theirs."""
    flow = find_flow(glue, request)
    update_flow(
        glue.store, replace(flow, properties={**flow.properties, **request["RunProperties"]})
    )
    return {}


def stop_workflow_run(glue: GlueState, request: Request) -> Answer:
    """Stop the jobs of a run; none of its jobs starts any more."""
    flow = find_flow(glue, request)
    if flow.status != RUNNING:
        raise ServiceError(
            "IllegalWorkflowStateException",
            f"workflow run {flow.flow_id} is {flow.status}; only a RUNNING run can be stopped",
        )
    stop_flow(glue, flow)
    return {}


def stop_flow(glue: GlueState, flow: Flow) -> None:
    """Stop the jobs of a workflow run that is RUNNING."""
    update_flow(glue.store, replace(flow, status=STOPPING))
    for run in runs_of(glue, flow):
        glue.runner.stop(run.run_id)


def find_flow(glue: GlueState, request: Request) -> Flow:
    """Return the workflow run that a request names."""
    flow = find_by_id(glue.store, request["RunId"])
    if flow is None or flow.workflow_name != request["Name"]:
        raise NotFoundError(
            f"Entity Not Found: workflow {request['Name']} has no run {request['RunId']!r}"
        )
    return flow


def runs_of(glue: GlueState, flow: Flow) -> list[JobRun]:
    """Return the job runs of a workflow run, and those of the resumed run that count here."""
    from_resumed = [glue.store.job_run(run_id) for ids in flow.kept.values() for run_id in ids]
    return [*(run for run in from_resumed if run), *glue.store.job_runs_of(flow.flow_id)]


def run_of_workflow(glue: GlueState, flow: Flow, *, with_graph: bool) -> Answer:
    """Return a workflow run in the form of answers."""
    triggers = glue.flows.snapshot(flow.flow_id)
    runs = runs_of(glue, flow)
    last = {(run.job_name, run.run_id.split(ATTEMPT)[0]): run.state for run in runs}
    return {
        "Name": flow.workflow_name,
        "WorkflowRunId": flow.flow_id,
        "PreviousRunId": flow.previous_id,
        "WorkflowRunProperties": dict(flow.properties),
        "StartedOn": flow.started_at_ms,
        "CompletedOn": flow.ended_at_ms,
        "Status": flow.status,
        "StartingEventBatchCondition": flow.batch,
        "Statistics": statistics(triggers, last.values()),
        "Graph": graph(flow.workflow_name or "", triggers, _members(glue, runs))
        if with_graph
        else None,
    }


def _members(glue: GlueState, runs: list[JobRun]) -> dict[str, list[Answer]]:
    requests = run_requests(glue.store, [run.run_id for run in runs])
    members: dict[str, list[Answer]] = {}
    for run in runs:
        entity = find_entity(glue.store, EntityKind.JOB, run.job_name)
        if entity is None:  # the job was deleted
            at_ms = run.started_at_ms
            entity = Entity(EntityKind.JOB, run.job_name, {"Command": {}}, {}, at_ms, at_ms)
        member = run_member(entity, run, requests[run.run_id], glue.now_ms())
        members.setdefault(run.job_name, []).append(member)
    return members
