"""Times and attempts: when a state is entered, waits, timeouts, retries."""

import copy
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from tidemark.glue_service.state_machines.formats import MS_PER_S, text_of
from tidemark.glue_service.state_machines.light_moto import instead_of, part
from tidemark.glue_service.state_machines.moto_parts.errors import FAILURES
from tidemark.glue_service.state_machines.places import here
from tidemark.glue_service.state_machines.record import CutOffError
from tidemark.glue_service.state_machines.values import time_of

_states = part("component.state.state")
_wait_function = "component.state.wait.wait_function"


def _entered(Name: str, **_: Any) -> dict[str, Any]:  # noqa: N803 (as in the context object)
    return {"EnteredTime": text_of(here.place.last_ms), "Name": Name, "RetryCount": 0}


# moto's has the time of entering, which is a new one after a restart, and no count of retries.
_states.StateData = _entered


@instead_of("component.state.state", "CommonStateField._eval_body")
def _enter(moto: Any, self: Any, env: Any) -> None:
    here.place.enter(self.name)
    here.place.run.check(env)
    moto(self, env)


# Waits and timeouts of moto are those of threads, by the machine's clock, and begin again.
@instead_of("component.state.exec.execute_state", "ExecutionState._evaluate_with_timeout")
def _attempt(_: Any, self: Any, env: Any) -> None:
    place = here.place
    place.next_attempt()
    place.run.check(env)
    context = env.states.context_object.context_object_data
    if "Task" in context:  # moto's token is drawn anew after a restart, and one for all attempts
        context["Task"] = {"Token": place.token()}
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


@instead_of("component.state.exec.execute_state", "ExecutionState._eval_state_output")
def _no_second_output(*_: Any, **__: Any) -> None:
    """Do nothing: the output is a part of the attempt."""


@instead_of("component.program.program", "Program.eval")
def _run_program(_: Any, self: Any, env: Any) -> None:
    env.next_state_name = self.start_at.start_at_name
    if not env.is_frame() and self.timeout_seconds:
        here.place.run.set_timeout(self.timeout_seconds.timeout_seconds)
    with suppress(CutOffError):
        part("component.eval_component").EvalComponent.eval(self, env)


@instead_of(f"{_wait_function}.wait_function", "WaitFunction._eval_body")
def _wait(_: Any, self: Any, env: Any) -> None:
    here.place.pause(env, self._get_wait_seconds(env=env))


# moto compares with the local time of the machine, and takes no offset.
@instead_of(f"{_wait_function}.timestamp", "Timestamp._get_wait_seconds")
def _seconds_until(_: Any, self: Any, env: Any) -> float:
    self.string.eval(env=env)
    text = env.stack.pop()
    moment = time_of(text)
    if moment is None:
        raise FAILURES.FailureEventException(self._create_failure_event(env, text))
    return moment.timestamp() - here.place.run.now_ms() / MS_PER_S


@instead_of("component.common.retry.retrier_decl", "RetrierDecl._eval_body")
def _wait_and_retry(moto: Any, self: Any, env: Any) -> None:
    here.place.environment = env
    moto(self, env)


part("component.common.retry.retrier_decl").time = SimpleNamespace(
    sleep=lambda seconds: here.place.pause(here.place.environment, seconds)
)
