"""Operations of the port for commands of a home only: the gate checks that."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.eventbridge.service import deliver_entry, entry_fault
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.service_errors import InvalidInputError, ServiceError
from tidemark.glue_service.runs.active import RunStart
from tidemark.glue_service.runs.job_run_process import new_run_id
from tidemark.glue_service.submission import Submission, job_of, request_of
from tidemark.glue_service.submit_served import STOP, SUBMIT


def call_of_home(engine: Engine, operation: str, body: bytes) -> Mapping[str, Any]:
    """Run an operation for a command of the home; return the answer."""
    if operation not in OPERATIONS:
        names = ", ".join(OPERATIONS)
        raise InvalidInputError(f"there is no operation {operation!r}; allowed: {names}")
    try:
        request = json.loads(body)
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from error
    return OPERATIONS[operation](engine, request)


def _deploy(engine: Engine, request: Any) -> Mapping[str, Any]:
    folder = request.get("Folder") if isinstance(request, dict) else None
    if not isinstance(folder, str) or not Path(folder).is_absolute():
        raise InvalidInputError(f"Folder is {folder!r}; allowed: the absolute path of an assembly")
    return {"Text": engine.ask(lambda glue: deploy_on_port(glue, Path(folder)))}


def _put_event(engine: Engine, request: Any) -> Mapping[str, Any]:
    """Deliver an event, which may also be from one of AWS's own services, such as aws.s3."""
    entry = request if isinstance(request, dict) else {}
    if fault := entry_fault(entry):
        raise ServiceError(*fault)
    event_id, rules = engine.ask(lambda glue: deliver_entry(glue, entry))
    return {"EventId": event_id, "Rules": rules}


def _start_submitted(engine: Engine, request: Any) -> Mapping[str, Any]:
    submission = _submission(request if isinstance(request, dict) else {})

    def start(glue: GlueState) -> str:
        run_request = request_of(submission, new_run_id())
        return glue.runner.start(RunStart(job_of(submission), run_request)).run_id

    return {"JobRunId": engine.ask(start)}


def _stop_submitted(engine: Engine, request: Any) -> Mapping[str, Any]:
    run_id = request.get("JobRunId") if isinstance(request, dict) else None
    return {"IsStopped": engine.ask(lambda glue: glue.runner.stop(str(run_id)))}


def _submission(request: Mapping[str, Any]) -> Submission:
    script, name = request.get("Script"), request.get("JobName")
    arguments, version = request.get("Arguments"), request.get("GlueVersion")
    copy, minutes = request.get("Copy", ""), request.get("Timeout")
    if not (
        isinstance(script, str)
        and isinstance(name, str)
        and isinstance(version, str)
        and isinstance(arguments, dict)
        and isinstance(copy, str)
        and (minutes is None or isinstance(minutes, int))
    ):
        raise InvalidInputError(
            f"a submission has Script, JobName, Arguments and GlueVersion, not {sorted(request)}"
        )
    return Submission(Path(script), name, arguments, version, copy, minutes)


OPERATIONS: Mapping[str, Callable[[Engine, Any], Mapping[str, Any]]] = {
    "Deploy": _deploy,
    "PutEvent": _put_event,
    SUBMIT: _start_submitted,
    STOP: _stop_submitted,
}
