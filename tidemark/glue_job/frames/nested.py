"""Nested fields as columns: unnest, and the JSON of DynamoDB exports.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, NullType, StructField, StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.choices import Value, built, lifted, values_of
from tidemark.glue_job.frames.fields import fields_of, struct_of
from tidemark.glue_job.frames.types import Choice, choice_of

# The keys with which DynamoDB's JSON gives the type of a value.
DESCRIPTORS = frozenset(("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"))
ITEM = "Item"


def unnest(frame: DataFrame) -> DataFrame:
    """Return the fields of structs as columns ``a.b``; arrays and maps are unchanged."""
    frame, values = values_of(frame)
    return _built_once(frame, [leaf for value in values for leaf in _leaves(value)], "unnest")


def check_once(names: Iterable[str], step: str, what: str = "columns") -> None:
    """Raise if a step makes two columns, or tables, of one name: one would hide the other."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise UsageError(
            f"{step} makes two {what} named {', '.join(twice)}, as where one has the name that the "
            "step gives a part of another: rename one before"
        )


def _built_once(frame: DataFrame, values: Sequence[Value], step: str) -> DataFrame:
    check_once((value.name for value in values), step)
    return built(frame, values)


def _leaves(value: Value) -> Iterator[Value]:
    if not isinstance(value.kind, StructType) or isinstance(value.kind, Choice):
        yield value
        return
    for field in fields_of(value.column, value.kind):
        yield from _leaves(replace(field, name=f"{value.name}.{field.name}"))


def unnest_ddb_json(frame: DataFrame) -> DataFrame:
    """Return the attributes of items as columns, and the attributes of maps as columns ``a.b``.

    A list of structs is unchanged.
    """
    frame, values = _items(frame)
    leaves = [leaf for value in values for leaf in _leaves(_simple(value))]
    return _built_once(frame, leaves, "unnest_ddb_json")


def simplify_ddb_json(frame: DataFrame) -> DataFrame:
    """Return the attributes of items as columns; maps are structs.

    The elements of a list are unchanged if they are maps or have several types.
    """
    frame, values = _items(frame)
    return _built_once(frame, [_simple(value) for value in values], "simplify_ddb_json")


def _items(frame: DataFrame) -> tuple[DataFrame, list[Value]]:
    frame, values = values_of(frame)
    attributes = list[Value]()
    for value in values:
        if value.name == ITEM and isinstance(value.kind, StructType):
            attributes += fields_of(value.column, value.kind)
        else:
            attributes.append(value)
    return frame, attributes


def _simple(value: Value) -> Value:
    column, kind = value.column, value.kind
    if not _is_described(kind):
        return value
    assert isinstance(kind, StructType)  # noqa: S101 (for the type checker)
    each = [_undescribed(column.getField(field.name), field) for field in kind]
    # A null is a value of any type.
    each = [part for part in each if not isinstance(part[1], NullType)] or each
    if len(each) == 1:
        return Value(value.name, *each[0])
    several = choice_of([part_kind for _, part_kind in each])
    columns = [lifted(part, part_kind, several) for part, part_kind in each]
    return Value(value.name, F.coalesce(*columns), several)


def _undescribed(column: Column, described: StructField) -> tuple[Column, DataType]:
    kind = described.dataType
    if described.name == "NULL":
        return F.lit(None), NullType()
    if described.name == "M" and isinstance(kind, StructType):
        return struct_of(column, list(map(_simple, fields_of(column, kind))))
    if described.name == "L" and isinstance(kind, ArrayType):
        return _list(column, kind)
    return column, kind


def _list(column: Column, kind: ArrayType) -> tuple[Column, DataType]:
    element = kind.elementType
    if not _is_described(element):
        return column, kind
    assert isinstance(element, StructType)  # noqa: S101 (for the type checker)
    if len(element) > 1 or element.names[0] in ("M", "L", "NULL"):
        return column, kind
    name, inner = element.names[0], element.fields[0].dataType
    return F.transform(column, lambda element: element.getField(name)), ArrayType(inner)


def _is_described(kind: DataType) -> bool:
    return isinstance(kind, StructType) and bool(kind.names) and set(kind.names) <= DESCRIPTORS
