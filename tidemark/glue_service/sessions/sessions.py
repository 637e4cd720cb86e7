"""Glue's operations on interactive sessions.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-interactive-sessions.html
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from tidemark.errors import EntityNotFoundError
from tidemark.glue_job.session.statement_files import END
from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    create_entity,
    delete_entity,
    find_entity,
    list_entities,
)
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.jobs import check_tags
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import (
    AlreadyExistsError,
    InvalidInputError,
    ServiceError,
)
from tidemark.glue_service.runs.job_run_process import new_run_id
from tidemark.glue_service.runs.run_requests import capacity_of
from tidemark.glue_service.sessions.session_runs import (
    FAILED,
    LIVY,
    PROVISIONING,
    READY,
    RUN,
    SPARK_CONNECT,
    STOPPED,
    STOPPING,
    TIMEOUT,
    TIMEOUT_MINUTES,
    check_status,
    files_of,
    find_session,
    is_at_work,
    start_of_session,
    status_of,
)
from tidemark.local_state.catalog.definitions import find_connection
from tidemark.local_state.run_warnings import RunWarning
from tidemark.local_state.store.database import JobRun
from tidemark.local_state.store.stored_warnings import keep_warnings
from tidemark.model.assembly.definitions import BOOKMARK_OPTION, DISABLE, SPARK
from tidemark.model.assembly.glue_versions import UNNAMED_GLUE_VERSION, version_of_run
from tidemark.model.assembly.job_rules import faults_of_job

RETURNED = (  # members of CreateSession that a Session has, too
    "Id",
    "Description",
    "Role",
    "Command",
    "DefaultArguments",
    "Connections",
    "SecurityConfiguration",
    "GlueVersion",
)
MS_PER_S, MS_PER_MINUTE = 1000, 60_000
END_GRACE_MS = 5_000
PYTHON = "3"
# Of a session that names neither workers nor a capacity.
# Source: https://docs.aws.amazon.com/glue/latest/dg/interactive-sessions-magics.html
WORKERS = {"WorkerType": "G.1X", "NumberOfWorkers": 5}


def create_session(glue: GlueState, request: Request) -> Answer:
    """Start a session; it is PROVISIONING until its Spark is there."""
    name = request["Id"]
    _check(glue, request)
    if find_entity(glue.store, EntityKind.SESSION, name):
        raise AlreadyExistsError(f"Session {name} already exists")
    start = start_of_session(glue, request, new_run_id())
    now_ms, tags = glue.now_ms(), request.get("Tags", {})
    definition = {**request, RUN: start.request.run_id}
    if not {"MaxCapacity", "WorkerType", "NumberOfWorkers"} & request.keys():
        definition |= WORKERS
    entity = Entity(EntityKind.SESSION, name, definition, tags, now_ms, now_ms)
    with glue.store.transaction():
        create_entity(glue.store, entity)
        run = glue.runner.start(start)
    if start.request.arguments.get(BOOKMARK_OPTION, DISABLE) != DISABLE:
        warning = RunWarning.SESSION_BOOKMARK.message.format(name)
        keep_warnings(glue.store, run.run_id, [warning])
    return {"Session": _member(glue, entity, run)}


def get_session(glue: GlueState, request: Request) -> Answer:
    """Return a session."""
    return {"Session": _member(glue, *find_session(glue, request["Id"]))}


def is_pending(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer of `get_session` says that a session is not ready yet."""
    return bool(answer["Session"]["Status"] == PROVISIONING)


def list_sessions(glue: GlueState, request: Request) -> Answer:
    """Return a page of the sessions that have all the given tags."""
    entities = [
        entity
        for entity in list_entities(glue.store, EntityKind.SESSION)
        if request.get("Tags", {}).items() <= entity.tags.items()
    ]
    page, token = glue_page(entities, request)
    members = [_member(glue, *find_session(glue, entity.name)) for entity in page]
    return {"Ids": [entity.name for entity in page], "Sessions": members, "NextToken": token}


def stop_session(glue: GlueState, request: Request) -> Answer:
    """Ask a session to end; a statement that runs is cut off."""
    name = request["Id"]
    _, run = find_session(glue, name)
    check_status(name, run, PROVISIONING, READY, STOPPING)
    if status_of(run) == READY and not is_at_work(run):
        # It ends as a script does, and its run has SUCCEEDED, with its lineage.
        with suppress(OSError):
            files_of(run).send(END)
            glue.sessions.to_stop[run.run_id] = glue.now_ms() + END_GRACE_MS
            return {"Id": name}
    glue.runner.stop(run.run_id)
    return {"Id": name}


