"""Tasks: their clients, parameters and answers, and how they wait for an end."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

from botocore import xform_name

from tidemark.glue_service.protocol.models import service_model
from tidemark.glue_service.state_machines.light_moto import part, replace_function
from tidemark.glue_service.state_machines.moto_parts.errors import (
    FAILURES,
    KINDS,
    NAMES,
    error_named,
    failure,
)
from tidemark.glue_service.state_machines.places import HEARTBEAT, TIMEOUT, here
from tidemark.glue_service.state_machines.record import CutOffError
from tidemark.glue_service.state_machines.stand_ins import in_thread
from tidemark.glue_service.state_machines.tokens import END

BOTO_NAMES = {"eventbridge": "events", "cloudwatchlogs": "logs"}
ERROR_NAMES = {  # of services, in errors
    "eventbridge": "EventBridge",
    "secretsmanager": "SecretsManager",
    **{name: name.capitalize() for name in ("glue", "s3", "sns", "sqs", "ssm")},
}
_callbacks = part("eval.callback.callback")
_services = "component.state.exec.state_task.service"


def replace_tasks() -> None:
    """Replace how moto calls services."""
    # What a task starts must be known as awaited when it begins.
    executions = part(f"{_services}.state_task_service_sfn").StateTaskServiceSfn
    start = executions._eval_service_task

    def start_awaited(self: Any, env: Any, **rest: Any) -> None:
        here.place.is_awaited = (self.resource.condition or "").startswith("sync")
        try:
            start(self, env, **rest)
        finally:
            here.place.is_awaited = False

    executions._eval_service_task = start_awaited
    # Clients are of moto's own backends, or of a server at a fixed address.
    replace_function("boto_client_for", _client_for(in_millis=True))
    replace_function("boto_client_for", _client_for(in_millis=False), "aws_sdk")
    # Names of parameters and results are those of the service: moto has none of the models.
    service = part(f"{_services}.state_task_service").StateTaskService
    service._normalise_parameters = _to_service
    service._normalise_response = _from_service
    service._SERVICE_NAME_SFN_TO_BOTO_OVERRIDES.update(BOTO_NAMES)
    # moto looks every half second, and knows neither the port's end nor an earlier answer.
    callback = part(f"{_services}.state_task_service_callback").StateTaskServiceCallback
    callback._eval_integration_pattern = _integrate
    # A heartbeat that is missing is a timeout, and cannot be caught by its own name.
    callback._from_error = _with_heartbeats(callback._from_error)
    # A run that was stopped has not done its work, yet its task would succeed.
    part(f"{_services}.state_task_service_glue")._JOB_RUN_STATE_ABNORMAL_TERMINAL_VALUE.add(
        "STOPPED"
    )
    sdk = part(f"{_services}.state_task_service_aws_sdk")
    sdk._SERVICE_ERROR_NAMES.update(ERROR_NAMES)
    call_service = sdk.StateTaskServiceAwsSdk._eval_service_task

    def call(self: Any, env: Any, normalised_parameters: Any, **rest: Any) -> None:
        if self.resource.api_name == "tidemark":
            _stand_in(self, env, normalised_parameters)
        else:
            call_service(self, env, normalised_parameters=normalised_parameters, **rest)

    sdk.StateTaskServiceAwsSdk._eval_service_task = call


def _client_for(*, in_millis: bool) -> Callable[..., Any]:
    def client_for(region: str, service: str, state_credentials: Any = None) -> Any:
        return here.place.run.tasks.client(service, in_millis=in_millis)

    return client_for


def _to_service(self: Any, parameters: Any, *_: Any, **names: Any) -> None:
    if (operation := _operation_of(self, **names)) and operation.input_shape:
        self._to_boto_request(parameters, operation.input_shape)
    if self._get_boto_service_name() == "dynamodb":
        _decode(parameters)


def _decode(value: Any) -> None:
    """Replace the Base64 of binary attributes by their bytes, as the service has them."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        if key == "B" and isinstance(item, str):
            value[key] = base64.b64decode(item)
        elif isinstance(item, (dict, list)):
            _decode(item)


def _from_service(self: Any, response: Any, *_: Any, **names: Any) -> None:
    if (operation := _operation_of(self, **names)) and operation.output_shape:
        self._from_boto_response(response, operation.output_shape)
    _encode(response)


