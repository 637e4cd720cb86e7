"""One schema out of those of many windows: columns by name, and types as wide as it takes.

Imports PySpark only when a function is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from watermarks.errors import WatermarkValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import DataType, DecimalType, StructType

_INTEGERS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}  # and their digits
_MAX_DIGITS = 38


def merged_schema(by_window: Mapping[str, StructType], *, is_case_sensitive: bool) -> StructType:
    """Return the columns of all windows, in the order of their first window.

    A column has the narrowest type that holds every value of the types it had.

    Args:
        by_window: the schema of the files of each window, by window id, oldest first.
        is_case_sensitive: whether names in different cases are different columns.

    Raises:
        WatermarkValueError: no type holds all values of a column.
    """
    merged: StructType | None = None
    first = ""
    for window, schema in by_window.items():
        if merged is None:
            merged, first = schema, window
            continue
        try:
            merged = _merged_struct(merged, schema, "", is_case_sensitive)
        except _IrreconcilableError as error:
            raise WatermarkValueError(
                f"the column {error.column!r} is a {error.new} in the window {window!r}, and a "
                f"{error.old} in windows from {first!r} on: no type holds the values of both; "
                "give schema= with the type to read, or read the windows before and after the "
                "change apart and convert one of them"
            ) from None
    if merged is None:
        raise ValueError("no window has a schema to merge; give at least one window that has files")
    return merged


def read_schema(
    own: StructType, merged: StructType, *, is_case_sensitive: bool, is_text: bool = False
) -> StructType:
    """Return the schema to read the files of a window with, in the window's own column order.

    Its types are its own, or for text files those of the merged schema. A struct also gets the
    fields that it has in other windows: a cast to the merged type goes by position.
    """
    from pyspark.sql.types import StructField, StructType

    places = {_key(field.name, is_case_sensitive): field for field in merged.fields}
    return StructType(
        [
            StructField(
                field.name,
                _shaped(
                    field.dataType,
                    places[_key(field.name, is_case_sensitive)].dataType,
                    is_case_sensitive,
                    is_text,
                ),
            )
            for field in own.fields
        ]
    )


class _IrreconcilableError(Exception):
    def __init__(self, column: str, old: DataType, new: DataType) -> None:
        super().__init__(column)
        self.column, self.old, self.new = column, old.simpleString(), new.simpleString()


def _key(name: str, is_case_sensitive: bool) -> str:
    return name if is_case_sensitive else name.lower()


def _merged_struct(old: StructType, new: StructType, path: str, is_exact: bool) -> StructType:
    from pyspark.sql.types import StructField, StructType

    kinds = {_key(field.name, is_exact): field for field in new.fields}
    fields = []
    for field in old.fields:
        new_field = kinds.pop(_key(field.name, is_exact), None)
        kind = field.dataType
        if new_field is not None:
            kind = _merged(kind, new_field.dataType, path + field.name, is_exact)
        fields.append(StructField(field.name, kind))
    return StructType([*fields, *(StructField(f.name, f.dataType) for f in kinds.values())])


def _merged(old: DataType, new: DataType, path: str, is_exact: bool) -> DataType:
    from pyspark.sql.types import ArrayType, MapType, NullType, StructType

    if isinstance(old, StructType) and isinstance(new, StructType):
        return _merged_struct(old, new, f"{path}.", is_exact)
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return ArrayType(_merged(old.elementType, new.elementType, f"{path}.element", is_exact))
    if isinstance(old, MapType) and isinstance(new, MapType):
        return MapType(
            _merged(old.keyType, new.keyType, f"{path}.key", is_exact),
            _merged(old.valueType, new.valueType, f"{path}.value", is_exact),
        )
    if old == new or isinstance(new, NullType):
        return old
    if isinstance(old, NullType):
        return new
    wide = wider(old, new)
    if wide is None:
        raise _IrreconcilableError(path, old, new)
    return wide


def wider(old: DataType, new: DataType) -> DataType | None:
    """Return the number type that holds the values of both exactly; None if no type does."""
    from pyspark.sql.types import DecimalType, DoubleType, FloatType

    names = {old.simpleString(), new.simpleString()}
    if names <= _INTEGERS.keys():
        return max(old, new, key=lambda kind: _INTEGERS[kind.simpleString()])
    floats = names & {"float", "double"}
    if floats:
        if not names - floats <= {"tinyint", "smallint", "int"}:
            # A double has 53 bits, and a bigint 63.
            return None
        return DoubleType() if "double" in floats or "int" in names else FloatType()
    decimals = [decimal for kind in (old, new) if (decimal := _as_decimal(kind)) is not None]
    if len(decimals) < 2:
        return None
    scale = max(kind.scale for kind in decimals)
    digits = max(kind.precision - kind.scale for kind in decimals) + scale
    return DecimalType(digits, scale) if digits <= _MAX_DIGITS else None


def _as_decimal(kind: DataType) -> DecimalType | None:
    from pyspark.sql.types import DecimalType

    if isinstance(kind, DecimalType):
        return kind
    digits = _INTEGERS.get(kind.simpleString())
    return DecimalType(digits, 0) if digits else None


def _shaped(own: DataType, merged: DataType, is_exact: bool, is_text: bool) -> DataType:
    """Return a type with its own leaves, and the fields of the merged one in their order."""
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    if isinstance(own, StructType) and isinstance(merged, StructType):
        mine = {_key(field.name, is_exact): field for field in own.fields}
        fields = []
        for field in merged.fields:
            own_field = mine.get(_key(field.name, is_exact))
            kind = field.dataType
            if own_field:
                kind = _shaped(own_field.dataType, field.dataType, is_exact, is_text)
            fields.append(StructField(own_field.name if own_field else field.name, kind))
        return StructType(fields)
    if isinstance(own, ArrayType) and isinstance(merged, ArrayType):
        return ArrayType(_shaped(own.elementType, merged.elementType, is_exact, is_text))
    if isinstance(own, MapType) and isinstance(merged, MapType):
        return MapType(
            _shaped(own.keyType, merged.keyType, is_exact, is_text),
            _shaped(own.valueType, merged.valueType, is_exact, is_text),
        )
    return merged if is_text else own
