"""Failures of states, as moto has them, by the names of errors of Step Functions."""

from collections.abc import Mapping
from typing import Any

from tidemark.glue_service.state_machines.light_moto import part

FAILURES = part("component.common.error_name.failure_event")
NAMES = part("component.common.error_name.states_error_name")
KINDS = part("component.common.error_name.states_error_name_type").StatesErrorNameType
_error_names = part("component.common.error_name.error_name")
CustomErrorName = part("component.common.error_name.custom_error_name").CustomErrorName


def failure(env: Any, name: Any, kind: str, details: Mapping[str, Any]) -> Any:
    """Return an exception of moto: the failure of a state, with the event that tells of it."""
    event_type = part("eval.event.event_manager").HistoryEventType(kind)
    return FAILURES.FailureEventException(
        FAILURES.FailureEvent(env, name, event_type, dict(details))
    )


def task_error(env: Any, kind: Any, cause: str) -> Any:
    """Return the failure of a task by one of `KINDS`."""
    details = {"taskFailedEventDetails": {"error": kind.to_name(), "cause": cause}}
    return failure(env, NAMES.StatesErrorName(typ=kind), "TaskFailed", details)


def query_error(env: Any, cause: str) -> Any:
    """Return the failure of an expression, and add its event to the history."""
    kind = KINDS.StatesQueryEvaluationError
    event = {"evaluationFailedEventDetails": {"error": kind.to_name(), "cause": cause}}
    env.event_manager.add_event(env.event_history_context, "EvaluationFailed", event)
    return failure(env, NAMES.StatesErrorName(typ=kind), "EvaluationFailed", event)


def end_of_execution(env: Any, kind: Any, cause: str) -> Any:
    """Return a failure that ends the execution, by one of `KINDS`."""
    details = {"executionFailedEventDetails": {"error": kind.to_name(), "cause": cause}}
    return failure(env, NAMES.StatesErrorName(typ=kind), "ExecutionFailed", details)


def error_named(error_name: str | None) -> Any:
    """Return the name of an error, which may be one of Step Functions' own."""
    if not (error_name or "").startswith("States."):
        return CustomErrorName(error_name)
    try:
        kind = KINDS.from_name(error_name)
    except ValueError:
        return _error_names.ErrorName(error_name)
    return NAMES.StatesErrorName(typ=kind)
