"""ResolveChoice: one type for a column of several types, or a column or field per type.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, StructType

from tidemark.errors import ArgumentError, ArgumentTypeError, UsageError
from tidemark.glue_job.frames.choices import Value, as_struct, schema_of
from tidemark.glue_job.frames.fields import Edit, edited
from tidemark.glue_job.frames.nested import check_once
from tidemark.glue_job.frames.paths import find_path, parse_path, path_string
from tidemark.glue_job.frames.type_names import WORDS, converted, target_type
from tidemark.glue_job.frames.types import ELEMENT, Choice, Steps, parts_of, type_name, types_in
from tidemark.local_state.run_warnings import RunWarning, note

CATALOG = "match_catalog"
ACTIONS = ("cast:type", "project:type", "make_cols", "make_struct")


def resolve_specs(frame: DataFrame, specs: object) -> DataFrame:
    """Return a frame with fields resolved by path, one after the other.

    ``cast`` also converts a field of one type. A missing path causes a warning.
    """
    for path, action in _checked(specs):
        schema = schema_of(frame)
        place = find_path(schema, parse_path(path))
        if place is None:
            _action(action, path)
            if schema.fields:
                note(RunWarning.FIELD_MISSING, path)
            continue
        steps, kind = place
        inner = steps
        while isinstance(kind, ArrayType):
            inner, kind = (*inner, ELEMENT), kind.elementType
        if isinstance(kind, Choice) and not path.endswith(ELEMENT):
            steps = inner  # the path leads to an array, and the choice is in it
        frame = _resolved(frame, {steps: _action(action, path)}, action)
    return frame


def resolve_every(frame: DataFrame, choice: str) -> DataFrame:
    """Return a frame with every choice resolved by one action."""
    _action(choice, "choice")
    paths = list(_choices(schema_of(frame), ()))
    edits = {steps: _action(choice, path_string(steps)) for steps in paths}
    return _resolved(frame, edits, choice)


def _resolved(frame: DataFrame, edits: Mapping[Steps, Edit], action: str) -> DataFrame:
    resolved = edited(frame, edits)
    if _make_cols in edits.values():
        for _, kind in types_in(resolved.schema):
            check_once(kind.names if isinstance(kind, StructType) else (), action)
    return resolved


def resolve_by_types(frame: DataFrame, types: Mapping[str, DataType]) -> DataFrame:
    """Return a frame with its top-level choices as the types of a table; others are unchanged."""
    edits: dict[Steps, Edit] = {}
    for field in schema_of(frame):
        target = types.get(field.name.lower())
        if isinstance(field.dataType, Choice) and target is not None:
            edits[(f".{field.name}",)] = partial(_as_type, target)
    return edited(frame, edits)


def _as_type(target: DataType, value: Value) -> Sequence[Value]:
    column = converted(value.column, value.kind, target, f"the column {value.name!r}")
    return [Value(value.name, column, target)]


def _choices(kind: DataType, steps: Steps) -> Iterator[Steps]:
    if isinstance(kind, Choice):
        # A choice within a choice is resolved with it.
        yield steps
    else:
        for step, part in parts_of(kind):
            yield from _choices(part, (*steps, step))


def _checked(specs: object) -> list[tuple[str, str]]:
    """Return specs; the errors have the classes of AWS's library, which unpacks the specs."""
    listed = [specs] if isinstance(specs, tuple) else specs
    if not isinstance(listed, Iterable):
        raise ArgumentTypeError(f"specs is {specs!r}; {_SPECS}")
    if isinstance(listed, str):
        raise ArgumentError(f"specs is {specs!r}; {_SPECS}")
    pairs = []
    for spec in listed:
        if not isinstance(spec, Sequence):
            raise ArgumentTypeError(f"the spec {spec!r} must be a tuple of a path and an action")
        if isinstance(spec, str) or len(spec) != 2:
            raise ArgumentError(f"the spec {spec!r} must be a tuple of a path and an action")
        pairs.append((str(spec[0]), str(spec[1])))
    return pairs


_SPECS = "it must be a list of tuples of a path and an action"


def _action(action: str, path: str) -> Edit:
    name, _, word = action.partition(":")
    name = name.lower()
    actions: dict[str, Callable[[Value], Sequence[Value]]] = {
        "cast": partial(_cast, word, path),
        "project": partial(_project, word, path),
        "make_cols": _make_cols,
        "make_struct": _make_struct,
    }
    if name not in actions or bool(word) != (name in ("cast", "project")):
        raise UsageError(
            f"the action {action!r} for {path!r} is not known; allowed are {', '.join(ACTIONS)}, "
            f"and as choice also {CATALOG}"
        )
    return actions[name]


def _cast(word: str, path: str, value: Value) -> Sequence[Value]:
    what = f"the field {path!r}"
    target = target_type(word, value.kind, what)
    return [Value(value.name, converted(value.column, value.kind, target, what), target)]


def _project(word: str, path: str, value: Value) -> Sequence[Value]:
    """Return the values of one type; values of other types are dropped and become null."""
    text = word.strip().lower()
    name = type_name(WORDS[text]) if text in WORDS else text.partition("(")[0]
    if not isinstance(value.kind, Choice):
        if type_name(value.kind) == name:
            return [value]
        held = type_name(value.kind)
    else:
        for field in value.kind:
            if field.name == name:
                return [Value(value.name, value.column.getField(name), field.dataType)]
        held = ", ".join(value.kind.names)
    raise UsageError(f"the field {path!r} has no values of the type {word}; it has {held}")


def _make_cols(value: Value) -> Sequence[Value]:
    if not isinstance(value.kind, Choice):
        return [value]
    # An element of an array has no name for columns.
    if not value.name:
        return _make_struct(value)
    return [
        Value(f"{value.name}_{field.name}", value.column.getField(field.name), field.dataType)
        for field in value.kind
    ]


def _make_struct(value: Value) -> Sequence[Value]:
    return [as_struct(value)]


def resolve_options(frame: DataFrame, options: Iterable[Any], glue_type: type) -> DataFrame:
    """Return a frame with choices resolved by the options of ``toDF``."""
    specs = [(option.path, _action_of_option(option, glue_type)) for option in options]
    return resolve_specs(frame, specs) if specs else frame


def _action_of_option(option: Any, glue_type: type[Any]) -> str:
    """Return the action of a spec; the first sentences of the errors are AWS's."""
    action, target = str(option.action), option.target
    name = action.upper()
    if name == "KEEPASSTRUCT":
        return "make_struct"
    if target is None:
        raise UsageError(
            f"Missing target type for resolve action {action}. Give a type of awsglue.gluetypes "
            f"for {option.path!r}"
        )
    if name != "PROJECT":
        raise ArgumentError(
            f"Invalid resolve action {action}. Action must be one of KeepAsStruct and Project. "
            f"To cast {option.path!r}, call resolveChoice before toDF"
        )
    if not isinstance(target, glue_type):
        raise ArgumentError(
            f"Target type must be specified with project action. The target for {option.path!r} "
            f"is {target!r}, of {type(target).__module__}; it must be a type of awsglue.gluetypes, "
            "such as DoubleType()"
        )
    return f"project:{target.typeName()}"
