"""Glue's schemas as JSON, and the merging of the schemas of several files."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

ATOMIC: dict[str, DataType] = {
    "binary": BinaryType(),
    "boolean": BooleanType(),
    "byte": ByteType(),
    "date": DateType(),
    "double": DoubleType(),
    "float": FloatType(),
    "int": IntegerType(),
    "long": LongType(),
    "short": ShortType(),
    "string": StringType(),
    "timestamp": TimestampType(),
}
NUMBERS: tuple[DataType, ...] = (IntegerType(), LongType(), FloatType(), DoubleType())
OnConflict: TypeAlias = Callable[[str, DataType, DataType], DataType]
"""Given a column and its two types, returns the type that holds both, or raises."""


def spark_schema(
    document: Mapping[str, Any], choice_of: Callable[[Iterable[DataType]], DataType] | None = None
) -> StructType:
    """Return the Spark schema of what ``awsglue.gluetypes.StructType.jsonValue`` returned."""
    schema = _spark_type(document, choice_of)
    if not isinstance(schema, StructType):
        raise ValueError(f"the schema is a {document['dataType']}, it must be a struct")
    return schema


def _spark_type(
    document: Mapping[str, Any], choice_of: Callable[[Iterable[DataType]], DataType] | None
) -> DataType:
    name = document["dataType"]
    part = partial(_spark_type, choice_of=choice_of)
    if name == "struct":
        fields = [StructField(f["name"], part(f["container"])) for f in document["fields"]]
        return StructType(fields)
    if name == "array":
        return ArrayType(part(document["elementType"]))
    if name == "map":
        return MapType(StringType(), part(document["valueType"]))
    if name == "decimal":
        return DecimalType(int(document["precision"]), int(document["scale"]))
    if name == "choice":
        if choice_of is None:
            raise ValueError("it has a choice, and a value must be of one type here: resolve it")
        return choice_of(map(part, document["choices"]))
    if name not in ATOMIC:
        raise ValueError(f"the type {name!r} is not known; allowed are {', '.join(ATOMIC)}")
    return ATOMIC[name]


def merged(first: DataType, second: DataType, on_conflict: OnConflict, name: str = "") -> DataType:
    """Return the type that holds the values of two: structs by field name, numbers widened."""
    if first == second or isinstance(second, NullType):
        return first
    if isinstance(first, NullType):
        return second
    if first in NUMBERS and second in NUMBERS:
        return _wider(first, second)
    if isinstance(first, StructType) and isinstance(second, StructType):
        return _merged_structs(first, second, on_conflict, name)
    if isinstance(first, ArrayType) and isinstance(second, ArrayType):
        return ArrayType(merged(first.elementType, second.elementType, on_conflict, f"{name}[]"))
    if isinstance(first, MapType) and isinstance(second, MapType):
        value = merged(first.valueType, second.valueType, on_conflict, f"{name}[]")
        return MapType(StringType(), value)
    return on_conflict(name, first, second)


def _wider(first: DataType, second: DataType) -> DataType:
    wider = NUMBERS[max(NUMBERS.index(first), NUMBERS.index(second))]
    return DoubleType() if wider == FloatType() else wider  # a float holds not every int


def _merged_structs(
    first: StructType, second: StructType, on_conflict: OnConflict, name: str
) -> StructType:
    types = {field.name: field.dataType for field in first}
    for field in second:
        known = types.get(field.name, NullType())
        path = f"{name}.{field.name}" if name else field.name
        types[field.name] = merged(known, field.dataType, on_conflict, path)
    return StructType([StructField(key, value) for key, value in types.items()])


def without_nulls(kind: DataType) -> DataType:
    """Return the type with text in place of what never had a value, as Spark infers JSON."""
    if isinstance(kind, NullType):
        return StringType()
    if isinstance(kind, StructType):
        return StructType([StructField(f.name, without_nulls(f.dataType)) for f in kind])
    if isinstance(kind, ArrayType):
        return ArrayType(without_nulls(kind.elementType))
    if isinstance(kind, MapType):
        return MapType(StringType(), without_nulls(kind.valueType))
    return kind
