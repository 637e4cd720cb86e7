"""Glue's operations on the statements of a session.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-interactive-sessions.html
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tidemark.glue_job.session.statement_files import CANCEL, ENDED_STATES, WAITING
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.pages import Answer, Request, page
from tidemark.glue_service.protocol.service_errors import NotFoundError, ServiceError
from tidemark.glue_service.sessions.session_runs import (
    LIVY,
    READY,
    SPARK_CONNECT,
    check_status,
    files_of,
    find_session,
    record_of,
)
from tidemark.local_state.store.database import JobRun

PAGE = 100
CANCEL_GRACE_MS = 2_000


def run_statement(glue: GlueState, request: Request) -> Answer:
    """Run code in a session, after the statements before it; return its number."""
    name = request["SessionId"]
    entity, run = find_session(glue, name)
    if entity.definition.get("SessionType", LIVY) != LIVY:
        raise ServiceError(
            "OperationNotSupportedException",
            f"Session {name} is of {SPARK_CONNECT}: its clients connect to GetSessionEndpoint's",
        )
    check_status(name, run, READY)
    glue.sessions.before_statement(request["Code"])
    files = files_of(run)
    number = files.add(request["Code"])
    try:
        files.send(number)
    except OSError as error:  # it ends at this moment
        files.forget(number)
        text = f"Session {name} cannot take a statement: {error}"
        raise ServiceError("IllegalSessionStateException", text) from error
    return {"Id": number}


def get_statement(glue: GlueState, request: Request) -> Answer:
    """Return a statement, with its output once it has ended."""
    return {"Statement": _member(*_find(glue, request))}


def is_pending(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer of `get_statement` says that a statement has not ended."""
    return answer["Statement"]["State"] not in ENDED_STATES


def list_statements(glue: GlueState, request: Request) -> Answer:
    """Return a page of the statements of a session, the first one first."""
    _, run = find_session(glue, request["SessionId"])
    numbers, token = page(files_of(run).numbers(), request.get("NextToken"), PAGE)
    return {"Statements": [_member(run, number) for number in numbers], "NextToken": token}


def cancel_statement(glue: GlueState, request: Request) -> Answer:
    """Interrupt a statement, or keep it from running; one that has ended stays as it is.

    Code that does not end within 2 s ends with its session.
    """
    name = request["SessionId"]
    run, number = _find(glue, request)
    check_status(name, run, READY)
    if record_of(run, number)["State"] not in ENDED_STATES:
        with suppress(OSError):  # it ends at this moment, and all its statements
            files_of(run).send(CANCEL, number)
        glue.sessions.to_end[run.run_id, number] = glue.now_ms() + CANCEL_GRACE_MS
    return {}


def _find(glue: GlueState, request: Request) -> tuple[JobRun, int]:
    name, number = request["SessionId"], request["Id"]
    _, run = find_session(glue, name)
    if number not in files_of(run).numbers():
        raise NotFoundError(f"Entity Not Found: session {name} has no statement {number}")
    return run, number


def _member(run: JobRun, number: int) -> Answer:
    record = record_of(run, number)
    begun = {"Progress": 0.0} if record["State"] == WAITING else {}
    return {"Id": number, "Code": files_of(run).code(number), **begun, **record}
