"""The schema after a frame: what is added, and types as wide as it takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from .names import by_name, is_ambiguous, is_choice, is_same, key_of

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


@dataclass(frozen=True)
class Evolution:
    """What of a schema follows a frame.

    Attributes:
        columns: whether columns and fields are added.
        types: whether types become wider.
        is_case_sensitive: whether names in different cases are different.
        is_of_iceberg: whether a table of Iceberg follows, which keeps its files as they are.
    """

    columns: bool
    types: bool
    is_case_sensitive: bool
    is_of_iceberg: bool = False

    def of_struct(self, old: StructType, new: StructType) -> StructType:
        """Return the columns after a frame with new ones, in the order of the old ones."""
        from pyspark.sql.types import StructField, StructType

        there = by_name(new, self.is_case_sensitive)
        known = by_name(old, self.is_case_sensitive)
        fields = []
        for field in old.fields:
            own = there.get(key_of(field.name, self.is_case_sensitive), field.dataType)
            fields.append(StructField(field.name, self.of_type(field.dataType, own)))
        if self.columns:
            added = [
                StructField(field.name, kind)
                for field in new.fields
                if key_of(field.name, self.is_case_sensitive) not in known
                and (kind := _with_values(field.dataType)) is not None
            ]
            fields += added
        return StructType(fields)

    def of_type(self, old: DataType, new: DataType) -> DataType:
        """Return the type after a value of a new one; the old one if none holds both."""
        from pyspark.sql.types import ArrayType, MapType, NullType, StructType

        from watermarks.spark.schemas import wider

        match old, new:
            case _, StructType() if is_choice(new, old):
                return reduce(self.of_type, (field.dataType for field in new.fields), old)
            case StructType(), StructType():
                is_told = not any(is_ambiguous(of, self.is_case_sensitive) for of in (old, new))
                return self.of_struct(old, new) if is_told else old
            case ArrayType(), ArrayType():
                return ArrayType(self.of_type(old.elementType, new.elementType))
            case MapType(), MapType() if is_same(old.keyType, new.keyType):
                return MapType(old.keyType, self.of_type(old.valueType, new.valueType))
            case NullType(), _ if self.columns:  # so far the column had nothing but nulls
                return new
        wide = wider(old, new) if self.types else None
        if wide is None or wide == old:
            return old
        is_kept = self.is_of_iceberg and not is_promotion(old.simpleString(), wide.simpleString())
        return old if is_kept else wide


def _with_values(kind: DataType) -> DataType | None:
    """Return a type without the fields that hold nothing but nulls; None if nothing is left."""
    from pyspark.sql.types import ArrayType, MapType, NullType, StructField, StructType

    match kind:
        case NullType():
            return None
        case StructType():
            kept = [(field.name, _with_values(field.dataType)) for field in kind.fields]
            fields = [StructField(name, of_field) for name, of_field in kept if of_field]
            return StructType(fields) if fields else None
        case ArrayType():
            item = _with_values(kind.elementType)
            return ArrayType(item) if item else None
        case MapType():
            value = _with_values(kind.valueType)
            return MapType(kind.keyType, value) if value else None
    return kind


def is_promotion(old: str, new: str) -> bool:
    """Return whether a table of Iceberg changes a type to another one, as Spark writes them.

    Source: https://iceberg.apache.org/spec/#schema-evolution
    """
    decimals = [_DECIMAL.fullmatch(kind) for kind in (old, new)]
    was, now = (decimal and (int(decimal[1]), decimal[2]) for decimal in decimals)
    if was and now:
        return was[1] == now[1] and was[0] < now[0]
    return (old, new) in (("int", "bigint"), ("float", "double"))
