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

Request = Mapping[str, Any]
SUBMISSION = {
    "Script": str,
    "JobName": str,
    "Arguments": dict,
    "GlueVersion": str,
    "Copy": str,
    "Timeout": int | None,
}


def call_of_home(engine: Engine, operation: str, body: bytes) -> Request:
    """Run an operation for a command of the home; return the answer."""
    if operation not in OPERATIONS:
        names = ", ".join(OPERATIONS)
        raise InvalidInputError(f"there is no operation {operation!r}; allowed: {names}")
    try:
        request = json.loads(body)
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from error
    return OPERATIONS[operation](engine, request if isinstance(request, dict) else {})


def _deploy(engine: Engine, request: Request) -> Request:
    folder = request.get("Folder")
    if not isinstance(folder, str) or not Path(folder).is_absolute():
        raise InvalidInputError(f"Folder is {folder!r}; allowed: the absolute path of an assembly")
    return {"Text": engine.ask(lambda glue: deploy_on_port(glue, Path(folder)))}


def _put_event(engine: Engine, request: Request) -> Request:
    """Deliver an event, which may also be from one of AWS's own services, such as aws.s3."""
    if fault := entry_fault(request):
        raise ServiceError(*fault)
    event_id, rules = engine.ask(lambda glue: deliver_entry(glue, request))
    return {"EventId": event_id, "Rules": rules}


def _start_submitted(engine: Engine, request: Request) -> Request:
    submission = _submission(request)

    def start(glue: GlueState) -> str:
        run_request = request_of(submission, new_run_id())
        return glue.runner.start(RunStart(job_of(submission), run_request)).run_id

    return {"JobRunId": engine.ask(start)}


def _stop_submitted(engine: Engine, request: Request) -> Request:
    run_id = str(request.get("JobRunId"))
    return {"IsStopped": engine.ask(lambda glue: glue.runner.stop(run_id))}


def _submission(request: Request) -> Submission:
    given: dict[str, Any] = {"Copy": "", "Timeout": None, **request}
    if not all(isinstance(given.get(name), kind) for name, kind in SUBMISSION.items()):
        raise InvalidInputError(
            f"a submission has Script, JobName, Arguments and GlueVersion, not {sorted(request)}"
        )
    script, *others = (given[name] for name in SUBMISSION)
    return Submission(Path(script), *others)


OPERATIONS: Mapping[str, Callable[[Engine, Request], Request]] = {
    "Deploy": _deploy,
    "PutEvent": _put_event,
    SUBMIT: _start_submitted,
    STOP: _stop_submitted,
}
