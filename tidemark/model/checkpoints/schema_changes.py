"""What a source or a target has otherwise than in the runs before: which changes are news."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from tidemark.model.checkpoints.schemas import SQL_NAMES, VOID, Column, Schema, known_columns

ChangeKind: TypeAlias = Literal["new", "gone", "type", "partitions"]
# The schema is that of the values there: a record leaves out a field that it has no value for.
OPTIONAL_FIELDS: Final = frozenset({"json", "ion", "xml", "dynamodb", "mongodb", "documentdb"})
TYPES_BY_VALUE: Final = OPTIONAL_FIELDS | {"csv"}
_ONE_IN_FILES: Final = frozenset(("tinyint", "smallint", "int"))  # of Parquet
_NUMBERS: Final = _ONE_IN_FILES | {"bigint", "float", "double", "decimal"}
_WIDENED: Final = {frozenset((narrow, "bigint")): "bigint" for narrow in _ONE_IN_FILES} | {
    frozenset(("float", "double")): "double"
}


@dataclass(frozen=True)
class Change:
    """One column that is otherwise than before.

    Attributes:
        kind: ``new``, ``gone``, another ``type``, or other ``partitions``.
        path: the column.
        old: its type before; empty if it is new.
        new: its type now; empty if it is gone.
        is_quiet: whether it says no more than which values have come this time; two changes that
            differ in this only are the same.
    """

    kind: ChangeKind
    path: str
    old: str = ""
    new: str = ""
    is_quiet: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        """Return the change, for people."""
        if self.kind == "new":
            return f"{self.path} is new ({self.new})"
        if self.kind == "gone" and self.is_quiet:
            return f"no record of this run has {self.path} ({self.old})"
        if self.kind == "gone":
            return f"{self.path} is gone ({self.old})"
        return f"{self.path} was {self.old} and is {self.new}"


def changes_of(now: Schema, history: Sequence[Schema]) -> list[Change]:
    """Return what a schema has otherwise than those of earlier runs, in the order of its columns.

    A column that came back, or that has no values, is no change; a type is compared with the last
    one that the column had.

    Args:
        now: the schema of a run; without columns there is nothing to compare.
        history: of the same source or target in earlier runs, the newest first.

    Example:
        >>> before = Schema("read", "s3://raw/", "", "json", (Column("amt", "int"),))
        >>> now = Schema("read", "s3://raw/", "", "json", (Column("amt", "string"),))
        >>> [str(change) for change in changes_of(now, [before])]
        ['amt was int and is string']
    """
    if not history or not now.columns:
        return []
    known, there = known_columns(history), {column.path: column for column in now.columns}
    changes = list(_of_columns(now, known))
    inside = tuple(f"{change.path}." for change in changes)
    for column in history[0].columns:
        if column.path in there or column.type == VOID or column.path.startswith(inside):
            continue
        is_quiet = now.format in OPTIONAL_FIELDS
        changes.append(Change("gone", column.path, column.type, is_quiet=is_quiet))
        inside += (f"{column.path}.",)
    if history[0].partitions != now.partitions:
        old, new = (", ".join(names) or "none" for names in (history[0].partitions, now.partitions))
        changes.append(Change("partitions", "the list of partition columns", old, new))
    return changes


def passed_on(
    now: Schema, history: Sequence[Schema], changes: Iterable[Change]
) -> set[tuple[ChangeKind, str]]:
    """Return the kinds and columns of what a target may have otherwise because its source has.

    A column without a value this time may be gone from the target too.

    Args:
        now: the schema of a source.
        history: of it in earlier runs, the newest first.
        changes: between both.
    """
    there = {column.path for column in now.columns if column.type != VOID}
    empty = known_columns(history).keys() - there
    return {
        *((change.kind, change.path) for change in changes),
        *(("gone", path) for path in empty),
    }


def of_key(schema: Schema, earlier: Iterable[Iterable[Schema]]) -> list[Schema]:
    """Return the schemas of the same source or target in earlier runs, in their order."""
    return [old for schemas in earlier for old in schemas if old.key == schema.key]


def _of_columns(now: Schema, known: dict[str, Column]) -> Iterator[Change]:
    inside: tuple[str, ...] = ()
    for column in now.columns:
        old = known.get(column.path)
        if column.type == VOID or column.path.startswith(inside):
            continue
        if old is None:
            yield Change("new", column.path, new=column.type)
        elif old.type not in (column.type, VOID):
            is_quiet = now.format in TYPES_BY_VALUE and _is_by_value(old.type, column.type)
            yield Change("type", column.path, old.type, column.type, is_quiet)
        else:
            continue
        inside += (f"{column.path}.",)


def _is_by_value(old: str, new: str) -> bool:
    """Return whether two types differ by the values that came: numbers, or a part of a choice."""
    before, after = type_parts(old), type_parts(new)
    return after < before or before | after <= _NUMBERS


def type_parts(kind: str) -> frozenset[str]:
    """Return the types of a choice, or the one type, without digits.

    Example:
        >>> sorted(type_parts("choice<long,string>"))
        ['bigint', 'string']
    """
    names = kind.removeprefix("choice<").removesuffix(">").split(",")
    if not kind.startswith("choice<"):
        names = [kind.partition("(")[0]]
    return frozenset(SQL_NAMES.get(name, name) for name in names)


def parquet_effect(change: Change) -> str:
    """Return who reads a target of Parquet after a change of a type; empty if all do.

    Source: https://docs.aws.amazon.com/athena/latest/ug/types-of-updates.html, and observed with
    Spark 3.5, which reads no int as a bigint, and no float as a double.
    """
    types = frozenset((change.old, change.new))
    if change.kind != "type" or types <= _ONE_IN_FILES or types == {"string", "binary"}:
        return ""
    if wide := _WIDENED.get(types):
        return f"Spark 3.5 (Glue 5) fails; Athena, Spark 4 and from_catalog read {wide} in a table"
    if all(kind.startswith("decimal") for kind in types):
        return "who reads both needs a table that declares all digits, and one scale for both"
    return "Spark and Athena fail; from_catalog takes what fits its table, a DynamicFrame a choice"
