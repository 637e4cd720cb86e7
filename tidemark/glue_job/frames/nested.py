"""Nested fields as columns: unnest, and the JSON of DynamoDB exports.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, NullType, StructField, StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.choices import Value, built, lifted, values_of
from tidemark.glue_job.frames.fields import struct_of
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
    for one in value.kind:
        column = value.column.getField(one.name)
        yield from _leaves(Value(f"{value.name}.{one.name}", column, one.dataType))


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
    """Return the attributes in the column Item, next to the other columns."""
    frame, values = values_of(frame)
    found = list[Value]()
    for value in values:
        if value.name == ITEM and isinstance(value.kind, StructType):
            found += [Value(f.name, value.column.getField(f.name), f.dataType) for f in value.kind]
        else:
            found.append(value)
    return frame, found


def _simple(value: Value) -> Value:
    """Return a value without its type descriptors."""
    column, kind = value.column, value.kind
    if not _is_described(kind):
        return value
    assert isinstance(kind, StructType)  # noqa: S101 (for the type checker)
    each = [_undescribed(column.getField(one.name), one) for one in kind]
    # A null is a value of any type.
    each = [made for made in each if not isinstance(made[1], NullType)] or each
    if len(each) == 1:
        return Value(value.name, *each[0])
    several = choice_of([found for _, found in each])
    columns = [lifted(one, found, several) for one, found in each]
    return Value(value.name, F.coalesce(*columns), several)


def _undescribed(column: Column, described: StructField) -> tuple[Column, DataType]:
    kind = described.dataType
    if described.name == "NULL":
        return F.lit(None), NullType()
    if described.name == "M" and isinstance(kind, StructType):
        return _map(column, kind)
    if described.name == "L" and isinstance(kind, ArrayType):
        return _list(column, kind)
    return column, kind


def _map(column: Column, kind: StructType) -> tuple[Column, DataType]:
    inner: Sequence[Value] = [
        _simple(Value(one.name, column.getField(one.name), one.dataType)) for one in kind
    ]
    return struct_of(column, inner)


def _list(column: Column, kind: ArrayType) -> tuple[Column, DataType]:
    element = kind.elementType
    if not _is_described(element):
        return column, kind
    assert isinstance(element, StructType)  # noqa: S101 (for the type checker)
    if len(element) > 1 or element.names[0] in ("M", "L", "NULL"):
        return column, kind
    name, inner = element.names[0], element.fields[0].dataType
    return F.transform(column, lambda one: one.getField(name)), ArrayType(inner)


def _is_described(kind: DataType) -> bool:
    return isinstance(kind, StructType) and bool(kind.names) and set(kind.names) <= DESCRIPTORS
