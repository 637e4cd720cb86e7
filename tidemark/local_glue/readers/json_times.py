"""Dates and timestamps of JSON whose table declares them: texts that Spark's cast takes.

Spark's reader of JSON fails with a SparkUpgradeException at a text such as 2024-13-01, as that of
CSV does, see `csv_times`. So times are read as texts, at every depth.
"""

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from tidemark.local_glue.frames.choices import ELEMENT, VALUE, Choice, Steps, choice_of, quoted
from tidemark.local_glue.readers.declared_columns import numbered
from tidemark.local_glue.readers.mixed_types import failing, misfit

STRING = "string"  # the part of a choice that has the texts


def is_time(kind: DataType) -> bool:
    """Return whether values of a type are read as texts."""
    return isinstance(kind, DateType | TimestampType)


def time_of(text: Column, kind: DataType) -> Column:
    """Return the time of a text, null where it is none.

    A timestamp that is a whole number is in seconds since 1970, but for a year of four to six
    digits.
    """
    time = text.cast(kind)
    if isinstance(kind, DateType):
        return time
    return F.coalesce(time, F.when(text.rlike(r"^-?[0-9]+$"), F.timestamp_seconds(_whole(text))))


def _whole(text: Column) -> Column:
    return text.cast("bigint")


def has_times(kind: DataType) -> bool:
    """Return whether a type is, or has inside of it, a date or a timestamp."""
    return is_time(kind) or any(has_times(inner) for _, inner in _inner(kind))


def times_as_texts(schema: StructType) -> StructType:
    """Return a schema with strings in the place of dates and timestamps, at every depth."""
    return StructType([StructField(one.name, _texts(one.dataType)) for one in schema])


def _texts(kind: DataType) -> DataType:
    match kind:
        case StructType():
            return times_as_texts(kind)
        case ArrayType():
            return ArrayType(_texts(kind.elementType))
        case MapType():
            return MapType(kind.keyType, _texts(kind.valueType))
    return StringType() if is_time(kind) else kind


def with_times(frame: DataFrame, schema: StructType) -> DataFrame:
    """Return rows with their times; a text that is none fails the action.

    Args:
        frame: columns as `times_as_texts` has them, and others.
        schema: the declared columns.
    """
    timed = {one.name: one.dataType for one in schema if has_times(one.dataType)}
    if not timed:
        return frame
    return frame.select(
        *[
            timed_value(F.col(quoted(name)), timed[name], name).alias(name)
            if name in timed
            else F.col(quoted(name))
            for name in frame.columns
        ]
    )


def timed_value(column: Column, kind: DataType, path: str) -> Column:
    """Return a value with its times, of one with texts for them; others fail the action."""
    if is_time(kind):
        time = time_of(column, kind)
        error = failing(misfit(path, kind, column), kind)
        return F.when(column.isNotNull() & time.isNull(), error).otherwise(time)
    if not has_times(kind):
        return column
    return _rebuilt(column.cast(numbered(_texts(kind))), kind, path)


def _rebuilt(column: Column, kind: DataType, path: str) -> Column:
    """Return a value with times inside of it, of one whose fields have numbers."""
    match kind:
        case StructType():
            fields = [
                _rebuilt(column.getField(str(place)), one.dataType, f"{path}.{one.name}")
                for place, one in enumerate(kind)
            ]
            named = [field.alias(name) for field, name in zip(fields, kind.names, strict=True)]
            return F.when(column.isNotNull(), F.struct(*named))
        case ArrayType():
            return F.transform(column, lambda one: _rebuilt(one, kind.elementType, path))
        case MapType():
            return F.transform_values(column, lambda _, one: _rebuilt(one, kind.valueType, path))
    return timed_value(column, kind, path)


def time_places(kind: DataType, steps: Steps = ()) -> Iterator[tuple[Steps, DataType]]:
    """Yield the places of times that no part of a choice takes the texts of, and their types."""
    time = next((one for one in _parts(kind) if is_time(one)), None)
    if time is not None and not any(isinstance(one, StringType) for one in _parts(kind)):
        yield steps, time
    if not isinstance(kind, Choice):
        for step, inner in _inner(kind):
            yield from time_places(inner, (*steps, step))


def only_times(kind: StructType) -> StructType:
    """Return a type without the fields that have no such place."""

    def kept(one: DataType) -> DataType:
        match one:
            case Choice():
                return one
            case StructType():
                return only_times(one)
            case ArrayType():
                return ArrayType(kept(one.elementType))
            case MapType():
                return MapType(one.keyType, kept(one.valueType))
        return one

    return StructType(
        [StructField(one.name, kept(one.dataType)) for one in kind if any(_places_of(one))]
    )


def _places_of(field: StructField) -> Iterator[bool]:
    return (True for _ in time_places(field.dataType))


def with_texts(kind: DataType, places: list[Steps]) -> DataType:
    """Return a type that is at some places a choice with string."""
    if () in places:
        return choice_of([*_parts(kind), StringType()])
    if not places:
        return kind

    def inside(step: str, inner: DataType) -> DataType:
        return with_texts(inner, [place[1:] for place in places if place[0] == step])

    match kind:
        case StructType():
            return StructType(
                [StructField(one.name, inside(f".{one.name}", one.dataType)) for one in kind]
            )
        case ArrayType():
            return ArrayType(inside(ELEMENT, kind.elementType))
        case MapType():
            return MapType(kind.keyType, inside(VALUE, kind.valueType))
    return kind


def _parts(kind: DataType) -> list[DataType]:
    return [one.dataType for one in kind] if isinstance(kind, Choice) else [kind]


def _inner(kind: DataType) -> list[tuple[str, DataType]]:
    match kind:
        case StructType():
            return [(f".{one.name}", one.dataType) for one in kind]
        case ArrayType():
            return [(ELEMENT, kind.elementType)]
        case MapType():
            return [(VALUE, kind.valueType)]
    return []
