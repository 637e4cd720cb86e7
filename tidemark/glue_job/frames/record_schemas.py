"""The schema of the records of a frame: the fields that have a value in some record.

Source: https://docs.aws.amazon.com/glue/latest/dg/glue-etl-scala-apis-glue-dynamicframe-class.html
("a schema can be computed on demand")
"""

from collections.abc import Callable, Collection, Iterator, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, NullType, StructType

from tidemark.glue_job.frames.absence import Absence, last_name
from tidemark.glue_job.frames.choices import values_of
from tidemark.glue_job.frames.session import own_query
from tidemark.glue_job.frames.types import ELEMENT, Choice, Steps, choice_of, struct_type

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
    questions: list[Column] = []
    builds = [
        (value.name, _build(value.kind, _probe_of(value.column), questions, absence))
        for value in values
    ]
    if not questions:
        return StructType([])
    with own_query(source.sparkSession):
        ((count, *answers),) = source.agg(F.count(F.lit(1)), *map(F.max, questions)).collect()
    if not count:
        return StructType([])
    return _struct(builds, [bool(answer) for answer in answers], absence)


def _probe_of(column: Column) -> Probe:
    return lambda holds: holds(column)


def _probe_of_field(probe: Probe, name: str) -> Probe:
    return lambda holds: probe(lambda value: holds(value.getField(name)))


def _probe_of_element(probe: Probe) -> Probe:
    return lambda holds: probe(lambda value: F.exists(value, lambda element: holds(element)))


def _build(kind: DataType, probe: Probe, questions: list[Column], absence: Absence) -> Build:
    """Ask about the values at a position; return a function that builds their type."""
    number = len(questions)
    questions.append(probe(Column.isNotNull))
    make: Build = lambda _: kind  # noqa: E731 (one of several)
    match kind:
        case Choice():
            parts = [
                _build(field.dataType, _probe_of_field(probe, field.name), questions, absence)
                for field in kind
            ]
            make = lambda answers: choice_of(  # noqa: E731
                there for build in parts if (there := build(answers)) is not None
            )
        case StructType():
            fields = [
                (
                    field.name,
                    _build(field.dataType, _probe_of_field(probe, field.name), questions, absence),
                )
                for field in kind
            ]
            make = lambda answers: _struct(fields, answers, absence)  # noqa: E731
        case ArrayType():
            element = _build(kind.elementType, _probe_of_element(probe), questions, absence)
            make = lambda answers: ArrayType(_or(element(answers), kind.elementType))  # noqa: E731
    return lambda answers: make(answers) if answers[number] else None


def _or(kind: DataType | None, other: DataType) -> DataType:
    return other if kind is None else kind  # a struct without fields is false


def _struct(
    builds: Sequence[tuple[str, Build]], answers: Sequence[bool], absence: Absence
) -> StructType:
    kinds = [(name, build(answers)) for name, build in builds]
    return struct_type(
        (name, _or(kind, NullType()))
        for name, kind in kinds
        if kind is not None or not absence.lacks(name) or last_name(name) in absence.null
    )


def seen_in(kind: DataType, seen: DataType, boxes: Collection[Steps], path: Steps = ()) -> DataType:
    """Return a type with the schema of records at some steps, where any record has a value."""
    if path in boxes:
        return seen
    if not isinstance(kind, StructType) or not isinstance(seen, StructType):
        return kind
    kinds = {
        field.name: field.dataType for field in seen if not isinstance(field.dataType, NullType)
    }
    return struct_type(
        (name, seen_in(inside, kinds.get(name, inside), boxes, (*path, f".{name}")))
        for name, inside in ((field.name, field.dataType) for field in kind)
    )


def fields_left_out(
    kind: DataType, seen: DataType, path: tuple[str, ...] = ()
) -> list[tuple[str, ...]]:
    """Return the steps to the fields of structs that are missing in a schema of records."""
    left_out = list[tuple[str, ...]]()
    if isinstance(kind, StructType) and isinstance(seen, StructType):
        kinds = {field.name: field.dataType for field in seen}
        for field in kind:
            steps = (*path, f".{field.name}")
            if field.name not in kinds:
                left_out.append(steps)
            elif not isinstance(field.dataType, Choice):
                left_out += fields_left_out(field.dataType, kinds[field.name], steps)
    return left_out


def null_fields(kind: DataType, shown: DataType, path: Steps = ()) -> Iterator[Steps]:
    """Yield the fields of a type that are of the type null in a schema, or not in it at all.

    It looks into structs, and into structs in arrays, but not into maps: so does DropNullFields.
    Source: transforms/drop_nulls.py of https://github.com/awslabs/aws-glue-libs
    """
    match kind, shown:
        case (Choice(), _) | (_, Choice()):
            return
        case StructType(), StructType():
            kinds = {field.name: field.dataType for field in shown}
            for field in kind:
                steps, seen = (*path, f".{field.name}"), kinds.get(field.name, NullType())
                if isinstance(seen, NullType):
                    yield steps
                else:
                    yield from null_fields(field.dataType, seen, steps)
        case ArrayType(elementType=element), ArrayType(elementType=seen):
            yield from null_fields(element, seen, (*path, ELEMENT))
