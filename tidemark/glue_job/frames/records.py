"""Rows as records of Python, and records of Python as rows of one schema.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from types import NoneType
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    IntegralType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from tidemark.glue_job.frames.absence import ALL_THERE, Absence
from tidemark.glue_job.frames.types import Choice, merged, type_name

Convert = Callable[[Any], Any]
INT = range(-(2**31), 2**31)
DOUBLE, TEXT, FLAG, BYTES = DoubleType(), StringType(), BooleanType(), BinaryType()
DAY, TIME, NOTHING, SMALL, LARGE = (
    DateType(),
    TimestampType(),
    NullType(),
    IntegerType(),
    LongType(),
)


def converter(kind: DataType, absence: Absence = ALL_THERE) -> Convert | None:
    """Return what makes a record of a row: structs are dicts, a choice is its value.

    None for a type whose values stay as they are. A null that stands for a field which its record
    lacks is left out.
    """
    match kind:
        case Choice():
            return _of_choice([converter(one.dataType, absence) for one in kind])
        case StructType():
            each = [converter(one.dataType, absence) for one in kind]
            return _of_struct(kind.names, each, [absence.lacks(name) for name in kind.names])
        case ArrayType():
            one = converter(kind.elementType, absence)
            return one and _of_array(one)
        case MapType():
            one = converter(kind.valueType, absence)
            return one and _of_map(one)
    return None


def _of_struct(names: list[str], each: list[Convert | None], lacks: list[bool]) -> Convert:
    if any(lacks):
        return _of_struct_that_lacks(list(zip(names, each, lacks, strict=True)))
    if not any(each):
        return lambda row: row if row is None else dict(zip(names, row, strict=True))
    parts = list(zip(names, each, strict=True))

    def convert(row: Any) -> Any:
        if row is None:
            return None
        return {
            name: value if one is None or value is None else one(value)
            for (name, one), value in zip(parts, row, strict=True)
        }

    return convert


def _of_struct_that_lacks(parts: list[tuple[str, Convert | None, bool]]) -> Convert:
    def convert(row: Any) -> Any:
        if row is None:
            return None
        return {
            name: value if one is None or value is None else one(value)
            for (name, one, lacks), value in zip(parts, row, strict=True)
            if value is not None or not lacks
        }

    return convert


def _of_choice(each: list[Convert | None]) -> Convert:
    def convert(row: Any) -> Any:
        for one, value in zip(each, row or (), strict=False):
            if value is not None:
                return value if one is None else one(value)
        return None

    return convert


def _of_array(each: Convert) -> Convert:
    return lambda values: values if values is None else [_written(each, v) for v in values]


def _of_map(each: Convert) -> Convert:
    return lambda values: (
        values if values is None else {key: _written(each, v) for key, v in values.items()}
    )


def kind_of(value: Any, hint: DataType | None = None) -> DataType:
    """Return the type of a value of a record."""
    if isinstance(hint, Choice):
        return kind_of(value, _hint_of_choice(value, hint))
    for classes, find in _KINDS:
        if isinstance(value, classes):
            return find(value, hint)
    raise TypeError(f"a value of the type {type(value).__name__} is of no type of Glue")


def _hint_of_choice(value: Any, hint: Choice) -> DataType | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return next((f.dataType for f in hint if isinstance(f.dataType, IntegralType)), None)
    names = {Decimal: "decimal", dict: "struct", list: "array", float: "float"}
    wanted = next((name for cls, name in names.items() if isinstance(value, cls)), "")
    return next((one.dataType for one in hint if one.name == wanted), None)


def _of_int(value: int, hint: DataType | None) -> DataType:
    if isinstance(hint, IntegralType) and (isinstance(hint, LongType) or value in INT):
        return hint
    if value in INT:
        return SMALL
    if -(2**63) <= value < 2**63:
        return LARGE
    return DecimalType(38, 0)


def _of_decimal(value: Decimal, hint: DataType | None) -> DataType:
    _, digits, exponent = value.as_tuple()
    zeros, scale = (max(0, exponent), max(0, -exponent)) if isinstance(exponent, int) else (0, 0)
    found = DecimalType(min(38, max(len(digits) + zeros, scale + 1)), min(scale, 37))
    return merged(hint, found) if isinstance(hint, DecimalType) else found


def _of_list(values: Iterable[Any], hint: DataType | None) -> DataType:
    inner = hint.elementType if isinstance(hint, ArrayType) else None
    kind: DataType = NOTHING
    for one in values:
        kind = widened(kind, kind_of(one, inner))
    return ArrayType(kind if inner is None or not isinstance(kind, NullType) else inner)


def _of_mapping(value: Mapping[Any, Any], hint: DataType | None) -> DataType:
    if isinstance(hint, MapType):
        kind: DataType = hint.valueType
        for one in value.values():
            kind = widened(kind, kind_of(one, hint.valueType))
        return MapType(TEXT, kind)
    hints = {f.name: f.dataType for f in hint} if isinstance(hint, StructType) else {}
    fields = [StructField(str(k), kind_of(v, hints.get(str(k)))) for k, v in value.items()]
    return StructType(fields)


# In this order: True is an int, and a point in time is a date.
_KINDS: tuple[tuple[Any, Callable[[Any, DataType | None], DataType]], ...] = (
    (str, lambda _, __: TEXT),
    (NoneType, lambda _, __: NOTHING),
    (bool, lambda _, __: FLAG),
    (int, _of_int),
    (float, lambda _, hint: hint if isinstance(hint, FloatType) else DOUBLE),
    (Decimal, _of_decimal),
    (datetime, lambda _, hint: hint if isinstance(hint, TimestampNTZType) else TIME),
    (date, lambda _, __: DAY),
    ((bytes, bytearray), lambda _, __: BYTES),
    (Mapping, _of_mapping),
    ((list, tuple, set), _of_list),
)


def widened(first: DataType, second: DataType) -> DataType:
    """Return the type of values of both: of int and long it is long, else what Glue merges to."""
    if {type(first), type(second)} == {IntegerType, LongType}:
        return LARGE
    match first, second:
        case (Choice(), _) | (_, Choice()):
            return merged(first, second)
        case StructType(), StructType():
            kinds = {one.name: one.dataType for one in first}
            for one in second:
                kinds[one.name] = widened(kinds.get(one.name, NOTHING), one.dataType)
            return StructType([StructField(name, kind) for name, kind in kinds.items()])
        case ArrayType(), ArrayType():
            return ArrayType(widened(first.elementType, second.elementType))
    return merged(first, second)


def filled(kind: DataType, hint: DataType | None = None) -> DataType:
    """Return a type with the one before, or else text, for what has no value anywhere."""
    match kind:
        case NullType():
            return hint if hint is not None and not isinstance(hint, NullType) else StringType()
        case Choice():
            return kind
        case StructType():
            hints = {f.name: f.dataType for f in hint} if isinstance(hint, StructType) else {}
            fields = [
                StructField(one.name, filled(one.dataType, hints.get(one.name))) for one in kind
            ]
            return StructType(fields)
        case ArrayType():
            inner = hint.elementType if isinstance(hint, ArrayType) else None
            return ArrayType(filled(kind.elementType, inner))
    return kind


def writer(kind: DataType) -> Convert | None:
    """Return what makes a value of a row of a value of a record; None where it stays."""
    match kind:
        case Choice():
            return _to_choice(kind)
        case StructType():
            parts = [(one.name, writer(one.dataType)) for one in kind]
            return lambda record: tuple(_written(each, record.get(name)) for name, each in parts)
        case ArrayType():
            each = writer(kind.elementType)
            return lambda values: [_written(each, value) for value in values]
        case MapType():
            each = writer(kind.valueType)
            return lambda values: {str(k): _written(each, v) for k, v in values.items()}
        case DecimalType():
            return lambda value: Decimal(value) if isinstance(value, int) else value
    return None


def _written(each: Convert | None, value: Any) -> Any:
    return value if value is None or each is None else each(value)


def _to_choice(kind: Choice) -> Convert:
    names = kind.names
    each = [writer(one.dataType) for one in kind]
    by_name = {one.name: one.dataType for one in kind}

    def convert(value: Any) -> Any:
        name = _name_in(value, by_name)
        place = names.index(name)
        row = [None] * len(names)
        row[place] = _written(each[place], value)
        return tuple(row)

    return convert


def _name_in(value: Any, by_name: Mapping[str, DataType]) -> str:
    """Return the name of the type that a value has in a choice."""
    name = type_name(kind_of(value, Choice([StructField(n, k) for n, k in by_name.items()])))
    if name in by_name:
        return name
    return {"int": "long", "struct": "map"}.get(name, name)
