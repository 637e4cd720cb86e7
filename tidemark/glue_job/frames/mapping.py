"""ApplyMapping: fields by path, under new paths, as other types.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-transforms-ApplyMapping.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, NullType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.choices import Value, built, lifted, schema_of, values_of
from tidemark.glue_job.frames.fields import value_at
from tidemark.glue_job.frames.paths import find_path, parse_path
from tidemark.glue_job.frames.records import filled
from tidemark.glue_job.frames.schemas import spark_schema
from tidemark.glue_job.frames.type_names import (
    converted,
    names_type,
    part_of,
    target_type,
    type_label,
)
from tidemark.glue_job.frames.types import ELEMENT, VALUE, choice_of, choices_in, holds, struct_type
from tidemark.local_state.run_warnings import RunWarning, note


@dataclass
class MappingTarget:
    """A field of the result: a value, or a struct of fields."""

    value: Value | None = None
    fields: dict[str, "MappingTarget"] = field(default_factory=dict)


def apply_mapping(
    frame: DataFrame, mappings: object, *, is_case_sensitive: bool = False
) -> DataFrame:
    """Return the mapped fields of a frame, in the order of the mappings.

    A missing field is left out, with a warning. A field of another type than the source type
    is converted, with a warning. For a choice the mapping takes the values of its source type,
    with a warning. If two mappings have the same target, the last one wins, with a warning.
    """
    schema = schema_of(frame)
    source, values = values_of(frame)
    root = MappingTarget()
    for path, kind_word, target, word in full_mappings(frame, mappings):
        place = find_path(schema, parse_path(path), is_case_sensitive=is_case_sensitive)
        if place is None:
            if schema.fields:
                note(RunWarning.MAPPING_SOURCE, path)
            continue
        is_inside = not {ELEMENT, VALUE}.isdisjoint(place[0])
        if is_inside and not word.strip().lower().startswith("array"):
            raise UnsupportedError(
                f"the source {path!r} of a mapping is inside an array or a map, so it is mapped "
                f"to the type array, not to {word!r}: map the whole array, or take it apart "
                "first, with relationalize or explode"
            )
        column, kind = value_at(values, place[0])
        part = part_of(kind_word, kind)
        if part is not None:
            note(RunWarning.MAPPING_PART, f"{kind_word} of {path} ({type_label(kind)})")
            column, kind = column.getField(part.name), part.dataType
        elif not names_type(kind_word, kind):
            about = f"{path} ({type_label(kind)}, in the mapping {kind_word})"
            note(RunWarning.MAPPING_TYPE, about)
        what = f"the field {path!r} of a mapping"
        target_kind = target_type(word, kind, what)
        _put(root, target, Value("", converted(column, kind, target_kind, what), target_kind))
    return built(source, [_value(name, target) for name, target in root.fields.items()])


def with_schema(frame: DataFrame, document: Mapping[str, Any]) -> DataFrame:
    """Return a frame with the fields of a schema, in its order and with its types."""
    try:
        schema = spark_schema(document, choice_of)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"the schema of a frame cannot be used: {error}") from error
    source, values = values_of(frame)
    by_name = {value.name: value for value in values}
    fields = []
    for target in schema:
        value = by_name.get(target.name, Value(target.name, F.lit(None), NullType()))
        fields.append(_of_type(value, target.dataType))
    if left_out := [name for name in by_name if name not in schema.names]:
        note(RunWarning.SCHEMA_LACKS, ", ".join(left_out))
    return built(source, fields)


def _of_type(value: Value, kind: DataType) -> Value:
    what = f"the field {value.name!r} of a schema"
    if choices_in(kind):
        if not holds(kind, value.kind):
            raise UsageError(
                f"{what} has a choice that has no place for some of its values, which are "
                f"{type_label(value.kind)}: resolve the choice first"
            )
        return Value(value.name, lifted(value.column, value.kind, kind), kind)
    if isinstance(kind, NullType):
        return value  # a schema calls a field null that had no value yet
    kind = filled(kind, value.kind)
    if isinstance(value.kind, NullType):
        return Value(value.name, F.lit(None).cast(kind), kind)
    return Value(value.name, converted(value.column, value.kind, kind, what).cast(kind), kind)


def full_mappings(frame: DataFrame, mappings: object) -> list[tuple[str, str, str, str]]:
    """Return mappings of a frame as tuples of four strings.

    Two strings are source and target; three are source, target and target type. The rest comes from
    the frame.
    """
    if not isinstance(mappings, list | tuple):
        raise TypeError(f"mappings must be a list of tuples, or tuple. Got {type(mappings)}")
    is_one = isinstance(mappings, tuple) and not all(isinstance(part, tuple) for part in mappings)
    return [_full(frame, mapping) for mapping in ([mappings] if is_one else mappings)]


def _full(frame: DataFrame, mapping: object) -> tuple[str, str, str, str]:
    if not isinstance(mapping, tuple):
        raise TypeError(f"Mapping must be specified as a tuple. Got {mapping}")
    if len(mapping) not in (2, 3, 4):
        raise ValueError(
            f"Mapping tuple must be of length 2, 3, or 4. Got tuple of length {len(mapping)}"
        )
    if not all(isinstance(part, str) for part in mapping):
        raise UsageError(f"the mapping {mapping!r} must be a tuple of strings")
    if len(mapping) == 4:
        return mapping
    place = find_path(schema_of(frame), parse_path(mapping[0]), is_case_sensitive=False)
    kind = place[1].simpleString() if place else "string"
    return mapping[0], kind, mapping[1], mapping[2] if len(mapping) == 3 else kind


def _put(root: MappingTarget, path: str, value: Value) -> None:
    steps = parse_path(path)
    if ELEMENT in steps:
        raise UnsupportedError(
            f"the target {path!r} of a mapping is inside an array, which is not supported; map "
            "the whole array"
        )
    place = root
    is_taken = False
    for step in steps:
        is_taken |= place.value is not None
        place.value = None
        place = place.fields.setdefault(step[1:], MappingTarget())
    if is_taken or place.value is not None or place.fields:
        note(RunWarning.MAPPING_TARGET, path)
    place.value, place.fields = value, {}


def _value(name: str, target: MappingTarget) -> Value:
    if target.value is not None:
        return Value(name, target.value.column, target.value.kind)
    fields = [_value(inner, inner_target) for inner, inner_target in target.fields.items()]
    # A struct is null if none of its fields has a value.
    has_value = reduce(or_, (part.column.isNotNull() for part in fields))
    struct = F.struct(*[part.column.alias(part.name) for part in fields])
    kind = struct_type((part.name, part.kind) for part in fields)
    return Value(name, F.when(has_value, struct), kind)
