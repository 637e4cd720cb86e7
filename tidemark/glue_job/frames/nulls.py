"""DropNullFields: removes fields that have no value in any record.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-transforms-DropNullFields.html
"""

from collections.abc import Callable, Iterator
from typing import TypeGuard

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, NullType, StructType

from tidemark.glue_job.frames.choices import Value, values_of
from tidemark.glue_job.frames.fields import edited
from tidemark.glue_job.frames.own_queries import own_query
from tidemark.glue_job.frames.types import ELEMENT, Choice, Steps, as_struct_type


def without_null_fields(frame: DataFrame) -> tuple[DataFrame, list[Steps]]:
    """Return a frame without the fields that are null in every row, and their paths.

    It looks into structs, and into structs in arrays, but not into maps. One pass over the rows
    finds them all. A frame without rows keeps its fields.
    """
    source, values = values_of(frame)
    fields = [leaf for value in values for leaf in _leaves(value, frame)]
    unknown = [(steps, has) for steps, has in fields if has is not None]
    null = [steps for steps, has in fields if has is None]
    if unknown:
        with own_query(source.sparkSession):
            counts = source.agg(F.count(F.lit(1)), *[F.max(has) for _, has in unknown]).collect()[0]
        found = [steps for (steps, _), has in zip(unknown, counts[1:], strict=True) if not has]
        null = [*null, *(found if counts[0] else [])]
    return edited(frame, dict.fromkeys(null, lambda _: [])), null


def _leaves(value: Value, frame: DataFrame) -> Iterator[tuple[Steps, Column | None]]:
    """Yield the fields that may be null, with a column that is true for a value; None for never."""
    nullable = {one.name for one in frame.schema if one.nullable}
    steps = (f".{value.name}",)
    if isinstance(value.kind, StructType) and not isinstance(value.kind, Choice):
        yield from _inside(value.column, value.kind, steps)
    elif isinstance(value.kind, ArrayType) and _is_struct(value.kind.elementType):
        yield from _inside_array(value.column, value.kind, steps)
    if isinstance(value.kind, NullType):
        yield steps, None
    elif value.name in nullable and not _is_struct(value.kind):
        yield steps, value.column.isNotNull()


def _inside(
    column: Column, kind: StructType, steps: Steps
) -> Iterator[tuple[Steps, Column | None]]:
    for one in kind:
        path, inner = (*steps, f".{one.name}"), column.getField(one.name)
        if isinstance(one.dataType, NullType):
            yield path, None
        elif _is_struct(one.dataType):
            yield from _inside(inner, one.dataType, path)
        else:
            if isinstance(one.dataType, ArrayType) and _is_struct(one.dataType.elementType):
                yield from _inside_array(inner, one.dataType, path)
            yield path, inner.isNotNull()


def _inside_array(
    column: Column, kind: ArrayType, steps: Steps
) -> Iterator[tuple[Steps, Column | None]]:
    """Yield the fields of the structs in an array, by whether any struct has a value."""
    for one in as_struct_type(kind.elementType):
        path = (*steps, ELEMENT, f".{one.name}")
        if isinstance(one.dataType, NullType):
            yield path, None
            continue
        yield path, F.exists(F.transform(column, _getter(one.name)), Column.isNotNull)


def _getter(name: str) -> Callable[[Column], Column]:
    return lambda struct: struct.getField(name)


def _is_struct(kind: DataType) -> TypeGuard[StructType]:
    return isinstance(kind, StructType) and not isinstance(kind, Choice)
