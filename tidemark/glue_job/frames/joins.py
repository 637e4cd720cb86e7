"""Frames combined: join, union, merge; and split by the values of rows.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.errors import ArgumentTypeError, UsageError
from tidemark.glue_job.frames.choices import Value, built, check_names, lifted, schema_of, values_of
from tidemark.glue_job.frames.fields import value_at
from tidemark.glue_job.frames.paths import find_path, parse_path, path_list
from tidemark.glue_job.frames.type_names import converted
from tidemark.glue_job.frames.types import Choice, as_struct_type, merged

COMPARABLE: tuple[tuple[tuple[type, ...], tuple[type[T.DataType], ...]], ...] = (
    ((str,), (T.StringType,)),
    ((bool,), (T.BooleanType,)),
    ((int, float, Decimal), (T.NumericType,)),
    ((object,), (T.DateType, T.TimestampType, T.TimestampNTZType)),
)
"""The types of values, and the types of the parts of a choice that they are compared with."""
FLOATING, EXACT = (T.DoubleType, T.FloatType), (T.DecimalType, T.IntegralType)
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


def join(first: DataFrame, second: DataFrame, paths1: object, paths2: object) -> DataFrame:
    """Return the pairs of rows with equal keys: the columns of the first frame, then of the second.

    A column of the first frame gets a dot in front if the second one has its name too. With a frame
    without columns, such as a source with nothing new, the result is empty.
    """
    keys1, keys2 = path_list(paths1), path_list(paths2)
    if not first.columns or not second.columns:
        return second if first.columns else first
    left, left_values = _renamed(first, "left ")
    right, right_values = _renamed(second, "right ")
    if len(keys1) != len(keys2) or not keys1:
        raise UsageError(f"a join needs as many keys of each frame; it got {keys1} and {keys2}")
    equal = _equal_keys((first, left_values, keys1), (second, right_values, keys2))
    joined = left.join(right, equal, "inner")
    taken = {value.name for value in right_values}
    values = [Value(_free(v.name, taken), v.column, v.kind) for v in left_values]
    return built(joined, [*values, *right_values])


Side = tuple[DataFrame, Sequence[Value], Sequence[str]]
"""A frame of a join, its columns, and the paths of its keys."""


def _equal_keys(first: Side, second: Side) -> Column:
    left = (_key(first[0], first[1], path, "first") for path in first[2])
    right = (_key(second[0], second[1], path, "second") for path in second[2])
    return reduce(operator.and_, map(_equal, left, right))


def _renamed(frame: DataFrame, prefix: str) -> tuple[DataFrame, list[Value]]:
    schema = schema_of(frame)
    names = [f"{prefix}{place}" for place in range(len(schema))]
    columns = zip(schema, names, strict=True)
    return frame.toDF(*names), [Value(f.name, F.col(f"`{n}`"), f.dataType) for f, n in columns]


def _equal(first: Value, second: Value) -> Column:
    def converted_key(key: Value, kind: T.DataType) -> Column:
        return converted(key.column, key.kind, kind, f"the key {key.name!r}")

    # Spark compares a string with a number as numbers, and takes "2.7" for 2: compare strings.
    if isinstance(first.kind, T.StringType) != isinstance(second.kind, T.StringType):
        return converted_key(first, T.StringType()) == converted_key(second, T.StringType())
    equal = first.column == second.column
    for floating, exact in ((first, second), (second, first)):
        if isinstance(floating.kind, FLOATING) and isinstance(exact.kind, EXACT):
            # Spark compares them as doubles, of which one stands for several large numbers.
            equal &= converted_key(floating, exact.kind) == exact.column
    return equal


def _key(frame: DataFrame, values: Sequence[Value], path: str, which: str) -> Value:
    place = find_path(schema_of(frame), parse_path(path))
    if place is None:
        raise UsageError(
            f"the {which} frame of a join has no field {path!r}; it has {', '.join(frame.columns)}"
        )
    column, kind = value_at(values, place[0])
    if isinstance(kind, Choice):
        column, kind = converted(column, kind, T.StringType(), f"the key {path!r}"), T.StringType()
    return Value(path, column, kind)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f".{name}"
    taken.add(name)
    return name


def union(first: DataFrame, second: DataFrame) -> DataFrame:
    """Return the rows of both frames by column name; a column of two types becomes a choice."""
    if not second.columns or not first.columns:
        return first if first.columns else second
    check_names(first, "of a union")
    check_names(second, "of a union")
    schema = as_struct_type(merged(schema_of(first), schema_of(second)))
    both = _conformed(first, schema).union(_conformed(second, schema))
    return built(both, [Value(f.name, F.col(str(n)), f.dataType) for n, f in enumerate(schema)])


def _conformed(frame: DataFrame, schema: T.StructType) -> DataFrame:
    frame, values = values_of(frame)
    by_name = {value.name: value for value in values}
    nothing = Value("", F.lit(None), T.NullType())
    columns = []
    for place, field in enumerate(schema):
        value = by_name.get(field.name, nothing)
        columns.append(lifted(value.column, value.kind, field.dataType).alias(str(place)))
    return frame.select(*columns)


def merge(source: DataFrame, stage: DataFrame, primary_keys: object) -> DataFrame:
    """Return the rows of a stage, and the rows of a source whose keys are not in the stage."""
    keys = path_list(primary_keys)
    if not source.columns or not stage.columns:
        return stage if stage.columns else source
    left, left_values = _renamed(source, "left ")
    right, right_values = _renamed(stage, "right ")
    if not keys:
        raise UsageError("mergeDynamicFrame needs primary_keys; it got none")
    equal = _equal_keys((source, left_values, keys), (stage, right_values, keys))
    return union(stage, built(left.join(right, equal, "left_anti"), left_values))


def split_rows(
    frame: DataFrame, comparisons: Mapping[str, Mapping[str, Any]]
) -> tuple[DataFrame, DataFrame]:
    """Return the rows that meet every comparison, and the others."""
    for path, operators in comparisons.items():
        if not isinstance(operators, Mapping):
            raise ArgumentTypeError(
                f"split_rows compares {path!r} with {operators!r}; give a dict of operators, such "
                "as {'>': 10}"
            )
    source, values = values_of(frame)
    if not values:
        return frame, frame
    conditions = [
        _compared(frame, values, path, comparator, value)
        for path, operators in comparisons.items()
        for comparator, value in operators.items()
    ]
    if not conditions:
        raise UsageError("split_rows needs a comparison, such as {'age': {'>': 10}}; it got none")
    meets = F.coalesce(reduce(operator.and_, conditions), F.lit(False))
    return built(source.filter(meets), values), built(source.filter(~meets), values)


def _compared(
    frame: DataFrame, values: Sequence[Value], path: str, comparator: str, value: Any
) -> Column:
    if comparator not in COMPARISONS:
        raise UsageError(
            f"the operator {comparator!r} for {path!r} is not known; allowed are "
            f"{', '.join(COMPARISONS)}"
        )
    place = find_path(schema_of(frame), parse_path(path))
    if place is None:
        raise UsageError(
            f"split_rows has no field {path!r} to compare; it has {', '.join(frame.columns)}"
        )
    column, kind = value_at(values, place[0])
    if isinstance(kind, Choice):
        comparable = next(kinds for types, kinds in COMPARABLE if isinstance(value, types))
        parts = [f for f in kind if isinstance(f.dataType, comparable)]
        each = [COMPARISONS[comparator](column.getField(f.name), F.lit(value)) for f in parts]
        return F.coalesce(*each, F.lit(False))
    return COMPARISONS[comparator](column, F.lit(value))  # type: ignore[no-any-return]
