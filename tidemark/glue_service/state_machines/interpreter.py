"""moto's interpreter of the Amazon States Language, with what it lacks or gets wrong.

All that depends on the inside of moto is in this file, each with its reason. moto's functions are
replaced in the process at the first use: who needs moto's own Step Functions needs a separate one.
"""

import copy
import hashlib
import json
import random
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

import jsonata
from botocore import xform_name
from jsonpath_ng.ext import parse

import tidemark.glue_service.state_machines.light_moto  # noqa: F401, I001 (before parts of moto)
import moto.stepfunctions.parser.asl.component.intrinsic.jsonata as jsonata_functions
import moto.stepfunctions.parser.asl.jsonata.jsonata as moto_jsonata
from moto.stepfunctions.parser.asl.component.common.error_name.custom_error_name import (
    CustomErrorName,
)
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import (
    FailureEvent,
    FailureEventException,
)
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name import (
    StatesErrorName,
)
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import (
    StatesErrorNameType,
)
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.common.string.string_expression import StringJSONata
from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.eval_component import EvalComponent
from moto.stepfunctions.parser.asl.component.intrinsic.function.statesfunction.math_operations import (  # noqa: E501
    math_random,
)
from moto.stepfunctions.parser.asl.component.program.program import Program
from moto.stepfunctions.parser.asl.component.state import state as moto_state
from moto.stepfunctions.parser.asl.component.state.exec.execute_state import ExecutionState
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration import (
    inline_iteration_component,
    iteration_worker,
    job,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_parallel import (
    branch_worker,
    branches_decl,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service,
    state_task_service_aws_sdk,
    state_task_service_callback,
    state_task_service_glue,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.resource import (
    ResourceCondition,
)
from moto.stepfunctions.parser.asl.component.state.wait.wait_function import (
    timestamp,
    wait_function,
)
from moto.stepfunctions.parser.asl.eval.callback.callback import (
    CallbackOutcomeFailure,
    CallbackOutcomeFailureError,
    CallbackTimeoutError,
    HeartbeatTimeoutError,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.evaluation_details import AWSExecutionDetails
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails
from moto.stepfunctions.parser.asl.eval.event.event_manager import (
    EventHistoryContext,
    EventManager,
)
from moto.stepfunctions.parser.asl.eval.program_state import ProgramEnded, ProgramError
from moto.stepfunctions.parser.asl.eval.states import (
    ContextObjectData,
    ExecutionData,
    StateMachineData,
)
from moto.stepfunctions.parser.asl.parse.asl_parser import (
    AmazonStateLanguageParser,
    ASLParserException,
)
from moto.stepfunctions.parser.asl.utils.encoding import to_json_str
from moto.stepfunctions.parser.asl.utils.json_path import NoSuchJsonPathError

from tidemark.glue_service.protocol.models import service_model
from tidemark.glue_service.state_machines.execution_rows import FAILED, SUCCEEDED, TIMED_OUT
from tidemark.glue_service.state_machines.places import (
    HEARTBEAT,
    MS_PER_S,
    TIMEOUT,
    Place,
    Run,
    here,
)
from tidemark.glue_service.state_machines.port_clients import as_text
from tidemark.glue_service.state_machines.record import CutOffError
from tidemark.glue_service.state_machines.tokens import token_of

PROGRAMS = 64  # that are kept parsed
MOST_ITERATIONS = 40  # at once, of an inline Map, as on AWS
LAST_EVENTS = ("ExecutionSucceeded", "ExecutionFailed")
SDK_SERVICE = "aws_sdk"
END = "end"
INDEFINITE = re.compile(r"""\[\s*(\?|\*|[^\]'"]*[:,])|\.\.|\.\*""")  # of paths to several values
ONE_ITEM = re.compile(r"\[\d+\]$")
BOTO_NAMES = {"eventbridge": "events", "cloudwatchlogs": "logs"}
ERROR_NAMES = {  # of services, in errors
    "glue": "Glue",
    "eventbridge": "EventBridge",
    "s3": "S3",
    "secretsmanager": "SecretsManager",
    "sns": "Sns",
    "sqs": "Sqs",
    "ssm": "Ssm",
}
SHORT_S = 0.01

Functions = Callable[[str, Any], Any]  # the stand-ins: the name of a state, and its input


class Interpreter:
    """Interprets executions, with clients of the port."""

    def __init__(
        self,
        client: Callable[..., Any],
        stand_in: Functions,
        stop: Callable[[Run, Mapping[str, Any]], None],
    ) -> None:
        """Have tasks use clients by service, call stand-ins, and stop what they started."""
        prepare()
        _tasks.client, _tasks.stand_in, _tasks.stop = client, stand_in, stop

    def interpret(self, run: Run, definition: str) -> None:
        """Interpret an execution to its end, and record it.

        Raises:
            CutOffError: it was stopped, or the port ends.
        """
        execution = run.record.execution
        here.place = Place(run, last_ms=execution.started_at_ms)
        environment = run.environment = _environment(run)
        started = {
            "input": execution.input,
            "inputDetails": {"truncated": False},
            "roleArn": execution.role_arn,
        }
        environment.event_manager.add_event(
            environment.event_history_context,
            "ExecutionStarted",
            {"executionStartedEventDetails": started},
            update_source_event_id=False,
        )
        program_of(definition).eval(environment)
        state = environment.program_state()
        now_ms = run.now_ms()
        if isinstance(state, ProgramEnded):
            output = to_json_str(environment.states.get_input(), separators=(",", ":"))
            _finish(run, SUCCEEDED, output=output)
        elif isinstance(state, ProgramError):
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


@lru_cache(PROGRAMS)
def program_of(definition: str) -> Any:
    """Return the program of a definition.

    Raises:
        ValueError: moto's grammar refuses the definition.
    """
    try:
        return AmazonStateLanguageParser.parse(definition)[0]
    except ASLParserException as error:
        raise ValueError("; ".join(error.errors)) from error
    except Exception as error:  # whatever it is, the definition is at fault
        raise ValueError(str(error) or type(error).__name__) from error


def _environment(run: Run) -> Environment:
    execution = run.record.execution
    region, account = execution.arn.split(":")[3:5]
    environment = Environment(
        aws_execution_details=AWSExecutionDetails(account, region, execution.role_arn),
        execution_type=execution.kind,
        context=ContextObjectData(
            Execution=ExecutionData(
                Id=execution.arn,
                Input=json.loads(execution.input),
                Name=execution.name,
                RoleArn=execution.role_arn,
                StartTime=_text_of(execution.started_at_ms),
            ),
            StateMachine=StateMachineData(
                Id=execution.machine, Name=execution.machine.rpartition(":")[2]
            ),
        ),
        event_history_context=EventHistoryContext.of_program_start(),
        cloud_watch_logging_session=None,
        activity_store={},
    )
    environment.event_manager = _RecordedEvents()
    return environment


def _text_of(time_ms: float) -> str:
    return as_text(datetime.fromtimestamp(time_ms / MS_PER_S, UTC))


class _RecordedEvents(EventManager):
    """Events that are recorded once: moto's are in memory, and begin again after a restart."""

    def add_event(
        self,
        context: EventHistoryContext,
        event_type: str,
        event_details: EventDetails | None = None,
        timestamp: Any = None,
        update_source_event_id: bool = True,
    ) -> int:
        place = here.place
        place.events += 1
        event = {
            "type": str(getattr(event_type, "value", event_type)),
            "timestamp": place.run.now_ms(),
            "previousEventId": context.source_event_id,
            **json.loads(to_json_str(event_details or {})),
        }
        if event["type"] in LAST_EVENTS:
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


_tasks = SimpleNamespace(client=None, stand_in=None, stop=None)


@cache
def prepare() -> None:
    """Replace the parts of moto that this file says why."""
    # Clients of moto's own backends, or of a server at a fixed address.
    for name, module in list(sys.modules.items()):
        if name.startswith("moto.stepfunctions.") and hasattr(module, "boto_client_for"):
            in_millis = SDK_SERVICE not in name
            module.boto_client_for = _client_for(in_millis)  # type: ignore[attr-defined]
    # The JVM that evaluates JSONata is not in the package.
    for name, module in list(sys.modules.items()):
        if name.startswith("moto.stepfunctions.") and hasattr(module, "eval_jsonata_expression"):
            module.eval_jsonata_expression = _eval_jsonata  # type: ignore[attr-defined]
    # Strings are put between quotation marks as they are: one with a quotation mark is an error.
    for name, module in list(sys.modules.items()):
        if name.startswith("moto.stepfunctions.") and hasattr(
            module, "encode_jsonata_variable_declarations"
        ):
            module.encode_jsonata_variable_declarations = _declarations  # type: ignore[attr-defined]
    StringJSONata._eval_body = _evaluate  # noqa: SLF001
    # A path such as $.a[0].b returns a list, and every path is parsed at each use.
    for name, module in list(sys.modules.items()):
        if name.startswith("moto.stepfunctions.") and hasattr(module, "extract_json"):
            module.extract_json = _extract  # type: ignore[attr-defined]
    # $uuid and $hash return a text that says that they are missing.
    for name in ("$uuid", "$hash"):
        jsonata_functions._DECLARATION_BY_VARIABLE_REFERENCE.pop(name, None)  # noqa: SLF001
    # The time of entering a state is a new one after a restart.
    moto_state.datetime = SimpleNamespace(  # type: ignore[attr-defined]
        datetime=SimpleNamespace(now=lambda tz: _Moment(here.place.last_ms)),  # noqa: ARG005
        timezone=SimpleNamespace(utc=UTC),
    )
    _enter = moto_state.CommonStateField._eval_body  # noqa: SLF001

    def enter(self: Any, env: Environment) -> None:
        here.place.enter(self.name)
        here.place.run.check(env)
        _enter(self, env)

    moto_state.CommonStateField._eval_body = enter  # noqa: SLF001
    # Timeouts are those of a thread, by the machine's clock, and begin again after a restart.
    ExecutionState._evaluate_with_timeout = _attempt  # noqa: SLF001
    Program.eval = _run_program
    wait_function.WaitFunction._eval_body = _wait  # noqa: SLF001
    timestamp.Timestamp._get_wait_seconds = _seconds_until  # noqa: SLF001
    _retry = retrier_decl.RetrierDecl._eval_body  # noqa: SLF001

    def retry(self: Any, env: Environment) -> None:
        retrier_decl.time = SimpleNamespace(  # type: ignore[attr-defined]
            sleep=lambda seconds: here.place.pause(_threads.environment, seconds)
        )
        _threads.environment = env
        _retry(self, env)

    retrier_decl.RetrierDecl._eval_body = retry  # noqa: SLF001
    # It looks every half second, and knows neither the port's end nor an earlier answer.
    callback = state_task_service_callback.StateTaskServiceCallback
    callback._eval_integration_pattern = _integrate  # noqa: SLF001
    # A run that was stopped has not done its work, yet its task would succeed.
    state_task_service_glue._JOB_RUN_STATE_ABNORMAL_TERMINAL_VALUE.add("STOPPED")  # noqa: SLF001
    # The names of parameters and results are those of the service: moto has none of its models.
    service = state_task_service.StateTaskService
    service._normalise_parameters = _to_service  # noqa: SLF001
    service._normalise_response = _from_service  # noqa: SLF001
    service._SERVICE_NAME_SFN_TO_BOTO_OVERRIDES.update(BOTO_NAMES)  # noqa: SLF001
    state_task_service_aws_sdk._SERVICE_ERROR_NAMES.update(ERROR_NAMES)  # noqa: SLF001
    sdk = state_task_service_aws_sdk.StateTaskServiceAwsSdk
    _call = sdk._eval_service_task  # noqa: SLF001

    def call(self: Any, env: Environment, normalised_parameters: Any, **rest: Any) -> None:
        if self.resource.api_name == "tidemark":
            _stand_in(self, env, normalised_parameters)
        else:
            _call(self, env, normalised_parameters=normalised_parameters, **rest)

    sdk._eval_service_task = call  # noqa: SLF001
    # Chance: a restart would draw again.
    math_random.MathRandom._eval_body = _recorded(math_random.MathRandom._eval_body)  # noqa: SLF001
    for name, module in list(sys.modules.items()):
        if name.startswith("moto.stepfunctions.parser.asl.component.intrinsic.") and hasattr(
            module, "long_uid"
        ):
            module.long_uid = _uuid  # type: ignore[attr-defined]
    _prepare_branches()


def _client_for(in_millis: bool) -> Callable[..., Any]:
    def client_for(region: str, service: str, state_credentials: Any = None) -> Any:  # noqa: ARG001
        return _tasks.client(service, in_millis=in_millis)

    return client_for


class _Threads(threading.local):
    environment: Environment


_threads = _Threads()


class _Moment:
    def __init__(self, time_ms: int) -> None:
        self._time_ms = time_ms

    def isoformat(self) -> str:
        return _text_of(self._time_ms)


def _uuid() -> str:
    return str(here.place.value("uuid", lambda: str(uuid.uuid4())))


def _recorded(evaluate: Callable[[Any, Environment], None]) -> Callable[[Any, Environment], None]:
    def recorded(self: Any, env: Environment) -> None:
        evaluate(self, env)
        drawn = env.stack.pop()
        env.stack.append(here.place.value("chance", lambda: drawn))

    return recorded


def _eval_jsonata(expression: str) -> Any:
    place = here.place
    started = place.last_ms
    try:
        parsed = jsonata.Jsonata(expression)
        parsed.register_lambda("millis", lambda: started)
        parsed.register_lambda("now", lambda *_: _text_of(started))
        parsed.register_lambda("uuid", _uuid)
        parsed.register_lambda("random", lambda: place.value("chance", random.random))
        parsed.register_lambda("hash", _hash)
        return parsed.evaluate(None)
    except Exception as error:
        raise moto_jsonata.JSONataException("States.QueryEvaluationError", str(error)) from error


_parsed_path = lru_cache(1024)(parse)


def _extract(path: str, data: Any) -> Any:
    values = [match.value for match in _parsed_path(path).find(data)]
    if INDEFINITE.search(path):
        is_of_one = ONE_ITEM.search(path) and len(values) == 1
        return values[0] if is_of_one else values
    if not values:
        raise NoSuchJsonPathError(json_path=path, data=data)
    return values[0]


def _hash(value: Any, algorithm: str = "SHA-256") -> str:
    text = value if isinstance(value, str) else to_json_str(value, separators=(",", ":"))
    return hashlib.new(algorithm.replace("-", "").lower(), text.encode()).hexdigest()


def _evaluate(self: Any, env: Environment) -> None:
    try:
        _evaluate_as_moto(self, env)
    except moto_jsonata.JSONataException as error:
        # moto lets the error end the execution as States.Runtime.
        name = StatesErrorName(typ=StatesErrorNameType.StatesQueryEvaluationError)
        cause = f"The JSONata expression '{self.expression}' failed: {error.details}"
        details = {"error": name.error_name, "cause": cause}
        event = EventDetails(evaluationFailedEventDetails=details)  # type: ignore[typeddict-item]
        kind = HistoryEventType.EvaluationFailed
        env.event_manager.add_event(env.event_history_context, kind, event)
        raise FailureEventException(FailureEvent(env, name, kind, event)) from error


_evaluate_as_moto = StringJSONata._eval_body  # noqa: SLF001


def _declarations(bindings: Mapping[str, Any]) -> str:
    return "".join(f"{name}:={to_json_str(value)};" for name, value in bindings.items())


def _attempt(self: Any, env: Environment) -> None:
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


def _run_program(self: Any, env: Environment) -> None:
    env.next_state_name = self.start_at.start_at_name
    if not env.is_frame() and self.timeout_seconds:
        here.place.run.set_timeout(self.timeout_seconds.timeout_seconds)
    with suppress(CutOffError):
        EvalComponent.eval(self, env)


def _wait(self: Any, env: Environment) -> None:
    here.place.pause(env, self._get_wait_seconds(env=env))


def _seconds_until(self: Any, env: Environment) -> float:
    self.string.eval(env=env)
    text = env.stack.pop()
    # moto compares with the local time of the machine, and takes no offset.
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        raise FailureEventException(self._create_failure_event(env, text))
    return moment.timestamp() - here.place.run.now_ms() / MS_PER_S


def _integrate(
    self: Any,
    env: Environment,
    resource_runtime_part: Any,
    normalised_parameters: Any,
    state_credentials: Any,
) -> None:
    place, submitted = here.place, env.stack.pop()
    self.timeout.eval(env=env)
    timeout_s = env.stack.pop()
    if self.timeout.is_default_value():
        timeout_s = None
    if self.resource.condition == ResourceCondition.WaitForTaskToken:
        _await_token(self, env, timeout_s)
        return
    env.stack.append(submitted)
    is_second = self.resource.condition == ResourceCondition.Sync2
    build = self._build_sync2_resolver if is_second else self._build_sync_resolver
    look = build(env, resource_runtime_part, normalised_parameters, state_credentials)

    def looked() -> Any:
        place.is_looking = True
        try:
            answer = look()
        except FailureEventException as failure:
            answer = failure
        finally:
            place.is_looking = False
        if answer is None:
            return None
        won = place.run.record.settle(place.step(END), place.reply)
        return won if won in (TIMEOUT, HEARTBEAT) else answer

    try:
        answer = place.await_end(env, timeout_s, looked)
    except CutOffError:
        _tasks.stop(place.run, submitted)
        raise
    if answer == TIMEOUT:
        raise CallbackTimeoutError
    if isinstance(answer, FailureEventException):
        raise answer
    env.stack.append(answer)


def _await_token(self: Any, env: Environment, timeout_s: float | None) -> None:
    place, heartbeat_s = here.place, None
    if self.heartbeat:
        self.heartbeat.eval(env=env)
        heartbeat_s = env.stack.pop()
    step = place.step(END)
    answer = place.await_end(env, timeout_s, lambda: place.run.record.known(step), heartbeat_s)
    if answer == TIMEOUT:
        raise CallbackTimeoutError
    if answer == HEARTBEAT:
        raise HeartbeatTimeoutError
    if "output" not in answer:
        failure = CallbackOutcomeFailure(step, answer.get("error"), answer.get("cause"))
        raise CallbackOutcomeFailureError(callback_outcome_failure=failure)
    env.stack.append(json.loads(answer["output"]))


def _to_service(self: Any, parameters: Any, *_: Any, **names: Any) -> None:
    if (operation := _operation_of(self, **names)) and operation.input_shape:
        self._to_boto_request(parameters, operation.input_shape)


def _from_service(self: Any, response: Any, *_: Any, **names: Any) -> None:
    if (operation := _operation_of(self, **names)) and operation.output_shape:
        self._from_boto_response(response, operation.output_shape)


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


def _stand_in(self: Any, env: Environment, parameters: Mapping[str, Any]) -> None:
    place = here.place
    step = place.step("call1")
    answer = place.run.record.known(step)
    if answer is None:
        try:
            answer = {"output": _tasks.stand_in(self.name, parameters["input"])}
        except Exception as error:  # noqa: BLE001 (code of somebody else: the task fails by it)
            answer = {"error": type(error).__name__, "cause": str(error)}
        answer = place.run.record.settle(step, answer)
    if "error" in answer:
        details = {"resource": "call", "resourceType": "aws-sdk:tidemark", **answer}
        failure = FailureEvent(
            env=env,
            error_name=CustomErrorName(answer["error"]),
            event_type="TaskFailed",  # type: ignore[arg-type]
            event_details=EventDetails(taskFailedEventDetails=details),  # type: ignore[typeddict-item]
        )
        raise FailureEventException(failure)
    env.stack.append(answer["output"])


def _prepare_branches() -> None:
    """Give threads of branches and iterations their place, and the first failure its effect."""
    _new_branch = branch_worker.BranchWorker.__init__
    _branch_thread = branch_worker.BranchWorker._thread_routine  # noqa: SLF001
    _branches = branches_decl.BranchesDecl._eval_body  # noqa: SLF001
    _pool = branches_decl.BranchWorkerPool
    _details = _pool.get_exit_event_details
    _new_worker = iteration_worker.IterationWorker.__init__
    _iteration = iteration_worker.IterationWorker._eval_job  # noqa: SLF001
    _inline = inline_iteration_component.InlineIterationComponent
    _iterations = _inline._eval_body  # noqa: SLF001
    _new_pool, _close = job.JobPool.__init__, job.JobPool.close_job

    def new_branch(self: Any, **members: Any) -> None:
        _new_branch(self, **members)
        place = here.place
        place.counts["branch"] += 1
        self.place = place.inner(place.counts["branch"] - 1)

    def branch_thread(self: Any) -> None:
        here.place = self.place
        with suppress(CutOffError):
            _branch_thread(self)

    def first_failure(self: Any) -> Any:
        # Which branch fails first must not depend on the threads of a restart.
        details, place = _details(self), here.place
        if details is None:
            return None
        return place.run.record.settle(place.step(END), dict(details))

    def branches(self: Any, env: Environment) -> None:
        _branches(self, env)
        here.place.run.check(env)

    def new_worker(self: Any, *arguments: Any, **members: Any) -> None:
        _new_worker(self, *arguments, **members)
        self.outer = here.place

    def iteration(self: Any, env: Environment, job: Any) -> None:
        here.place = self.outer.inner(job.job_index)
        self.outer.at_work.add(job.job_index)
        try:
            _iteration(self, env, job)
        finally:
            self.outer.at_work.discard(job.job_index)

    def eval_pool(self: Any, job: Any, worker_frame: Environment) -> None:
        # moto calls itself for the next item: a thousand items are too many for Python's stack.
        try:
            while job is not None:
                job_frame = worker_frame.open_inner_frame()
                self._eval_job(env=job_frame, job=job)
                worker_frame.close_frame(job_frame)
                is_last = isinstance(job.job_output, Exception) or self.stopped()
                next_job = None if is_last else self._job_pool.next_job()
                if next_job is None:
                    if not is_last:
                        worker_frame.event_history_context.source_event_id = (
                            job_frame.event_history_context.last_published_event_id
                        )
                    self._env.close_frame(worker_frame)
                self._job_pool.close_job(job)
                job = next_job
            self._env.close_frame(worker_frame)
        except CutOffError:
            self._job_pool._termination_event.set()  # noqa: SLF001

    def iterations(self: Any, env: Environment) -> None:
        wanted = env.stack[-1].max_concurrency
        env.stack[-1].max_concurrency = min(wanted or MOST_ITERATIONS, MOST_ITERATIONS)
        try:
            _iterations(self, env)
        except FailureEventException:
            # moto lets the other iterations go on.
            for frame in list(env._frames):  # noqa: SLF001
                frame.set_stop(stop_date=None, cause=None, error=None)
            while here.place.at_work:
                here.place.run.changes.note()
                time.sleep(SHORT_S)
            raise
        here.place.run.check(env)

    def new_pool(self: Any, **members: Any) -> None:
        _new_pool(self, **members)
        self.place = here.place

    def close_job(self: Any, job: Any) -> None:
        if isinstance(job.job_output, Exception):
            # As of branches: the first iteration that failed stays the first.
            place = self.place
            won = place.run.record.settle(place.step(END), job.job_index)
            if won != job.job_index:
                return
        _close(self, job)

    branch_worker.BranchWorker.__init__ = new_branch  # type: ignore[method-assign]
    branch_worker.BranchWorker._thread_routine = branch_thread  # noqa: SLF001
    _pool.get_exit_event_details = first_failure
    branches_decl.BranchesDecl._eval_body = branches  # noqa: SLF001
    iteration_worker.IterationWorker.__init__ = new_worker  # type: ignore[method-assign]
    iteration_worker.IterationWorker._eval_job = iteration  # noqa: SLF001
    iteration_worker.IterationWorker._eval_pool = eval_pool  # noqa: SLF001
    _inline._eval_body = iterations  # noqa: SLF001
    job.JobPool.__init__, job.JobPool.close_job = new_pool, close_job  # type: ignore[method-assign]
