"""How a Choice compares, and what it is when nothing matches."""

from typing import Any

from tidemark.glue_service.state_machines.comparisons import compare
from tidemark.glue_service.state_machines.formats import as_json
from tidemark.glue_service.state_machines.light_moto import instead_of
from tidemark.glue_service.state_machines.moto_parts.errors import (
    KINDS,
    end_of_execution,
    query_error,
)
from tidemark.glue_service.state_machines.moto_parts.values import extract

NO_CHOICE = (
    "An error occurred while executing the state '{name}'. Failed to transition out of the state. "
    "The state does not point to a next state."
)
NO_VALUE = "Invalid path '{path}': The choice state's condition path references an invalid value."
_choice = "component.state.choice"


# A choice without a match is States.Runtime in moto.
@instead_of(f"{_choice}.state_choice", "StateChoice._eval_state")
def _choose(moto: Any, self: Any, env: Any) -> None:
    try:
        moto(self, env)
    except RuntimeError as error:
        cause = NO_CHOICE.format(name=self.name)
        raise end_of_execution(env, KINDS.StatesNoChoiceMatched, cause) from error


# moto knows times without fractions and offsets alone, and more wildcards than *.
@instead_of(f"{_choice}.comparison.comparison_func", "ComparisonFuncValue._eval_body")
def _compare(_: Any, self: Any, env: Any) -> None:
    value, other = env.stack.pop(), self.value
    if self.operator_type.name.endswith("Path"):
        is_of_context = other.startswith("$$")
        context = env.states.context_object.context_object_data
        other = extract(other[is_of_context:], context if is_of_context else env.stack[-1])
    _judge(self, env, value, other)


# moto compares the other way round.
@instead_of(
    f"{_choice}.comparison.comparison_func", "ComparisonFuncStringVariableSample._eval_body"
)
def _compare_with_variable(_: Any, self: Any, env: Any) -> None:
    value = env.stack.pop()
    self.string_variable_sample.eval(env=env)
    _judge(self, env, value, env.stack.pop())


def _judge(self: Any, env: Any, value: Any, other: Any) -> None:
    name, is_missing = self.operator_type.name, type(value).__name__ == "NoSuchVariable"
    if name == "IsPresent":
        env.stack.append(is_missing is not other)
    elif is_missing:
        cause = NO_VALUE.format(path=value.path.partition(",")[0])
        raise end_of_execution(env, KINDS.StatesRuntime, cause)
    else:
        env.stack.append(compare(name, value, other))


# A condition that is no boolean is an error of Python in moto.
@instead_of(f"{_choice}.comparison.comparison", "ConditionStringJSONata._eval_body")
def _condition(_: Any, self: Any, env: Any) -> None:
    self.string_jsonata.eval(env=env)
    if not isinstance(env.stack[-1], bool):
        expression, value = self.string_jsonata.expression, as_json(env.stack[-1])
        raise query_error(env, f"The condition '{expression}' is {value}; allowed: true or false")
