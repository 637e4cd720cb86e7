"""Columns that a table declares: their keys in the files, and when they become a choice.

Source: https://docs.aws.amazon.com/athena/latest/ug/openx-json-serde.html (case.insensitive is on
unless switched off, mapping.NAME is the key of a column, two keys that differ in case only are an
error), https://github.com/aws-samples/aws-glue-samples/blob/master/examples/resolve_choice.md
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql import types as T

from tidemark.glue_job.frames import types

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

    def places(self, declared: str, actual: T.StructType) -> list[int]:
        """Return the positions of the fields that a declared name stands for."""
        wanted = self.folded(self.keys.get(declared.lower(), declared))
        return [place for place, field in enumerate(actual) if self.folded(field.name) == wanted]


def in_files(declared: T.DataType, actual: T.DataType, names: Names) -> T.DataType:
    """Return the declared type with the names of the files, each spelling as a separate field."""
    match declared, actual:
        case T.StructType(), T.StructType():
            return T.StructType(
                [spelling for f in declared for spelling in _spellings(f, actual, names, in_files)]
            )
        case T.ArrayType(), T.ArrayType():
            return T.ArrayType(in_files(declared.elementType, actual.elementType, names))
        case T.ArrayType(), T.StructType():
            return T.ArrayType(in_files(declared.elementType, actual, names))
        case T.MapType(), T.StructType() | T.MapType():
            value = in_files(declared.valueType, _value_type(actual), names)
            return T.MapType(declared.keyType, value)
    return declared


def _spellings(
    declared: T.StructField,
    actual: T.StructType,
    names: Names,
    inside: Callable[[T.DataType, T.DataType, Names], T.DataType],
) -> list[T.StructField]:
    """Return the fields of the files that a declared field stands for, with their contents."""
    fields = [actual.fields[place] for place in names.places(declared.name, actual)]
    return [
        T.StructField(field.name, inside(declared.dataType, field.dataType, names))
        for field in fields
    ] or [declared]


def _value_type(actual: T.StructType | T.MapType) -> T.DataType:
    if isinstance(actual, T.MapType):
        return actual.valueType
    kind: T.DataType = T.NullType()
    for value in actual:
        if value.name != EMPTY_OBJECT_KEY:
            kind = types.merged(kind, value.dataType, types.widened_or(lambda *_: T.StringType()))
    return kind


def missing(declared: T.DataType, actual: T.DataType, names: Names, path: str = "") -> list[str]:
    """Return the declared columns that the files lack; nested ones as ``a.b``."""
    if isinstance(actual, types.Choice):
        nested = [part for part in types.alternatives(actual) if isinstance(part, types.NESTED)]
        return _in_all([missing(declared, part, names, path) for part in nested] or [[]])
    if isinstance(declared, T.StructType) and isinstance(actual, T.StructType):
        return [name for field in declared for name in _missing(field, actual, names, path)]
    parts = _parts(declared, actual)
    return missing(*parts, names, path) if parts else []


def _parts(declared: T.DataType, actual: T.DataType) -> tuple[T.DataType, T.DataType] | None:
    match declared, actual:
        case T.ArrayType(), T.ArrayType():
            return declared.elementType, actual.elementType
        case T.ArrayType(), T.StructType():
            return declared.elementType, actual
        case T.MapType(), T.StructType() | T.MapType():
            return declared.valueType, _value_type(actual)
    return None


def _missing(one: T.StructField, actual: T.StructType, names: Names, path: str) -> list[str]:
    name = f"{path}.{one.name}" if path else one.name
    places = names.places(one.name, actual)
    if not places:
        return [name]
    return _in_all([missing(one.dataType, actual.fields[p].dataType, names, name) for p in places])


def _in_all(lists: list[list[str]]) -> list[str]:
    first, *others = lists
    return [name for name in first if all(name in names for names in others)]


def undeclared(
    declared: T.DataType, actual: T.DataType, names: Names, path: str = ""
) -> Iterator[str]:
    """Yield the fields of the files that a table does not declare; nested ones as ``a.b``."""
    if isinstance(actual, types.Choice):
        for kind in types.alternatives(actual):
            yield from undeclared(declared, kind, names, path)
    elif isinstance(declared, T.StructType) and isinstance(actual, T.StructType):
        known = {place: field for field in declared for place in names.places(field.name, actual)}
        for place, field in enumerate(actual):
            name = f"{path}.{field.name}" if path else field.name
            if place in known:
                yield from undeclared(known[place].dataType, field.dataType, names, name)
            elif field.name != EMPTY_OBJECT_KEY:
                yield name
    elif parts := _parts(declared, actual):
        yield from undeclared(*parts, names, path)


def case_duplicates(kind: T.DataType, path: str = "") -> Iterator[list[str]]:
    """Yield the groups of fields of one struct whose names differ in case only."""
    match kind:
        case T.StructType():
            groups: dict[str, list[str]] = defaultdict(list)
            for field in kind:
                name = f"{path}.{field.name}" if path else field.name
                groups[field.name.lower()].append(name)
                yield from case_duplicates(field.dataType, name)
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


def declared_kind(declared: T.DataType, actual: T.DataType, names: Names) -> T.DataType:
    """Return the declared type with the names of the files, a choice where values do not fit."""
    kinds = types.alternatives(actual)
    fitting = [kind for kind in kinds if _takes(declared, kind)]
    others = [kind for kind in kinds if not _takes(declared, kind)]
    return types.choice_of([_named(declared, fitting, names), *others])


def _takes(declared: T.DataType, actual: T.DataType) -> bool:
    """Return whether a declared type accepts values of a type, or its parser decides."""
    return isinstance(actual, next(taken for kind, taken in TAKES if isinstance(declared, kind)))


def _named(declared: T.DataType, actual: list[T.DataType], names: Names) -> T.DataType:
    """Return the declared type with the names of files, each spelling as a separate field."""
    match declared, actual:
        case T.StructType(), [T.StructType() as record]:
            fields = [
                spelt for f in declared for spelt in _spellings(f, record, names, declared_kind)
            ]
            return T.StructType(fields)
        case T.ArrayType(), [T.ArrayType(elementType=element)]:
            return T.ArrayType(declared_kind(declared.elementType, element, names))
        case T.MapType(), [T.StructType() as record]:
            value: T.DataType = T.NullType()
            for field in record:
                value = types.merged(value, field.dataType)
            return T.MapType(declared.keyType, declared_kind(declared.valueType, value, names))
    return declared
