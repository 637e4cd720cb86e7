"""The parts of moto's interpreter that are replaced here, each with its reason.

They are replaced in the process at the first use: moto's own Step Functions needs another process.
"""

import base64
import copy
import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

from botocore import xform_name
from jsonpath_ng.ext.parser import parse

from tidemark.glue_service.protocol.models import service_model
from tidemark.glue_service.state_machines.comparisons import compare
from tidemark.glue_service.state_machines.evaluations import EVALUATIONS, MADE, EvaluationError
from tidemark.glue_service.state_machines.light_moto import PACKAGE, part
from tidemark.glue_service.state_machines.places import HEARTBEAT, MS_PER_S, TIMEOUT, here
from tidemark.glue_service.state_machines.port_clients import as_text
from tidemark.glue_service.state_machines.record import CutOffError
from tidemark.glue_service.state_machines.stand_ins import in_thread
from tidemark.glue_service.state_machines.tokens import token_of

MOST_ITERATIONS = 40  # at once, of an inline Map, as on AWS
END = "end"
SHORT_S = 0.01
PATHS = 1024  # of JSON, that are kept parsed
INDEFINITE = re.compile(r"""\[\s*(\?|\*|[^\]'"]*[:,])|\.\.|\.\*""")  # of paths to several values
FORMAT = re.compile(r"\\(.)|\{\}", re.DOTALL)  # an escaped character, or a place for a value
CLASS = re.compile(r"'?<class '(?:\w+\.)*(\w+)'>'?")  # which texts of moto name
ONE_ITEM = re.compile(r"\[\d+\]$")
NO_CHOICE = (
    "An error occurred while executing the state '{name}'. Failed to transition out of the state. "
    "The state does not point to a next state."
)
NO_VALUE = "Invalid path '{path}': The choice state's condition path references an invalid value."
BOTO_NAMES = {"eventbridge": "events", "cloudwatchlogs": "logs"}
ERROR_NAMES = {  # of services, in errors
    "eventbridge": "EventBridge",
    "secretsmanager": "SecretsManager",
    **{name: name.capitalize() for name in ("glue", "s3", "sns", "sqs", "ssm")},
}
TASKS = SimpleNamespace(client=None, stand_in=None, stop=None)  # what an Interpreter is given

_callbacks = part("eval.callback.callback")
_failures = part("component.common.error_name.failure_event")
_names = part("component.common.error_name.states_error_name")
_name_types = part("component.common.error_name.states_error_name_type")
_error_names = part("component.common.error_name.error_name")
CustomErrorName = part("component.common.error_name.custom_error_name").CustomErrorName
_jsonata = part("jsonata.jsonata")
_json_path = part("utils.json_path")
_states = part("component.state.state")
_services = "component.state.exec.state_task.service"


@cache
def prepare() -> None:
    """Replace the parts of moto that this file says why."""
    _replace_values()
    _replace_times()
    _replace_tasks()
    _replace_branches()
    _replace_iterations()


def text_of(time_ms: float) -> str:
    """Return a time in epoch milliseconds as Step Functions writes it."""
    return as_text(datetime.fromtimestamp(time_ms / MS_PER_S, UTC))


def as_json(value: Any, separators: tuple[str, str] | None = None) -> str:
    """Return the JSON of a value, with characters as they are; moto escapes what is not ASCII."""
    return json.dumps(value, ensure_ascii=False, separators=separators, default=_as_plain)


def _as_plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, (datetime, date)) else str(value)


