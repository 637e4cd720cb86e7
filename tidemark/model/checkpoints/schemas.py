"""The columns that a run has read from a source or written to a target, as plain data."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

READ: Final = "read"
WRITTEN: Final = "written"
Role: TypeAlias = Literal["read", "written"]
VOID: Final = "void"  # the type of a column without any value
SQL_NAMES: Final = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_MARK: Final = "tidemark.choices"  # in the metadata of a column: the paths of choices in it


class Column(NamedTuple):
    """A column, or a field inside of one.

    Attributes:
        path: its name; of a field with those around it, ``address.zip``. What is in an array is
            ``element``, and in a map ``value``.
        type: as SQL writes it; of what has parts ``struct``, ``array`` or ``map<string>``, whose
            parts are columns of their own; of a DynamicFrame also ``choice<int,string>``.
        is_nullable: whether it may be null.
    """

    path: str
    type: str
    is_nullable: bool = True


@dataclass(frozen=True)
class Schema:
    """The columns of a source that a run has read, or of a target that it has written.

    Attributes:
        role: ``read`` or ``written``.
        dataset: as checkpoints call it; empty if it is not known.
        source: the transformation_ctx; empty without one.
        format: ``json``, ``parquet`` and so on; empty if it is not known.
        columns: each column before the fields inside it.
        partitions: the columns that are folders of the target, outermost first.

    Example:
        >>> Schema("read", "s3://raw/orders/", "orders", "json", (Column("id", "int"),)).name
        'orders (s3://raw/orders/)'
    """

    role: Role
    dataset: str
    source: str = ""
    format: str = ""
    columns: tuple[Column, ...] = ()
    partitions: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What one source or target has in every run."""
        return self.role, self.source or self.dataset

    @property
    def name(self) -> str:
        """What people know it by."""
        return f"{self.source} ({self.dataset})" if self.source and self.dataset else self.key[1]

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Schema":
        """Return the schema that was stored by its fields."""
        columns = tuple(Column(*column) for column in document["columns"])
        return cls(**{**document, "columns": columns, "partitions": tuple(document["partitions"])})


def columns_of(schema: Mapping[str, Any]) -> tuple[Column, ...]:
    """Return the columns of a schema that Spark wrote as JSON.

    Example:
        >>> field = {"name": "id", "type": "long", "nullable": False, "metadata": {}}
        >>> columns_of({"type": "struct", "fields": [field]})
        (Column(path='id', type='bigint', is_nullable=False),)
    """
    return tuple(
        column
        for field in schema["fields"]
        for column in _columns(
            quoted(field["name"]),
            field["type"],
            field["nullable"],
            field["metadata"].get(_MARK, ()),
        )
    )


def _columns(
    path: str, kind: Any, is_nullable: bool, choices: Collection[str], steps: tuple[str, ...] = ()
) -> Iterator[Column]:
    """Yield a column and the fields inside it; the steps to it are as in the mark of choices."""
    if not isinstance(kind, Mapping):
        yield Column(path, SQL_NAMES.get(kind, kind), is_nullable)
        return
    name = str(kind["type"])
    parts: list[tuple[str, str, Any, bool]] = []
    if name == "struct" and json.dumps(steps) in choices:
        name = f"choice<{','.join(field['name'] for field in kind['fields'])}>"
    elif name == "struct":
        parts = [
            (quoted(field["name"]), f".{field['name']}", field["type"], field["nullable"])
            for field in kind["fields"]
        ]
    elif name == "array":
        parts = [("element", "[]", kind["elementType"], kind["containsNull"])]
    elif name == "map":
        name = f"map<{SQL_NAMES.get(str(kind['keyType']), kind['keyType'])}>"
        parts = [("value", "{}", kind["valueType"], kind["valueContainsNull"])]
    yield Column(path, name, is_nullable)
    for inside, step, part, may_be_null in parts:
        yield from _columns(f"{path}.{inside}", part, may_be_null, choices, (*steps, step))


def quoted(name: str) -> str:
    """Return a name as a path has it: in quotes if it has a dot."""
    return f"`{name.replace('`', '``')}`" if "." in name or "`" in name else name


def joined(schemas: Iterable[Schema]) -> tuple[Schema, ...]:
    """Return one schema for each source and target, with what all of its frames have had.

    A run that reads or writes in a loop has several; a column keeps its last type.
    """
    by_key: dict[tuple[str, str], Schema] = {}
    for schema in schemas:
        first = by_key.get(schema.key)
        columns = known_columns([schema, first]) if first else {c.path: c for c in schema.columns}
        by_key[schema.key] = replace(schema, columns=tuple(columns.values()))
    return tuple(by_key.values())


def known_columns(history: Iterable[Schema]) -> dict[str, Column]:
    """Return the columns by path, each with the last type that it had, void if it never had one.

    Args:
        history: of one source or target, the newest first.
    """
    columns: dict[str, Column] = {}
    for schema in history:
        for column in schema.columns:
            if column.path not in columns or columns[column.path].type == VOID:
                columns[column.path] = column
    return columns
