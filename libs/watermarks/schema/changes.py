"""What a frame has otherwise than the schema that is promised: by columns and their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from .fitting import sql_type
from .names import by_name, is_ambiguous, is_choice, is_same, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    A column that holds nothing but nulls in the new one (`void`) has no type to compare. A choice
    of a DynamicFrame is compared type by type.
    """
    return list(_Comparison(is_case_sensitive).of_structs(old, new, ()))


class _Comparison(NamedTuple):
    is_exact: bool

    def of_structs(
        self, old: StructType, new: StructType, path: tuple[str, ...]
    ) -> Iterator[SchemaChange]:
        promised, there = by_name(old, self.is_exact), by_name(new, self.is_exact)
        for field in old.fields:
            inside = (*path, field.name)
            kind = there.get(key_of(field.name, self.is_exact))
            if kind is None:
                yield _change("missing", inside, old=field.dataType)
            else:
                yield from self._of_types(field.dataType, kind, inside)
        for field in new.fields:
            if key_of(field.name, self.is_exact) not in promised:
                yield _change("added", (*path, field.name), new=field.dataType)

    def _of_types(
        self, old: DataType, new: DataType, path: tuple[str, ...]
    ) -> Iterator[SchemaChange]:
        from pyspark.sql.types import ArrayType, MapType, NullType, StructType

        match old, new:
            case _, StructType() if is_choice(new, old):
                for field in new.fields:
                    yield from self._of_types(old, field.dataType, path)
            case StructType(), StructType() if not any(
                is_ambiguous(kind, self.is_exact) for kind in (old, new)
            ):
                yield from self.of_structs(old, new, path)
            case ArrayType(), ArrayType():
                yield from self._of_types(old.elementType, new.elementType, (*path, ITEM))
            case MapType(), MapType() if is_same(old.keyType, new.keyType):
                yield from self._of_types(old.valueType, new.valueType, (*path, VALUE))
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
