"""Tells fields that a record lacks from fields that are None.

A row of Spark has null for both. A record of Glue lacks a key that is missing in its JSON, and has
None for a JSON null; records of a DataFrame, CSV, columnar files and databases have all fields.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql.types import ArrayType, DataType, StructType

from tidemark.glue_job.frames.types import types_in


@dataclass(frozen=True)
class Absence:
    """The meaning of the nulls of a row, by the last name of each field, in lower case.

    Attributes:
        is_possible: whether a record can lack a field.
        there: fields that every record has; their null is None, other fields are missing.
        mixed: fields that are null in some records and missing in others; all count as missing.
        is_told: whether the source tells which fields are missing; if not, all without a value are.
        null: fields of `mixed` that are known to be null in some record.
    """

    is_possible: bool = False
    there: frozenset[str] = frozenset()
    mixed: frozenset[str] = frozenset()
    is_told: bool = True
    null: frozenset[str] = frozenset()

    def lacks(self, name: str) -> bool:
        """Return whether a record lacks a field that is null in its row."""
        return self.is_possible and last_name(name) not in self.there

    def renamed(self, names: Mapping[str, str]) -> Absence:
        """Return the absence after a renaming; `names` maps old paths of fields to new names."""
        pairs = [(last_name(old), last_name(new)) for old, new in names.items()]
        return Absence(
            self.is_possible,
            self.there | {new for old, new in pairs if old in self.there},
            self.mixed | {new for old, new in pairs if old in self.mixed},
            self.is_told,
            self.null | {new for old, new in pairs if old in self.null},
        )

    def of_some_records(self) -> Absence:
        """Return the absence for a subset of the records, whose nulls are no longer known."""
        return replace(self, null=frozenset())

    def with_present(self, kind: DataType) -> Absence:
        """Return the absence after fields that records may lack are added to a type."""
        return self if self.is_possible else Absence(True, frozenset(names_in(kind)))

    def with_other(self, other: Absence, mine: DataType, others: DataType) -> Absence:
        """Return the absence of the records of two sources in one frame.

        A field that is always in one source and may be missing in the other is missing.
        """
        if not (self.is_possible or other.is_possible):
            return self
        first, second = self.with_present(mine), other.with_present(others)
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
    """Yield the names of fields of a type that a record, or a record inside it, lacks."""
    match kind:
        case StructType() if isinstance(record, Mapping):
            for field in kind:
                if field.name not in record:
                    yield field.name
                else:
                    yield from fields_lacking(record[field.name], field.dataType)
        case ArrayType() if isinstance(record, list):
            for each in record:
                yield from fields_lacking(each, kind.elementType)


def absence_of(known: Iterable[str], null: Collection[str], lacking: Collection[str]) -> Absence:
    """Return the absence of records, from the fields that are known, null and missing."""
    lacks = {last_name(name) for name in lacking}
    mixed = frozenset({last_name(name) for name in null} & lacks)
    return Absence(True, frozenset({last_name(name) for name in known} - lacks), mixed, null=mixed)
