"""Dates, timestamps and decimals that a JSON table declares: strings that Spark casts.

Spark's JSON reader misreads them like its CSV reader, see `csv.files`. So they are read as
strings, at every depth.
"""

from collections.abc import Callable, Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.glue_job.frames.session import lenient_cast, read_text
from tidemark.glue_job.frames.types import (
    VALUE,
    Choice,
    Steps,
    alternatives,
    casts_as_strings,
    choice_of,
    has_casts,
    is_cast,
    numbered,
    parts_of,
    struct_type,
    with_parts,
)
from tidemark.glue_job.readers.files.misread import failing, misfit


def is_time(kind: T.DataType) -> bool:
    """Return whether a type is a date or a timestamp."""
    return isinstance(kind, T.DateType | T.TimestampType)


def cast_of(text: Column, kind: T.DataType) -> Column:
    """Return the time or the decimal in a string; null if it has none.

    A timestamp that is a whole number is in seconds since 1970, unless it is a year of four to six
    digits.
    """
    value = read_text(text, kind)
    if not isinstance(kind, T.TimestampType):
        return value
    seconds = F.timestamp_seconds(lenient_cast(text, T.LongType()))
    return F.coalesce(value, F.when(text.rlike(r"^-?[0-9]+$"), seconds))


def with_casts(frame: DataFrame, schema: T.StructType) -> DataFrame:
    """Return rows with their times and decimals; a string that is neither fails the action."""
    if not has_casts(schema):
        return frame
    names = frame.columns
    columns = [F.col(str(place)) for place in range(len(names))]
    pairs = zip(columns, schema, strict=False)
    cast = [cast_value(column, field.dataType, field.name) for column, field in pairs]
    each = zip([*cast, *columns[len(cast) :]], names, strict=True)
    numbered_frame = frame.toDF(*map(str, range(len(names))))
    return numbered_frame.select(*[column.alias(name) for column, name in each])


def cast_value(column: Column, kind: T.DataType, path: str) -> Column:
    """Return a value with its strings of times converted; other strings fail the action."""
    if is_cast(kind):
        value = cast_of(column, kind)
        error = failing(misfit(path, kind, column), kind)
        return F.when(column.isNotNull() & value.isNull(), error).otherwise(value)
    if not has_casts(kind):
        return column
    return rebuilt(column.cast(numbered(casts_as_strings(kind))), kind, path, cast_value)


def rebuilt(
    column: Column, kind: T.DataType, path: str, leaf: Callable[[Column, T.DataType, str], Column]
) -> Column:
    """Return a value whose fields have numbers, with their names and with other leaves.

    A leaf is what is not a struct, an array or a map; a choice is one, too.
    """
    match kind:
        case Choice():
            return leaf(column, kind, path)
        case T.StructType():
            fields = [
                rebuilt(column.getField(str(place)), f.dataType, f"{path}.{f.name}", leaf)
                for place, f in enumerate(kind)
            ]
            named = [field.alias(name) for field, name in zip(fields, kind.names, strict=True)]
            return F.when(column.isNotNull(), F.struct(*named))
        case T.ArrayType(elementType=inner):
            return F.transform(column, lambda element: rebuilt(element, inner, path, leaf))
        case T.MapType(valueType=inner):
            return F.transform_values(column, lambda _, value: rebuilt(value, inner, path, leaf))
    return leaf(column, kind, path)


def cast_places(kind: T.DataType, actual: T.DataType) -> Iterator[tuple[Steps, T.DataType]]:
    """Yield the places where strings must be cast, and the target types."""
    for steps, declared in _cast_places(kind, ()):
        if _has(actual, steps, T.StringType):
            yield steps, declared


def decimal_places(kind: T.DataType, actual: T.DataType) -> Iterator[tuple[Steps, T.DataType]]:
    """Yield the places where a decimal is declared and values may have more digits."""
    for steps, declared in _cast_places(kind, ()):
        if isinstance(declared, T.DecimalType) and _has(
            actual, steps, (T.StringType, T.DoubleType)
        ):
            yield steps, declared


def _cast_places(kind: T.DataType, steps: Steps) -> Iterator[tuple[Steps, T.DataType]]:
    parts = alternatives(kind)
    declared = next((part for part in parts if is_cast(part)), None)
    if declared is not None and not any(isinstance(part, T.StringType) for part in parts):
        yield steps, declared
    if not isinstance(kind, Choice):
        for step, inner in parts_of(kind):
            yield from _cast_places(inner, (*steps, step))


def _has(
    kind: T.DataType, steps: Steps, types: type[T.DataType] | tuple[type[T.DataType], ...]
) -> bool:
    if isinstance(kind, Choice):
        return any(_has(part, steps, types) for part in alternatives(kind))
    if not steps:
        return isinstance(kind, types)
    is_key = steps[0] == VALUE and isinstance(kind, T.StructType)  # inference makes no maps
    return any(
        _has(part, steps[1:], types) for step, part in parts_of(kind) if is_key or step == steps[0]
    )


def pruned(kind: T.DataType, places: list[Steps]) -> T.DataType:
    """Return a type without the fields that lead to none of some places."""
    match kind:
        case Choice():
            return kind
        case T.StructType():
            fields = [(field, _below(f".{field.name}", places)) for field in kind]
            return struct_type((f.name, pruned(f.dataType, inner)) for f, inner in fields if inner)
    return with_parts(kind, lambda step, part: pruned(part, _below(step, places)))


def _below(step: str, places: list[Steps]) -> list[Steps]:
    return [place[1:] for place in places if place[0] == step]


def with_strings(kind: T.DataType, places: list[Steps]) -> T.DataType:
    """Return a type that is a choice with string at some places."""
    if () in places:
        return choice_of([*alternatives(kind), T.StringType()])
    if not places:
        return kind

    return with_parts(kind, lambda step, part: with_strings(part, _below(step, places)))
