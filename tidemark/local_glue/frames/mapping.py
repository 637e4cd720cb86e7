"""ApplyMapping: fields by path, under new paths, as other types.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-transforms-ApplyMapping.html
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_glue.frames.choices import ELEMENT, Value, built, schema_of, values_of
from tidemark.local_glue.frames.fields import value_at
from tidemark.local_glue.frames.paths import find_path, parse_path
from tidemark.local_glue.frames.type_words import converted, names_type, target_type
from tidemark.local_glue.readers.glue_schema import spark_schema
from tidemark.local_glue.runs.run_warnings import RunWarning, note

PARTS = 4  # of a mapping: source path and type, target path and type


@dataclass
class Target:
    """A field of the result: a value, or a struct of fields."""

    value: Value | None = None
    fields: dict[str, "Target"] = field(default_factory=dict)


def apply_mapping(
    frame: DataFrame, mappings: object, *, is_case_sensitive: bool = False
) -> DataFrame:
    """Return the mapped fields of a frame, in the order of the mappings.

    A field that is not there is left out and warned of; so is, converted from what it is, one whose
    source type is another than the mapping says. Of two mappings to one target the last one wins.

    Args:
        frame: any rows.
        mappings: tuples of source path, source type, target path and target type, or one of them.
        is_case_sensitive: whether names of sources are compared so.

    Raises:
        UsageError: a mapping is no such tuple, or a type is none that its field can get.
        UnsupportedError: a target is inside of an array.
    """
    schema = schema_of(frame)
    source, values = values_of(frame)
    root = Target()
    for path, kind_word, target, word in checked_mappings(mappings):
        found = find_path(schema, parse_path(path), is_case_sensitive=is_case_sensitive)
        if found is None:
            if schema.fields:
                note(RunWarning.MAPPING_SOURCE, path)
            continue
        column, kind = value_at(values, found[0])
        if not names_type(kind_word, kind):
            actual = kind.simpleString()
            note(RunWarning.MAPPING_TYPE, f"{path} ({actual}, in the mapping {kind_word})")
        what = f"the field {path!r} of a mapping"
        wanted = target_type(word, kind, what)
        _place(root, target, Value("", converted(column, kind, wanted, what), wanted))
    return built(source, [_value(name, one) for name, one in root.fields.items()])


def with_schema(frame: DataFrame, document: Mapping[str, Any]) -> DataFrame:
    """Return a frame with the fields of a schema, in its order and of its types.

    Args:
        frame: any rows; a field that they lack is null, one that the schema lacks is left out.
        document: the JSON of a ``awsglue.gluetypes.StructType`` without choices.

    Raises:
        UsageError: it is no such JSON, or a field cannot be of its type.
    """
    try:
        schema = spark_schema(document)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"the schema of a frame cannot be used: {error}") from error
    source, values = values_of(frame)
    known = {value.name: value for value in values}
    fields = []
    for one in schema:
        value = known.get(one.name, Value(one.name, F.lit(None), one.dataType))
        what = f"the field {one.name!r} of a schema"
        column = converted(value.column, value.kind, one.dataType, what)
        fields.append(Value(one.name, column.cast(one.dataType), one.dataType))
    return built(source, fields)


def checked_mappings(mappings: object) -> list[tuple[str, str, str, str]]:
    """Return mappings as a list of tuples of four texts.

    Raises:
        UsageError: they are something else.
    """
    given = [mappings] if isinstance(mappings, tuple) else mappings
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise UsageError(f"the mappings are {mappings!r}; they must be a list of tuples")
    found = []
    for one in given:
        parts = tuple(one) if isinstance(one, Sequence) and not isinstance(one, str) else ()
        if len(parts) != PARTS or not all(isinstance(part, str) for part in parts):
            raise UsageError(
                f"the mapping {one!r} must be a tuple of four texts: source path, source type, "
                "target path, target type"
            )
        found.append(parts)
    return found


def full_mappings(frame: DataFrame, mappings: object) -> list[tuple[str, str, str, str]]:
    """Return mappings of a DataFrame as tuples of four texts.

    Those of two are source and target; those of three source, target and target type. What is not
    said is as in the frame.

    Raises:
        UsageError: a mapping is no such tuple.
    """
    given = [mappings] if isinstance(mappings, tuple) else mappings
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise UsageError(f"the mappings are {mappings!r}; they must be a list of tuples")
    full = []
    for one in given:
        if not isinstance(one, tuple):
            raise UsageError(f"the mapping {one!r} must be a tuple")
        if len(one) not in (2, 3):
            full.append(one)
            continue
        found = find_path(schema_of(frame), parse_path(one[0]), is_case_sensitive=False)
        kind = found[1].simpleString() if found else "string"
        full.append((one[0], kind, one[1], one[2] if len(one) == 3 else kind))
    return checked_mappings(full)


def _place(root: Target, path: str, value: Value) -> None:
    steps = parse_path(path)
    if ELEMENT in steps:
        raise UnsupportedError(
            f"the target {path!r} of a mapping is inside of an array, which is not supported; map "
            "the whole array"
        )
    place = root
    for step in steps:
        place.value = None
        place = place.fields.setdefault(step[1:], Target())
    place.value, place.fields = value, {}


def _value(name: str, target: Target) -> Value:
    """Return a field of the result; a struct of which no field has a value is null."""
    if target.value is not None:
        return Value(name, target.value.column, target.value.kind)
    fields = [_value(inner, one) for inner, one in target.fields.items()]
    struct = F.struct(*[one.column.alias(one.name) for one in fields])
    has_value = fields[0].column.isNotNull()
    for one in fields[1:]:
        has_value |= one.column.isNotNull()
    kind = StructType([StructField(one.name, one.kind) for one in fields])
    return Value(name, F.when(has_value, struct), kind)
