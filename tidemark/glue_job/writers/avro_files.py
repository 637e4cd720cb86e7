"""Writes Avro files: Spark's own writer is in a jar that its Python package lacks.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-avro-home.html
"""

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import fastavro
from fastavro.write import Writer
from pyspark import TaskContext
from pyspark.sql import DataFrame, Row
from pyspark.sql import types as T
from pyspark.sql.functions import col

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.edge.announce import announced
from tidemark.glue_job.frames.types import NESTED, replaced
from tidemark.glue_job.process.bookmark_session import folder_of
from tidemark.glue_job.readers.files.partitions import NULL_PARTITION
from tidemark.local_state.bookmarks.datasets_read import dataset_of_path
from tidemark.local_state.job_run import job_home
from tidemark.local_state.operations import PUT
from tidemark.local_state.run_notes import note_written
from tidemark.model.checkpoints.checkpoint import APPEND, DatasetWritten

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SAFE_IN_FOLDERS = " !$&()+,;=@[]^_{}~-."
_LOGICAL: dict[type[T.DataType], dict[str, str]] = {
    T.DateType: {"type": "int", "logicalType": "date"},
    T.TimestampType: {"type": "long", "logicalType": "timestamp-micros"},
    T.DecimalType: {"type": "bytes", "logicalType": "decimal"},
}
_TYPES: dict[type[T.DataType], str] = {
    T.NullType: "null",
    T.BooleanType: "boolean",
    T.ByteType: "int",
    T.ShortType: "int",
    T.IntegerType: "int",
    T.LongType: "long",
    T.FloatType: "float",
    T.DoubleType: "double",
    T.BinaryType: "bytes",
    T.StringType: "string",
}


def write_avro(
    frame: DataFrame, path: str, partition_keys: Sequence[str], options: Mapping[str, str]
) -> None:
    """Append rows to a folder as Avro files, one for each task and partition folder."""
    if nested := [key for key in partition_keys if isinstance(frame.schema[key].dataType, NESTED)]:
        raise UsageError(
            f"the columns {nested} have parts, and cannot name folders: resolve a choice, or take "
            "other partitionKeys"
        )
    fields = T.StructType([field for field in frame.schema if field.name not in partition_keys])
    has_logical_types = options.get("version") == "1.8"
    schema = avro_schema(fields, "record", has_logical_types=has_logical_types)
    name = options.get("compression", "none").lower()
    codec = {"none": "null", "uncompressed": "null"}.get(name, name)
    folders = [col(f"`{key}`").cast("string").alias(f"\0{key}") for key in partition_keys]
    values = [
        col(f"`{field.name}`").cast(
            field.dataType if has_logical_types else with_strings(field.dataType)
        )
        for field in fields
    ]
    rows = frame.select(*values, *folders)
    root, run = folder_of(path), uuid.uuid4().hex
    write = partial(_write_part, str(root), run, tuple(partition_keys), schema, codec)
    try:
        written = rows.rdd.mapPartitionsWithIndex(write).collect()
        # A file exists under its own name only when all tasks have written theirs.
        for file in map(Path, written):
            whole = file.with_name(file.name.removeprefix("."))
            with announced((PUT, job_home().uri_of(whole))):
                file.rename(whole)
        note_written(DatasetWritten(dataset_of_path(path), APPEND, files=len(written)))
    finally:
        for left in root.rglob(f".part-*-{run}.avro"):
            with suppress(FileNotFoundError):
                left.unlink()


def avro_schema(kind: T.DataType, name: str, *, has_logical_types: bool) -> Any:
    """Return the Avro schema of a Spark type; the name of a record is its path.

    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-avro-home.html
    """
    schema_of = partial(avro_schema, has_logical_types=has_logical_types)
    if isinstance(kind, T.StructType):
        if wrong := [field for field in kind.names if not _NAME.fullmatch(field)]:
            raise UsageError(
                f"Avro has no fields named {wrong}; a name has letters, digits and _ only: rename "
                "them before the write"
            )
        return {
            "type": "record",
            "name": name,
            "fields": [
                {"name": f.name, "type": _nullable(schema_of(f.dataType, f"{name}.{f.name}"))}
                for f in kind
            ],
        }
    if isinstance(kind, T.ArrayType):
        return {"type": "array", "items": _nullable(schema_of(kind.elementType, f"{name}.item"))}
    if isinstance(kind, T.MapType) and isinstance(kind.keyType, T.StringType):
        return {"type": "map", "values": _nullable(schema_of(kind.valueType, f"{name}.value"))}
    if type(kind) in _TYPES:
        return _TYPES[type(kind)]
    if logical := _LOGICAL.get(type(kind)):
        digits = {}
        if isinstance(kind, T.DecimalType):
            digits = {"precision": kind.precision, "scale": kind.scale}
        return {**logical, **digits} if has_logical_types else "string"
    raise UnsupportedError(
        f"the column {name.removeprefix('record.')} is {kind.simpleString()}, which Avro lacks: "
        "convert it before the write"
    )


def with_strings(kind: T.DataType) -> T.DataType:
    """Return a type with strings in place of dates, timestamps and decimals, at every depth."""
    return replaced(kind, lambda part: T.StringType() if type(part) in _LOGICAL else None)


def _nullable(schema: Any) -> Any:
    return schema if schema == "null" else [schema, "null"]


def _write_part(
    root: str,
    run: str,
    keys: tuple[str, ...],
    schema: Any,
    codec: str,
    number: int,
    rows: Iterable[Row],
) -> Iterator[str]:
    parsed, writers = fastavro.parse_schema(schema), dict[str, Writer]()
    context = TaskContext.get()
    # Two attempts of a task may write at once: each has files of its own.
    attempt = context.taskAttemptId() if context else 0
    # This runs in a worker of Spark; the files are hidden until all tasks have written theirs.
    with ExitStack() as files:
        for row in rows:
            record = row.asDict(recursive=True)
            names = []
            for key in keys:  # in Spark's form
                value = record.pop(f"\0{key}")
                names.append(f"{key}={quote(value or NULL_PARTITION, safe=_SAFE_IN_FOLDERS)}")
            file = str(Path(root, *names, f".part-{number:05d}-{attempt}-{run}.avro"))
            if file not in writers:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                writers[file] = Writer(files.enter_context(Path(file).open("wb")), parsed, codec)
            writers[file].write(record)
        for writer in writers.values():
            writer.flush()
    yield from writers
