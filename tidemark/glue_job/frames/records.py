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
from tidemark.glue_job.frames.types import MAX_DIGITS, WIDENING, Choice, merged, type_name

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
            return _choice_converter([converter(one.dataType, absence) for one in kind])
        case T.StructType():
            each = [converter(one.dataType, absence) for one in kind]
            return _struct_converter(kind.names, each, [absence.lacks(name) for name in kind.names])
        case T.ArrayType():
            part = converter(kind.elementType, absence)
            return part and (
                lambda values: values if values is None else [_written(part, v) for v in values]
            )
        case T.MapType():
            part = converter(kind.valueType, absence)
            return part and (
                lambda values: (
                    values if values is None else {k: _written(part, v) for k, v in values.items()}
                )
            )
    return None


def _struct_converter(names: list[str], each: list[Convert | None], lacks: list[bool]) -> Convert:
    if any(lacks):
        return _sparse_struct_converter(list(zip(names, each, lacks, strict=True)))
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


def _sparse_struct_converter(parts: list[tuple[str, Convert | None, bool]]) -> Convert:
    def convert(row: Any) -> Any:
        if row is None:
            return None
        return {
            name: value if one is None or value is None else one(value)
            for (name, one, lacks), value in zip(parts, row, strict=True)
            if value is not None or not lacks
        }

    return convert


def _choice_converter(each: list[Convert | None]) -> Convert:
    def convert(row: Any) -> Any:
        for one, value in zip(each, row or (), strict=False):
            if value is not None:
                return value if one is None else one(value)
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
    wanted = next((name for cls, name in names.items() if isinstance(value, cls)), "")
    return next((one.dataType for one in hint if one.name == wanted), None)


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
    found = T.DecimalType(precision, scale)
    return merged(hint, found) if isinstance(hint, T.DecimalType) else found


def _list_type(values: Iterable[Any], hint: T.DataType | None) -> T.DataType:
    inner = hint.elementType if isinstance(hint, T.ArrayType) else None
    kind: T.DataType = NOTHING
    for one in values:
        kind = widened(kind, kind_of(one, inner))
    return T.ArrayType(kind if inner is None or not isinstance(kind, T.NullType) else inner)


def _mapping_type(value: Mapping[Any, Any], hint: T.DataType | None) -> T.DataType:
    if isinstance(hint, T.MapType):
        kind: T.DataType = hint.valueType
        for one in value.values():
            kind = widened(kind, kind_of(one, hint.valueType))
        return T.MapType(TEXT, kind)
    hints = {f.name: f.dataType for f in hint} if isinstance(hint, T.StructType) else {}
    fields = [T.StructField(k, kind_of(v, hints.get(k))) for k, v in value.items()]
    return T.StructType(fields)


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
            kinds = {one.name: one.dataType for one in first}
            for one in second:
                kinds[one.name] = widened(kinds.get(one.name, NOTHING), one.dataType)
            return T.StructType([T.StructField(name, kind) for name, kind in kinds.items()])
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
            fields = [
                T.StructField(one.name, filled(one.dataType, hints.get(one.name))) for one in kind
            ]
            return T.StructType(fields)
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
            parts = [(one.name, writer(one.dataType)) for one in kind]
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


def _written(each: Convert | None, value: Any) -> Any:
    return value if value is None or each is None else each(value)


def _to_choice(kind: Choice) -> Convert:
    names = kind.names
    each = [writer(one.dataType) for one in kind]

    def convert(value: Any) -> Any:
        name = type_name(kind_of(value, kind))
        if name not in names:
            name = {"int": "long", "struct": "map"}.get(name, name)
        place = names.index(name)
        row = [None] * len(names)
        row[place] = _written(each[place], value)
        return tuple(row)

    return convert
