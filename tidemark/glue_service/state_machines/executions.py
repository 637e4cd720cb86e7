"""The operations of Step Functions on executions.

Source: https://docs.aws.amazon.com/step-functions/latest/apireference/API_Operations.html
"""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tidemark.extras import require
from tidemark.glue_service.entities import Entity
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.json_protocol import parsed
from tidemark.glue_service.protocol.pages import Answer, Request
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.state_machines.execution_rows import (
    ABORTED,
    END,
    EXPRESS,
    RUNNING,
    SECRET,
    SUCCEEDED,
    TIMED_OUT,
    Execution,
    add_event,
    answer_of,
    events_of,
    executions_of,
    find_execution,
    make_tables,
    open_executions,
    parts_of_token,
    put_execution,
    settle,
)
from tidemark.glue_service.state_machines.machines import (
    MACHINE,
    NOT_SUPPORTED,
    check_is_standard,
    check_name,
    get_machine,
    parts_of,
    states_page,
)

EXECUTION = "execution"
PACKAGES = ("moto", "antlr4", "jsonpath_ng", "jsonata")
DATA = ("input", "output", "parameters")  # what a history leaves out without execution data
SYNC_STATUS = {SUCCEEDED: SUCCEEDED, TIMED_OUT: TIMED_OUT}
MAX_INPUT_BYTES = 262_144


def start_execution(
    glue: GlueState, request: Request, parent: str = "", *, is_awaited: bool = False
) -> Answer:
    """Start an execution; the same one again, while it runs, is not an error.

    A task of another one, the `parent` by its ARN, waits for its end or does not.
    """
    entity = get_machine(glue, request["stateMachineArn"])
    for package in PACKAGES:
        require(package)
    name, text = request.get("name") or str(uuid.uuid4()), request.get("input") or "{}"
    check_name(name)
    _check_input(text)
    arn = _arn(request["stateMachineArn"], entity, name)
    make_tables(glue.store)
    old = find_execution(glue.store, arn)
    if old is not None:
        if (old.status, old.input) != (RUNNING, text):
            raise ServiceError("ExecutionAlreadyExists", f"Execution Already Exists: '{arn}'")
        return {"executionArn": arn, "startDate": old.started_at_ms}
    now_ms = glue.now_ms()
    execution = Execution(
        arn=arn,
        machine=request["stateMachineArn"],
        name=name,
        kind=entity.definition["type"],
        status=RUNNING,
        started_at_ms=now_ms,
        input=text,
        definition=entity.definition["definition"],
        role_arn=entity.definition["roleArn"],
        revision=entity.definition.get("revisionId", ""),
        parent=parent,
        is_awaited=is_awaited,
    )
    put_execution(glue.store, execution)
    glue.executions.begin()
    return {"executionArn": arn, "startDate": now_ms}


def _arn(machine: str, entity: Entity, name: str) -> str:
    if entity.definition["type"] == EXPRESS:
        return f"{machine.replace(f':{MACHINE}:', ':express:')}:{name}:{uuid.uuid4()}"
    return f"{machine.replace(f':{MACHINE}:', f':{EXECUTION}:')}:{name}"


def _check_input(text: str) -> None:
    try:
        if (size := len(text.encode())) > MAX_INPUT_BYTES:
            raise ValueError(f"it has {size:,} bytes; allowed: up to {MAX_INPUT_BYTES:,}")
        parsed(text)
    except ValueError as error:
        why = f"Invalid State Machine Execution Input: '{error}'"
        raise ServiceError("InvalidExecutionInput", why) from error


def start_sync_execution(glue: GlueState, request: Request) -> Answer:
    """Start an execution of an EXPRESS machine; `of_sync_execution` is its end."""
    if get_machine(glue, request["stateMachineArn"]).definition["type"] != EXPRESS:
        raise ServiceError("StateMachineTypeNotSupported", NOT_SUPPORTED)
    return start_execution(glue, request)


def of_sync_execution(glue: GlueState, arn: str) -> Answer | None:
    """Return the answer of StartSyncExecution; None while the execution runs."""
    execution = find_execution(glue.store, arn)
    if execution is None or execution.status == RUNNING:
        return None
    members = {
        name: value
        for name, value in describe_members(execution).items()
        if not name.startswith("redrive")
    }
    members["status"] = SYNC_STATUS.get(execution.status, "FAILED")
    return members


def stop_execution(glue: GlueState, request: Request) -> Answer:
    """Abort an execution, and the job runs and executions that its tasks wait for."""
    execution = get_execution(glue, request["executionArn"])
    if execution.status != RUNNING:
        return {"stopDate": execution.stopped_at_ms}
    now_ms = glue.now_ms()
    about = {name: request[name] for name in ("error", "cause") if name in request}
    ended = replace(execution, status=ABORTED, stopped_at_ms=now_ms, **about)
    event = {
        "type": "ExecutionAborted",
        "timestamp": now_ms,
        "previousEventId": 0,
        "executionAbortedEventDetails": about,
    }
    with glue.store.transaction():
        add_event(glue.store, execution.arn, "end", event)
        put_execution(glue.store, ended)
        stop_children(glue, execution.arn)
    glue.executions.close(execution.arn)
    return {"stopDate": now_ms}


def stop_children(glue: GlueState, arn: str) -> None:
    """Abort the executions that tasks of an execution wait for, because it ends.

    It is one transaction with that end: after a kill they are not interpreted again.
    """
    for child in open_executions(glue.store):
        if child.is_awaited and child.parent == arn:
            stop_execution(glue, {"executionArn": child.arn})


