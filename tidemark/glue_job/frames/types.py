"""Types of Spark with Glue's choices: their parts, and types built from others.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from pyspark.sql import types as T

ELEMENT, VALUE = "[]", "{}"  # steps into an array and into a map; those into a struct begin with .
Steps = tuple[str, ...]
NAMES = {  # Spark's -> Glue's
    "bigint": "long",
    "smallint": "short",
    "timestamp_ntz": "timestampntz",
    "tinyint": "byte",
    "void": "null",
}
MAX_DIGITS = 38  # of a decimal
NESTED = (T.ArrayType, T.MapType, T.StructType)
NUMBERS: tuple[T.DataType, ...] = (T.IntegerType(), T.LongType(), T.FloatType(), T.DoubleType())
# From narrow to wide: a cast to a wider type loses nothing.
WIDENING: tuple[tuple[T.DataType, ...], ...] = (
    (T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType()),
    (T.FloatType(), T.DoubleType()),
)
Conflict: TypeAlias = Callable[[str, T.DataType, T.DataType], T.DataType]
"""Given a path and two different types, returns the type for values of both, or raises."""


class Choice(T.StructType):
    """A struct with a field per type; each row has a value in one of them."""


def type_name(kind: T.DataType) -> str:
    """Return Glue's name of a type, without its parts."""
    if isinstance(kind, Choice):
        return "choice"
    name = kind.typeName() if isinstance(kind, T.DecimalType) else kind.simpleString()
    return NAMES.get(name, name.partition("<")[0])


def parts_of(kind: T.DataType) -> list[tuple[str, T.DataType]]:
    """Return the types directly inside a type, each with the step to it."""
    match kind:
        case T.StructType():
            return [(f".{field.name}", field.dataType) for field in kind]
        case T.ArrayType():
            return [(ELEMENT, kind.elementType)]
        case T.MapType():
            return [(VALUE, kind.valueType)]
    return []


def struct_type(fields: Iterable[tuple[str, T.DataType]]) -> T.StructType:
    """Return a struct of fields, each with its name and its type."""
    return T.StructType([T.StructField(*field) for field in fields])


def as_struct_type(kind: T.DataType) -> T.StructType:
    """Return a type that is known to be a struct, for the type checker."""
    assert isinstance(kind, T.StructType), kind  # noqa: S101
    return kind


def types_in(kind: T.DataType, steps: Steps = ()) -> Iterator[tuple[Steps, T.DataType]]:
    """Yield a type and all types inside it, each with the steps to it."""
    yield steps, kind
    for step, part in parts_of(kind):
        yield from types_in(part, (*steps, step))


def with_parts(kind: T.DataType, change: Callable[[str, T.DataType], T.DataType]) -> T.DataType:
    """Return a type with each part changed, given its step; a choice becomes a struct."""
    match kind:
        case T.StructType():
            return struct_type((f.name, change(f".{f.name}", f.dataType)) for f in kind)
        case T.ArrayType():
            return T.ArrayType(change(ELEMENT, kind.elementType))
        case T.MapType():
            return T.MapType(kind.keyType, change(VALUE, kind.valueType))
    return kind


def replaced(kind: T.DataType, change: Callable[[T.DataType], T.DataType | None]) -> T.DataType:
    """Return a type with parts replaced at any depth; None means to replace inside the part."""
    new = change(kind)
    return with_parts(kind, lambda _, part: replaced(part, change)) if new is None else new


def without_nulls(kind: T.DataType) -> T.DataType:
    """Return a type with string for parts that never had a value, as Spark infers JSON."""
    return replaced(kind, lambda part: T.StringType() if isinstance(part, T.NullType) else None)


def is_cast(kind: T.DataType) -> bool:
    """Return whether values of a type are read from text files as strings, and then cast."""
    return isinstance(kind, T.DateType | T.DecimalType | T.TimestampType)


def has_casts(kind: T.DataType) -> bool:
    """Return whether a type is, or contains, a type whose values are cast."""
    return any(is_cast(part) for _, part in types_in(kind))


def casts_as_strings(kind: T.DataType) -> T.DataType:
    """Return a type with strings in place of types that are cast, at every depth."""
    return replaced(kind, lambda part: T.StringType() if is_cast(part) else None)


def schema_with_strings(schema: T.StructType) -> T.StructType:
    """Return a schema with strings in place of types that are cast, at every depth."""
    return struct_type((f.name, casts_as_strings(f.dataType)) for f in schema)


