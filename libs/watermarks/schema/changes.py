"""What a frame has otherwise than the schema that is promised: by columns and their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from .fitting import sql_type
from .names import by_name, is_ambiguous, is_same, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql.types import DataType, StructType

ChangeKind: TypeAlias = Literal["added", "missing", "type"]
"""A column that only the frame has, one that only the schema has, or one of another type."""

ITEM, VALUE = "element", "value"  # as Parquet and Spark call what is in an array and in a map


@dataclass(frozen=True)
class SchemaChange:
    """One column, or a field of one, that a frame has otherwise than the schema.

    Attributes:
        kind: `added`, `missing` or `type`.
        path: the column, and the fields in it: `("address", "zip")`; what is in an array is
            `element`, and in a map `value`.
        old: its type in the schema, as Spark writes it; empty if it is added.
        new: its type in the frame; empty if it is missing.
        sql: the same as SQL takes it, whatever the names of fields.
    """

    kind: ChangeKind
    path: tuple[str, ...]
    old: str = ""
    new: str = ""
    sql: str = ""

    @property
    def column(self) -> str:
        """The names of the path with dots in between."""
        return ".".join(self.path)

    def __str__(self) -> str:
        """Return what is otherwise, for people."""
        return {
            "added": f"the column {self.column} ({self.new}) is new",
            "missing": f"the column {self.column} ({self.old}) is missing",
            "type": f"the column {self.column} is {self.new}, and was {self.old}",
        }[self.kind]


def changes_between(
    old: StructType, new: StructType, *, is_case_sensitive: bool
) -> list[SchemaChange]:
    """Return what a new schema has otherwise than an old one, column by column.

    A column that holds nothing but nulls in the new one (`void`) has no type to compare.
    """
    return list(_of_structs(old, new, (), is_case_sensitive))


def _of_structs(
    old: StructType, new: StructType, path: Sequence[str], is_exact: bool
) -> Iterator[SchemaChange]:
    promised, there = by_name(old, is_exact), by_name(new, is_exact)
    for field in old.fields:
        inside = (*path, field.name)
        kind = there.get(key_of(field.name, is_exact))
        if kind is None:
            yield _change("missing", inside, old=field.dataType)
        else:
            yield from _of_types(field.dataType, kind, inside, is_exact)
    for field in new.fields:
        if key_of(field.name, is_exact) not in promised:
            yield _change("added", (*path, field.name), new=field.dataType)


def _of_types(
    old: DataType, new: DataType, path: tuple[str, ...], is_exact: bool
) -> Iterator[SchemaChange]:
    from pyspark.sql.types import ArrayType, MapType, NullType, StructType

    match old, new:
        case StructType(), StructType() if not any(
            is_ambiguous(kind, is_exact) for kind in (old, new)
        ):
            yield from _of_structs(old, new, path, is_exact)
        case ArrayType(), ArrayType():
            yield from _of_types(old.elementType, new.elementType, (*path, ITEM), is_exact)
        case MapType(), MapType() if is_same(old.keyType, new.keyType):
            yield from _of_types(old.valueType, new.valueType, (*path, VALUE), is_exact)
        case _ if not is_same(old, new) and not isinstance(new, NullType):
            yield _change("type", path, old, new)


def _change(
    kind: ChangeKind,
    path: tuple[str, ...],
    old: DataType | None = None,
    new: DataType | None = None,
) -> SchemaChange:
    was, now = (known.simpleString() if known else "" for known in (old, new))
    return SchemaChange(kind, path, was, now, sql_type(new) if new else "")
