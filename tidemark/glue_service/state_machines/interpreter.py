"""Interprets executions by moto's interpreter of the Amazon States Language, and records them."""

import json
from collections.abc import Mapping
from typing import Any

from tidemark.glue_service.state_machines import moto_parts  # noqa: F401 (it changes moto)
from tidemark.glue_service.state_machines.execution_rows import (
    END,
    FAILED,
    SUCCEEDED,
    TIMED_OUT,
)
from tidemark.glue_service.state_machines.formats import as_json, text_of
from tidemark.glue_service.state_machines.light_moto import part
from tidemark.glue_service.state_machines.parsing import program_of
from tidemark.glue_service.state_machines.places import Place, Run, here
from tidemark.glue_service.state_machines.record import CutOffError

Environment = part("eval.environment").Environment
EventHistoryContext = part("eval.event.event_manager").EventHistoryContext
EventManager = part("eval.event.event_manager").EventManager


def interpret(run: Run, definition: str) -> None:
    """Interpret an execution to its end, and record it.

    Raises:
        CutOffError: it was stopped, or the port ends.
    """
    execution = run.record.execution
    here.place = Place(run, last_ms=execution.started_at_ms)
    environment = run.environment = _environment(run)
    details = {"truncated": False}
    started = {"input": execution.input, "inputDetails": details, "roleArn": execution.role_arn}
    environment.event_manager.add_event(
        environment.event_history_context,
        "ExecutionStarted",
        {"executionStartedEventDetails": started},
        update_source_event_id=False,
    )
    program_of(definition).eval(environment)
    state, now_ms = environment.program_state(), run.now_ms()
    kind = type(state).__name__
    if kind == "ProgramEnded":
        _finish(run, SUCCEEDED, output=as_json(environment.states.get_input(), (",", ":")))
    elif kind == "ProgramError":
        error = state.error or {}
        _finish(run, FAILED, error=error.get("error"), cause=error.get("cause"))
    elif run.end_ms is not None and now_ms >= run.end_ms:
        run.last_event = {
            "type": "ExecutionTimedOut",
            "timestamp": now_ms,
            "previousEventId": environment.event_history_context.source_event_id,
            "executionTimedOutEventDetails": {},
        }
        _finish(run, TIMED_OUT)
    else:
        raise CutOffError


def _finish(run: Run, status: str, **members: str | None) -> None:
    stopped_at_ms = run.last_event["timestamp"]
    run.record.finish(run.last_event, status=status, stopped_at_ms=stopped_at_ms, **members)


def _environment(run: Run) -> Any:
    execution = run.record.execution
    region, account = execution.arn.split(":")[3:5]
    details = part("eval.evaluation_details").AWSExecutionDetails
    context = {
        "Execution": {
            "Id": execution.arn,
            "Input": json.loads(execution.input),
            "Name": execution.name,
            "RoleArn": execution.role_arn,
            "StartTime": text_of(execution.started_at_ms),
            "RedriveCount": execution.redrives,
        },
        "StateMachine": {"Id": execution.machine, "Name": execution.machine.rpartition(":")[2]},
    }
    environment = Environment(
        aws_execution_details=details(account, region, execution.role_arn),
        execution_type=execution.kind,
        context=context,
        event_history_context=EventHistoryContext.of_program_start(),
        cloud_watch_logging_session=None,
        activity_store={},
    )
    environment.event_manager = _RecordedEvents()
    return environment


class _RecordedEvents(EventManager):  # type: ignore[misc, valid-type] # it is moto's
    """Events that are recorded once: moto's are in memory, and begin again after a restart."""

    def add_event(
        self,
        context: Any,
        event_type: Any,
        event_details: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        update_source_event_id: bool = True,
    ) -> int:
        place = here.place
        if failed := (event_details or {}).get("evaluationFailedEventDetails"):
            # moto adds it for the expression, and again, with less of a cause, for the attempt.
            (attempt, cause), place.failure = place.failure, (place.step(END), failed["cause"])
            if attempt == place.step(END) and cause.endswith(failed["cause"]):
                return int(context.source_event_id)
        place.events += 1
        event = {
            "type": str(getattr(event_type, "value", event_type)),
            "timestamp": place.run.now_ms(),
            "previousEventId": context.source_event_id,
            **json.loads(as_json(event_details or {})),
        }
        if event["type"] in ("ExecutionSucceeded", "ExecutionFailed"):
            # It is recorded together with the end of the execution.
            place.run.last_event = event
            return 0
        step = f"{place.path}event{place.events}"
        number, recorded = place.run.record.event(step, event)
        place.last_ms = recorded["timestamp"]
        context.last_published_event_id = number
        if update_source_event_id:
            context.source_event_id = number
        return number
