"""Names and types of columns, as a session compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import DataType, StructType

# What Glue calls the fields of a choice.
_NUMBERS = {"byte", "short", "int", "long", "float", "double", "decimal"}
_OTHERS = {"string", "boolean", "date", "timestamp", "binary", "struct", "array", "map"}
_CHOICES = _NUMBERS | _OTHERS


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


def is_choice(kind: StructType, promised: DataType) -> bool:
    """Return whether a struct in a DynamicFrame has a field for each type that a value may have."""
    there, known = set(kind.names), set(getattr(promised, "names", ()))
    return bool(there) and there <= _CHOICES and not known & there
