"""Types of Spark with Glue's choices: what is inside of them, and types made of others.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    _parse_datatype_string,
)

ELEMENT, VALUE = "[]", "{}"  # steps into an array and into a map; those into a struct begin with .
Steps = tuple[str, ...]
NAMES = {  # Spark's -> Glue's
    "bigint": "long",
    "smallint": "short",
    "timestamp_ntz": "timestampntz",
    "tinyint": "byte",
    "void": "null",
}
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
NESTED = (ArrayType, MapType, StructType)
NUMBERS: tuple[DataType, ...] = (IntegerType(), LongType(), FloatType(), DoubleType())
_TEXT_WITH_LENGTH = re.compile(r"\b(?:var)?char\(\d+\)")
Conflict: TypeAlias = Callable[[str, DataType, DataType], DataType]
"""Given a path and two types that are not alike, returns the type of values of both, or raises."""


class Choice(StructType):
    """A struct; each row has the field of one type."""


def type_name(kind: DataType) -> str:
    """Return what Glue calls a type, without its parts."""
    if isinstance(kind, Choice):
        return "choice"
    name = kind.typeName() if isinstance(kind, DecimalType) else kind.simpleString()
    return NAMES.get(name, name.partition("<")[0])


def parts_of(kind: DataType) -> list[tuple[str, DataType]]:
    """Return the types directly inside of a type, each with the step to it."""
    match kind:
        case StructType():
            return [(f".{one.name}", one.dataType) for one in kind]
        case ArrayType():
            return [(ELEMENT, kind.elementType)]
        case MapType():
            return [(VALUE, kind.valueType)]
    return []


def as_struct_type(kind: DataType) -> StructType:
    """Return a type that is known to be a struct, for the type checker."""
    assert isinstance(kind, StructType), kind  # noqa: S101
    return kind


def types_in(kind: DataType, steps: Steps = ()) -> Iterator[tuple[Steps, DataType]]:
    """Yield a type and all types inside of it, each with the steps to it."""
    yield steps, kind
    for step, part in parts_of(kind):
        yield from types_in(part, (*steps, step))


def with_parts(kind: DataType, change: Callable[[str, DataType], DataType]) -> DataType:
    """Return a type whose parts are changed, given their steps; a choice becomes a struct."""
    match kind:
        case StructType():
            fields = [(one.name, change(f".{one.name}", one.dataType)) for one in kind]
            return StructType([StructField(*one) for one in fields])
        case ArrayType():
            return ArrayType(change(ELEMENT, kind.elementType))
        case MapType():
            return MapType(kind.keyType, change(VALUE, kind.valueType))
    return kind


def replaced(kind: DataType, change: Callable[[DataType], DataType | None]) -> DataType:
    """Return a type with others at every depth, where a function returns one; None goes inside."""
    found = change(kind)
    return with_parts(kind, lambda _, part: replaced(part, change)) if found is None else found


def without_nulls(kind: DataType) -> DataType:
    """Return a type with string for what never had a value, as Spark infers JSON."""
    return replaced(kind, lambda one: StringType() if isinstance(one, NullType) else None)


def is_cast(kind: DataType) -> bool:
    """Return whether values of a type are read from files of text as strings, and then cast."""
    return isinstance(kind, DateType | DecimalType | TimestampType)


def has_casts(kind: DataType) -> bool:
    """Return whether a type is, or has inside of it, a type with values that are cast."""
    return any(is_cast(one) for _, one in types_in(kind))


def cast_as_text(kind: DataType) -> DataType:
    """Return a type with strings in the place of what is cast, at every depth."""
    return replaced(kind, lambda one: StringType() if is_cast(one) else None)


def casts_as_texts(schema: StructType) -> StructType:
    """Return a schema with strings in the place of what is cast, at every depth."""
    return StructType([StructField(one.name, cast_as_text(one.dataType)) for one in schema])


def numbered(kind: DataType) -> DataType:
    """Return the type with the positions of fields as their names; Spark casts by position."""
    if isinstance(kind, StructType):
        fields = [StructField(str(n), numbered(one.dataType)) for n, one in enumerate(kind)]
        return StructType(fields)
    return with_parts(kind, lambda _, part: numbered(part))


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


def choices_in(kind: DataType) -> list[Steps]:
    """Return the paths of the choices in a type, of one that is a choice without a step."""
    return [steps for steps, one in types_in(kind) if isinstance(one, Choice)]


def merged(
    first: DataType, second: DataType, conflict: Conflict | None = None, path: str = ""
) -> DataType:
    """Return the type of values of both: structs by field, else a choice, as Glue merges types.

    Given a function, it says what other types than structs, arrays and maps merge to.
    Source: mergeDataTypes, in the page of this module.
    """
    if isinstance(second, NullType) or (first == second and type(first) is type(second)):
        return first
    conflict = conflict or _choice_of_two
    match first, second:
        case NullType(), _:
            return second
        case (Choice(), _) | (_, Choice()):
            return conflict(path, first, second)
        case StructType(), StructType():
            kinds = {one.name: one.dataType for one in first}
            for one in second:
                known = kinds.get(one.name, NullType())
                name = f"{path}.{one.name}" if path else one.name
                kinds[one.name] = merged(known, one.dataType, conflict, name)
            return StructType([StructField(*one) for one in kinds.items()])
        case ArrayType(), ArrayType():
            inside = first.elementType, second.elementType
            return ArrayType(merged(*inside, conflict, f"{path}[]"))
        case MapType(), MapType():
            values = first.valueType, second.valueType
            return MapType(StringType(), merged(*values, conflict, f"{path}[]"))
    return conflict(path, first, second)


def _choice_of_two(_: str, first: DataType, second: DataType) -> DataType:
    if isinstance(first, DecimalType) and isinstance(second, DecimalType):
        scale = max(first.scale, second.scale)
        whole = max(first.precision - first.scale, second.precision - second.scale)
        return DecimalType(min(38, whole + scale), scale)
    return choice_of([*alternatives(first), *alternatives(second)])


def widened_or(conflict: Conflict) -> Conflict:
    """Return what merges two numbers to the wider one, and calls a function for other types."""

    def wider(path: str, first: DataType, second: DataType) -> DataType:
        if first not in NUMBERS or second not in NUMBERS:
            return conflict(path, first, second)
        wide = NUMBERS[max(NUMBERS.index(first), NUMBERS.index(second))]
        return DoubleType() if wide == FloatType() else wide  # a float holds not every int

    return wider


def choice_of(kinds: Iterable[DataType]) -> DataType:
    """Return the choice of some types, in the order of their names; of one type that type."""
    by_name: dict[str, DataType] = {}
    for kind in kinds:
        name = type_name(kind)
        by_name[name] = merged(by_name[name], kind) if name in by_name else kind
    if len(by_name) == 1:
        return next(iter(by_name.values()))
    return Choice([StructField(name, by_name[name]) for name in sorted(by_name)])


def alternatives(kind: DataType) -> list[DataType]:
    """Return the types of a choice; of another type only itself."""
    return [one.dataType for one in kind] if isinstance(kind, Choice) else [kind]


def holds(target: DataType, kind: DataType) -> bool:
    """Return whether a type with choices has a place for all values of another, as it is."""

    def shape(one: DataType) -> tuple[str, set[Steps]]:
        return plain_type(one).simpleString(), set(choices_in(one))

    return shape(merged(target, kind)) == shape(target)


def spark_type(hive_type: str) -> DataType:
    """Return the type of a column as the Data Catalog writes it."""
    return _parse_datatype_string(_TEXT_WITH_LENGTH.sub("string", hive_type))


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


def glue_schema(kind: DataType) -> dict[str, Any]:
    """Return a type as the JSON of ``awsglue.gluetypes``."""
    document: dict[str, Any] = {"dataType": type_name(kind), "properties": {}}
    match kind:
        case Choice():
            document["choices"] = [glue_schema(one.dataType) for one in kind]
        case StructType():
            document["fields"] = [
                {"name": one.name, "container": glue_schema(one.dataType), "properties": {}}
                for one in kind
            ]
        case ArrayType():
            document["elementType"] = glue_schema(kind.elementType)
        case MapType():
            document["valueType"] = glue_schema(kind.valueType)
        case DecimalType():
            document |= {"precision": kind.precision, "scale": kind.scale}
    return document
