"""Builds the start of a job run from the current definitions."""

from dataclasses import replace

from tidemark.errors import TidemarkError
from tidemark.glue_service.entities import Entity, Kind, find_entity
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.glue_service.runs.active import Start
from tidemark.glue_service.runs.delays import delay_of
from tidemark.glue_service.runs.run_requests import RunRequest
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.definitions import JobDefinition
from tidemark.model.assembly.template import runnable_job


def job_to_run(entity: Entity, request: RunRequest) -> JobDefinition:
    """Return the job as its run will use it."""
    if "ScriptLocation" not in entity.definition["Command"]:
        raise InvalidInputError(f"job {entity.name} has no script: set Command.ScriptLocation")
    job = runnable_job(entity.name, entity.definition)
    asked = request.timeout_minutes
    return job if asked is None else replace(job, timeout_minutes=asked)


def start_of(
    store: Store,
    job_name: str,
    request: RunRequest,
    trigger_name: str | None = None,
    workflow_run_id: str | None = None,
) -> Start:
    """Return the start of a run by a trigger; with a problem if it cannot start.

    Source: https://docs.aws.amazon.com/glue/latest/dg/job-run-statuses.html
    """
    entity = find_entity(store, Kind.JOB, job_name)
    start = Start(
        JobDefinition(job_name, "", ""),
        request,
        trigger_name=trigger_name,
        workflow_run_id=workflow_run_id,
    )
    if entity is None:
        return replace(start, problem=f"the job {job_name} does not exist: it was deleted")
    try:
        job = job_to_run(entity, request)
    except TidemarkError as error:
        return replace(start, failure=error)
    return replace(start, job=job, delay_minutes=delay_of(entity.definition, request.settings))
