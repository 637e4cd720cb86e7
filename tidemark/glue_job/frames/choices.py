"""Columns of several types: structs that are marked in the metadata of their column.

The value of a row is in the field of its type; the other fields are null. A mark holds the paths
of the choices in a column, also inside structs, arrays and maps.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.errors import UsageError
from tidemark.glue_job.frames.session import lenient_cast
from tidemark.glue_job.frames.types import (
    Choice,
    Steps,
    choices_in,
    plain_type,
    type_name,
    with_parts,
)

MARK = "tidemark.choices"


@dataclass(frozen=True)
class Value:
    """A field: its name, how it is computed, and its type, in which choices are `Choice`."""

    name: str
    column: Column
    kind: T.DataType


def quoted(name: str) -> str:
    """Return a name in the quotes of Spark's SQL."""
    return f"`{name.replace('`', '``')}`"


def column(name: str) -> Column:
    """Return a column by its name, whatever its characters."""
    return F.col(quoted(name))


def check_names(frame: DataFrame, use: str) -> None:
    """Raise if two columns have one name, which rows that go by names have once."""
    names = Counter(frame.columns)
    if twice := [name for name, count in names.items() if count > 1]:
        raise UsageError(
            f"the rows {use} have {', '.join(map(repr, twice))} more than once, as after a join "
            f"of DataFrames; the columns are {', '.join(names)}: join on the name, as in "
            "one.join(other, 'id'), or drop or rename one of each before"
        )


def schema_of(frame: DataFrame) -> T.StructType:
    """Return the schema of a frame, with choices as `Choice`."""
    fields = []
    for field in frame.schema:
        marks = {tuple(json.loads(mark)) for mark in field.metadata.get(MARK, [])}
        kind = _with_choices(field.dataType, marks, ())
        fields.append(T.StructField(field.name, kind, field.nullable))
    return T.StructType(fields)


def has_choices(frame: DataFrame) -> bool:
    """Return whether a column is a choice or contains one."""
    return any(MARK in field.metadata for field in frame.schema)


def values_of(frame: DataFrame) -> tuple[DataFrame, list[Value]]:
    """Return a frame and its columns; columns that Spark would confuse are renamed."""
    schema = schema_of(frame)
    names = [field.name for field in schema]
    # Spark does not tell columns apart whose names differ in case only.
    if len({name.lower() for name in names}) < len(names):
        frame = frame.toDF(*map(str, range(len(names))))
        columns = [F.col(str(place)) for place in range(len(names))]
    else:
        columns = list(map(column, names))
    return frame, list(map(Value, names, columns, [field.dataType for field in schema]))


def built(frame: DataFrame, values: Iterable[Value]) -> DataFrame:
    """Return a frame of values of another frame, with the marks of their choices."""
    return frame.select(
        *(
            value.column.alias(value.name, metadata=_metadata(value.kind) or None)
            for value in values
        )
    )


def unmarked(frame: DataFrame) -> DataFrame:
    """Return a frame in which choices are plain structs, as Glue's toDF shows them."""
    if not has_choices(frame):
        return frame
    frame, values = values_of(frame)
    return built(frame, [as_struct(value) for value in values])


def as_struct(value: Value) -> Value:
    """Return a value with its choices as structs.

    An alias cannot remove the mark, and Spark drops a cast that changes nothing: a condition
    removes it, also in the files of a partitioned write.
    """
    if not _metadata(value.kind):
        return value
    kind = plain_type(value.kind)
    return Value(value.name, F.when(value.column.isNotNull(), value.column.cast(kind)), kind)


def with_marks(schema: T.StructType) -> T.StructType:
    """Return a schema in Spark's form: choices are structs, and their columns have marks."""
    fields = []
    for field in schema:
        kind, marks = plain_type(field.dataType), _metadata(field.dataType)
        fields.append(T.StructField(field.name, kind, field.nullable, marks))
    return T.StructType(fields)


def lifted(column: Column, kind: T.DataType, target: T.DataType) -> Column:
    """Return a column as a type that was `merged` from its own and other types."""
    if kind == target and type(kind) is type(target):
        return column
    match kind, target:
        case T.NullType(), _:
            return F.lit(None).cast(plain_type(target))
        # A value that is not a choice is the part of its type in one.
        case _, Choice() if not isinstance(kind, Choice):
            return _lifted_struct(column, {type_name(kind): (column, kind)}, target)
        case T.StructType(), T.StructType():
            fields = {f.name: (column.getField(f.name), f.dataType) for f in kind}
            return _lifted_struct(column, fields, target)
        case T.ArrayType(), T.ArrayType():
            return F.transform(column, lambda v: lifted(v, kind.elementType, target.elementType))
        case T.MapType(), T.MapType():
            values = kind.valueType, target.valueType
            return F.transform_values(column, lambda _, v: lifted(v, *values))
    return _as_decimal(column, target)


def _lifted_struct(
    column: Column, fields: Mapping[str, tuple[Column, T.DataType]], target: T.StructType
) -> Column:
    nothing = F.lit(None), T.NullType()
    parts = (lifted(*fields.get(f.name, nothing), f.dataType).alias(f.name) for f in target)
    return F.when(column.isNotNull(), F.struct(*parts))


def _as_decimal(column: Column, target: T.DataType) -> Column:
    value = lenient_cast(column, target)
    error = F.concat(
        F.lit(f"UsageError: {target.simpleString()}, for decimals of several types, cannot hold "),
        column.cast("string"),
        F.lit(": make them one type, or strings, before"),
    )
    # A value for which the common type has no place fails the action: null would lose it.
    is_lost = column.isNotNull() & value.isNull()
    return F.when(is_lost, F.raise_error(error).cast(target)).otherwise(value)


def _metadata(kind: T.DataType) -> dict[str, Any]:
    marks = [json.dumps(steps) for steps in choices_in(kind)]
    return {MARK: marks} if marks else {}


def _with_choices(kind: T.DataType, marks: set[Steps], steps: Steps) -> T.DataType:
    if not marks:
        return kind
    kind_of_parts = with_parts(kind, lambda step, part: _with_choices(part, marks, (*steps, step)))
    return (
        Choice(list(kind_of_parts))
        if steps in marks and isinstance(kind_of_parts, T.StructType)
        else kind_of_parts
    )
