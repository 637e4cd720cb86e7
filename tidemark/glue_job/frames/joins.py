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
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    NullType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from tidemark.errors import ArgumentTypeError, UsageError
from tidemark.glue_job.frames.choices import (
    Value,
    built,
    check_names,
    lifted,
    schema_of,
    values_of,
)
from tidemark.glue_job.frames.fields import value_at
from tidemark.glue_job.frames.paths import find_path, parse_path, path_list
from tidemark.glue_job.frames.type_names import converted
from tidemark.glue_job.frames.types import Choice, as_struct_type, merged

COMPARABLE: tuple[tuple[tuple[type, ...], tuple[type[DataType], ...]], ...] = (
    ((str,), (StringType,)),
    ((bool,), (BooleanType,)),
    ((int, float, Decimal), (NumericType,)),
    ((object,), (DateType, TimestampType, TimestampNTZType)),
)
"""The types of values, and the types of the parts of a choice that they are compared with."""
FLOATING, EXACT = (DoubleType, FloatType), (DecimalType, IntegralType)
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


def join(first: DataFrame, second: DataFrame, keys1: object, keys2: object) -> DataFrame:
    """Return the pairs of rows with equal keys: the columns of the first frame, then of the second.

    A column of the first frame gets a dot in front if the second one has its name too. With a frame
    without columns, such as a source with nothing new, the result is empty.
    """
    one, two = path_list(keys1), path_list(keys2)
    if not first.columns or not second.columns:
        return second if first.columns else first
    left, left_values = _renamed(first, "left ")
    right, right_values = _renamed(second, "right ")
    if len(one) != len(two) or not one:
        raise UsageError(f"a join needs as many keys of each frame; it got {one} and {two}")
    keys = [
        _equal(
            _key(first, left_values, path1, "first"), _key(second, right_values, path2, "second")
        )
        for path1, path2 in zip(one, two, strict=True)
    ]
    joined = left.join(right, reduce(operator.and_, keys), "inner")
    taken = {value.name for value in right_values}
    values = [Value(_free(v.name, taken), v.column, v.kind) for v in left_values]
    return built(joined, [*values, *right_values])


def _renamed(frame: DataFrame, prefix: str) -> tuple[DataFrame, list[Value]]:
    """Return a frame with unique column names, and its columns under their original names."""
    schema = schema_of(frame)
    names = [f"{prefix}{place}" for place in range(len(schema))]
    columns = zip(schema, names, strict=True)
    return frame.toDF(*names), [Value(f.name, F.col(f"`{n}`"), f.dataType) for f, n in columns]


def _equal(first: Value, second: Value) -> Column:
    """Return whether two keys are equal: as strings if one is, where Spark takes "2.7" for 2."""

    def converted_key(key: Value, kind: DataType) -> Column:
        return converted(key.column, key.kind, kind, f"the key {key.name!r}")

    if isinstance(first.kind, StringType) != isinstance(second.kind, StringType):
        return converted_key(first, StringType()) == converted_key(second, StringType())
    equal = first.column == second.column
    for floating, exact in ((first, second), (second, first)):
        if isinstance(floating.kind, FLOATING) and isinstance(exact.kind, EXACT):
            # Spark compares them as doubles, of which one stands for several large numbers.
            equal &= converted_key(floating, exact.kind) == exact.column
    return equal


def _key(frame: DataFrame, values: Sequence[Value], path: str, which: str) -> Value:
    found = find_path(schema_of(frame), parse_path(path))
    if found is None:
        raise UsageError(
            f"the {which} frame of a join has no field {path!r}; it has {', '.join(frame.columns)}"
        )
    column, kind = value_at(values, found[0])
    if isinstance(kind, Choice):
        column, kind = converted(column, kind, StringType(), f"the key {path!r}"), StringType()
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


def _conformed(frame: DataFrame, schema: StructType) -> DataFrame:
    frame, values = values_of(frame)
    by_name = {value.name: value for value in values}
    nothing = Value("", F.lit(None), NullType())
    found = [by_name.get(one.name, nothing) for one in schema]
    columns = [lifted(v.column, v.kind, f.dataType) for v, f in zip(found, schema, strict=True)]
    return frame.select(*[c.alias(str(place)) for place, c in enumerate(columns)])


def merge(source: DataFrame, stage: DataFrame, primary_keys: object) -> DataFrame:
    """Return the rows of a stage, and the rows of a source whose keys are not in the stage."""
    keys = path_list(primary_keys)
    if not source.columns or not stage.columns:
        return stage if stage.columns else source
    left, left_values = _renamed(source, "left ")
    right, right_values = _renamed(stage, "right ")
    if not keys:
        raise UsageError("mergeDynamicFrame needs primary_keys; it got none")
    conditions = [
        _equal(_key(source, left_values, key, "first"), _key(stage, right_values, key, "second"))
        for key in keys
    ]
    kept = left.join(right, reduce(operator.and_, conditions), "left_anti")
    return union(stage, built(kept, left_values))


def split_rows(
    frame: DataFrame, comparisons: Mapping[str, Mapping[str, Any]]
) -> tuple[DataFrame, DataFrame]:
    """Return the rows that meet every comparison, and the others."""
    for path, wanted in comparisons.items():
        if not isinstance(wanted, Mapping):
            raise ArgumentTypeError(
                f"split_rows compares {path!r} with {wanted!r}; give a dict of operators, such as "
                "{'>': 10}"
            )
    source, values = values_of(frame)
    if not values:
        return frame, frame
    conditions = [
        _compared(frame, values, path, comparator, value)
        for path, wanted in comparisons.items()
        for comparator, value in wanted.items()
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
    found = find_path(schema_of(frame), parse_path(path))
    if found is None:
        raise UsageError(
            f"split_rows has no field {path!r} to compare; it has {', '.join(frame.columns)}"
        )
    column, kind = value_at(values, found[0])
    if isinstance(kind, Choice):
        literal = F.lit(value)
        comparable = next(kinds for types, kinds in COMPARABLE if isinstance(value, types))
        each = [
            COMPARISONS[comparator](column.getField(one.name), literal)
            for one in kind
            if isinstance(one.dataType, comparable)
        ]
        return F.coalesce(*each, F.lit(False))
    return COMPARISONS[comparator](column, F.lit(value))  # type: ignore[no-any-return]
