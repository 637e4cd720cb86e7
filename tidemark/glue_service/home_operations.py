"""Operations of the port for commands of a home only: the gate checks that."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.eventbridge.service import deliver_entry, entry_fault
from tidemark.glue_service.protocol.service_errors import InvalidInputError, ServiceError
from tidemark.glue_service.start_submitted import start_submitted, stop_submitted
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


OPERATIONS: Mapping[str, Callable[[Engine, Any], Mapping[str, Any]]] = {
    "Deploy": _deploy,
    "PutEvent": _put_event,
    SUBMIT: start_submitted,
    STOP: stop_submitted,
}
