"""Values: JSONata, intrinsic functions, paths, and their errors."""

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

from tidemark.glue_service.state_machines.evaluations import EVALUATIONS, MADE, EvaluationError
from tidemark.glue_service.state_machines.formats import as_json, text_of
from tidemark.glue_service.state_machines.light_moto import part, replace_function
from tidemark.glue_service.state_machines.moto_parts.errors import (
    FAILURES,
    KINDS,
    error_named,
    query_error,
    task_error,
)
from tidemark.glue_service.state_machines.moto_parts.paths import JSON_PATH, extract
from tidemark.glue_service.state_machines.places import here

FORMAT = re.compile(r"\\(.)|\{\}", re.DOTALL)  # an escaped character, or a place for a value
CLASS = re.compile(r"'?<class '(?:\w+\.)*(\w+)'>'?")  # which texts of moto name
_jsonata = part("jsonata.jsonata")


def replace_values() -> None:
    """Replace how moto makes values."""
    replace_function("to_json_str", as_json)
    # The JVM that evaluates JSONata is not in the package.
    replace_function("eval_jsonata_expression", _eval_jsonata)
    # A text is put between quotation marks as it is: one with a quotation mark is an error.
    replace_function("encode_jsonata_variable_declarations", _declared)
    # $ and $$ are refused everywhere; in a predicate they are what it is of.
    _jsonata._ILLEGAL_VARIABLE_REFERENCES.clear()
    # $uuid and $hash return a text that says that they are missing.
    declarations = part("component.intrinsic.jsonata")._DECLARATION_BY_VARIABLE_REFERENCE
    for name in ("$uuid", "$hash"):
        declarations.pop(name, None)
    # An error of JSONata ends the execution as States.Runtime; on AWS it can be caught.
    jsonata_text = part("component.common.string.string_expression").StringJSONata
    jsonata_text._eval_body = _with_jsonata_errors(jsonata_text._eval_body)
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
    replace_function("CustomErrorName", error_named)
    # What a Map goes over must be a list; moto's error is one of JSONata.
    part("component.common.path.items_path").ItemsPath._eval_body = _items
    # A path such as $.a[0].b returns a list, and every path is parsed at each use.
    replace_function("extract_json", extract)
    # Chance: a restart would draw again.
    replace_function("long_uid", _uuid, ".intrinsic.")
    chance = part("component.intrinsic.function.statesfunction.math_operations.math_random")
    evaluate = chance.MathRandom._eval_body

    def draw(self: Any, env: Any) -> None:
        evaluate(self, env)
        drawn = env.stack.pop()
        env.stack.append(here.place.value("chance", lambda: drawn))

    chance.MathRandom._eval_body = draw


def _replace_error(module: str, component: str, error: str) -> None:
    replaced = getattr(part(module), component)
    evaluate, kind = replaced._eval_body, getattr(KINDS, error)

    def evaluated(self: Any, env: Any) -> None:
        try:
            evaluate(self, env)
        except FAILURES.FailureEventException:
            raise
        except Exception as error:
            # A path without a value is States.Runtime in a Pass, which cannot catch it.
            if isinstance(error, JSON_PATH.NoSuchJsonPathError) and not here.place.attempt:
                raise
            raise task_error(env, kind, CLASS.sub(r"\1", str(error))) from error

    replaced._eval_body = evaluated


def _items(self: Any, env: Any) -> None:
    self.string_sampler.eval(env=env)
    if not isinstance(env.stack[-1], list):
        cause = f'Reference path "{self.string_sampler.literal_value}" must point to array.'
        raise task_error(env, KINDS.StatesRuntime, cause)


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


def _with_jsonata_errors(evaluate: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    def evaluated(self: Any, env: Any) -> None:
        try:
            evaluate(self, env)
        except _jsonata.JSONataException as error:
            text = f"The JSONata expression '{self.expression}' failed: {error.details}"
            raise query_error(env, text) from error

    return evaluated


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
