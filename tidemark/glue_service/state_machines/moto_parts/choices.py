"""How a Choice compares, and what it is when nothing matches."""

from collections.abc import Callable
from typing import Any

from tidemark.glue_service.state_machines.comparisons import compare
from tidemark.glue_service.state_machines.formats import as_json
from tidemark.glue_service.state_machines.light_moto import part
from tidemark.glue_service.state_machines.moto_parts.errors import (
    KINDS,
    end_of_execution,
    query_error,
)
from tidemark.glue_service.state_machines.moto_parts.paths import extract

NO_CHOICE = (
    "An error occurred while executing the state '{name}'. Failed to transition out of the state. "
    "The state does not point to a next state."
)
NO_VALUE = "Invalid path '{path}': The choice state's condition path references an invalid value."


def replace_choices() -> None:
    """Replace what moto does at a Choice."""
    # A choice without a match is States.Runtime.
    choice = part("component.state.choice.state_choice").StateChoice
    choice._eval_state = _with_no_choice(choice._eval_state)
    comparison = part("component.state.choice.comparison.comparison_func")
    comparison.ComparisonFuncValue._eval_body = _compare
    comparison.ComparisonFuncStringVariableSample._eval_body = _compare_with_variable
    # A condition that is no boolean is an error of Python.
    condition = part("component.state.choice.comparison.comparison").ConditionStringJSONata
    condition._eval_body = _condition


def _with_no_choice(evaluate: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    def choose(self: Any, env: Any) -> None:
        try:
            evaluate(self, env)
        except RuntimeError as error:
            kind = KINDS.StatesNoChoiceMatched
            raise end_of_execution(env, kind, NO_CHOICE.format(name=self.name)) from error

    return choose


def _compare(self: Any, env: Any) -> None:
    # moto knows times without fractions and offsets alone, and more wildcards than *.
    value = env.stack.pop()
    other = self.value
    if self.operator_type.name.endswith("Path"):
        is_of_context = other.startswith("$$")
        context = env.states.context_object.context_object_data
        other = extract(other[is_of_context:], context if is_of_context else env.stack[-1])
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
        kind = KINDS.StatesRuntime
        raise end_of_execution(env, kind, NO_VALUE.format(path=path))
    else:
        env.stack.append(compare(name, value, other))


def _condition(self: Any, env: Any) -> None:
    self.string_jsonata.eval(env=env)
    if not isinstance(env.stack[-1], bool):
        expression, value = self.string_jsonata.expression, as_json(env.stack[-1])
        raise query_error(env, f"The condition '{expression}' is {value}; allowed: true or false")
