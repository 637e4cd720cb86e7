"""Reads the rows of a target, whatever its format, with the types of their values."""

import json
import re
from collections import Counter
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812 (every PySpark user's convention)

from tidemark.operate.rows.records import (
    CORRUPT,
    LINE,
    WINDOW_COLUMNS,
    are_of_windows,
    copied,
    have_shared_lines,
    in_lines,
    lines_of,
)
from tidemark.operate.versions.targets import HIDDEN

NESTED = (T.MapType, T.StructType, T.ArrayType)
STRING = T.StringType()
PATTERN = re.compile(r"[{}\[\]*?\\]")  # signs of names that Hadoop takes for patterns

Rows = tuple[DataFrame | None, T.StructType]


def read(spark: SparkSession, kind: str, side: dict[str, Any]) -> Rows:
    """Return the rows of a target, and the types of their values; None without a file of it.

    The values of JSON are read as strings: whole numbers keep all digits, others those of a double.
    """
    if not side["files"]:
        return None, T.StructType()
    if any(Path(file).name.startswith(HIDDEN) for file in side["files"]):
        side = copied(side, (), str)
    if kind == "json":
        return rows_of_json(spark, side)
    if kind in ("avro", "bytes"):
        lines = Counter(line for file in side["files"] for line in lines_of(Path(file), kind))
        frame = spark.createDataFrame([(line,) for line in lines.elements()], f"{LINE} STRING")
    elif kind == "lines":
        frame = rows_of(spark, "text", side).withColumnRenamed("value", LINE)
    else:
        frame = rows_of(spark, kind, side, mergeSchema="true")
    return frame, frame.schema


def types_of(schema: T.StructType) -> dict[str, str]:
    """Return the type of each column."""
    return {field.name: field.dataType.simpleString() for field in schema}


def rows_of(
    spark: SparkSession,
    kind: str,
    side: dict[str, Any],
    schema: T.StructType | None = None,
    **options: str,
) -> DataFrame:
    """Return the rows of files of a format that Spark reads, without the names of windows."""
    # A file in a folder of a window has no such columns of its own: its folder would hide them.
    dropped = WINDOW_COLUMNS if are_of_windows(side["files"]) else ()
    reader = spark.read.format(kind).options(**options)
    reader = reader.option("__globPaths__", "false")  # names are no patterns
    reader = reader.schema(schema) if schema else reader
    if side["all"]:
        return reader.load("file://" + side["folder"]).drop(*dropped)
    folders = side.get("folders") or {side["folder"]: side["files"]}
    frames = [
        reader.option("basePath", "file://" + folder).load(["file://" + file for file in together])
        for folder, files in folders.items()
        for together in read_together(files)
    ]
    rows = reduce(lambda some, more: some.unionByName(more, allowMissingColumns=True), frames)
    return rows.drop(*dropped)


def read_together(files: list[str]) -> list[list[str]]:
    """Return files in the groups in which Spark reads each once."""
    # For each of several paths that look like a pattern, it reads all of them again.
    patterns = [file for file in files if PATTERN.search(file)]
    plain = [file for file in files if file not in patterns]
    return [group for group in (plain, *([file] for file in patterns)) if group]


def rows_of_json(spark: SparkSession, side: dict[str, Any]) -> Rows:
    """Return the rows and types of JSON, whose records may have lines of their own or not."""
    # Of records in one line Spark reads the first, and says nothing.
    if have_shared_lines(side):
        side = in_lines(side)
    schema = schema_of_json(spark, side["files"])
    if CORRUPT in schema.names:
        side = in_lines(side)
        schema = schema_of_json(spark, side["files"])
    if schema.names == [CORRUPT]:
        return read(spark, "lines", side)
    frame = rows_of(spark, "json", side, strings_of(schema))
    of_values = {field.name: field for field in schema}
    return frame, T.StructType([of_values.get(field.name, field) for field in frame.schema])


def schema_of_json(spark: SparkSession, files: list[str]) -> T.StructType:
    """Return the types of the values in all files together."""
    reader = spark.read.option("__globPaths__", "false")
    return reader.json(["file://" + file for file in files]).schema


def strings_of(kind: Any) -> Any:
    """Return a type with each value that is not nested as a string."""
    if isinstance(kind, T.StructType):
        return T.StructType(
            [T.StructField(field.name, strings_of(field.dataType)) for field in kind]
        )
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(strings_of(kind.elementType))
    return T.StringType()


def as_written(row: str, schema: T.StructType) -> str:
    """Return a row of JSON with numbers and nested values as such, where it has strings."""
    return _with_type(json.loads(row, parse_int=str, parse_float=str), schema)


def _with_type(value: Any, kind: T.DataType) -> str:
    if isinstance(value, str) and isinstance(kind, NESTED):
        value = json.loads(value, parse_int=str, parse_float=str)
    if isinstance(value, dict) and isinstance(kind, T.StructType):
        types = {field.name: field.dataType for field in kind}
        fields = (
            f"{json.dumps(name, ensure_ascii=False)}:{_with_type(element, types.get(name, STRING))}"
            for name, element in value.items()
        )
        return f"{{{','.join(fields)}}}"
    if isinstance(value, list):
        inner: T.DataType = kind.elementType if isinstance(kind, T.ArrayType) else STRING
        if isinstance(kind, T.MapType):  # a list of its entries
            inner = T.StructType().add("key", kind.keyType).add("value", kind.valueType)
        return f"[{','.join(_with_type(element, inner) for element in value)}]"
    is_plain = isinstance(value, str) and isinstance(kind, T.NumericType | T.BooleanType)
    return value if is_plain else json.dumps(value, ensure_ascii=False)