def delete_session(glue: GlueState, request: Request) -> Answer:
    """Forget a session that has ended; its run and its log stay."""
    name = request["Id"]
    _, run = find_session(glue, name)
    check_status(name, run, STOPPED, FAILED, TIMEOUT)
    delete_entity(glue.store, EntityKind.SESSION, name)
    return {"Id": name}


def get_session_endpoint(glue: GlueState, request: Request) -> Answer:
    """Return where clients of Spark Connect find a session, and its token."""
    name = request["SessionId"]
    entity, run = find_session(glue, name)
    if entity.definition.get("SessionType", LIVY) != SPARK_CONNECT:
        raise ServiceError(
            "OperationNotSupportedException",
            f"Session {name} is of {LIVY}, which has no endpoint: its statements are run by "
            "RunStatement",
        )
    check_status(name, run, READY)
    minutes = entity.definition.get("Timeout", TIMEOUT_MINUTES)
    expires_ms = run.started_at_ms + minutes * MS_PER_MINUTE
    endpoint = {**files_of(run).endpoint(), "AuthTokenExpirationTime": expires_ms}
    return {"SparkConnect": endpoint}


def _check(glue: GlueState, request: Request) -> None:
    check_tags(request.get("Tags", {}))
    command = request["Command"].get("Name", SPARK)
    faults = faults_of_job({**request, "Command": {"Name": command}})
    if command != SPARK:
        faults.append(f"Command.Name is {command!r}; sessions here are of {SPARK}")
    version = version_of_run(request.get("GlueVersion"))
    if request.get("SessionType") == SPARK_CONNECT and version != UNNAMED_GLUE_VERSION:
        faults.append(
            f"SessionType is {SPARK_CONNECT} and GlueVersion {version}; allowed here: "
            f"{UNNAMED_GLUE_VERSION}, since the Spark of {version} on this machine has no server "
            f"for it; or SessionType {LIVY}"
        )
    faults += _unknown_parts(glue, request)
    if faults:
        raise InvalidInputError("; ".join(faults))


def _unknown_parts(glue: GlueState, request: Request) -> Iterator[str]:
    """Yield what a session names and Glue does not have."""
    python = request["Command"].get("PythonVersion", PYTHON)
    if python != PYTHON:
        yield f"Command.PythonVersion is {python!r}; allowed for sessions of Spark: {PYTHON}"
    for name in request.get("Connections", {}).get("Connections", ()):
        try:
            find_connection(glue.store, name)
        except EntityNotFoundError as error:
            yield f"Connections: {error}"
    kind, name = EntityKind.SECURITY_CONFIGURATION, request.get("SecurityConfiguration")
    if name is not None and not find_entity(glue.store, kind, name):
        names = ", ".join(entity.name for entity in list_entities(glue.store, kind)) or "none"
        yield f"SecurityConfiguration is {name!r}, which does not exist; allowed: {names}"


def _member(glue: GlueState, entity: Entity, run: JobRun) -> Answer:
    """Return a session in the form of answers."""
    definition = entity.definition
    end_ms = run.completed_at_ms
    seconds = max((end_ms or glue.now_ms()) - entity.created_at_ms, 0) / MS_PER_S
    capacity = capacity_of(definition)
    status = status_of(run)
    timeout = definition.get("Timeout", TIMEOUT_MINUTES)
    return {
        **{name: definition[name] for name in RETURNED if name in definition},
        **{key: value for key, value in capacity.members().items() if key != "AllocatedCapacity"},
        "CreatedOn": entity.created_at_ms,
        "Status": status,
        "Progress": 0.0 if status == PROVISIONING else 1.0,
        "ErrorMessage": run.error_message if status == FAILED else None,
        "CompletedOn": end_ms,
        "ExecutionTime": seconds,
        "DPUSeconds": seconds * capacity.dpu if end_ms else None,
        "IdleTimeout": definition.get("IdleTimeout", timeout),
        "SessionType": definition.get("SessionType", LIVY),
    }
