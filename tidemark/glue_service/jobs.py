"""Glue's operations on jobs.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    create_entity,
    delete_entity,
    find_entities,
    get_entity,
    list_entities,
    put_entity,
)
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.glue_service.runs.run_requests import capacity_of
from tidemark.glue_service.upgrades import with_upgrade
from tidemark.local_state.bookmarks.api import get_job_bookmark as get_entry
from tidemark.local_state.bookmarks.api import reset_job_bookmark as reset_entry
from tidemark.local_state.bookmarks.versions import delete_bookmark
from tidemark.model.assembly.definitions import SHELL, TIMEOUT_MINUTES
from tidemark.model.assembly.glue_versions import UNNAMED_GLUE_VERSION
from tidemark.model.assembly.job_rules import Members, command_of, faults_of_job, faults_of_run

NOT_DEFINED = ("Name", "Tags")  # members of CreateJob that are stored separately
MAX_TAGS = 50
AWS_PREFIX = "aws:"


def create_job(glue: GlueState, request: Request) -> Answer:
    """Define a job."""
    name = request["Name"]
    check_job(request)
    check_tags(request.get("Tags", {}))
    definition = with_upgrade({k: v for k, v in request.items() if k not in NOT_DEFINED})
    now_ms = glue.now_ms()
    entity = Entity(EntityKind.JOB, name, definition, request.get("Tags", {}), now_ms, now_ms)
    create_entity(glue.store, entity)
    return {"Name": name}


def update_job(glue: GlueState, request: Request) -> Answer:
    """Replace the whole definition of a job; of what is left out only the GlueVersion stays.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_JobUpdate.html
    """
    name, update = request["JobName"], request["JobUpdate"]
    missing = [key for key in ("Role", "Command") if key not in update]
    if missing:
        raise InvalidInputError(f"JobUpdate lacks {', '.join(missing)}; it is the whole definition")
    with glue.store.transaction():
        old = get_entity(glue.store, EntityKind.JOB, name)
        kept = {key: old.definition[key] for key in ("GlueVersion",) if key in old.definition}
        check_job({**kept, **update})
        definition = with_upgrade({**kept, **update}, old.definition)
        new = Entity(EntityKind.JOB, name, definition, old.tags, old.created_at_ms, glue.now_ms())
        put_entity(glue.store, new)
    return {"JobName": name}


def get_job(glue: GlueState, request: Request) -> Answer:
    """Return a job."""
    return {"Job": job_member(get_entity(glue.store, EntityKind.JOB, request["JobName"]))}


def get_jobs(glue: GlueState, request: Request) -> Answer:
    """Return a page of the jobs, by name."""
    page, token = glue_page(list_entities(glue.store, EntityKind.JOB), request)
    return {"Jobs": [job_member(entity) for entity in page], "NextToken": token}


def list_jobs(glue: GlueState, request: Request) -> Answer:
    """Return a page of the names of jobs that have all the given tags."""
    names = [
        entity.name
        for entity in list_entities(glue.store, EntityKind.JOB)
        if request.get("Tags", {}).items() <= entity.tags.items()
    ]
    page, token = glue_page(names, request, str)
    return {"JobNames": page, "NextToken": token}


def batch_get_jobs(glue: GlueState, request: Request) -> Answer:
    """Return the jobs of a list of names, and the unknown names."""
    entities, missing = find_entities(glue.store, EntityKind.JOB, request["JobNames"])
    return {"Jobs": list(map(job_member, entities)), "JobsNotFound": missing}


def delete_job(glue: GlueState, request: Request) -> Answer:
    """Delete a job and its bookmark; a missing job is not an error."""
    name = request["JobName"]
    with glue.store.transaction():
        if delete_entity(glue.store, EntityKind.JOB, name):
            delete_bookmark(glue.store, name)
    return {"JobName": name}


def job_member(entity: Entity) -> Answer:
    """Return a job in the form of answers."""
    definition = entity.definition
    is_shell = command_of(definition) == SHELL
    return {
        "ExecutionProperty": {"MaxConcurrentRuns": 1},
        "MaxRetries": 0,
        "Timeout": TIMEOUT_MINUTES,
        **({} if is_shell else {"GlueVersion": UNNAMED_GLUE_VERSION}),
        **definition,
        **capacity_of(definition).members(),
        "Name": entity.name,
        "CreatedOn": entity.created_at_ms,
        "LastModifiedOn": entity.changed_at_ms,
    }


def check_job(definition: Members) -> None:
    """Refuse a job that Glue would refuse."""
    _raise(faults_of_job(definition))


def check_run(definition: Members, request: Members) -> None:
    """Refuse a run that Glue would refuse."""
    _raise(faults_of_run(definition, request))


def check_tags(tags: Iterable[str]) -> None:
    """Refuse tag keys that clients may not set or remove."""
    reserved = sorted(key for key in tags if key.lower().startswith(AWS_PREFIX))
    _raise(
        [f"the tag {key!r} starts with {AWS_PREFIX}, which is reserved for AWS" for key in reserved]
    )


def _raise(faults: list[str]) -> None:
    if faults:
        raise InvalidInputError("; ".join(faults))


def get_job_bookmark(glue: GlueState, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bookmark of a job, or what it was when a run ended."""
    return get_entry(glue.store, request)


def reset_job_bookmark(glue: GlueState, request: Mapping[str, Any]) -> dict[str, Any]:
    """Reset the bookmark of a job, or rewind it to the end of a run."""
    return reset_entry(glue.store, request, glue.now_ms())