def _replace_function(name: str, function: Callable[..., Any], within: str = "") -> None:
    """Replace a function in the modules of the interpreter that have imported it."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith(PACKAGE) and within in module_name and hasattr(module, name):
            setattr(module, name, function)


def _replace_values() -> None:
    _replace_function("to_json_str", as_json)
    # The JVM that evaluates JSONata is not in the package.
    _replace_function("eval_jsonata_expression", _eval_jsonata)
    # A text is put between quotation marks as it is: one with a quotation mark is an error.
    _replace_function("encode_jsonata_variable_declarations", _declared)
    # $ and $$ are refused everywhere; in a predicate they are what it is of.
    _jsonata._ILLEGAL_VARIABLE_REFERENCES.clear()
    # $uuid and $hash return a text that says that they are missing.
    declarations = part("component.intrinsic.jsonata")._DECLARATION_BY_VARIABLE_REFERENCE
    for name in ("$uuid", "$hash"):
        declarations.pop(name, None)
    # An error of JSONata ends the execution as States.Runtime; on AWS it can be caught.
    jsonata_text = part("component.common.string.string_expression").StringJSONata
    jsonata_text._eval_body = _with_jsonata_errors(jsonata_text._eval_body)
    # A choice without a match is States.Runtime.
    choice = part("component.state.choice.state_choice").StateChoice
    choice._eval_state = _with_no_choice(choice._eval_state)
    comparison = part("component.state.choice.comparison.comparison_func")
    comparison.ComparisonFuncValue._eval_body = _compare
    comparison.ComparisonFuncStringVariableSample._eval_body = _compare_with_variable
    # A condition that is no boolean is an error of Python.
    condition = part("component.state.choice.comparison.comparison").ConditionStringJSONata
    condition._eval_body = _condition
    texts = part("parse.intrinsic.preprocessor").Preprocessor
    unescape = texts._replace_escaped_characters
    texts._replace_escaped_characters = staticmethod(
        lambda match: "'" if match[1] == "'" else unescape(match)
    )
    # States.Format is Python's, which fails on other braces and reads attributes.
    functions = part("component.intrinsic.function.statesfunction.generic.string_format")
    functions.StringFormat._eval_body = _format
    # These take ASCII alone, and no number with a fraction.
    coding = "component.intrinsic.function.statesfunction.encoding_decoding.base_64"
    part(f"{coding}_encode").Base64Encode._eval_body = _encoded
    part(f"{coding}_decode").Base64Decode._eval_body = _decoded
    texts.visitFunc_arg_float = lambda _, place: part(
        "component.intrinsic.argument.argument"
    ).ArgumentLiteral(float(place.NUMBER().getText()))
    # Each error has its own name, by which it can be caught; moto's are States.Runtime.
    _replace_error(
        "component.common.string.string_expression",
        "StringIntrinsicFunction",
        "StatesIntrinsicFailure",
    )
    _replace_error("component.common.parargs", "Parameters", "StatesParameterPathFailure")
    _replace_error(
        "component.common.path.result_path", "ResultPath", "StatesResultPathMatchFailure"
    )
    # An error of a branch, or of a token, may be one of Step Functions' own.
    _replace_function("CustomErrorName", _error_named)
    # What a Map goes over must be a list; moto's error is one of JSONata.
    part("component.common.path.items_path").ItemsPath._eval_body = _items
    # A path such as $.a[0].b returns a list, and every path is parsed at each use.
    _replace_function("extract_json", _extract)
    # Chance: a restart would draw again.
    _replace_function("long_uid", _uuid, ".intrinsic.")
    chance = part("component.intrinsic.function.statesfunction.math_operations.math_random")
    evaluate = chance.MathRandom._eval_body

    def draw(self: Any, env: Any) -> None:
        evaluate(self, env)
        drawn = env.stack.pop()
        env.stack.append(here.place.value("chance", lambda: drawn))

    chance.MathRandom._eval_body = draw


def _replace_error(module: str, component: str, error: str) -> None:
    replaced = getattr(part(module), component)
    evaluate, kind = replaced._eval_body, getattr(_name_types.StatesErrorNameType, error)

    def evaluated(self: Any, env: Any) -> None:
        try:
            evaluate(self, env)
        except _failures.FailureEventException:
            raise
        except Exception as error:
            # A path without a value is States.Runtime in a Pass, which cannot catch it.
            if isinstance(error, _json_path.NoSuchJsonPathError) and not here.place.attempt:
                raise
            raise _task_error(env, kind, CLASS.sub(r"\1", str(error))) from error

    replaced._eval_body = evaluated


def _error_named(error_name: str | None) -> Any:
    if not (error_name or "").startswith("States."):
        return CustomErrorName(error_name)
    try:
        kind = _name_types.StatesErrorNameType.from_name(error_name)
    except ValueError:
        return _error_names.ErrorName(error_name)
    return _names.StatesErrorName(typ=kind)


def _items(self: Any, env: Any) -> None:
    self.string_sampler.eval(env=env)
    if not isinstance(env.stack[-1], list):
        cause = f'Reference path "{self.string_sampler.literal_value}" must point to array.'
        raise _task_error(env, _name_types.StatesErrorNameType.StatesRuntime, cause)


def _uuid() -> str:
    return str(here.place.value("uuid", MADE["uuid"]))


def _eval_jsonata(expression: str) -> Any:
    place = here.place
    try:
        return EVALUATIONS.value(expression, text_of(place.last_ms), place)
    except EvaluationError as error:
        raise _jsonata.JSONataException("States.QueryEvaluationError", str(error)) from error


def _declared(bindings: Mapping[str, Any]) -> str:
    return "".join(f"{name}:={as_json(value)};" for name, value in bindings.items())


def _condition(self: Any, env: Any) -> None:
    self.string_jsonata.eval(env=env)
    if not isinstance(env.stack[-1], bool):
        expression, value = self.string_jsonata.expression, as_json(env.stack[-1])
        raise _query_error(env, f"The condition '{expression}' is {value}; allowed: true or false")


def _with_jsonata_errors(evaluate: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    def evaluated(self: Any, env: Any) -> None:
        try:
            evaluate(self, env)
        except _jsonata.JSONataException as error:
            text = f"The JSONata expression '{self.expression}' failed: {error.details}"
            raise _query_error(env, text) from error

    return evaluated


def _query_error(env: Any, cause: str) -> Any:
    kind = _name_types.StatesErrorNameType.StatesQueryEvaluationError
    event = {"evaluationFailedEventDetails": {"error": kind.to_name(), "cause": cause}}
    env.event_manager.add_event(env.event_history_context, "EvaluationFailed", event)
    return _failure(env, _names.StatesErrorName(typ=kind), "EvaluationFailed", event)


def _task_error(env: Any, kind: Any, cause: str) -> Any:
    details = {"taskFailedEventDetails": {"error": kind.to_name(), "cause": cause}}
    return _failure(env, _names.StatesErrorName(typ=kind), "TaskFailed", details)


def _failure(env: Any, name: Any, kind: str, details: Mapping[str, Any]) -> Any:
    event_type = part("eval.event.event_manager").HistoryEventType(kind)
    return _failures.FailureEventException(
        _failures.FailureEvent(env, name, event_type, dict(details))
    )


def _encoded(self: Any, env: Any) -> None:
    self.argument_list.eval(env=env)
    (text,) = env.stack.pop()
    env.stack.append(base64.b64encode(text.encode()).decode())


def _decoded(self: Any, env: Any) -> None:
    self.argument_list.eval(env=env)
    (text,) = env.stack.pop()
    env.stack.append(base64.b64decode(text, validate=True).decode())


def _format(self: Any, env: Any) -> None:
    self.argument_list.eval(env=env)
    text, *values = env.stack.pop()
    shown = map(self._to_str_repr, values)
    env.stack.append(FORMAT.sub(lambda match: match[1] or next(shown, "{}"), text))


_parsed_path = lru_cache(PATHS)(parse)


def _extract(path: str, data: Any) -> Any:
    values = [match.value for match in _parsed_path(path).find(data)]
    if INDEFINITE.search(path):
        is_of_one = ONE_ITEM.search(path) and len(values) == 1
        return values[0] if is_of_one else values
    if not values:
        raise _json_path.NoSuchJsonPathError(json_path=path, data=data)
    return values[0]


def _with_no_choice(evaluate: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    def choose(self: Any, env: Any) -> None:
        try:
            evaluate(self, env)
        except RuntimeError as error:
            kind = _name_types.StatesErrorNameType.StatesNoChoiceMatched
            raise _end_of_execution(env, kind, NO_CHOICE.format(name=self.name)) from error

    return choose


def _compare(self: Any, env: Any) -> None:
    # moto knows times without fractions and offsets alone, and more wildcards than *.
    value = env.stack.pop()
    other = self.value
    if self.operator_type.name.endswith("Path"):
        is_of_context = other.startswith("$$")
        context = env.states.context_object.context_object_data
        other = _extract(other[is_of_context:], context if is_of_context else env.stack[-1])
    _judge(self, env, value, other)


def _compare_with_variable(self: Any, env: Any) -> None:
    # moto compares the other way round.
    value = env.stack.pop()
    self.string_variable_sample.eval(env=env)
    _judge(self, env, value, env.stack.pop())


def _judge(self: Any, env: Any, value: Any, other: Any) -> None:
    name, is_missing = self.operator_type.name, type(value).__name__ == "NoSuchVariable"
    if name == "IsPresent":
        env.stack.append(is_missing is not other)
    elif is_missing:
        path = value.path.partition(",")[0]
        kind = _name_types.StatesErrorNameType.StatesRuntime
        raise _end_of_execution(env, kind, NO_VALUE.format(path=path))
    else:
        env.stack.append(compare(name, value, other))


def _end_of_execution(env: Any, kind: Any, cause: str) -> Any:
    details = {"executionFailedEventDetails": {"error": kind.to_name(), "cause": cause}}
    return _failure(env, _names.StatesErrorName(typ=kind), "ExecutionFailed", details)


def _replace_times() -> None:
    # The time of entering a state is a new one after a restart, and has no count of retries.
    _states.StateData = _entered
    evaluate = _states.CommonStateField._eval_body

    def enter(self: Any, env: Any) -> None:
        here.place.enter(self.name)
        here.place.run.check(env)
        evaluate(self, env)

    _states.CommonStateField._eval_body = enter
    # Waits and timeouts are those of threads, by the machine's clock, and begin again.
    execution = part("component.state.exec.execute_state").ExecutionState
    execution._evaluate_with_timeout = _attempt
    execution._eval_state_output = lambda *_, **__: None  # it is a part of the attempt
    part("component.program.program").Program.eval = _run_program
    part("component.state.wait.wait_function.wait_function").WaitFunction._eval_body = _wait
    timestamp = part("component.state.wait.wait_function.timestamp").Timestamp
    timestamp._get_wait_seconds = _seconds_until
    retrier = part("component.common.retry.retrier_decl")
    retry = retrier.RetrierDecl._eval_body

    def wait_and_retry(self: Any, env: Any) -> None:
        here.place.environment = env
        retry(self, env)

    retrier.time = SimpleNamespace(
        sleep=lambda seconds: here.place.pause(here.place.environment, seconds)
    )
    retrier.RetrierDecl._eval_body = wait_and_retry


def _entered(Name: str, **_: Any) -> dict[str, Any]:  # noqa: N803 (as in the context object)
    return {"EnteredTime": text_of(here.place.last_ms), "Name": Name, "RetryCount": 0}


def _attempt(self: Any, env: Any) -> None:
    place = here.place
    place.next_attempt()
    place.run.check(env)
    context = env.states.context_object.context_object_data
    if "Task" in context:  # moto's token is drawn by chance, and one for all attempts
        context["Task"] = {"Token": token_of(place.run.record.execution.arn, place.step(END))}
    frame = env.open_frame()
    frame.states.reset(input_value=env.states.get_input())
    frame.stack = copy.deepcopy(env.stack)
    try:
        self._eval_execution(frame)
        output = frame.stack.pop()
    finally:
        frame.set_ended()
        env.close_frame(frame)
    place.run.check(env)
    env.stack.append(output)
    if not self._is_language_query_jsonpath():
        env.states.set_result(output)
    if self.assign_decl:
        self.assign_decl.eval(env=env)
    if self.result_selector:
        self.result_selector.eval(env=env)
    if self.result_path:
        self.result_path.eval(env)
    else:
        env.states.reset(input_value=env.stack.pop())
    # An error in them can be retried and caught, as one of the task.
    _states.CommonStateField._eval_state_output(self, env)
    _states.CommonStateField._verify_size_quota(self, env, env.states.get_input())


def _run_program(self: Any, env: Any) -> None:
    env.next_state_name = self.start_at.start_at_name
    if not env.is_frame() and self.timeout_seconds:
        here.place.run.set_timeout(self.timeout_seconds.timeout_seconds)
    with suppress(CutOffError):
        part("component.eval_component").EvalComponent.eval(self, env)


def _wait(self: Any, env: Any) -> None:
    here.place.pause(env, self._get_wait_seconds(env=env))


def _seconds_until(self: Any, env: Any) -> float:
    # moto compares with the local time of the machine, and takes no offset.
    self.string.eval(env=env)
    text = env.stack.pop()
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        raise _failures.FailureEventException(self._create_failure_event(env, text))
    return moment.timestamp() - here.place.run.now_ms() / MS_PER_S


def _replace_tasks() -> None:
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
    _replace_function("boto_client_for", _client_for(in_millis=True))
    _replace_function("boto_client_for", _client_for(in_millis=False), "aws_sdk")
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
        return TASKS.client(service, in_millis=in_millis)

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
        except _failures.FailureEventException as failure:
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
        TASKS.stop(place.run, submitted)
        raise
    _answer_task(env, answer)


class _HeartbeatName(_names.StatesErrorName):  # type: ignore[misc, name-defined] # it is moto's
    def matches(self, error_name: str | None) -> bool:
        return error_name in ("States.HeartbeatTimeout", "States.Timeout")


def _with_heartbeats(from_error: Callable[..., Any]) -> Callable[..., Any]:
    def event_of(self: Any, env: Any, ex: Exception) -> Any:
        event = from_error(self, env=env, ex=ex)
        if isinstance(ex, _callbacks.HeartbeatTimeoutError):
            event.error_name = _HeartbeatName(_name_types.StatesErrorNameType.StatesTimeout)
        return event

    return event_of


def _answer_task(env: Any, answer: Any) -> None:
    if answer == TIMEOUT:
        raise _callbacks.CallbackTimeoutError
    if isinstance(answer, _failures.FailureEventException):
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
        look = in_thread(TASKS.stand_in, self.name, parameters["input"], place.run.changes)
        answer = place.await_end(env, _timeout_of(self, env), look)
        if answer == TIMEOUT:
            raise _callbacks.CallbackTimeoutError
        answer = place.run.record.settle(step, answer)
    if "error" in answer:
        details = {"resource": "call", "resourceType": "aws-sdk:tidemark", **answer}
        name = _error_named(answer["error"])
        raise _failure(env, name, "TaskFailed", {"taskFailedEventDetails": details})
    env.stack.append(answer["output"])


def _timeout_of(self: Any, env: Any) -> float | None:
    if self.timeout.is_default_value():
        return None
    self.timeout.eval(env=env)
    seconds: float = env.stack.pop()
    return seconds


def _replace_branches() -> None:
    """Give threads of branches their place, and let the first failure stay the first."""
    branch = part("component.state.exec.state_parallel.branch_worker").BranchWorker
    declaration = part("component.state.exec.state_parallel.branches_decl")
    new_branch, run_branch = branch.__init__, branch._thread_routine
    evaluate = declaration.BranchesDecl._eval_body
    failure_of = declaration.BranchWorkerPool.get_exit_event_details

    def branch_with_place(self: Any, **members: Any) -> None:
        new_branch(self, **members)
        here.place.counts["branch"] += 1
        self.place = here.place.inner(here.place.counts["branch"] - 1)

    def run_in_place(self: Any) -> None:
        here.place = self.place
        with suppress(CutOffError):
            run_branch(self)

    def first_failure(self: Any) -> Any:
        # Which branch fails first must not depend on the threads of a restart.
        details, place = failure_of(self), here.place
        if details is None:
            return None
        return place.run.record.settle(place.step(END), dict(details))

    def evaluate_unless_stopped(self: Any, env: Any) -> None:
        evaluate(self, env)
        here.place.run.check(env)

    branch.__init__, branch._thread_routine = branch_with_place, run_in_place
    declaration.BranchWorkerPool.get_exit_event_details = first_failure
    declaration.BranchesDecl._eval_body = evaluate_unless_stopped


def _replace_iterations() -> None:  # noqa: C901 (each function in it replaces one of moto's)
    """As of branches; and end the iterations that go on when one has failed."""
    iteration = "component.state.exec.state_map.iteration"
    worker = part(f"{iteration}.iteration_worker").IterationWorker
    inline = part(f"{iteration}.inline_iteration_component").InlineIterationComponent
    pool = part(f"{iteration}.job").JobPool
    new_worker, run_job, evaluate = worker.__init__, worker._eval_job, inline._eval_body
    new_pool, close_job = pool.__init__, pool.close_job

    def worker_with_place(self: Any, *arguments: Any, **members: Any) -> None:
        new_worker(self, *arguments, **members)
        self.outer = here.place

    def run_in_place(self: Any, env: Any, job: Any) -> None:
        here.place = self.outer.inner(job.job_index)
        self.outer.at_work.add(job.job_index)
        try:
            run_job(self, env, job)
        finally:
            self.outer.at_work.discard(job.job_index)

    def run_all(self: Any, job: Any, worker_frame: Any) -> None:
        # moto calls itself for the next item: a thousand items are too many for Python's stack.
        try:
            while job is not None:
                frame = worker_frame.open_inner_frame()
                self._eval_job(env=frame, job=job)
                worker_frame.close_frame(frame)
                is_last = isinstance(job.job_output, Exception) or self.stopped()
                following = None if is_last else self._job_pool.next_job()
                if following is None:
                    if not is_last:
                        last_id = frame.event_history_context.last_published_event_id
                        worker_frame.event_history_context.source_event_id = last_id
                    self._env.close_frame(worker_frame)
                self._job_pool.close_job(job)
                job = following
            self._env.close_frame(worker_frame)
        except CutOffError:
            self._job_pool._termination_event.set()

    def evaluate_and_end(self: Any, env: Any) -> None:
        wanted = env.stack[-1].max_concurrency
        env.stack[-1].max_concurrency = min(wanted or MOST_ITERATIONS, MOST_ITERATIONS)
        place = here.place
        try:
            evaluate(self, env)
        except _failures.FailureEventException:
            # moto lets the others go on.
            for frame in list(env._frames):
                frame.set_stop(stop_date=None, cause=None, error=None)
            while place.at_work:
                place.run.changes.note()
                time.sleep(SHORT_S)
            raise
        place.run.check(env)

    def pool_with_place(self: Any, **members: Any) -> None:
        new_pool(self, **members)
        self.place = here.place

    def close_if_first(self: Any, job: Any) -> None:
        if isinstance(job.job_output, Exception):
            place = self.place
            if place.run.record.settle(place.step(END), job.job_index) != job.job_index:
                return
        close_job(self, job)

    worker.__init__, worker._eval_job, worker._eval_pool = worker_with_place, run_in_place, run_all
    inline._eval_body, pool.__init__, pool.close_job = (
        evaluate_and_end,
        pool_with_place,
        close_if_first,
    )
