"""Names and types of columns, as a session compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import DataType, StructType


def by_name(schema: StructType, is_case_sensitive: bool) -> Mapping[str, DataType]:
    """Return the types of columns by their names, as names are compared."""
    return {key_of(field.name, is_case_sensitive): field.dataType for field in schema.fields}


def key_of(name: str, is_case_sensitive: bool) -> str:
    """Return a name as names are compared."""
    return name if is_case_sensitive else name.lower()


def is_ambiguous(schema: StructType, is_case_sensitive: bool) -> bool:
    """Return whether two fields have one name, as names are compared."""
    return len(by_name(schema, is_case_sensitive)) < len(schema.fields)


def is_same(old: DataType, new: DataType) -> bool:
    """Return whether types are the same, whatever may be null in them."""
    return old.simpleString() == new.simpleString()


def is_choice(kind: DataType, promised: DataType | None = None) -> TypeGuard[StructType]:
    """Return whether a struct has a field for each type of a value, as Glue makes of a choice.

    `toDF` leaves no other trace of it. A struct that the contract promises is not a choice.
    """
    from pyspark.sql.types import StructType

    if not isinstance(kind, StructType) or len(kind) < 2:
        return False
    is_promised = bool(set(getattr(promised, "names", ())) & set(kind.names))
    told = (field.dataType.typeName().replace("integer", "int") for field in kind.fields)
    return not is_promised and kind.names == list(told)
