"""Columns of several types: structs that are marked in the metadata of their column.

The value of a row is in the field of its type; the others are null. A mark holds the paths of the
choices in a column, also of those inside of structs, arrays and maps.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
)

MARK = "tidemark.choices"
ELEMENT, VALUE = "[]", "{}"  # steps into an array and into a map; those into a struct begin with .
Steps = tuple[str, ...]
NAMES = {  # Spark's -> Glue's
    "bigint": "long",
    "smallint": "short",
    "timestamp_ntz": "timestampntz",
    "tinyint": "byte",
    "void": "null",
}


class Choice(StructType):
    """A struct of which each row has the field of one type."""


@dataclass(frozen=True)
class Value:
    """A field: its name, how it is computed, and its type, in which choices are `Choice`."""

    name: str
    column: Column
    kind: DataType


def type_name(kind: DataType) -> str:
    """Return what Glue calls a type, without its parts."""
    if isinstance(kind, Choice):
        return "choice"
    name = kind.typeName() if isinstance(kind, DecimalType) else kind.simpleString()
    return NAMES.get(name, name.partition("<")[0])


def quoted(name: str) -> str:
    """Return a name as Spark's SQL takes it."""
    return f"`{name.replace('`', '``')}`"


def schema_of(frame: DataFrame) -> StructType:
    """Return the schema of a frame, with choices as `Choice`."""
    fields = [
        StructField(one.name, _with_choices(one.dataType, _marks(one), ()), one.nullable)
        for one in frame.schema
    ]
    return StructType(fields)


def has_choices(frame: DataFrame) -> bool:
    """Return whether a column is, or has inside of it, a choice."""
    return any(MARK in one.metadata for one in frame.schema)


def values_of(frame: DataFrame) -> tuple[DataFrame, list[Value]]:
    """Return a frame and its columns; one with names that Spark would confuse gets other names."""
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
    """Return a value with structs in the place of choices.

    An alias cannot take the mark away, and Spark simplifies a cast to what the value is: a
    condition leaves it behind, also in the files of a write by partitions.
    """
    if not _metadata(value.kind):
        return value
    kind = plain_type(value.kind)
    return Value(value.name, F.when(value.column.isNotNull(), value.column.cast(kind)), kind)


def with_marks(schema: StructType) -> StructType:
    """Return a schema as Spark takes it: choices are structs, and their columns have marks."""
    return StructType(
        [
            StructField(one.name, plain_type(one.dataType), one.nullable, _metadata(one.dataType))
            for one in schema
        ]
    )


def plain_type(kind: DataType) -> DataType:
    """Return a type with structs in the place of choices."""
    match kind:
        case StructType():
            fields = [StructField(f.name, plain_type(f.dataType), f.nullable) for f in kind]
            return StructType(fields)
        case ArrayType():
            return ArrayType(plain_type(kind.elementType), kind.containsNull)
        case MapType():
            return MapType(kind.keyType, plain_type(kind.valueType), kind.valueContainsNull)
    return kind


def merged(first: DataType, second: DataType) -> DataType:
    """Return the type of values of both: structs by field, else a choice, as Glue merges types.

    Source: mergeDataTypes, in the page of this module.
    """
    if isinstance(second, NullType) or (first == second and type(first) is type(second)):
        return first
    match first, second:
        case NullType(), _:
            return second
        case (Choice(), _) | (_, Choice()):
            return choice_of([*_kinds(first), *_kinds(second)])
        case StructType(), StructType():
            return _merged_structs(first, second)
        case ArrayType(), ArrayType():
            return ArrayType(merged(first.elementType, second.elementType))
        case MapType(), MapType():
            return MapType(StringType(), merged(first.valueType, second.valueType))
        case DecimalType(), DecimalType():
            scale = max(first.scale, second.scale)
            whole = max(first.precision - first.scale, second.precision - second.scale)
            return DecimalType(min(38, whole + scale), scale)
    return choice_of([first, second])


def choice_of(kinds: Iterable[DataType]) -> DataType:
    """Return the choice of some types, in the order of their names; of one type that type."""
    by_name: dict[str, DataType] = {}
    for kind in kinds:
        name = type_name(kind)
        by_name[name] = merged(by_name[name], kind) if name in by_name else kind
    if len(by_name) == 1:
        return next(iter(by_name.values()))
    return Choice([StructField(name, by_name[name]) for name in sorted(by_name)])


