"""Which fields without a value a record lacks, and which it has as None.

A row of Spark has null for both. A record of Glue lacks a key that its JSON lacks, and has one that
is null there; of a DataFrame, of CSV, columnar files and databases it has all fields.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql.types import ArrayType, DataType, StructType

from tidemark.glue_job.frames.types import types_in


@dataclass(frozen=True)
class Absence:
    """What a null of a row stands for, by the last name of its field, in lower case.

    Attributes:
        is_possible: whether a record can lack a field.
        there: fields that no record lacks: their nulls are None; those of others are not there.
        mixed: fields that are null in some records and that others lack: all count as lacking.
        is_told: whether the source tells what is lacking; if not, all without a value counts so.
        null: those of `mixed` that some record is known to have as null.
    """

    is_possible: bool = False
    there: frozenset[str] = frozenset()
    mixed: frozenset[str] = frozenset()
    is_told: bool = True
    null: frozenset[str] = frozenset()

    def lacks(self, name: str) -> bool:
        """Return whether a record whose field of this name is null lacks it."""
        return self.is_possible and last_name(name) not in self.there

    def renamed(self, names: Mapping[str, str]) -> Absence:
        """Return what holds after fields got other names, by the path of each before."""
        pairs = [(last_name(old), last_name(new)) for old, new in names.items()]
        return Absence(
            self.is_possible,
            self.there | {new for old, new in pairs if old in self.there},
            self.mixed | {new for old, new in pairs if old in self.mixed},
            self.is_told,
            self.null | {new for old, new in pairs if old in self.null},
        )

    def of_some_records(self) -> Absence:
        """Return what holds for some of the records: which of them has a null is not known."""
        return replace(self, null=frozenset())

    def with_all_there(self, kind: DataType) -> Absence:
        """Return what holds where other fields, that records may lack, are added to a type."""
        return self if self.is_possible else Absence(True, frozenset(names_in(kind)))

    def with_other(self, other: Absence, mine: DataType, others: DataType) -> Absence:
        """Return what holds for the records of two sources in one frame.

        A field that one has for sure and the other one may lack counts as lacking.
        """
        if not (self.is_possible or other.is_possible):
            return self
        first, second = self.with_all_there(mine), other.with_all_there(others)
        lacking = {*names_in(mine)} - first.there | {*names_in(others)} - second.there
        there = first.there | second.there
        mixed = first.mixed | second.mixed | (there & lacking)
        return Absence(True, there - lacking, mixed, self.is_told and other.is_told)


ALL_THERE = Absence()
SOME_LACK = Absence(is_possible=True, is_told=False)


def last_name(path: str) -> str:
    """Return the last name of a path in lower case, also of a column ``a.b``."""
    return path.replace("`", "").rpartition(".")[2].lower()


def names_in(kind: DataType) -> Iterator[str]:
    """Yield the last names of all fields of a type, of any depth."""
    for steps, _ in types_in(kind):
        if steps and steps[-1].startswith("."):
            yield last_name(steps[-1])


def fields_lacking(record: Any, kind: DataType) -> Iterator[str]:
    """Yield the names of fields of a type that a record, or one in it, does not have."""
    match kind:
        case StructType() if isinstance(record, Mapping):
            for one in kind:
                if one.name not in record:
                    yield one.name
                else:
                    yield from fields_lacking(record[one.name], one.dataType)
        case ArrayType() if isinstance(record, list):
            for each in record:
                yield from fields_lacking(each, kind.elementType)


def absence_of(known: Iterable[str], null: Collection[str], lacking: Collection[str]) -> Absence:
    """Return what holds for records."""
    lacks = {last_name(one) for one in lacking}
    mixed = frozenset({last_name(one) for one in null} & lacks)
    there = frozenset({last_name(one) for one in known} - lacks)
    return Absence(True, there, mixed, null=mixed)