def _encode(value: Any) -> None:
    """Replace the bytes in a value, which are no JSON, by their Base64."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        if isinstance(item, bytes):
            value[key] = base64.b64encode(item).decode()
        elif isinstance(item, (dict, list)):
            _encode(item)


def _operation_of(
    self: Any, boto_service_name: str | None = None, service_action_name: str | None = None
) -> Any:
    service = self._get_boto_service_name(boto_service_name)
    action = self._get_boto_service_action(service_action_name)
    if service == "tidemark":
        return None
    model = service_model(service)
    names = [name for name in model.operation_names if xform_name(name) == action]
    return model.operation_model(names[0]) if names else None


def _integrate(
    self: Any,
    env: Any,
    resource_runtime_part: Any,
    normalised_parameters: Any,
    state_credentials: Any,
) -> None:
    place, submitted = here.place, env.stack.pop()
    timeout_s = _timeout_of(self, env)
    if self.resource.condition == "waitForTaskToken":
        _await_token(self, env, timeout_s)
        return
    env.stack.append(submitted)
    is_second = self.resource.condition == "sync:2"
    build = self._build_sync2_resolver if is_second else self._build_sync_resolver
    look = build(env, resource_runtime_part, normalised_parameters, state_credentials)

    def looked() -> Any:
        place.is_looking = True
        try:
            answer = look()
        except FAILURES.FailureEventException as failure:
            answer = failure
        finally:
            place.is_looking = False
        if answer is None:
            return None
        won = place.run.record.settle(place.step(END), place.reply)
        return won if won == TIMEOUT else answer

    try:
        answer = place.await_end(env, timeout_s, looked)
    except CutOffError:
        place.run.tasks.stop(place.run, submitted)
        raise
    _answer_task(env, answer)


class _HeartbeatName(NAMES.StatesErrorName):  # type: ignore[misc] # it is moto's
    def matches(self, error_name: str | None) -> bool:
        return error_name in ("States.HeartbeatTimeout", "States.Timeout")


def _with_heartbeats(from_error: Callable[..., Any]) -> Callable[..., Any]:
    def event_of(self: Any, env: Any, ex: Exception) -> Any:
        event = from_error(self, env=env, ex=ex)
        if isinstance(ex, _callbacks.HeartbeatTimeoutError):
            event.error_name = _HeartbeatName(KINDS.StatesTimeout)
        return event

    return event_of


def _answer_task(env: Any, answer: Any) -> None:
    if answer == TIMEOUT:
        raise _callbacks.CallbackTimeoutError
    if isinstance(answer, FAILURES.FailureEventException):
        raise answer
    env.stack.append(answer)


def _await_token(self: Any, env: Any, timeout_s: float | None) -> None:
    place, heartbeat_s = here.place, None
    if self.heartbeat:
        self.heartbeat.eval(env=env)
        heartbeat_s = env.stack.pop()
    step = place.step(END)
    answer = place.await_end(env, timeout_s, lambda: place.run.record.known(step), heartbeat_s)
    if answer == TIMEOUT:
        raise _callbacks.CallbackTimeoutError
    if answer == HEARTBEAT:
        raise _callbacks.HeartbeatTimeoutError
    if "output" not in answer:
        failure = _callbacks.CallbackOutcomeFailure(step, answer["error"], answer["cause"])
        raise _callbacks.CallbackOutcomeFailureError(callback_outcome_failure=failure)
    env.stack.append(json.loads(answer["output"]))


def _stand_in(self: Any, env: Any, parameters: Mapping[str, Any]) -> None:
    place = here.place
    step = place.step("call1")
    answer = place.run.record.known(step)
    if answer is None:
        look = in_thread(
            place.run.tasks.stand_in, self.name, parameters["input"], place.run.changes
        )
        answer = place.await_end(env, _timeout_of(self, env), look)
        if answer == TIMEOUT:
            raise _callbacks.CallbackTimeoutError
        answer = place.run.record.settle(step, answer)
    if "error" in answer:
        details = {"resource": "call", "resourceType": "aws-sdk:tidemark", **answer}
        name = error_named(answer["error"])
        raise failure(env, name, "TaskFailed", {"taskFailedEventDetails": details})
    env.stack.append(answer["output"])


def _timeout_of(self: Any, env: Any) -> float | None:
    if self.timeout.is_default_value():
        return None
    self.timeout.eval(env=env)
    seconds: float = env.stack.pop()
    return seconds
