"""The schema of the records of a frame: the fields that have a value in some record.

Source: https://docs.aws.amazon.com/glue/latest/dg/glue-etl-scala-apis-glue-dynamicframe-class.html
("a schema can be computed on demand")
"""

from collections.abc import Callable, Collection, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, NullType, StructField, StructType

from tidemark.glue_job.frames.absence import Absence, last_name
from tidemark.glue_job.frames.choices import values_of
from tidemark.glue_job.frames.own_queries import own_query
from tidemark.glue_job.frames.types import Choice, Steps, choice_of

Holds = Callable[[Column], Column]
Probe = Callable[[Holds], Column]
"""Given a condition, returns whether a value at this position of a row meets it."""
Build = Callable[[Sequence[bool]], DataType | None]
"""Given the answers to all questions, returns the type at this position; None if empty."""


def schema_of_records(frame: DataFrame, absence: Absence) -> StructType:
    """Return the schema of the records of a frame, in one pass over them.

    A field that no record has is left out, a field that is null in all records is of type null, and
    a choice has only the types that occur. Without records there are no fields.
    """
    source, values = values_of(frame)
    asked: list[Column] = []
    builds = [
        (value.name, _build(value.kind, _probe_of(value.column), asked, absence))
        for value in values
    ]
    if not asked:
        return StructType([])
    with own_query(source.sparkSession):
        ((count, *found),) = source.agg(F.count(F.lit(1)), *map(F.max, asked)).collect()
    if not count:
        return StructType([])
    return _struct(builds, [bool(one) for one in found], absence)


def _probe_of(column: Column) -> Probe:
    return lambda holds: holds(column)


def _probe_of_field(probe: Probe, name: str) -> Probe:
    return lambda holds: probe(lambda value: holds(value.getField(name)))


def _probe_of_element(probe: Probe) -> Probe:
    return lambda holds: probe(lambda value: F.exists(value, lambda one: holds(one)))


def _build(kind: DataType, probe: Probe, asked: list[Column], absence: Absence) -> Build:
    """Ask about the values at a position; return a function that builds their type."""
    number = len(asked)
    asked.append(probe(Column.isNotNull))
    make: Build = lambda _: kind  # noqa: E731 (one of several)
    match kind:
        case Choice():
            parts = [
                _build(one.dataType, _probe_of_field(probe, one.name), asked, absence)
                for one in kind
            ]
            make = lambda found: choice_of(  # noqa: E731
                there for one in parts if (there := one(found)) is not None
            )
        case StructType():
            fields = [
                (
                    one.name,
                    _build(one.dataType, _probe_of_field(probe, one.name), asked, absence),
                )
                for one in kind
            ]
            make = lambda found: _struct(fields, found, absence)  # noqa: E731
        case ArrayType():
            element = _build(kind.elementType, _probe_of_element(probe), asked, absence)
            make = lambda found: ArrayType(_or(element(found), kind.elementType))  # noqa: E731
    return lambda found: make(found) if found[number] else None


def _or(kind: DataType | None, other: DataType) -> DataType:
    return other if kind is None else kind  # a struct without fields is false


def _struct(
    builds: Sequence[tuple[str, Build]], found: Sequence[bool], absence: Absence
) -> StructType:
    kinds = [(name, build(found)) for name, build in builds]
    return StructType(
        [
            StructField(name, _or(kind, NullType()))
            for name, kind in kinds
            if kind is not None or not absence.lacks(name) or last_name(name) in absence.null
        ]
    )


def seen_in(kind: DataType, seen: DataType, boxes: Collection[Steps], path: Steps = ()) -> DataType:
    """Return a type with the schema of records at some steps, where any record has a value."""
    if path in boxes:
        return seen
    if not isinstance(kind, StructType) or not isinstance(seen, StructType):
        return kind
    kinds = {one.name: one.dataType for one in seen if not isinstance(one.dataType, NullType)}
    inside = ((f.name, kinds.get(f.name, f.dataType), f.dataType) for f in kind)
    return StructType(
        [StructField(n, seen_in(kind, there, boxes, (*path, f".{n}"))) for n, there, kind in inside]
    )


def fields_left_out(
    kind: DataType, seen: DataType, path: tuple[str, ...] = ()
) -> list[tuple[str, ...]]:
    """Return the steps to the fields of structs that are missing in a schema of records."""
    found = list[tuple[str, ...]]()
    if isinstance(kind, StructType) and isinstance(seen, StructType):
        known = {one.name: one.dataType for one in seen}
        for one in kind:
            steps = (*path, f".{one.name}")
            if one.name not in known:
                found.append(steps)
            elif not isinstance(one.dataType, Choice):
                found += fields_left_out(one.dataType, known[one.name], steps)
    return found