def numbered(kind: T.DataType) -> T.DataType:
    """Return the type with positions as field names; Spark casts structs by position."""
    if isinstance(kind, T.StructType):
        return struct_type((str(n), numbered(f.dataType)) for n, f in enumerate(kind))
    return with_parts(kind, lambda _, part: numbered(part))


def plain_type(kind: T.DataType) -> T.DataType:
    """Return a type with structs in place of choices."""
    match kind:
        case T.StructType():
            fields = [T.StructField(f.name, plain_type(f.dataType), f.nullable) for f in kind]
            return T.StructType(fields)
        case T.ArrayType():
            return T.ArrayType(plain_type(kind.elementType), kind.containsNull)
        case T.MapType():
            return T.MapType(kind.keyType, plain_type(kind.valueType), kind.valueContainsNull)
    return kind


def choices_in(kind: T.DataType) -> list[Steps]:
    """Return the paths of the choices in a type; the path has no step if the type is one itself."""
    return [steps for steps, part in types_in(kind) if isinstance(part, Choice)]


def merged(
    first: T.DataType, second: T.DataType, conflict: Conflict | None = None, path: str = ""
) -> T.DataType:
    """Return the type for values of both: structs by field, else a choice, as Glue merges types.

    A `conflict` function decides what types merge to that are not structs, arrays or maps.
    Source: mergeDataTypes, in the page of this module.
    """
    if isinstance(second, T.NullType) or (first == second and type(first) is type(second)):
        return first
    conflict = conflict or _choice_of_two
    match first, second:
        case T.NullType(), _:
            return second
        case (Choice(), _) | (_, Choice()):
            return conflict(path, first, second)
        case T.StructType(), T.StructType():
            kinds = {field.name: field.dataType for field in first}
            for field in second:
                # A field that the first one lacks has no type there.
                before = kinds.get(field.name, T.NullType())
                name = f"{path}.{field.name}" if path else field.name
                kinds[field.name] = merged(before, field.dataType, conflict, name)
            return struct_type(kinds.items())
        case T.ArrayType(), T.ArrayType():
            inside = first.elementType, second.elementType
            return T.ArrayType(merged(*inside, conflict, f"{path}[]"))
        case T.MapType(), T.MapType():
            values = first.valueType, second.valueType
            return T.MapType(T.StringType(), merged(*values, conflict, f"{path}[]"))
    return conflict(path, first, second)


def _choice_of_two(_: str, first: T.DataType, second: T.DataType) -> T.DataType:
    if isinstance(first, T.DecimalType) and isinstance(second, T.DecimalType):
        scale = max(first.scale, second.scale)
        whole = max(first.precision - first.scale, second.precision - second.scale)
        return T.DecimalType(min(38, whole + scale), scale)
    return choice_of([*alternatives(first), *alternatives(second)])


def widened_or(conflict: Conflict) -> Conflict:
    """Return a function that merges two numbers to the wider one, and calls `conflict` else."""

    def wider(path: str, first: T.DataType, second: T.DataType) -> T.DataType:
        if first not in NUMBERS or second not in NUMBERS:
            return conflict(path, first, second)
        wide = NUMBERS[max(NUMBERS.index(first), NUMBERS.index(second))]
        return T.DoubleType() if wide == T.FloatType() else wide  # a float cannot hold every int

    return wider


def choice_of(kinds: Iterable[T.DataType]) -> T.DataType:
    """Return the choice of some types, in the order of their names; a single type is itself."""
    by_name: dict[str, T.DataType] = {}
    for kind in kinds:
        name = type_name(kind)
        by_name[name] = merged(by_name[name], kind) if name in by_name else kind
    if len(by_name) == 1:
        return next(iter(by_name.values()))
    return Choice([T.StructField(name, by_name[name]) for name in sorted(by_name)])


def alternatives(kind: T.DataType) -> list[T.DataType]:
    """Return the types of a choice; for another type only itself."""
    return [field.dataType for field in kind] if isinstance(kind, Choice) else [kind]


def holds(target: T.DataType, kind: T.DataType) -> bool:
    """Return whether a type with choices has a place for all values of another, unconverted."""

    def shape(one: T.DataType) -> tuple[str, set[Steps]]:
        return plain_type(one).simpleString(), set(choices_in(one))

    return shape(merged(target, kind)) == shape(target)
