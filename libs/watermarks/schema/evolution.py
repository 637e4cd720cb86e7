"""The schema after a frame: what is added, and types as wide as it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .names import by_name, key_of

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


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
            kind = there.get(key_of(field.name, self.is_case_sensitive), field.dataType)
            fields.append(StructField(field.name, self.of_type(field.dataType, kind)))
        if self.columns:
            fields += [
                StructField(field.name, field.dataType)
                for field in new.fields
                if key_of(field.name, self.is_case_sensitive) not in known
            ]
        return StructType(fields)

    def of_type(self, old: DataType, new: DataType) -> DataType:
        """Return the type after a value of a new one; the old one if none holds both."""
        from pyspark.sql.types import ArrayType, MapType, NullType, StructType

        from watermarks.spark.schemas import wider

        match old, new:
            case StructType(), StructType():
                return self.of_struct(old, new)
            case ArrayType(), ArrayType():
                return ArrayType(self.of_type(old.elementType, new.elementType))
            case MapType(), MapType() if old.keyType == new.keyType:
                return MapType(old.keyType, self.of_type(old.valueType, new.valueType))
            case NullType(), _ if self.columns:  # so far the column had nothing but nulls
                return new
        wide = wider(old, new) if self.types else None
        return old if wide is None or (self.is_of_iceberg and not _is_promoted(old, wide)) else wide


def _is_promoted(old: DataType, new: DataType) -> bool:
    """Return whether a table of Iceberg changes a type to another one.

    Source: https://iceberg.apache.org/spec/#schema-evolution
    """
    from pyspark.sql.types import DecimalType

    if isinstance(old, DecimalType) and isinstance(new, DecimalType):
        return old.scale == new.scale
    return (old.simpleString(), new.simpleString()) in (("int", "bigint"), ("float", "double"))
