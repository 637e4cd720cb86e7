"""Values: JSONata, intrinsic functions, paths, and their errors."""

import base64
import copy
import random
import re
from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from jsonpath_ng.ext.parser import parse

from tidemark.glue_service.state_machines.evaluations import EVALUATIONS, EvaluationError
from tidemark.glue_service.state_machines.formats import as_json, text_of, uuid_of
from tidemark.glue_service.state_machines.light_moto import instead_of, part, replace_function
from tidemark.glue_service.state_machines.moto_parts.errors import (
    FAILURES,
    KINDS,
    error_named,
    query_error,
    task_error,
)
from tidemark.glue_service.state_machines.places import here

FORMAT = re.compile(r"\\(.)|\{\}", re.DOTALL)  # an escaped character, or a place for a value
CLASS = re.compile(r"'?<class '(?:\w+\.)*(\w+)'>'?")  # which texts of moto name
_jsonata = part("jsonata.jsonata")


PATHS = 1024  # of JSON, that are kept parsed
INDEFINITE = re.compile(r"""\[\s*(\?|\*|[^\]'"]*[:,])|\.\.|\.\*""")  # of paths to several values
VARIABLE = re.compile(r"\$(\w+)(.*)", re.DOTALL)  # its name, and a path into its value
ONE_ITEM = re.compile(r"\[\d+\]$")
JSON_PATH = part("utils.json_path")
_parsed_path = lru_cache(PATHS)(parse)
_functions = "component.intrinsic.function.statesfunction"
_strings = "component.common.string.string_expression"


def extract(path: str, data: Any) -> Any:
    """Return what a path finds: one value, or a list where the path may find several."""
    values = [match.value for match in _parsed_path(path).find(data)]
    if INDEFINITE.search(path):
        is_of_one = ONE_ITEM.search(path) and len(values) == 1
        return values[0] if is_of_one else values
    if not values:
        raise JSON_PATH.NoSuchJsonPathError(json_path=path, data=data)
    return values[0]


def _eval_jsonata(expression: str) -> Any:
    place = here.place
    try:
        return EVALUATIONS.value(expression, text_of(place.last_ms), place)
    except EvaluationError as error:
        raise _jsonata.JSONataException("States.QueryEvaluationError", str(error)) from error


def _declared(bindings: Mapping[str, Any]) -> str:
    return "".join(f"{name}:={as_json(value)};" for name, value in bindings.items())


def _uuid() -> str:
    return uuid_of(random.Random(here.place.seed()))  # noqa: S311 (no secret)


replace_function("to_json_str", as_json)
# The JVM that evaluates JSONata is not in the package.
replace_function("eval_jsonata_expression", _eval_jsonata)
# A text is put between quotation marks as it is: one with a quotation mark is an error.
replace_function("encode_jsonata_variable_declarations", _declared)
# An error of a branch, or of a token, may be one of Step Functions' own.
replace_function("CustomErrorName", error_named)
# A path such as $.a[0].b returns a list, and every path is parsed at each use.
replace_function("extract_json", extract)
# A restart would draw another one.
replace_function("long_uid", _uuid, ".intrinsic.")
# $ and $$ are refused everywhere; in a predicate they are what it is of.
_jsonata._ILLEGAL_VARIABLE_REFERENCES.clear()
# $uuid and $hash return a text that says that they are missing.
for _name in ("$uuid", "$hash"):
    part("component.intrinsic.jsonata")._DECLARATION_BY_VARIABLE_REFERENCE.pop(_name, None)


# An error of JSONata ends the execution as States.Runtime; on AWS it can be caught.
@instead_of(_strings, "StringJSONata._eval_body")
def _evaluate_jsonata(moto: Any, self: Any, env: Any) -> None:
    try:
        moto(self, env)
    except _jsonata.JSONataException as error:
        text = f"The JSONata expression '{self.expression}' failed: {error.details}"
        raise query_error(env, text) from error


# moto evaluates a path into a variable as JSONata, which takes $a['b'] for a filter.
@instead_of(_strings, "StringVariableSample._eval_body")
def _sample_variable(_: Any, self: Any, env: Any) -> None:
    name, rest = VARIABLE.match(self.expression).groups()  # type: ignore[union-attr] # it has one
    value = env.variable_store.get(name)
    env.stack.append(copy.deepcopy(extract(f"${rest}", value)))


# moto keeps the escape of a quotation mark, and refuses a number with a fraction.
_texts = part("parse.intrinsic.preprocessor").Preprocessor
_unescape = _texts._replace_escaped_characters
_texts._replace_escaped_characters = staticmethod(
    lambda match: "'" if match[1] == "'" else _unescape(match)
)
_texts.visitFunc_arg_float = lambda _, place: part(
    "component.intrinsic.argument.argument"
).ArgumentLiteral(float(place.NUMBER().getText()))


def _arguments(self: Any, env: Any) -> Any:
    self.argument_list.eval(env=env)
    return env.stack.pop()


# States.Format is Python's, which fails on other braces and reads attributes.
@instead_of(f"{_functions}.generic.string_format", "StringFormat._eval_body")
def _format(_: Any, self: Any, env: Any) -> None:
    text, *values = _arguments(self, env)
    shown = map(self._to_str_repr, values)
    env.stack.append(FORMAT.sub(lambda match: match[1] or next(shown, "{}"), text))


# moto's take ASCII alone.
@instead_of(f"{_functions}.encoding_decoding.base_64_encode", "Base64Encode._eval_body")
def _encode(_: Any, self: Any, env: Any) -> None:
    env.stack.append(base64.b64encode(_arguments(self, env)[0].encode()).decode())


@instead_of(f"{_functions}.encoding_decoding.base_64_decode", "Base64Decode._eval_body")
def _decode(_: Any, self: Any, env: Any) -> None:
    env.stack.append(base64.b64decode(_arguments(self, env)[0], validate=True).decode())


# A restart would draw another one.
part(f"{_functions}.math_operations.math_random").random = SimpleNamespace(
    Random=lambda seed: random.Random(here.place.seed() if seed is None else seed)  # noqa: S311
)


# What a Map goes over must be a list; moto's error is one of JSONata.
@instead_of("component.common.path.items_path", "ItemsPath._eval_body")
def _items(_: Any, self: Any, env: Any) -> None:
    self.string_sampler.eval(env=env)
    if not isinstance(env.stack[-1], list):
        cause = f'Reference path "{self.string_sampler.literal_value}" must point to array.'
        raise task_error(env, KINDS.StatesRuntime, cause)


def _replace_error(module: str, component: str, error: str) -> None:
    kind = getattr(KINDS, error)

    @instead_of(module, f"{component}._eval_body")
    def _evaluate(moto: Any, self: Any, env: Any) -> None:
        try:
            moto(self, env)
        except FAILURES.FailureEventException:
            raise
        except Exception as error:
            # A path without a value is States.Runtime in a Pass, which cannot catch it.
            if isinstance(error, JSON_PATH.NoSuchJsonPathError) and not here.place.attempt:
                raise
            raise task_error(env, kind, CLASS.sub(r"\1", str(error))) from error


# Each error has its own name, by which it can be caught; moto's are States.Runtime.
_replace_error(_strings, "StringIntrinsicFunction", "StatesIntrinsicFailure")
_replace_error("component.common.parargs", "Parameters", "StatesParameterPathFailure")
_replace_error("component.common.path.result_path", "ResultPath", "StatesResultPathMatchFailure")