def describe_execution(glue: GlueState, request: Request) -> Answer:
    """Return an execution."""
    return describe_members(get_execution(glue, request["executionArn"]))


def describe_members(execution: Execution) -> Answer:
    """Return an execution in the form of answers."""
    return {
        "executionArn": execution.arn,
        "stateMachineArn": execution.machine,
        "name": execution.name,
        "status": execution.status,
        "startDate": execution.started_at_ms,
        "stopDate": execution.stopped_at_ms,
        "input": execution.input,
        "inputDetails": {"included": True},
        "output": execution.output,
        "outputDetails": None if execution.output is None else {"included": True},
        "error": execution.error,
        "cause": execution.cause,
        "redriveCount": execution.redrives,
        "redriveDate": execution.redriven_at_ms,
        "redriveStatus": f"{'NOT_' if why_not_redrivable(execution) else ''}REDRIVABLE",
        "redriveStatusReason": why_not_redrivable(execution),
    }


def why_not_redrivable(execution: Execution) -> str | None:
    """Return why an execution cannot be started again, as AWS says; None if it can."""
    is_over = execution.status in (RUNNING, SUCCEEDED)
    return f"Execution is {execution.status} and cannot be redriven" if is_over else None


def list_executions(glue: GlueState, request: Request) -> Answer:
    """Return a page of the executions of a machine, the last one first."""
    if "stateMachineArn" not in request:
        text = "mapRunArn: distributed maps are on AWS only; give a stateMachineArn"
        raise ServiceError("ValidationException", text)
    check_is_standard(get_machine(glue, request["stateMachineArn"]).definition["type"])
    status = request.get("statusFilter")
    executions = [
        execution
        for execution in executions_of(glue.store, request["stateMachineArn"])
        if status in (None, execution.status)
    ]
    shown, token = states_page(executions, request)
    names = "executionArn stateMachineArn name status startDate stopDate redriveCount redriveDate"
    members = [
        {
            name: value
            for name, value in describe_members(execution).items()
            if name in names.split()
        }
        for execution in shown
    ]
    return {"executions": members, "nextToken": token}


def get_execution_history(glue: GlueState, request: Request) -> Answer:
    """Return a page of the events of an execution."""
    execution = get_execution(glue, request["executionArn"])
    events = [{"id": number, **event} for number, _, event in events_of(glue.store, execution.arn)]
    if request.get("reverseOrder"):
        events.reverse()
    shown, token = states_page(events, request)
    if not request.get("includeExecutionData", True):
        shown = [_without_data(event) for event in shown]
    return {"events": shown, "nextToken": token}


def _without_data(event: Mapping[str, Any]) -> Answer:
    return {
        name: {key: value for key, value in part.items() if key not in DATA}
        if isinstance(part, Mapping)
        else part
        for name, part in event.items()
    }


def describe_state_machine_for_execution(glue: GlueState, request: Request) -> Answer:
    """Return the state machine as it was when an execution began."""
    execution = get_execution(glue, request["executionArn"])
    return {
        "stateMachineArn": execution.machine,
        "name": execution.machine.rpartition(":")[2],
        "definition": execution.definition,
        "roleArn": execution.role_arn,
        "updateDate": execution.started_at_ms,
        "revisionId": execution.revision or None,
    }


def send_task_success(glue: GlueState, request: Request) -> Answer:
    """Give the task that waits for a token its output."""
    try:
        parsed(request["output"])
    except ValueError as error:
        raise ServiceError("InvalidOutput", f"Invalid Output: '{error}'") from error
    return _answer_task(glue, request["taskToken"], {"output": request["output"]})


def send_task_failure(glue: GlueState, request: Request) -> Answer:
    """Let the task that waits for a token fail."""
    failure = {name: request.get(name) for name in ("error", "cause")}
    return _answer_task(glue, request["taskToken"], failure)


def send_task_heartbeat(glue: GlueState, request: Request) -> Answer:
    """Tell that the task that waits for a token goes on."""
    arn, step = _waiting_step(glue, request["taskToken"])
    if record := glue.executions.records.get(arn):
        record.beats[step] = glue.now_ms()
    return {}


def _answer_task(glue: GlueState, token: str, answer: Any) -> Answer:
    arn, step = _waiting_step(glue, token)
    settle(glue.store, arn, step, answer)
    if record := glue.executions.records.get(arn):
        record.learn(step, answer)
    glue.executions.changes.note()
    return {}


def _waiting_step(glue: GlueState, token: str) -> tuple[str, str]:
    arn, attempt, secret = parts_of_token(token) or ("", "", "")
    execution, step = find_execution(glue.store, arn), f"{attempt}:{END}"
    if execution is None or answer_of(glue.store, arn, f"{attempt}:{SECRET}") != secret:
        raise ServiceError("InvalidToken", "Invalid Token: 'Invalid token'")
    if execution.status != RUNNING or answer_of(glue.store, arn, step) is not None:
        text = "Task Timed Out: 'Provided task does not exist anymore'"
        raise ServiceError("TaskTimedOut", text)
    return arn, step


def get_execution(glue: GlueState, arn: str) -> Execution:
    """Return the execution of an ARN.

    Raises:
        ServiceError: InvalidArn, or ExecutionDoesNotExist.
    """
    kind, _ = parts_of(arn, EXECUTION, "express")
    if kind == "express":
        check_is_standard(EXPRESS)
    execution = find_execution(glue.store, arn)
    if execution is None:
        raise ServiceError("ExecutionDoesNotExist", f"Execution Does Not Exist: '{arn}'")
    return execution
