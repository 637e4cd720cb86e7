"""Tasks: their clients, parameters and answers, and how they wait for an end."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

from botocore import xform_name

from tidemark.glue_service.protocol.models import service_model
from tidemark.glue_service.state_machines.execution_rows import END
from tidemark.glue_service.state_machines.light_moto import instead_of, part, replace_function
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

BOTO_NAMES = {"eventbridge": "events", "cloudwatchlogs": "logs"}
ERROR_NAMES = {  # of services, in errors
    "eventbridge": "EventBridge",
    "secretsmanager": "SecretsManager",
    **{name: name.capitalize() for name in ("glue", "s3", "sns", "sqs", "ssm")},
}
_callbacks = part("eval.callback.callback")
_services = "component.state.exec.state_task.service"
_CALLBACK = "StateTaskServiceCallback"
_TimeoutSeconds = part("component.common.timeouts.timeout").TimeoutSeconds


# Clients of moto are those of its own backends, or of a server at a fixed address.
def _client_for(*, in_millis: bool) -> Callable[..., Any]:
    def client_for(region: str, service: str, state_credentials: Any = None) -> Any:
        return here.place.run.tasks.client(service, in_millis=in_millis)

    return client_for


replace_function("boto_client_for", _client_for(in_millis=True))
replace_function("boto_client_for", _client_for(in_millis=False), "aws_sdk")
part(f"{_services}.state_task_service").StateTaskService._SERVICE_NAME_SFN_TO_BOTO_OVERRIDES.update(
    BOTO_NAMES
)
part(f"{_services}.state_task_service_aws_sdk")._SERVICE_ERROR_NAMES.update(ERROR_NAMES)
# A run that was stopped has not done its work, yet its task would succeed.
part(f"{_services}.state_task_service_glue")._JOB_RUN_STATE_ABNORMAL_TERMINAL_VALUE.add("STOPPED")


# What a task starts must be known as awaited when it begins.
@instead_of(f"{_services}.state_task_service_sfn", "StateTaskServiceSfn._eval_service_task")
def _start_awaited(moto: Any, self: Any, env: Any, **rest: Any) -> None:
    here.place.is_awaited = (self.resource.condition or "").startswith("sync")
    try:
        moto(self, env, **rest)
    finally:
        here.place.is_awaited = False


# Names of parameters and results are those of the service: moto has none of the models.
@instead_of(f"{_services}.state_task_service", "StateTaskService._normalise_parameters")
def _to_service(_: Any, self: Any, parameters: Any, *__: Any, **names: Any) -> None:
    if (operation := _operation_of(self, **names)) and operation.input_shape:
        self._to_boto_request(parameters, operation.input_shape)
    if self._get_boto_service_name() == "dynamodb":
        _change_leaves(parameters, _decoded)


@instead_of(f"{_services}.state_task_service", "StateTaskService._normalise_response")
def _from_service(_: Any, self: Any, response: Any, *__: Any, **names: Any) -> None:
    if (operation := _operation_of(self, **names)) and operation.output_shape:
        self._from_boto_response(response, operation.output_shape)
    _change_leaves(response, _encoded)


def _decoded(key: Any, item: Any) -> Any:
    """Return the bytes of a binary attribute, whose Base64 the definition has."""
    return base64.b64decode(item) if key == "B" and isinstance(item, str) else item


def _encoded(_: Any, item: Any) -> Any:
    """Return the Base64 of bytes, which are no JSON."""
    return base64.b64encode(item).decode() if isinstance(item, bytes) else item


def _change_leaves(value: Any, change: Callable[[Any, Any], Any]) -> None:
    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(item, (dict, list)):
            _change_leaves(item, change)
        else:
            value[key] = change(key, item)


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


# moto looks every half second, and knows neither the port's end nor an earlier answer.
@instead_of(f"{_services}.state_task_service_callback", f"{_CALLBACK}._eval_integration_pattern")
def _integrate(_: Any, self: Any, env: Any, **call: Any) -> None:
    place, submitted = here.place, env.stack[-1]
    if self.resource.condition == "waitForTaskToken":
        env.stack.pop()
        _await_token(self, env)
        return
    is_second = self.resource.condition == "sync:2"
    build = self._build_sync2_resolver if is_second else self._build_sync_resolver
    look = build(env, **call)

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
        answer = _awaited(self, env, looked)
    except CutOffError:
        place.run.tasks.stop(place.run, submitted)
        raise
    if isinstance(answer, FAILURES.FailureEventException):
        raise answer
    env.stack.append(answer)


class _HeartbeatName(NAMES.StatesErrorName):  # type: ignore[misc] # it is moto's
    def matches(self, error_name: str | None) -> bool:
        return error_name in ("States.HeartbeatTimeout", "States.Timeout")


# A heartbeat that is missing is a timeout in moto, and cannot be caught by its own name.
@instead_of(f"{_services}.state_task_service_callback", f"{_CALLBACK}._from_error")
def _event_of(moto: Any, self: Any, env: Any, ex: Exception) -> Any:
    event = moto(self, env=env, ex=ex)
    if isinstance(ex, _callbacks.HeartbeatTimeoutError):
        event.error_name = _HeartbeatName(KINDS.StatesTimeout)
    return event


def _awaited(self: Any, env: Any, look: Callable[[], Any], heartbeat_s: float | None = None) -> Any:
    answer = here.place.await_end(env, _seconds(self.timeout, env), look, heartbeat_s)
    if answer == TIMEOUT:
        raise _callbacks.CallbackTimeoutError
    if answer == HEARTBEAT:
        raise _callbacks.HeartbeatTimeoutError
    return answer


def _await_token(self: Any, env: Any) -> None:
    record, step = here.place.run.record, here.place.step(END)
    answer = _awaited(self, env, lambda: record.known(step), _seconds(self.heartbeat, env))
    if "output" not in answer:
        failure = _callbacks.CallbackOutcomeFailure(step, answer["error"], answer["cause"])
        raise _callbacks.CallbackOutcomeFailureError(callback_outcome_failure=failure)
    env.stack.append(json.loads(answer["output"]))


@instead_of(f"{_services}.state_task_service_aws_sdk", "StateTaskServiceAwsSdk._eval_service_task")
def _call(moto: Any, self: Any, env: Any, normalised_parameters: Any, **rest: Any) -> None:
    if self.resource.api_name == "tidemark":
        _stand_in(self, env, normalised_parameters)
    else:
        moto(self, env, normalised_parameters=normalised_parameters, **rest)


def _stand_in(self: Any, env: Any, parameters: Mapping[str, Any]) -> None:
    place = here.place
    step = place.step("call1")
    answer = place.run.record.known(step)
    if answer is None:
        run, given = place.run, parameters["input"]
        look = in_thread(run.tasks.stand_in, self.name, given, run.changes)
        answer = run.record.settle(step, _awaited(self, env, look))
    if "error" in answer:
        details = {"resource": "call", "resourceType": "aws-sdk:tidemark", **answer}
        name = error_named(answer["error"])
        raise failure(env, name, "TaskFailed", {"taskFailedEventDetails": details})
    env.stack.append(answer["output"])


def _seconds(limit: Any, env: Any) -> float | None:
    """Return the seconds of a timeout or a heartbeat; None without any."""
    if limit is None or (isinstance(limit, _TimeoutSeconds) and limit.is_default_value()):
        return None
    limit.eval(env=env)
    seconds: float = env.stack.pop()
    return seconds
