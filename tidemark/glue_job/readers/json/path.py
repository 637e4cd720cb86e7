"""jsonPath: selects the objects inside JSON documents that are the records.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-json-home.html
"""

import re
from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.types import Choice, as_struct_type

_STEP = re.compile(r"\.(\w+)|\['([^']+)'\]|(\[\*\])")
EACH = "[*]"


def parse_json_path(path: str) -> list[str]:
    """Return the steps of a path: names of fields, and ``[*]`` for each element of an array."""
    steps, position = [], 1
    while path.startswith("$") and (match := _STEP.match(path, position)):
        steps.append(match.group(1) or match.group(2) or EACH)
        position = match.end()
    if not path.startswith("$") or position < len(path):
        raise UnsupportedError(
            f"format_options['jsonPath'] is {path!r}; the local Glue knows $, .name, ['name'] and "
            "[*], as in $.items[*]"
        )
    return steps


def document_with(
    document: StructType, path: str, change: Callable[[StructType], StructType]
) -> StructType:
    """Return the schema of documents with only the path and, at its end, a changed record."""

    def rebuilt(kind: DataType, steps: list[str]) -> DataType:
        if steps:
            inner = rebuilt(_inside(kind, steps[0], path), steps[1:])
            is_each = steps[0] == EACH
            return ArrayType(inner) if is_each else StructType([StructField(steps[0], inner)])
        if isinstance(kind, ArrayType):
            return ArrayType(rebuilt(kind.elementType, []))
        if not isinstance(kind, StructType) or isinstance(kind, Choice):
            raise _no_objects(kind, path)
        return change(kind)

    return as_struct_type(rebuilt(document, _inner_steps(path)))


def _no_objects(kind: DataType, path: str) -> UsageError:
    return UsageError(f"jsonPath {path!r} points at {kind.simpleString()}, not at objects")


def _inner_steps(path: str) -> list[str]:
    steps = parse_json_path(path) if path else []
    # Spark turns an array at the top of a document into rows.
    return steps[1:] if steps[:1] == [EACH] else steps


def select_records(frame: DataFrame, path: str, partition_columns: Sequence[str]) -> DataFrame:
    """Return the objects that a path selects, one row each, with the partition columns."""
    steps = _inner_steps(path)
    if not steps:
        return frame
    partitions = [F.col(f"`{name}`") for name in partition_columns]
    fields = [f"`{name}`" for name in frame.columns if name not in partition_columns]
    record = F.struct(*fields).alias("record")
    records, kind = frame.select(record, *partitions), frame.select(record).schema[0].dataType
    for step in steps:
        kind = _inside(kind, step, path)
        column = F.explode("record") if step == EACH else F.col(f"record.`{step}`")
        records = records.select(column.alias("record"), *partitions)
    if isinstance(kind, ArrayType):
        kind = _inside(kind, EACH, path)
        records = records.select(F.explode("record").alias("record"), *partitions)
    if not isinstance(kind, StructType):
        raise _no_objects(kind, path)
    return records.filter(F.col("record").isNotNull()).select("record.*", *partitions)


def record_type(document: StructType, path: str) -> StructType:
    """Return the type of the records that `select_records` selects from documents of a type."""
    kind: DataType = document
    for step in _inner_steps(path):
        kind = _inside(kind, step, path)
    if isinstance(kind, ArrayType):
        kind = kind.elementType
    if not isinstance(kind, StructType) or isinstance(kind, Choice):
        raise _no_objects(kind, path)
    return kind


def _inside(kind: DataType, step: str, path: str) -> DataType:
    if step == EACH and isinstance(kind, ArrayType):
        return kind.elementType
    if isinstance(kind, StructType) and not isinstance(kind, Choice) and step in kind.names:
        return kind[step].dataType
    raise UsageError(
        f"jsonPath {path!r} goes into {step!r}, but the documents have {kind.simpleString()} there"
    )
