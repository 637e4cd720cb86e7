"""Reads Avro files, each by its own schema.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-avro-home.html
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import fastavro
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tidemark.errors import TidemarkError, UnsupportedError, UsageError
from tidemark.glue_job.frames.absence import Absence, absence_of, names_in
from tidemark.glue_job.frames.joins import union
from tidemark.glue_job.frames.types import (
    as_struct_type,
    merged,
    struct_type,
    widened_or,
    without_nulls,
)
from tidemark.glue_job.process.bookmark_session import folder_of
from tidemark.glue_job.readers.files.compression import open_file
from tidemark.glue_job.readers.files.conformed import note_differences
from tidemark.glue_job.readers.files.formats import Files
from tidemark.glue_job.readers.files.python_files import read_rows
from tidemark.glue_job.readers.files.read_errors import UNCHANGED, unreadable
from tidemark.model.messages import plural

# Types that version 1.8 of the reader converts; 1.7, the default, converts none.
LOGICAL_TYPES = {"1.7": frozenset[str](), "1.8": frozenset({"decimal", "date", "timestamp-millis"})}
PRIMITIVES: dict[str, T.DataType] = {
    "null": T.NullType(),
    "boolean": T.BooleanType(),
    "int": T.IntegerType(),
    "long": T.LongType(),
    "float": T.FloatType(),
    "double": T.DoubleType(),
    "bytes": T.BinaryType(),
    "fixed": T.BinaryType(),
    "string": T.StringType(),
    "enum": T.StringType(),
}
_MISSING_LIBRARY = re.compile(r"(\w+) codec is supported but you need to install .*'([\w.]+)'")
BROKEN = (ValueError, EOFError, OSError, KeyError, IndexError, TypeError, StopIteration)


def read_avro(files: Files) -> DataFrame:
    """Return the records of Avro files, with the columns of all their schemas."""
    avro = files.format
    logical = LOGICAL_TYPES[str(avro.options.get("version", "1.7"))]
    kinds: list[T.DataType] = [schema_in(str(folder_of(uri)), uri, logical) for uri in files.paths]
    if avro.is_dynamic and (absence := absence_in(kinds)):
        avro.failed.note_absence(absence, is_of_records=False)
    try:
        # Each file has its own schema: the rows get the columns of all.
        groups = [(files, reduce(partial(merged, conflict=widened_or(_disagree)), kinds))]
    except AvroDisagreementError:
        if not avro.is_dynamic or avro.names is not None:
            raise
        alike: dict[str, tuple[list[str], T.DataType]] = {}
        for file, kind in zip(files.paths, kinds, strict=True):
            alike.setdefault(kind.json(), ([], kind))[0].append(file)
        groups = [(replace(files, paths=paths), kind) for paths, kind in alike.values()]
    frames = list[DataFrame]()
    for group, kind in groups:
        schema = as_struct_type(without_nulls(kind))
        note_differences(avro, [schema])
        frames.append(read_rows(group, schema, partial(records_of, logical, schema)))
    return reduce(union, frames)


def absence_in(kinds: Sequence[T.DataType]) -> Absence | None:
    """Return the meaning of nulls in records of several schemas; None if no field can be missing.

    These types do not tell whether a value may be null: a field that some lack causes a warning.
    """
    names = [frozenset(names_in(kind)) for kind in kinds]
    known = frozenset[str]().union(*names)
    lacking = {name for name in known if not all(name in of_file for of_file in names)}
    return replace(absence_of(known, lacking, lacking), null=frozenset()) if lacking else None


class AvroDisagreementError(UsageError):
    """Two files have a field of the same name with incompatible types."""


def _disagree(name: str, first: T.DataType, second: T.DataType) -> T.DataType:
    raise AvroDisagreementError(
        f"the Avro files disagree on the field {name}: {first.simpleString()} and "
        f"{second.simpleString()}; give each kind a separate path and transformation_ctx"
    )


def schema_in(path: str, uri: str, logical: frozenset[str] = LOGICAL_TYPES["1.8"]) -> T.StructType:
    """Return the columns of an Avro file on this machine."""
    try:
        with open_file(path) as opened:
            schema = fastavro.reader(opened).writer_schema
    except BROKEN as error:
        raise _unreadable(uri, error) from error
    try:
        kind = spark_type(_with_logical_types(schema, logical), {})
    except UnsupportedError as error:
        raise UnsupportedError(
            f"cannot read {uri} as avro: {error}; write the field with one type, or name the file "
            f"in exclusions: {UNCHANGED}"
        ) from error
    if not isinstance(kind, T.StructType):
        return T.StructType([T.StructField("value", kind)])
    return kind


def records_of(
    logical: frozenset[str], schema: T.StructType, uri: str, path: str
) -> Iterator[tuple[Any, ...]]:
    """Yield the records of one file; called in a worker of Spark."""
    try:
        with open_file(path) as opened:
            blocks = fastavro.block_reader(opened)
            writer = fastavro.parse_schema(_with_logical_types(blocks.writer_schema, logical))
            convert = converter(schema)
            for block in blocks:
                if block.num_records < 0:
                    raise ValueError(f"a block has {block.num_records} records")
                content: Any = block.bytes_  # type: ignore[attr-defined]
                for _ in range(block.num_records):
                    # Iterating a block would convert every logical type.
                    record = fastavro.schemaless_reader(content, writer, None)
                    yield convert(record if isinstance(record, dict) else {"value": record})
                if left := content.read():
                    raise ValueError(f"{plural(len(left), 'byte')} of a block in no record")
    except BROKEN as error:
        raise _unreadable(uri, error) from error


def _unreadable(uri: str, error: Exception) -> TidemarkError:
    if codec := _MISSING_LIBRARY.search(str(error)):
        return UnsupportedError(
            f"cannot read {uri} as avro: its codec {codec[1]} needs the Python library {codec[2]}; "
            f"the file may be good: install that, or write it with the codec deflate: {UNCHANGED}"
        )
    return unreadable(uri, "avro", f"{type(error).__name__}: {error}".rstrip(": "))


def _with_logical_types(schema: Any, logical: frozenset[str]) -> Any:
    if isinstance(schema, list):
        return [_with_logical_types(item, logical) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    changed = {
        name: _with_logical_types(value, logical) if name in ("type", "items", "values") else value
        for name, value in schema.items()
        if not name.startswith("__") and (name != "logicalType" or value in logical)
    }
    if "fields" in changed:
        changed["fields"] = [_with_logical_types(field, logical) for field in changed["fields"]]
    return changed


def spark_type(schema: Any, named: dict[str, T.DataType]) -> T.DataType:
    """Return the Spark type of an Avro schema."""
    if isinstance(schema, list):
        return _union(schema, named)
    if not isinstance(schema, Mapping):
        if schema not in PRIMITIVES and schema not in named:
            raise UnsupportedError(f"the record {schema!r} contains itself; not supported")
        return PRIMITIVES.get(schema) or named[schema]
    kind = _mapped(schema, named)
    if "name" in schema and "type" in schema and schema["type"] in ("record", "enum", "fixed"):
        named[schema["name"]] = kind
    return kind


def _mapped(schema: Mapping[str, Any], named: dict[str, T.DataType]) -> T.DataType:
    if "logicalType" in schema:
        if schema["logicalType"] == "decimal":
            return T.DecimalType(schema["precision"], schema.get("scale", 0))
        return T.DateType() if schema["logicalType"] == "date" else T.TimestampType()
    kind = schema["type"]
    if kind in ("record", "error"):
        return struct_type((f["name"], spark_type(f["type"], named)) for f in schema["fields"])
    if kind == "array":
        return T.ArrayType(spark_type(schema["items"], named))
    if kind == "map":
        return T.MapType(T.StringType(), spark_type(schema["values"], named))
    return spark_type(kind, named)


def _union(members: Sequence[Any], named: dict[str, T.DataType]) -> T.DataType:
    def refuse(_: str, first: T.DataType, second: T.DataType) -> T.DataType:
        raise UnsupportedError(
            f"a union of {first.simpleString()} and {second.simpleString()} is not supported"
        )

    kind: T.DataType = T.NullType()
    for member in members:
        kind = merged(kind, spark_type(member, named), widened_or(refuse))
    return kind


def converter(kind: T.DataType) -> Callable[[Any], Any]:
    """Return a function that converts a decoded value for Spark."""
    if isinstance(kind, T.StructType):
        fields = [(field.name, converter(field.dataType)) for field in kind]
        return lambda v: None if v is None else tuple(f(v.get(name)) for name, f in fields)
    if isinstance(kind, T.ArrayType):
        element = converter(kind.elementType)
        return lambda v: None if v is None else [element(item) for item in v]
    if isinstance(kind, T.MapType):
        value = converter(kind.valueType)
        return lambda v: None if v is None else {key: value(item) for key, item in v.items()}
    if isinstance(kind, (T.DoubleType, T.FloatType)):
        return lambda v: None if v is None else float(v)
    return lambda v: v
