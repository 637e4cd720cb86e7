"""Rows as records of Python, and records of Python as rows with one schema.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from math import isnan
from struct import pack, unpack
from types import NoneType
from typing import Any

from pyspark.sql import types as T

from tidemark.glue_job.frames.absence import ALL_THERE, Absence
from tidemark.glue_job.frames.type_names import ENDS
from tidemark.glue_job.frames.types import (
    MAX_DIGITS,
    WIDENING,
    Choice,
    merged,
    struct_type,
    type_name,
)

Convert = Callable[[Any], Any]
INT = range(-(2**31), 2**31)
DOUBLE, TEXT, FLAG, BYTES = T.DoubleType(), T.StringType(), T.BooleanType(), T.BinaryType()
DAY, TIME, NOTHING = T.DateType(), T.TimestampType(), T.NullType()
SMALL, LARGE = T.IntegerType(), T.LongType()


def converter(kind: T.DataType, absence: Absence = ALL_THERE) -> Convert | None:
    """Return a function that makes a record of a row: structs are dicts, a choice is its value.

    None for a type whose values need no conversion. A null is left out if it stands for a missing
    field.
    """
    match kind:
        case Choice():
            return _choice_converter([converter(field.dataType, absence) for field in kind])
        case T.StructType():
            each = [converter(field.dataType, absence) for field in kind]
            return _struct_converter(kind.names, each, [absence.lacks(name) for name in kind.names])
        case T.ArrayType():
            part = converter(kind.elementType, absence)
            return part and (lambda row: row and [_written(part, v) for v in row])
        case T.MapType():
            part = converter(kind.valueType, absence)
            return part and (lambda row: row and {k: _written(part, v) for k, v in row.items()})
    return None


def _struct_converter(names: list[str], each: list[Convert | None], lacks: list[bool]) -> Convert:
    # Three functions: each runs once per record, and most frames need the first.
    if not any(lacks) and not any(each):
        return lambda row: row if row is None else dict(zip(names, row, strict=True))
    parts = list(zip(names, each, lacks, strict=True))

    def convert(row: Any) -> Any:
        if row is None:
            return None
        return {
            name: value if convert_part is None or value is None else convert_part(value)
            for (name, convert_part, _), value in zip(parts, row, strict=True)
        }

    def convert_sparse(row: Any) -> Any:
        if row is None:
            return None
        return {
            name: value if convert_part is None or value is None else convert_part(value)
            for (name, convert_part, lacks), value in zip(parts, row, strict=True)
            if value is not None or not lacks
        }

    return convert_sparse if any(lacks) else convert


def _choice_converter(each: list[Convert | None]) -> Convert:
    def convert(row: Any) -> Any:
        for convert_part, value in zip(each, row or (), strict=False):
            if value is not None:
                return value if convert_part is None else convert_part(value)
        return None

    return convert


def kind_of(value: Any, hint: T.DataType | None = None) -> T.DataType:
    """Return the type of a value of a record."""
    if isinstance(hint, Choice):
        return kind_of(value, _hint_of_choice(value, hint))
    for classes, find in _KINDS:
        if isinstance(value, classes):
            return find(value, hint)
    raise TypeError(f"Glue has no type for a value of the type {type(value).__name__}")


def _hint_of_choice(value: Any, hint: Choice) -> T.DataType | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return next((f.dataType for f in hint if isinstance(f.dataType, T.IntegralType)), None)
    names = {Decimal: "decimal", dict: "struct", list: "array", float: "float"}
    part_name = next((name for cls, name in names.items() if isinstance(value, cls)), "")
    return next((field.dataType for field in hint if field.name == part_name), None)


def _int_type(value: int, hint: T.DataType | None) -> T.DataType:
    if hint is not None and -(end := ENDS.get(type(hint), 0)) <= value < end:
        return hint
    if value in INT:
        return SMALL
    if -(2**63) <= value < 2**63:
        return LARGE
    return _decimal_type(Decimal(value), None)


def _float_type(value: float, hint: T.DataType | None) -> T.DataType:
    if not isinstance(hint, T.FloatType):
        return DOUBLE
    with suppress(OverflowError):
        if isnan(value) or unpack("f", pack("f", value)) == (value,):
            return hint
    return DOUBLE


def _decimal_type(value: Decimal, hint: T.DataType | None) -> T.DataType:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"Glue has no decimal for {value}: make a float of it, or None")
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale, min(scale + 1, MAX_DIGITS))
    if precision > MAX_DIGITS:
        raise ValueError(
            f"Glue has no decimal for {value}, of {precision} digits where {MAX_DIGITS} are the "
            "most: round it, or make a string of it"
        )
    exact = T.DecimalType(precision, scale)
    return merged(hint, exact) if isinstance(hint, T.DecimalType) else exact


def _list_type(values: Iterable[Any], hint: T.DataType | None) -> T.DataType:
    inner = hint.elementType if isinstance(hint, T.ArrayType) else None
    kind: T.DataType = NOTHING
    for value in values:
        kind = widened(kind, kind_of(value, inner))
    return T.ArrayType(kind if inner is None or not isinstance(kind, T.NullType) else inner)


def _mapping_type(value: Mapping[Any, Any], hint: T.DataType | None) -> T.DataType:
    if isinstance(hint, T.MapType):
        kind: T.DataType = hint.valueType
        for part in value.values():
            kind = widened(kind, kind_of(part, hint.valueType))
        return T.MapType(TEXT, kind)
    hints = {f.name: f.dataType for f in hint} if isinstance(hint, T.StructType) else {}
    return struct_type((name, kind_of(v, hints.get(name))) for name, v in value.items())


# In this order: True is an int, and a point in time is a date.
_KINDS: tuple[tuple[Any, Callable[[Any, T.DataType | None], T.DataType]], ...] = (
    (str, lambda _, __: TEXT),
    (NoneType, lambda _, __: NOTHING),
    (bool, lambda _, __: FLAG),
    (int, _int_type),
    (float, _float_type),
    (Decimal, _decimal_type),
    (datetime, lambda _, hint: hint if isinstance(hint, T.TimestampNTZType) else TIME),
    (date, lambda _, __: DAY),
    ((bytes, bytearray), lambda _, __: BYTES),
    (Mapping, _mapping_type),
    ((list, tuple, set), _list_type),
)


def widened(first: T.DataType, second: T.DataType) -> T.DataType:
    """Return the type for values of both: long for int and long, else the type Glue merges to."""
    for order in WIDENING:
        if first in order and second in order:
            return max((first, second), key=order.index)
    match first, second:
        case (Choice(), _) | (_, Choice()):
            return merged(first, second)
        case T.StructType(), T.StructType():
            kinds = {field.name: field.dataType for field in first}
            for field in second:
                kinds[field.name] = widened(kinds.get(field.name, NOTHING), field.dataType)
            return struct_type(kinds.items())
        case T.ArrayType(), T.ArrayType():
            return T.ArrayType(widened(first.elementType, second.elementType))
    return merged(first, second)


def filled(kind: T.DataType, hint: T.DataType | None = None) -> T.DataType:
    """Return a type whose unknown parts come from a previous type; without one they are strings."""
    match kind:
        case T.NullType():
            return hint if hint is not None and not isinstance(hint, T.NullType) else T.StringType()
        case Choice():
            return kind
        case T.StructType():
            hints = {f.name: f.dataType for f in hint} if isinstance(hint, T.StructType) else {}
            return struct_type((f.name, filled(f.dataType, hints.get(f.name))) for f in kind)
        case T.ArrayType():
            inner = hint.elementType if isinstance(hint, T.ArrayType) else None
            return T.ArrayType(filled(kind.elementType, inner))
    return kind


def writer(kind: T.DataType) -> Convert | None:
    """Return a function that makes a row's value of a record's value; None if nothing changes."""
    match kind:
        case Choice():
            return _to_choice(kind)
        case T.StructType():
            parts = [(field.name, writer(field.dataType)) for field in kind]
            return lambda record: tuple(_written(each, record.get(name)) for name, each in parts)
        case T.ArrayType():
            each = writer(kind.elementType)
            return lambda values: [_written(each, value) for value in values]
        case T.MapType():
            each = writer(kind.valueType)
            return lambda values: {str(k): _written(each, v) for k, v in values.items()}
        case T.DecimalType():
            return lambda value: Decimal(value) if isinstance(value, int) else value
    return None


def record_writer(schema: T.StructType) -> Convert:
    """Return a function that makes a row of a record; see `writer`."""
    write = writer(schema)
    assert write is not None  # noqa: S101 (of a struct)
    return write


def _written(each: Convert | None, value: Any) -> Any:
    return value if value is None or each is None else each(value)


def _to_choice(kind: Choice) -> Convert:
    names = kind.names
    each = [writer(field.dataType) for field in kind]

    def convert(value: Any) -> Any:
        name = type_name(kind_of(value, kind))
        if name not in names:
            name = {"int": "long", "struct": "map"}.get(name, name)
        place = names.index(name)
        row = [None] * len(names)
        row[place] = _written(each[place], value)
        return tuple(row)

    return convert