def holds(target: DataType, kind: DataType) -> bool:
    """Return whether a type with choices has a place for all values of another, as it is."""

    def shape(one: DataType) -> tuple[str, set[Steps]]:
        return plain_type(one).simpleString(), set(choices_in(one))

    return shape(merged(target, kind)) == shape(target)


def lifted(column: Column, kind: DataType, target: DataType) -> Column:
    """Return a column as a type that was `merged` of its own and others."""
    if kind == target and type(kind) is type(target):
        return column
    match kind, target:
        case NullType(), _:
            return F.lit(None).cast(plain_type(target))
        case _, Choice():
            names = {one.name for one in _fields(kind)}
            fields = [
                lifted(_field(column, kind, one.name), _kind(kind, one.name), one.dataType)
                if one.name in names
                else F.lit(None).cast(plain_type(one.dataType))
                for one in target
            ]
            return _struct(column, target, fields)
        case StructType(), StructType():
            known = {one.name: one.dataType for one in kind}
            fields = [
                lifted(column.getField(one.name), known[one.name], one.dataType)
                if one.name in known
                else F.lit(None).cast(plain_type(one.dataType))
                for one in target
            ]
            return _struct(column, target, fields)
        case ArrayType(), ArrayType():
            return F.transform(column, lambda v: lifted(v, kind.elementType, target.elementType))
        case MapType(), MapType():
            values = kind.valueType, target.valueType
            return F.transform_values(column, lambda _, v: lifted(v, *values))
    return column.cast(plain_type(target))


def _struct(column: Column, target: StructType, fields: list[Column]) -> Column:
    names = [one.name for one in target]
    struct = F.struct(*[f.alias(name) for name, f in zip(names, fields, strict=True)])
    return F.when(column.isNotNull(), struct)


def _fields(kind: DataType) -> list[StructField]:
    """Return the fields of a choice, and of another type the one it would be in a choice."""
    return list(kind) if isinstance(kind, Choice) else [StructField(type_name(kind), kind)]


def _kinds(kind: DataType) -> list[DataType]:
    return [one.dataType for one in _fields(kind)]


def _kind(kind: DataType, name: str) -> DataType:
    return next(one.dataType for one in _fields(kind) if one.name == name)


def _field(column: Column, kind: DataType, name: str) -> Column:
    return column.getField(name) if isinstance(kind, Choice) else column


def _merged_structs(first: StructType, second: StructType) -> StructType:
    kinds = {one.name: one.dataType for one in first}
    for one in second:
        kinds[one.name] = merged(kinds.get(one.name, NullType()), one.dataType)
    return StructType([StructField(name, kind) for name, kind in kinds.items()])


def _named(value: Value) -> Column:
    metadata = _metadata(value.kind)
    if metadata:
        return value.column.alias(value.name, metadata=metadata)
    return value.column.alias(value.name)


def choices_in(kind: DataType) -> list[Steps]:
    """Return the paths of the choices in a type, of one that is a choice without a step."""
    return list(_choices_in(kind, ()))


def _metadata(kind: DataType) -> dict[str, Any]:
    marks = [json.dumps(steps) for steps in choices_in(kind)]
    return {MARK: marks} if marks else {}


def _marks(field: StructField) -> set[Steps]:
    return {tuple(json.loads(mark)) for mark in field.metadata.get(MARK, [])}


def _choices_in(kind: DataType, steps: Steps) -> Iterator[Steps]:
    if isinstance(kind, Choice):
        yield steps
    match kind:
        case StructType():
            for one in kind:
                yield from _choices_in(one.dataType, (*steps, f".{one.name}"))
        case ArrayType():
            yield from _choices_in(kind.elementType, (*steps, ELEMENT))
        case MapType():
            yield from _choices_in(kind.valueType, (*steps, VALUE))


def _with_choices(kind: DataType, marks: set[Steps], steps: Steps) -> DataType:
    if not marks:
        return kind
    match kind:
        case StructType():
            inner = [
                StructField(f.name, _with_choices(f.dataType, marks, (*steps, f".{f.name}")))
                for f in kind
            ]
            return Choice(inner) if steps in marks else StructType(inner)
        case ArrayType():
            return ArrayType(_with_choices(kind.elementType, marks, (*steps, ELEMENT)))
        case MapType():
            value = _with_choices(kind.valueType, marks, (*steps, VALUE))
            return MapType(kind.keyType, value)
    return kind
