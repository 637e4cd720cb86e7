"""Columns that a table declares: their keys in the files, and when they become a choice.

Source: https://docs.aws.amazon.com/athena/latest/ug/openx-json-serde.html (case.insensitive is on
unless switched off, mapping.NAME is the key of a column, two keys that differ in case only are an
error), https://github.com/aws-samples/aws-glue-samples/blob/master/examples/resolve_choice.md
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql import types as T

from tidemark.glue_job.frames.types import (
    NESTED,
    Choice,
    alternatives,
    choice_of,
    merged,
    widened_or,
)

# Spark infers nothing from {}, not even its key.
EMPTY_OBJECT_KEY = "key_of_an_empty_object_of_tidemark"


@dataclass(frozen=True)
class Names:
    """The key of a record for each declared name.

    Attributes:
        keys: the key, by the declared name in lower case, if the SerDe maps it.
        is_case_sensitive: whether ``Id`` and ``id`` are different names.
    """

    keys: Mapping[str, str] = field(default_factory=dict)
    is_case_sensitive: bool = False

    def folded(self, key: str) -> str:
        """Return a key in the form in which names are compared."""
        return key if self.is_case_sensitive else key.lower()

    def places(self, declared: str, found: T.StructType) -> list[int]:
        """Return the positions of the fields that a declared name stands for."""
        wanted = self.folded(self.keys.get(declared.lower(), declared))
        return [place for place, one in enumerate(found) if self.folded(one.name) == wanted]


def in_files(declared: T.DataType, found: T.DataType, names: Names) -> T.DataType:
    """Return the declared type with the names of the files, each spelling as a separate field."""
    match declared, found:
        case T.StructType(), T.StructType():
            return T.StructType(
                [one for f in declared for one in _spellings(f, found, names, in_files)]
            )
        case T.ArrayType(), T.ArrayType():
            return T.ArrayType(in_files(declared.elementType, found.elementType, names))
        case T.ArrayType(), T.StructType():
            return T.ArrayType(in_files(declared.elementType, found, names))
        case T.MapType(), T.StructType() | T.MapType():
            value = in_files(declared.valueType, _value_type(found), names)
            return T.MapType(declared.keyType, value)
    return declared


def _spellings(
    declared: T.StructField,
    found: T.StructType,
    names: Names,
    inside: Callable[[T.DataType, T.DataType, Names], T.DataType],
) -> list[T.StructField]:
    """Return the fields of the files that a declared field stands for, with their contents."""
    fields = [found.fields[place] for place in names.places(declared.name, found)]
    return [
        T.StructField(one.name, inside(declared.dataType, one.dataType, names)) for one in fields
    ] or [declared]


def _value_type(found: T.StructType | T.MapType) -> T.DataType:
    """Return the common type of all values of a map."""
    if isinstance(found, T.MapType):
        return found.valueType
    kind: T.DataType = T.NullType()
    for one in (one for one in found if one.name != EMPTY_OBJECT_KEY):
        kind = merged(kind, one.dataType, widened_or(lambda *_: T.StringType()))
    return kind


def missing(declared: T.DataType, found: T.DataType, names: Names, path: str = "") -> list[str]:
    """Return the declared columns that the files lack; nested ones as ``a.b``."""
    if isinstance(found, Choice):
        nested = [one for one in alternatives(found) if isinstance(one, NESTED)]
        return _in_all([missing(declared, one, names, path) for one in nested] or [[]])
    if isinstance(declared, T.StructType) and isinstance(found, T.StructType):
        return [name for one in declared for name in _missing(one, found, names, path)]
    parts = _parts(declared, found)
    return missing(*parts, names, path) if parts else []


def _parts(declared: T.DataType, found: T.DataType) -> tuple[T.DataType, T.DataType] | None:
    """Return the types inside an array or a map; None for other types."""
    match declared, found:
        case T.ArrayType(), T.ArrayType():
            return declared.elementType, found.elementType
        case T.ArrayType(), T.StructType():
            return declared.elementType, found
        case T.MapType(), T.StructType() | T.MapType():
            return declared.valueType, _value_type(found)
    return None


def _missing(one: T.StructField, found: T.StructType, names: Names, path: str) -> list[str]:
    name = f"{path}.{one.name}" if path else one.name
    places = names.places(one.name, found)
    if not places:
        return [name]
    return _in_all([missing(one.dataType, found.fields[p].dataType, names, name) for p in places])


def _in_all(lists: list[list[str]]) -> list[str]:
    """Return the names that are in each of some lists."""
    first, *others = lists
    return [name for name in first if all(name in other for other in others)]


def undeclared(
    declared: T.DataType, found: T.DataType, names: Names, path: str = ""
) -> Iterator[str]:
    """Yield the fields of the files that a table does not declare; nested ones as ``a.b``."""
    if isinstance(found, Choice):
        for kind in alternatives(found):
            yield from undeclared(declared, kind, names, path)
    elif isinstance(declared, T.StructType) and isinstance(found, T.StructType):
        known = {place: one for one in declared for place in names.places(one.name, found)}
        for place, one in enumerate(found):
            name = f"{path}.{one.name}" if path else one.name
            if place in known:
                yield from undeclared(known[place].dataType, one.dataType, names, name)
            elif one.name != EMPTY_OBJECT_KEY:
                yield name
    elif parts := _parts(declared, found):
        yield from undeclared(*parts, names, path)


def case_duplicates(kind: T.DataType, path: str = "") -> Iterator[list[str]]:
    """Yield the groups of fields of one struct whose names differ in case only."""
    match kind:
        case T.StructType():
            groups: dict[str, list[str]] = defaultdict(list)
            for one in kind:
                name = f"{path}.{one.name}" if path else one.name
                groups[one.name.lower()].append(name)
                yield from case_duplicates(one.dataType, name)
            yield from (group for group in groups.values() if len(group) > 1)
        case T.ArrayType():
            yield from case_duplicates(kind.elementType, path)
        case T.MapType():
            yield from case_duplicates(kind.valueType, path)


Types = tuple[type[T.DataType], ...]
# Declared type -> the JSON values that it accepts.
TAKES: tuple[tuple[type[T.DataType], Types], ...] = (
    (T.StringType, (T.DataType,)),
    (T.LongType, (T.NullType, T.IntegralType)),
    (T.IntegralType, (T.NullType, T.IntegerType)),
    (T.DoubleType, (T.NullType, T.NumericType)),
    (T.FloatType, (T.NullType, T.NumericType)),
    (T.DecimalType, (T.NullType, T.NumericType, T.StringType)),
    (T.TimestampType, (T.NullType, T.IntegralType, T.StringType)),
    (T.DateType, (T.NullType, T.StringType)),
    (T.BinaryType, (T.NullType, T.StringType)),
    (T.BooleanType, (T.NullType, T.BooleanType)),
    (T.StructType, (T.NullType, T.StructType)),
    (T.MapType, (T.NullType, T.StructType)),
    (T.ArrayType, (T.NullType, T.ArrayType)),
    (T.DataType, (T.DataType,)),
)


def declared_kind(declared: T.DataType, found: T.DataType, names: Names) -> T.DataType:
    """Return the declared type with the names of the files, a choice where values do not fit."""
    kinds = alternatives(found)
    fitting = [one for one in kinds if _takes(declared, one)]
    others = [one for one in kinds if not _takes(declared, one)]
    return choice_of([_named(declared, fitting, names), *others])


def _takes(declared: T.DataType, found: T.DataType) -> bool:
    """Return whether a declared type accepts values of a type, or its parser decides."""
    return isinstance(found, next(taken for kind, taken in TAKES if isinstance(declared, kind)))


def _named(declared: T.DataType, found: list[T.DataType], names: Names) -> T.DataType:
    """Return the declared type with the names of files, each spelling as a separate field."""
    match declared, found:
        case T.StructType(), [T.StructType() as record]:
            fields = [
                spelt for f in declared for spelt in _spellings(f, record, names, declared_kind)
            ]
            return T.StructType(fields)
        case T.ArrayType(), [T.ArrayType(elementType=element)]:
            return T.ArrayType(declared_kind(declared.elementType, element, names))
        case T.MapType(), [T.StructType() as record]:
            value: T.DataType = T.NullType()
            for one in record:
                value = merged(value, one.dataType)
            return T.MapType(declared.keyType, declared_kind(declared.valueType, value, names))
    return declared
