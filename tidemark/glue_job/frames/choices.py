"""Columns of several types: structs that are marked in the metadata of their column.

The value of a row is in the field of its type; the other fields are null. A mark holds the paths
of the choices in a column, also inside structs, arrays and maps.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.errors import UsageError
from tidemark.glue_job.frames.lenient import lenient_cast
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
    fields = [
        T.StructField(one.name, _with_choices(one.dataType, _marks(one), ()), one.nullable)
        for one in frame.schema
    ]
    return T.StructType(fields)


def has_choices(frame: DataFrame) -> bool:
    """Return whether a column is a choice or contains one."""
    return any(MARK in one.metadata for one in frame.schema)


def values_of(frame: DataFrame) -> tuple[DataFrame, list[Value]]:
    """Return a frame and its columns; columns that Spark would confuse are renamed."""
    schema = schema_of(frame)
    names = [one.name for one in schema]
    if len({name.lower() for name in names}) < len(names):
        frame = frame.toDF(*map(str, range(len(names))))
        columns = [F.col(str(place)) for place in range(len(names))]
    else:
        columns = [F.col(quoted(name)) for name in names]
    kinds = [one.dataType for one in schema]
    return frame, [Value(*one) for one in zip(names, columns, kinds, strict=True)]


def built(frame: DataFrame, values: Iterable[Value]) -> DataFrame:
    """Return a frame of values of another frame, with the marks of their choices."""
    return frame.select(*map(_named, values))


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
    return T.StructType(
        [
            T.StructField(one.name, plain_type(one.dataType), one.nullable, _metadata(one.dataType))
            for one in schema
        ]
    )


def lifted(column: Column, kind: T.DataType, target: T.DataType) -> Column:
    """Return a column as a type that was `merged` from its own and other types."""
    if kind == target and type(kind) is type(target):
        return column
    match kind, target:
        case T.NullType(), _:
            return F.lit(None).cast(plain_type(target))
        case _, Choice():
            kinds = {part.name: part.dataType for part in _fields(kind)}
            fields = [
                lifted(_field(column, kind, one.name), kinds[one.name], one.dataType)
                if one.name in kinds
                else F.lit(None).cast(plain_type(one.dataType))
                for one in target
            ]
            return _struct(column, target, fields)
        case T.StructType(), T.StructType():
            known = {one.name: one.dataType for one in kind}
            fields = [
                lifted(column.getField(one.name), known[one.name], one.dataType)
                if one.name in known
                else F.lit(None).cast(plain_type(one.dataType))
                for one in target
            ]
            return _struct(column, target, fields)
        case T.ArrayType(), T.ArrayType():
            return F.transform(column, lambda v: lifted(v, kind.elementType, target.elementType))
        case T.MapType(), T.MapType():
            values = kind.valueType, target.valueType
            return F.transform_values(column, lambda _, v: lifted(v, *values))
    return _as_decimal(column, target)


def _as_decimal(column: Column, target: T.DataType) -> Column:
    """Return decimals with the digits of several decimals; fail at a value it has no place for."""
    value = lenient_cast(column, target)
    error = F.concat(
        F.lit(f"UsageError: {target.simpleString()}, for decimals of several types, cannot hold "),
        column.cast("string"),
        F.lit(": make them one type, or strings, before"),
    )
    is_lost = column.isNotNull() & value.isNull()
    return F.when(is_lost, F.raise_error(error).cast(target)).otherwise(value)


def _struct(column: Column, target: T.StructType, fields: list[Column]) -> Column:
    names = [one.name for one in target]
    struct = F.struct(*[f.alias(name) for name, f in zip(names, fields, strict=True)])
    return F.when(column.isNotNull(), struct)


def _fields(kind: T.DataType) -> list[T.StructField]:
    """Return the fields of a choice; for another type, the field it would be in a choice."""
    return list(kind) if isinstance(kind, Choice) else [T.StructField(type_name(kind), kind)]


def _field(column: Column, kind: T.DataType, name: str) -> Column:
    return column.getField(name) if isinstance(kind, Choice) else column


def _named(value: Value) -> Column:
    metadata = _metadata(value.kind)
    if metadata:
        return value.column.alias(value.name, metadata=metadata)
    return value.column.alias(value.name)


def _metadata(kind: T.DataType) -> dict[str, Any]:
    marks = [json.dumps(steps) for steps in choices_in(kind)]
    return {MARK: marks} if marks else {}


def _marks(field: T.StructField) -> set[Steps]:
    return {tuple(json.loads(mark)) for mark in field.metadata.get(MARK, [])}


def _with_choices(kind: T.DataType, marks: set[Steps], steps: Steps) -> T.DataType:
    if not marks:
        return kind
    made = with_parts(kind, lambda step, part: _with_choices(part, marks, (*steps, step)))
    return Choice(list(made)) if steps in marks and isinstance(made, T.StructType) else made
