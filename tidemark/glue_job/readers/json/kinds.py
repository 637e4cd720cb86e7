"""The kinds of values that JSON has at each path, found by the JVM in one pass.

Glue tells the number 1 from the string "1", and an int from a long; Spark's inference does not.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.glue_job.frames.absence import Absence, absence_of
from tidemark.glue_job.frames.types import MAX_DIGITS, Choice, choice_of, struct_type
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.local_state.sparks.installed import own_spark

JAVA = "dev.tidemark.json.JsonKinds"
BROKEN = "!"  # `JsonKinds.BROKEN` in Java
MAX_COLLECTED = 10_000  # records of different kinds that this process merges itself
LETTERS: dict[str, T.DataType] = {
    "i": T.IntegerType(),
    "l": T.LongType(),
    "d": T.DoubleType(),
    "b": T.BooleanType(),
    "s": T.StringType(),
}
BEYOND_LONG, OBJECT, ARRAY = "n", "o", "a"
SEVERAL = "+"  # a string with more than one value, such as objects without line feeds between
TWICE = "="  # a field that one object has several times
BEYOND = "x"  # a number that is infinite as a double, or an integer of more than `MAX_DIGITS`
ROUNDED = "r"  # a fraction with digits that a double does not hold
HALF = "u"  # a string or a name with half of a surrogate pair
NULL, LACKING = "z", "?"  # a field that is null in some objects, or missing in some


@dataclass
class Kinds:
    """The kinds of the values at a path.

    Attributes:
        letters: the letters of `JsonKinds.kinds` in Java.
        digits: the maximum number of digits of integers beyond long.
        fields: fields of objects, in the order of their first occurrence.
        elements: elements of arrays.
    """

    letters: set[str] = field(default_factory=set)
    digits: int = 0
    fields: dict[str, "Kinds"] = field(default_factory=dict)
    elements: "Kinds | None" = None

    @classmethod
    def of(cls, document: Any) -> "Kinds":
        """Return the kinds in the JSON of `JsonKinds.kinds`."""
        if isinstance(document, str):
            return cls(set(document))
        letters, digits, fields, *elements = document
        return cls(
            set(letters),
            digits,
            {name: cls.of(field) for name, field in fields.items()},
            cls.of(elements[0]) if elements else None,
        )

    def with_all(self, other: "Kinds") -> "Kinds":
        """Add the kinds of other values, and return itself."""
        if OBJECT in self.letters and OBJECT in other.letters:
            for name in self.fields.keys() ^ other.fields.keys():
                (self.fields.get(name) or other.fields[name]).letters.add(LACKING)
        self.letters |= other.letters
        self.digits = max(self.digits, other.digits)
        for name, kinds in other.fields.items():
            mine = self.fields.get(name)
            self.fields[name] = kinds if mine is None else mine.with_all(kinds)
        if other.elements is not None:
            mine = self.elements
            self.elements = other.elements if mine is None else mine.with_all(other.elements)
        return self


def kinds_in(frame: DataFrame, text: Column, *, is_small: bool = False) -> Kinds | None:
    """Return the kinds of all records in a column of strings; None if one is not JSON or UTF-8.

    Fields are in the order of their first occurrence.
    """
    kinds = F.when(is_utf_8(text), kinds_of(text)).otherwise(BROKEN)
    each = frame.select(kinds.alias("kinds"), F.monotonically_increasing_id().alias("place"))
    first = each if is_small else each.groupBy("kinds").agg(F.min("place").alias("place"))
    parts: list[Kinds | None]
    # Not a query of the data frame: its scan would count as rows that the job has read.
    few = (first if is_small else first.limit(MAX_COLLECTED + 1)).rdd.collect()
    if is_small or len(few) <= MAX_COLLECTED:
        parts = list(_of_partition(sorted(few, key=lambda row: row.place)))
    else:  # merged where they are
        parts = first.orderBy("place").rdd.mapPartitions(_of_partition).collect()
    if any(kinds is None for kinds in parts):
        return None
    return reduce(Kinds.with_all, (kinds for kinds in parts if kinds is not None), Kinds())


def is_utf_8(text: Column) -> Column:
    """Return whether the bytes of a string are UTF-8."""
    if own_spark().major >= 4:  # its `decode` fails where that of 3.5 replaces
        return F.is_valid_utf8(text)  # type: ignore[attr-defined,no-any-return,unused-ignore]
    raw = text.cast("binary")
    return F.encode(F.decode(raw, "UTF-8"), "UTF-8") == raw


def kinds_of(text: Column) -> Column:
    """Return the result of `JsonKinds.kinds` in Java for a string; `BROKEN` if it is not JSON."""
    return F.reflect(F.lit(JAVA), F.lit("kinds"), text)


def _of_partition(rows: Iterable[Row]) -> Iterator[Kinds | None]:
    """Yield the kinds of the strings of a partition; None if one is not JSON."""
    merged = Kinds()
    for row in rows:
        if row.kinds == BROKEN:
            yield None
            return
        merged.with_all(Kinds.of(json.loads(row.kinds)))
    yield merged


CHANGED = {
    TWICE: RunWarning.JSON_TWICE,
    BEYOND: RunWarning.JSON_BEYOND,
    ROUNDED: RunWarning.JSON_ROUNDED,
    HALF: RunWarning.JSON_HALF,
}


def note_changed(kinds: Kinds, path: str = "", *, are_declared: bool = False) -> None:
    """Warn of fields, below a path, whose values are not kept; not of what a table declares."""
    letters = CHANGED.keys() - ({ROUNDED} if are_declared else set())
    for place, inner in _paths_in(kinds, path):
        if not are_declared and place and type_of(inner) == T.StructType([]):
            note(RunWarning.JSON_EMPTY, place)
        for letter in sorted(letters & inner.letters):
            note(CHANGED[letter], place)


def _paths_in(kinds: Kinds, path: str) -> Iterator[tuple[str, Kinds]]:
    yield path, kinds
    for name, inner in kinds.fields.items():
        yield from _paths_in(inner, f"{path}.{name}" if path else name)
    if kinds.elements is not None:
        yield from _paths_in(kinds.elements, f"{path}[]")


def absence_in(kinds: Kinds) -> Absence:
    """Return the meaning of nulls in records of some kinds."""
    fields = list(_fields_in(kinds))
    return absence_of(
        [name for name, _ in fields],
        [name for name, part in fields if NULL in part.letters],
        [name for name, part in fields if LACKING in part.letters],
    )


def _fields_in(kinds: Kinds) -> Iterator[tuple[str, Kinds]]:
    yield from kinds.fields.items()
    for inner in (*kinds.fields.values(), *([kinds.elements] if kinds.elements else [])):
        yield from _fields_in(inner)


def type_of(kinds: Kinds) -> T.DataType:
    """Return the type for values of some kinds: several make a choice, none make null."""
    each = [LETTERS[letter] for letter in sorted(kinds.letters & set(LETTERS))]
    if BEYOND_LONG in kinds.letters:
        is_decimal = kinds.digits <= MAX_DIGITS
        each.append(T.DecimalType(kinds.digits, 0) if is_decimal else T.DoubleType())
    if OBJECT in kinds.letters:
        each.append(struct_type((name, type_of(field)) for name, field in kinds.fields.items()))
    if ARRAY in kinds.letters:
        each.append(T.ArrayType(type_of(kinds.elements or Kinds())))
    return choice_of(each) if each else T.NullType()


def schema_of_records(kinds: Kinds) -> T.StructType:
    """Return the schema of records: string for fields that are always null, no empty objects."""
    kind = _readable(type_of(Kinds({OBJECT}, 0, kinds.fields)))
    return kind if isinstance(kind, T.StructType) else T.StructType([])


def _readable(kind: T.DataType) -> T.DataType | None:
    """Return a type without nulls and without empty objects; None for an empty object."""
    # In a choice an empty object is kept, so that it does not become null.
    match kind:
        case T.NullType():
            return T.StringType()
        case Choice():
            kinds = ((f.name, _readable(f.dataType) or f.dataType) for f in kind)
            return Choice(list(struct_type(kinds)))
        case T.StructType():
            fields = ((f.name, _readable(f.dataType)) for f in kind)
            readable = struct_type((name, part) for name, part in fields if part is not None)
            return readable if readable.fields else None
        case T.ArrayType():
            element = _readable(kind.elementType)
            return None if element is None else T.ArrayType(element)
    return kind
